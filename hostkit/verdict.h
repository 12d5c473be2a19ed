/* SPDX-License-Identifier: MIT
 *
 * verdict.h: the lines of text that the probe process sends to the host through its pipe. It sends
 * a line "@ STAGE" before each stage, and at the end "ok" or "refused CODE SENTENCE". If the last
 * line is missing, the process died or hung in the stage that it named last.
 */
#ifndef HOSTKIT_VERDICT_H
#define HOSTKIT_VERDICT_H

#define HK_VERDICT_FD 3
#define HK_VERDICT_STAGE "@ "
#define HK_VERDICT_OK "ok"
#define HK_VERDICT_REFUSED "refused "

/* Stages, worded to follow "while". */
#define HK_STAGE_STARTING "starting"
#define HK_STAGE_LOADING "loading it"
#define HK_STAGE_OPENING "opening an instance"
#define HK_STAGE_CLOSING "closing the instance"
#define HK_STAGE_UNLOADING "unloading it"

#endif
