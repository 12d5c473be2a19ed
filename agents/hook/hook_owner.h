/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook_owner.h: which process is the agent that calls a hook.
 */
#ifndef AGENTS_HOOK_HOOK_OWNER_H
#define AGENTS_HOOK_HOOK_OWNER_H

#include <stdint.h>

/* The nearest process above this one that is no shell, and nothing that a shell's command line puts
 * in between (env, timeout, ...). If there is none, the parent. */
uint32_t hook_owner(void);

#endif
