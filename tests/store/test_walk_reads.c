/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_walk_reads.c: the walk reads a file by pread, never through a map, branches
 * before leaves, and all before LMDB opens the file. The linker sends the calls here.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/files.h"
#include "store/handle.h"
#include "walk_kit.h"

TestSuite(walk_reads, .init = kit_begin, .fini = kit_end, .timeout = 300);

enum { ROWS = 60000, MOST_PAGES = 4000 };

static struct {
  uint64_t pages[MOST_PAGES]; /* that were read, in this order */
  size_t count;
  unsigned maps;       /* calls of mmap on a file */
  size_t before_lmdb;  /* how many had been read when LMDB was given the file */
  bool mapped_already; /* and whether it was in memory then */
} reads;

static uint64_t failing_page; /* cannot be read now; 0: each can */

/* -- the calls --------------------------------------------------------------------------------- */

ssize_t real_pread(int fd, void *to, size_t bytes, off_t at) __asm__("__real_pread");
ssize_t seen_pread(int fd, void *to, size_t bytes, off_t at) __asm__("__wrap_pread");
ssize_t seen_pread(int fd, void *to, size_t bytes, off_t at) {
  if (failing_page && (uint64_t)at / PAGE == failing_page) {
    errno = EIO;
    return -1;
  }
  ssize_t got = real_pread(fd, to, bytes, at);
  if (got == PAGE && at % PAGE == 0 && reads.count < MOST_PAGES)
    reads.pages[reads.count++] = (uint64_t)at / PAGE;
  return got;
}

void *real_mmap(void *at, size_t len, int prot, int flags, int fd,
                off_t offset) __asm__("__real_mmap");
void *seen_mmap(void *at, size_t len, int prot, int flags, int fd,
                off_t offset) __asm__("__wrap_mmap");
void *seen_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset) {
  reads.maps += fd >= 0;
  return real_mmap(at, len, prot, flags, fd, offset);
}

static bool is_mapped(const char *file) {
  char line[1024];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  cr_assert_not_null(maps);
  while (fgets(line, sizeof line, maps)) found = found || strstr(line, file);
  (void)fclose(maps);
  return found;
}

int real_mdb_env_open(MDB_env *env, const char *path, unsigned flags,
                      mdb_mode_t mode) __asm__("__real_mdb_env_open");
int seen_mdb_env_open(MDB_env *env, const char *path, unsigned flags,
                      mdb_mode_t mode) __asm__("__wrap_mdb_env_open");
int seen_mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode) {
  reads.before_lmdb = reads.count;
  reads.mapped_already = is_mapped("data.mdb");
  return real_mdb_env_open(env, path, flags, mode);
}

/* -- the file ---------------------------------------------------------------------------------- */

/* Makes a tree of at least three levels, so that the root is not its only branch. */
static void make_rows(void) {
  struct tidings_error error = new_error();
  struct store *store = store_at(kit_store);
  struct db_txn txn = {.touched_count = 0};
  store_deadline deadline = store_deadline_in(KIT_BUDGET_MS);
  cr_assert_eq(db_write(store->db, NULL, deadline, &txn, &error), 0, "%s", error.text);
  cr_assert_eq(db_reserve(&txn, (uint64_t)ROWS * 100, &error), 0, "%s", error.text);
  for (size_t i = 0; i < ROWS; i++) {
    struct db_key key = {{0xf0}}; /* no kind of row has it */
    for (size_t byte = 0; byte < 4; byte++) key.bytes[1 + byte] = (uint8_t)(i >> (24 - 8 * byte));
    cr_assert_eq(db_put(&txn, &key, span_text("as long as a short message")), 0);
  }
  cr_assert_eq(db_commit(&txn, &error), 0, "%s", error.text);
  store_close(store);
}

static bool is_branch(const uint8_t *data, uint64_t page) {
  return page_u16(data + page * PAGE, PAGE_KIND_AT) == PAGE_BRANCH;
}

static uint8_t *read_data(void) {
  struct stat entry;
  int fd = open(walk_kit_path(), O_RDONLY);
  cr_assert_eq(fstat(fd, &entry), 0);
  uint8_t *data = malloc((size_t)entry.st_size);
  cr_assert_eq(real_pread(fd, data, (size_t)entry.st_size, 0), (ssize_t)entry.st_size);
  close(fd);
  return data;
}

static bool was_read_before(size_t index) {
  for (size_t i = 0; i < index; i++) {
    if (reads.pages[i] == reads.pages[index]) return true;
  }
  return false;
}

/* -- what it reads ----------------------------------------------------------------------------- */

Test(walk_reads, branches_first_and_never_through_a_map) {
  struct walk walk;
  uint64_t branches = 0, leaves = 0;
  make_rows();
  uint8_t *data = read_data();
  int fd = open(walk_kit_path(), O_RDONLY);
  memset(&reads, 0, sizeof reads);
  cr_assert(walk_begin(&walk, fd, datafile_map_bytes()) && walk_run(&walk), "%s", walk.finding);
  cr_assert_geq(walk.rows.branches, 3);
  cr_assert_eq(reads.maps, 0, "the file is mapped");
  for (size_t i = 0; i < reads.count; i++) {
    bool branch = is_branch(data, reads.pages[i]);
    if (leaves == 0 && branch && !was_read_before(i)) branches++;
    leaves += !branch;
  }
  cr_assert_eq(branches, walk.rows.branches + walk.free_pages.branches,
               "%llu branches come before the first leaf", (unsigned long long)branches);
  cr_assert_eq(leaves, walk.rows.leaves + walk.free_pages.leaves, "a leaf is read once");
  walk_end(&walk);
  close(fd);
  free(data);
}

/* A wrong branch at the far end is found before any leaf is read. */
Test(walk_reads, a_wrong_branch_costs_no_leaf) {
  struct walk walk;
  uint64_t last = 0;
  make_rows();
  uint8_t *data = read_data();
  int fd = open(walk_kit_path(), O_RDWR);
  cr_assert(walk_begin(&walk, fd, datafile_map_bytes()) && walk_run(&walk), "%s", walk.finding);
  const uint8_t *root = data + walk.rows.root * PAGE;
  size_t at = page_u16(root, (size_t)page_u16(root, PAGE_LOWER_AT) - 2);
  last = page_u32(root, at + NODE_LOW_AT);
  cr_assert(is_branch(data, last));
  walk_end(&walk);
  cr_assert_eq(pwrite(fd, "\xff\xff", 2, (off_t)(last * PAGE + PAGE_LOWER_AT)), 2);
  memset(&reads, 0, sizeof reads);
  cr_assert(walk_begin(&walk, fd, datafile_map_bytes()));
  cr_assert_not(walk_run(&walk));
  cr_assert_eq(walk.page, last, "page %llu", (unsigned long long)walk.page);
  for (size_t i = 0; i < reads.count; i++)
    cr_assert(is_branch(data, reads.pages[i]), "a leaf is read");
  walk_end(&walk);
  close(fd);
  free(data);
}

Test(walk_reads, lmdb_is_given_the_file_after_the_walk) {
  struct walk walk;
  make_rows();
  int fd = open(walk_kit_path(), O_RDONLY);
  cr_assert(walk_begin(&walk, fd, datafile_map_bytes()) && walk_run(&walk), "%s", walk.finding);
  walk_end(&walk);
  close(fd);
  cr_assert_eq(utimensat(AT_FDCWD, walk_kit_path(), NULL, 0),
               0); /* or the note of the last close counts */
  memset(&reads, 0, sizeof reads);
  struct store *store = store_at(kit_store);
  cr_assert_geq(reads.before_lmdb, walk.rows.branches + walk.rows.leaves, "%zu pages were read",
                reads.before_lmdb);
  cr_assert_not(reads.mapped_already);
  cr_assert(is_mapped("data.mdb"), "or the question above has no meaning");
  store_close(store);
}

/* A read that fails once proves nothing about the file: the next open, by any process, reads
 * again. */
Test(walk_reads, a_page_that_could_not_be_read_is_not_noted_as_damage) {
  const struct store_options options = {
      .directory = kit_store, .create_budget_ms = KIT_BUDGET_MS, .only_reads = true};
  unsigned refused = 0;
  struct store *store = store_at(kit_store);
  say_well(store, "s", "news");
  store_close(store);
  struct walk walk;
  cr_assert(walk_kit_walk(&walk));
  cr_assert_eq(unlink(kit_path("store/shared")), 0); /* so that it is walked */
  for (uint64_t page = 2; page <= walk.last_page; page++) {
    struct tidings_error error = new_error();
    failing_page = page;
    int code = store_open(&options, &store, &error);
    failing_page = 0;
    if (!code) { /* a free page */
      store_close(store);
      cr_assert_eq(unlink(kit_path("store/shared")), 0);
      continue;
    }
    refused++;
    cr_assert_eq(code, TIDINGS_E_STORE);
    cr_assert(strstr(error.text, "cannot be read"), "page %llu: %s", (unsigned long long)page,
              error.text);
    error = new_error();
    cr_assert_eq(store_open(&options, &store, &error), 0, "page %llu: %s", (unsigned long long)page,
                 error.text);
    store_close(store);
    cr_assert_eq(unlink(kit_path("store/shared")), 0);
  }
  cr_assert_gt(refused, 0);
}
