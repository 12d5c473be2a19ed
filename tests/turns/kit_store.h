/* SPDX-License-Identifier: MIT
 *
 * kit_store.h: shared by the kit's files; tests include kit.h.
 */
#ifndef TURNS_KIT_STORE_H
#define TURNS_KIT_STORE_H

/* The folder in which hostkit keeps its private copies of the plugin. */
const char *kit_copies(void);

/* Frees the memory of text() and replies. */
void kit_forget(void);

/* Ends this process as failed; the test's first process removes the test's folder. */
_Noreturn void kit_give_up(void);

#endif
