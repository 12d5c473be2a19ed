/* SPDX-License-Identifier: MIT
 *
 * rules/turns/carriers.h: messages on carriers, and a run whose host is dead. Private to turns/.
 */
#ifndef RULES_TURNS_CARRIERS_H
#define RULES_TURNS_CARRIERS_H

#include "rules/turns/internal.h"

/* Those of the running turn that no carrier had yet go on this one. */
void turns_lease_turn(struct step *step);
/* Messages that wait for the running turn go on this tool result, as far as there is room. */
void turns_lease_steering(struct step *step);

/* The messages named were on a carrier that is in the transcript. */
int turns_carrier_committed(struct step *step);
/* Messages that the delivery has leased come back. */
int turns_carrier_rolled_back(struct step *step);
int turns_run_recovered(struct step *step);
int turns_run_closed(struct step *step);

#endif
