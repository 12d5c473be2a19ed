/* SPDX-License-Identifier: MIT
 *
 * again/faults.h: decides which call of the engine or the allocator fails: a call whose way (the
 * chain of functions that led to it) no failed call had, in any process of the test.
 */
#ifndef AGAIN_FAULTS_H
#define AGAIN_FAULTS_H

#include <stdbool.h>

enum fault { FAULT_NONE, FAULT_ENGINE, FAULT_MEMORY };

void faults_arm(void);           /* makes the next call by a new way fail, once */
enum fault faults_disarm(void);  /* returns what has failed */
const char *faults_failed(void); /* the name of the function that failed */

#endif
