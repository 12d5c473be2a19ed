/* SPDX-License-Identifier: MIT
 *
 * stops/board.h: shared memory in which the processes of this test note how long each call took,
 * and the state of each token.
 */
#ifndef STOPS_BOARD_H
#define STOPS_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum call_kind { CALL_OPEN, CALL_PUSH, CALL_HOOK, CALL_SETTLE, CALL_CLOSE, CALL_KINDS };

/* Each of these processes has its own session. */
enum role { ROLE_VICTIM, ROLE_RESIDENT, ROLE_NEWCOMER, ROLES };

/* A token that is BEGUN or SETTLING may be delivered or not. */
enum token_state { TOKEN_UNUSED, TOKEN_BEGUN, TOKEN_ACKNOWLEDGED, TOKEN_SETTLING, TOKEN_SETTLED };

struct call_note {
  int64_t ns;
  int64_t waited_ns; /* the part of `ns` that it waited for a processor */
  int32_t code;
  bool made;
};

/* A running process's calls while the victim was stopped. */
struct calls {
  struct call_note at[CALL_KINDS];
};

enum { BOARD_TOKENS = 1 << 20 };

struct board {
  struct calls calls[ROLES];
  _Atomic(uint32_t) victim_call; /* enum call_kind: the victim's current call; CALL_KINDS: it
                                    ends */
  _Atomic(uint64_t) next_token;
  _Atomic(uint8_t) tokens[BOARD_TOKENS]; /* enum token_state */
  uint8_t sessions[BOARD_TOKENS];        /* enum role */
};

#endif
