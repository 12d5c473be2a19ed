/* SPDX-License-Identifier: MIT
 *
 * store/db/owner.h: identifies a process among all that ever ran on this machine.
 */
#ifndef STORE_DB_OWNER_H
#define STORE_DB_OWNER_H

#include <stdbool.h>
#include <stdint.h>

struct owner {
  uint8_t boot_id[16];
  uint64_t pid_namespace;
  uint64_t start_time; /* of the process, in clock ticks since boot */
  uint32_t pid;        /* 0: no process */
};
/* Does /proc number processes as this process does? Not in a PID namespace with the /proc of an
 * outer one, where the same number means another process. */
bool owner_proc_is_ours(void);
/* Describes process `pid` (0: this one). Returns 0, or -1 if there is no such process. */
int owner_of_process(uint32_t pid, struct owner *ret_owner);
/* Writes for people why owner_of_process failed: which file of /proc cannot be read, or that there
 * is no such process. */
enum { OWNER_REASON_BYTES = 192 };
void owner_reason(uint32_t pid, char ret_text[OWNER_REASON_BYTES]);
bool owner_equal(const struct owner *a, const struct owner *b);
/* false for no process, for another boot and for a zombie */
bool owner_alive(const struct owner *owner);

/* Writes a name for people, of the machine since its last start, and of the PID namespace unless it
 * is the machine's own: "3fa9c1d2", "3fa9c1d2/4026532301". The first part is how
 * /proc/sys/kernel/random/boot_id begins. */
enum { OWNER_MACHINE_BYTES = 32 };
void owner_machine(const struct owner *owner, char ret_name[OWNER_MACHINE_BYTES]);

#endif
