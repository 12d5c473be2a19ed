/* SPDX-License-Identifier: MIT
 *
 * again/faults.h: which call of the engine or of the allocator fails. A fault is due at a call that
 * is reached by a way (the functions that have called each other) by which none has failed yet, in
 * any process of the test.
 */
#ifndef AGAIN_FAULTS_H
#define AGAIN_FAULTS_H

#include <stdbool.h>

enum fault { FAULT_NONE, FAULT_ENGINE, FAULT_MEMORY };

void faults_arm(void);           /* the next call by a new way fails, once */
enum fault faults_disarm(void);  /* which has failed */
const char *faults_failed(void); /* the name of the function that has */

#endif
