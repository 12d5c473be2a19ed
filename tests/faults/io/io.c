/* SPDX-License-Identifier: MIT
 *
 * io/io.c: makes each write, sync, truncation, allocation, rename and open of the store, in every
 * operation (kit/drill.h), fail in turn, once or until the fault is lifted. The answer is STORE
 * with the reason, or success if the failure does no harm, and the plugin works again afterwards.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/full_disk.h"
#include "kit/arguments.h"
#include "kit/drill.h"
#include "kit/interpose.h"

static struct {
  enum io_kind kind;
  int error;     /* 0: a short write */
  bool for_good; /* all later calls fail too */
  uint64_t countdown;
  bool hit;
} planned;

static _Thread_local bool inside;

static bool before_call(struct io_op *op) {
  if (!inside || op->kind != planned.kind || planned.countdown == 0) return true;
  if (planned.countdown > 1) {
    planned.countdown--;
    return true;
  }
  planned.hit = true;
  if (!planned.for_good) planned.countdown = 0;
  if (planned.error == 0) {
    op->length /= 2;
    return true;
  }
  op->error = planned.error;
  return false;
}

static const struct io_watch watch = {.before = before_call};

static void arm(uint64_t n) {
  planned.countdown = n;
  planned.hit = false;
  io_watch(&watch);
}

static bool disarm(void) {
  io_watch(NULL);
  return planned.hit;
}

static void before(void) { inside = true; }
static void after(void) { inside = false; }

static bool allowed(int32_t code, const struct tidings_error *error, bool opening) {
  if (planned.kind == IO_MMAP && code == TIDINGS_E_NOMEM) return true;
  if (code == TIDINGS_E_OUTCOME_UNKNOWN) return true;
  if (code != TIDINGS_E_STORE) return false;
  return planned.error != ENOSPC || opening || strstr(error->text, "space") ||
         strstr(error->text, "full");
}

struct planned_fault {
  enum io_kind kind;
  int error;
};

static const struct planned_fault faults[] = {
    {IO_PWRITE, EIO},
    {IO_PWRITE, ENOSPC},
    {IO_PWRITE, 0},
    {IO_WRITE, EIO},
    {IO_WRITE, ENOSPC},
    {IO_WRITE, 0},
    {IO_WRITEV, EIO},
    {IO_WRITEV, ENOSPC},
    {IO_WRITEV, 0},
    {IO_FDATASYNC, EIO},
    {IO_FDATASYNC, ENOSPC},
    {IO_FSYNC, EIO},
    {IO_FTRUNCATE, EIO},
    {IO_FTRUNCATE, ENOSPC},
    {IO_FALLOCATE, EIO},
    {IO_FALLOCATE, ENOSPC},
    {IO_FALLOCATE, EOPNOTSUPP},
    {IO_POSIX_FALLOCATE, EIO},
    {IO_RENAME, EIO},
    {IO_OPEN, EMFILE},
    {IO_OPEN, EIO},
    {IO_OPEN, ENOSPC},
    {IO_POSIX_FALLOCATE, ENOSPC},
    {IO_MKDIR, ENOSPC},
    {IO_UNLINK, EIO},
    {IO_MMAP, ENOMEM},
};

static void run_faults(const struct arguments *arguments, bool for_good) {
  static struct drill drill;
  drill_begin(&drill, arguments, "io");
  planned.for_good = for_good;
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    char name[96];
    planned.kind = faults[i].kind;
    planned.error = faults[i].error;
    snprintf(name, sizeof name, "%s %s, %s", io_kind_names[planned.kind],
             planned.error ? strerror(planned.error) : "is short",
             for_good ? "from the n-th on" : "the n-th");
    struct drill_fault fault = {.name = name,
                                .arm = arm,
                                .disarm = disarm,
                                .before = before,
                                .after = after,
                                .allowed = allowed};
    drill_run(&drill, &fault);
  }
  drill_end(&drill);
}

int main(int argc, char **argv) {
  struct arguments arguments = {.seed = 1};
  arguments_read(&arguments, argc, argv);
  if (arguments_part(&arguments, "once")) run_faults(&arguments, false);
  if (arguments_part(&arguments, "persistent")) run_faults(&arguments, true);
  if (arguments_part(&arguments, "full-simulated")) full_disk_simulated(&arguments);
  /* This part runs only if it is named, because it may have to be skipped. */
  bool skipped =
      arguments.part && arguments_part(&arguments, "full-tmpfs") && !full_disk_tmpfs(&arguments);
  if (failures()) return 1;
  return skipped ? EXIT_SKIPPED : 0;
}
