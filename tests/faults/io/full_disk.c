/* SPDX-License-Identifier: MIT
 */
#include "io/full_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/folder.h"
#include "kit/interpose.h"
#include "kit/rig.h"

enum { SESSIONS = 64, PUSHES_MAX = 20000, ROUNDS = 12, FILL_FILE_MAX = 64 << 20 };

struct books {
  struct rig rig;
  char store[FOLDER_PATH_MAX];
  uint64_t next_token;
  struct tokens due[SESSIONS], in_doubt[SESSIONS];
  const char *disk;
};

/* -- the simulated disk ------------------------------------------------------------------------ */

static atomic_bool is_full;

static bool has_blocks(int fd, off_t end) {
  struct stat status;
  return fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
         end <= (off_t)status.st_blocks * 512;
}

static bool fits(const struct io_op *op) {
  off_t offset = op->offset;
  switch (op->kind) {
  case IO_WRITE:
  case IO_WRITEV:
    if (offset < 0) offset = lseek(op->fd, 0, SEEK_CUR);
    return offset < 0 || has_blocks(op->fd, offset + (off_t)op->length);
  case IO_PWRITE:
  case IO_FALLOCATE:
  case IO_POSIX_FALLOCATE: return has_blocks(op->fd, offset + (off_t)op->length);
  case IO_OPEN: return !(op->flags & O_CREAT) || faccessat(op->fd, op->path, F_OK, 0) == 0;
  case IO_MKDIR: return faccessat(op->fd, op->path, F_OK, 0) == 0; /* mkdir will fail with EEXIST */
  default: return true;
  }
}

static bool before(struct io_op *op) {
  if (!atomic_load(&is_full) || fits(op)) return true;
  op->error = ENOSPC;
  return false;
}

static const struct io_watch watch = {.before = before};

/* -- what is the same on every full disk ------------------------------------------------------- */

static void session_name(unsigned i, char name[16]) { snprintf(name, 16, "full-%u", i); }

static void must(int32_t code, const struct tidings_error *error, const struct books *books,
                 const char *what) {
  if (code != 0) fail("%s: %s: %s", books->disk, what, rig_why(code, error));
}

/* Returns false when the push was refused. */
static bool push(struct books *books, unsigned session) {
  struct tidings_error error = RIG_ERROR;
  char name[16];
  session_name(session, name);
  uint64_t token = books->next_token++;
  int32_t code = rig_push(&books->rig, name, token, token % 3 == 0, NULL, &error);
  if (code == 0) {
    tokens_add(&books->due[session], token);
    return true;
  }
  if (code == TIDINGS_E_OUTCOME_UNKNOWN) tokens_add(&books->in_doubt[session], token);
  else if (code != TIDINGS_E_STORE && code != TIDINGS_E_FULL)
    fail("%s: a push: %s", books->disk, rig_why(code, &error));
  else if (code == TIDINGS_E_STORE && !strstr(error.text, "space") && !strstr(error.text, "full"))
    fail("%s: a push was refused without the reason: %s", books->disk, rig_why(code, &error));
  return false;
}

static bool take(struct tokens *tokens, uint64_t token) {
  for (size_t i = 0; i < tokens->count; i++) {
    if (tokens->at[i] != token) continue;
    tokens->at[i] = tokens->at[--tokens->count];
    return true;
  }
  return false;
}

static void drain(struct books *books, unsigned session) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  char name[16];
  session_name(session, name);
  int32_t code = rig_deliver(&books->rig, name, session % 2 ? RIG_TOOL_RESULT : RIG_CHAT_REQUEST,
                             &carried, &error);
  must(code, &error, books, "delivering what was pending");
  if (code != 0) return;
  for (size_t i = 0; i < carried.tokens.count; i++) {
    if (!take(&books->due[session], carried.tokens.at[i]) &&
        !take(&books->in_doubt[session], carried.tokens.at[i]))
      fail("%s: token %" PRIu64 " came and should not", books->disk, carried.tokens.at[i]);
  }
  if (books->due[session].count)
    fail("%s: %zu of %s did not come", books->disk, books->due[session].count, name);
  books->due[session].count = 0;
  if (carried.delivery)
    must(rig_settle(&books->rig, carried.delivery, TIDINGS_COMMITTED, &error), &error, books,
         "settling");
  carried_clear(&carried);
}

static void open_store(struct books *books, const char *what) {
  struct tidings_error error = RIG_ERROR;
  must(rig_open(&books->rig, &(struct rig_open){.store = books->store}, &error), &error, books,
       what);
  if (!books->rig.plugin) die("%s: there is no going on without a store", books->disk);
}

static void close_store(struct books *books) {
  struct tidings_error error = RIG_ERROR;
  must(rig_close(&books->rig, &error), &error, books, "close");
}

/* Pushes until the store is full; then a host attaches, and everything pending is delivered and
 * settled. */
static void fill_and_drain(struct books *books, bool reopen) {
  uint64_t accepted = 0;
  for (unsigned refused = 0; refused < 3 * SESSIONS && accepted < PUSHES_MAX;) {
    if (push(books, (unsigned)(books->next_token % SESSIONS))) accepted++;
    else refused++;
  }
  if (accepted == PUSHES_MAX) fail("%s: pushes are accepted without end", books->disk);
  if (reopen) {
    close_store(books);
    open_store(books, "opening again on the full disk");
  }
  for (unsigned session = 0; session < SESSIONS; session++) drain(books, session);
}

static void begin(struct books *books, const struct arguments *arguments, const char *disk) {
  memset(books, 0, sizeof *books);
  books->next_token = 1;
  books->disk = disk;
  rig_load(&books->rig, arguments->plugin);
}

static void end(struct books *books) {
  rig_unload(&books->rig);
  for (unsigned session = 0; session < SESSIONS; session++) {
    tokens_free(&books->due[session]);
    tokens_free(&books->in_doubt[session]);
  }
}

void full_disk_simulated(const struct arguments *arguments) {
  static struct books books;
  char folder[FOLDER_PATH_MAX];
  struct random random = random_seeded(arguments->seed, 5);
  folder_make(arguments->scratch, "full", folder);
  begin(&books, arguments, "simulated full disk");
  io_watch(&watch);
  for (unsigned round = 0; round < ROUNDS; round++) {
    char name[16];
    snprintf(name, sizeof name, "store-%u", round);
    folder_join(books.store, folder, name);
    open_store(&books, "open");
    for (uint64_t i = random_below(&random, 300); i > 0; i--)
      push(&books, (unsigned)(i % SESSIONS));
    atomic_store(&is_full, true);
    fill_and_drain(&books, round % 2);
    fill_and_drain(&books, false);
    atomic_store(&is_full, false);
    if (!push(&books, 0)) fail("there is space again, and a push is still refused");
    drain(&books, 0);
    close_store(&books);
  }
  io_watch(NULL);
  end(&books);
  printf("simulated full disk: %u rounds, %" PRIu64 " pushes\n", ROUNDS, books.next_token - 1);
  if (failures() == 0) folder_remove(folder);
}

/* Writes a file of zeros until not one more byte fits. */
static void fill_with_zeros(const char *folder) {
  static const char zeros[4096];
  char path[FOLDER_PATH_MAX];
  folder_join(path, folder, "ballast");
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) die("%s: %s", path, strerror(errno));
  for (size_t written = 0;
       written < FILL_FILE_MAX && write(fd, zeros, sizeof zeros) == (ssize_t)sizeof zeros;)
    written += sizeof zeros;
  close(fd);
}

/* Opens a store that does not exist yet, on a disk without room for it: it must be refused with a
 * sentence, without a signal. */
static void open_without_room(struct books *books, const char *folder) {
  struct tidings_error error = RIG_ERROR;
  folder_join(books->store, folder, "no-room");
  int32_t code = rig_open(&books->rig, &(struct rig_open){.store = books->store}, &error);
  if (code != TIDINGS_E_STORE)
    fail("opening a new store on a full disk: %s", rig_why(code, &error));
  else if (!strstr(error.text, "space") && !strstr(error.text, "full"))
    fail("not told that the disk is full: %s", rig_why(code, &error));
  if (code == 0) close_store(books);
}

bool full_disk_tmpfs(const struct arguments *arguments) {
  static struct books books;
  char folder[FOLDER_PATH_MAX], lock[FOLDER_PATH_MAX];
  folder_make(arguments->scratch, "tmpfs", folder);
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("tmpfs", folder, "tmpfs", 0, "size=24m,mode=0700") != 0) {
    printf("skipped: no right to mount a tmpfs (%s)\n", strerror(errno));
    folder_remove(folder);
    return false;
  }
  begin(&books, arguments, "a tmpfs of 24 MiB");
  folder_join(books.store, folder, "store");
  open_store(&books, "open");
  for (unsigned i = 0; i < 100; i++) push(&books, i % SESSIONS);
  fill_with_zeros(folder);
  fill_and_drain(&books, false);
  fill_and_drain(&books, true);
  fill_and_drain(&books, false);
  close_store(&books);
  /* A process that finds no lock file makes one. */
  folder_join(lock, books.store, "lock.mdb");
  if (unlink(lock) == 0) {
    struct tidings_error error = RIG_ERROR;
    fill_with_zeros(folder);
    int32_t code = rig_open(&books.rig, &(struct rig_open){.store = books.store}, &error);
    if (code == 0) close_store(&books);
    else if (code != TIDINGS_E_STORE)
      fail("a lock file that does not fit: %s", rig_why(code, &error));
  }
  open_without_room(&books, folder);
  end(&books);
  printf("a tmpfs of 24 MiB: %" PRIu64 " pushes\n", books.next_token - 1);
  umount2(folder, MNT_DETACH);
  folder_remove(folder);
  return true;
}
