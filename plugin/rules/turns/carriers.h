/* SPDX-License-Identifier: MIT
 *
 * rules/turns/carriers.h: messages on carriers, and a run whose host is gone. Private to turns/.
 */
#ifndef RULES_TURNS_CARRIERS_H
#define RULES_TURNS_CARRIERS_H

#include "rules/turns/internal.h"

/* Those of the running turn that no carrier had yet go on this one. */
void lease_turn(struct step *step);
/* What waits for the running turn goes on this tool result. */
void lease_steering(struct step *step);

/* The messages named were on a carrier that is in the transcript. */
int carrier_committed(struct step *step);
/* What is leased by the delivery comes back. */
int carrier_rolled_back(struct step *step);
int run_recovered(struct step *step);
int run_closed(struct step *step);

#endif
