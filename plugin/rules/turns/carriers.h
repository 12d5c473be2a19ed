/* SPDX-License-Identifier: MIT
 *
 * rules/turns/carriers.h: messages on carriers, and a run whose host is dead. Private to turns/.
 */
#ifndef RULES_TURNS_CARRIERS_H
#define RULES_TURNS_CARRIERS_H

#include "rules/turns/internal.h"

/* Puts the messages of the running turn that had no carrier yet on this one. */
void turns_lease_turn(struct step *step);
/* Puts messages that wait for the running turn on this tool result, as far as there is room. */
void turns_lease_steering(struct step *step);

/* Ends the leases of the named messages: their carrier is in the transcript. */
int turns_carrier_committed(struct step *step);
/* Brings back the messages that the delivery has leased. */
int turns_carrier_rolled_back(struct step *step);
int turns_run_recovered(struct step *step);
int turns_run_closed(struct step *step);

#endif
