/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_recover.c: cuts the last commit in every way, also while a store recovers from
 * an earlier cut; damages its pages at different times; and makes digests up.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit.h"
#include "store/db/crc32c.h"
#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/heads.h"
#include "store/handle.h"

enum { PAGE = 4096, SECTOR = 512, UNITS_MAX = 12 };

TestSuite(recover, .init = kit_begin, .fini = kit_end, .timeout = 300);

struct image {
  uint8_t *bytes;
  size_t len;
};

/* Everything that a case has read stays until its process ends. */
struct kept {
  struct kept *next;
  uint8_t *bytes;
};
static struct kept *all_kept;

static uint8_t *keep(uint8_t *bytes) {
  struct kept *kept = malloc(sizeof *kept);
  cr_assert(bytes && kept, "no memory");
  *kept = (struct kept){all_kept, bytes};
  all_kept = kept;
  return bytes;
}

static const char *data_path(void) { return kit_path("store/data.mdb"); }

static struct image image_read(void) {
  struct stat entry;
  struct image image = {.bytes = NULL};
  int fd = open(data_path(), O_RDONLY);
  cr_assert_geq(fd, 0);
  cr_assert_eq(fstat(fd, &entry), 0);
  image.len = (size_t)entry.st_size;
  image.bytes = keep(malloc(image.len));
  cr_assert_eq(pread(fd, image.bytes, image.len, 0), (ssize_t)image.len);
  close(fd);
  return image;
}

/* Writes the image as after a restart: nothing is known of earlier processes. */
static void image_write(const struct image *image) {
  (void)unlink(kit_path("store/shared"));
  (void)unlink(kit_path("store/lock.mdb"));
  int fd = open(data_path(), O_RDWR | O_TRUNC);
  cr_assert_eq(pwrite(fd, image->bytes, image->len, 0), (ssize_t)image->len);
  close(fd);
}

/* Counts the items; -1: the store is refused, with a sentence that names a remedy. */
static int count_items(void) {
  struct store_options options = {.directory = kit_store, .create_budget_ms = KIT_BUDGET_MS};
  struct tidings_error error = new_error();
  struct store *store;
  int code = store_open(&options, &store, &error);
  if (code) {
    cr_assert_eq(code, TIDINGS_E_STORE, "%d %s", code, error.text);
    cr_assert(strstr(error.text, "tidings store salvage"), "%s", error.text);
    return -1;
  }
  int items = (int)items_in(store, "s");
  store_close(store);
  return items;
}

static int push_and_vanish(struct child *self, void *context) {
  (void)context;
  struct store *store = store_at(kit_store);
  child_signal_test(self);
  child_await_test(self);
  say_well(store, "s", "the newest");
  return 0; /* without a close */
}

/* The file before the last commit and after it, because opening may make a commit to forget
 * rows. */
static void make_commit(struct image *ret_before, struct image *ret_after) {
  struct child child = child_start(push_and_vanish, NULL);
  child_await(&child);
  *ret_before = image_read();
  child_signal(&child);
  cr_assert_eq(child_wait(&child), 0);
  *ret_after = image_read();
}

static void push_without_close(void) {
  struct image before, after;
  make_commit(&before, &after);
  free(before.bytes);
  free(after.bytes);
}

static void make_store(void) {
  struct store *store = store_at(kit_store);
  for (int i = 0; i < 30; i++) say_well(store, "s", "news");
  store_close(store);
}

/* The bytes that a commit changed: pages, the sectors of a digest, and of a head. */
struct units {
  size_t at[UNITS_MAX], len[UNITS_MAX], count;
};

static struct units units_between(const struct image *before, const struct image *after) {
  struct units units = {.count = 0};
  for (size_t at = 0; at < after->len;) {
    size_t len = at < 2 * (size_t)PAGE ? SECTOR : PAGE;
    if (len > after->len - at) len = after->len - at;
    bool there = at + len <= before->len;
    if (!there || memcmp(before->bytes + at, after->bytes + at, len) != 0) {
      static const uint8_t zeros[PAGE];
      bool empty = !there && memcmp(after->bytes + at, zeros, len) == 0;
      if (!empty) {
        cr_assert_lt(units.count, UNITS_MAX);
        units.at[units.count] = at;
        units.len[units.count++] = len;
      }
    }
    at += len;
  }
  return units;
}

static struct image mix(const struct image *before, const struct image *after,
                        const struct units *units, unsigned kept) {
  struct image image = {.bytes = keep(calloc(1, after->len)), .len = after->len};
  memcpy(image.bytes, before->bytes, before->len < after->len ? before->len : after->len);
  for (size_t i = 0; i < units->count; i++)
    if (kept >> i & 1)
      memcpy(image.bytes + units->at[i], after->bytes + units->at[i], units->len[i]);
  return image;
}

/* Tries every subset of what the commit wrote: the commit counts only if all of it is there. */
static void cut_everywhere(const struct image *before, const struct image *after, int items) {
  struct units units = units_between(before, after);
  cr_assert_gt(units.count, 2);
  for (unsigned kept = 0; kept < 1u << units.count; kept++) {
    struct image image = mix(before, after, &units, kept);
    image_write(&image);
    bool all = kept == (1u << units.count) - 1;
    cr_assert_eq(count_items(), items + all, "kept %x of %zu", kept, units.count);
    free(image.bytes);
  }
}

/* The file without the newest commit's pages, but with its head. */
static struct image cut_one(const struct image *before, const struct image *after) {
  struct units units = units_between(before, after);
  unsigned all = (1u << units.count) - 1;
  return mix(before, after, &units, all & ~(1u << (units.count - 1)));
}

Test(recover, each_part_of_a_commit_that_is_cut_off_and_chains_of_cuts) {
  struct image before, after;
  int items = 30;
  make_store();
  for (int round = 0; round < 6; round++) {
    make_commit(&before, &after);
    cut_everywhere(&before, &after, items);
    struct image cut = cut_one(&before, &after);
    image_write(&cut);
    cr_assert_eq(count_items(),
                 items); /* it has recovered, and the next round goes on from there */
    free(before.bytes);
    free(after.bytes);
    free(cut.bytes);
    if (round % 2) push_without_close();
    items += round % 2;
  }
}

/* The page of a head that recovery was writing. It is new up to some byte, or from that byte on. */
Test(recover, recovery_is_cut_off_at_each_byte) {
  struct image before, after;
  make_store();
  make_commit(&before, &after);
  struct image cut = cut_one(&before, &after), torn = {malloc(cut.len), cut.len};
  image_write(&cut);
  cr_assert_eq(count_items(), 30);
  struct image healed = image_read();
  size_t page = memcmp(cut.bytes, healed.bytes, PAGE) != 0 ? 0 : PAGE;
  cr_assert_neq(memcmp(cut.bytes + page, healed.bytes + page, PAGE), 0);
  for (size_t place = 0; place <= DIGEST_AT + 128; place++) {
    for (int begins_new = 0; begins_new < 2; begins_new++) {
      const struct image *left = begins_new ? &healed : &cut, *right = begins_new ? &cut : &healed;
      memcpy(torn.bytes, cut.bytes, cut.len);
      memcpy(torn.bytes + page, left->bytes + page, place);
      memcpy(torn.bytes + page + place, right->bytes + page + place, PAGE - place);
      image_write(&torn);
      cr_assert_eq(count_items(), 30, "place %zu, %d", place, begins_new);
    }
  }
  free(torn.bytes);
}

/* The head or the digest of the newest commit, torn in the middle of a sector. */
Test(recover, a_torn_head_or_digest_gives_up_one_commit_at_most) {
  struct image before, after;
  make_store();
  make_commit(&before, &after);
  struct image torn = {malloc(after.len), after.len};
  size_t page = memcmp(before.bytes, after.bytes, PAGE) != 0 ? 0 : PAGE;
  for (size_t place = 0; place <= DIGEST_AT + 128; place++) {
    for (int begins_new = 0; begins_new < 2; begins_new++) {
      memcpy(torn.bytes, after.bytes, after.len);
      memcpy(torn.bytes + page + (begins_new ? place : 0),
             before.bytes + page + (begins_new ? place : 0), begins_new ? PAGE - place : place);
      bool whole = memcmp(torn.bytes, after.bytes, after.len) == 0;
      image_write(&torn);
      cr_assert_eq(count_items(), 30 + whole, "place %zu, %d", place, begins_new);
    }
  }
  free(torn.bytes);
}

/* -- damage ------------------------------------------------------------------------------------ */

static void flip_in_file(size_t at) {
  uint8_t byte;
  int fd = open(data_path(), O_RDWR);
  cr_assert_eq(pread(fd, &byte, 1, (off_t)at), 1);
  byte ^= 0x10;
  cr_assert_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
  close(fd);
}

static void keep_file_as(const struct image *image) {
  int fd = open(data_path(), O_RDWR);
  cr_assert_eq(pwrite(fd, image->bytes, image->len, 0), (ssize_t)image->len);
  close(fd);
}

enum when { SAME_BOOT_AFTER_A_KILL, RESTART_AFTER_A_CLOSE };

/* Damages a commit that was acknowledged and flushed: it may be reported as damaged, but must never
 * be undone. */
static void damage_each_unit(enum when when) {
  struct image before, after;
  struct stat first, now;
  make_store();
  before = image_read();
  if (when == SAME_BOOT_AFTER_A_KILL) {
    push_without_close();
  } else {
    struct store *store = store_at(kit_store);
    say_well(store, "s", "the newest");
    store_close(store);
  }
  after = image_read();
  cr_assert_eq(stat(data_path(), &first), 0);
  struct units units = units_between(&before, &after);
  for (size_t i = 0; i < units.count; i++) {
    for (size_t at = 3; at < units.len[i]; at += 37) {
      if (when == RESTART_AFTER_A_CLOSE) image_write(&after);
      else keep_file_as(&after);
      flip_in_file(units.at[i] + at);
      cr_assert_eq(stat(data_path(), &now), 0);
      cr_assert_eq(now.st_ino, first.st_ino);
      int items = count_items();
      /* 0: the key of the name's row is damaged, and the session is not found. */
      cr_assert(items <= 0 || items >= 31, "byte %zu: %d items", units.at[i] + at, items);
    }
  }
}

Test(recover, damage_after_a_kill_is_not_taken_for_a_power_cut) {
  damage_each_unit(SAME_BOOT_AFTER_A_KILL);
}

Test(recover, damage_after_a_clean_close_is_not_taken_for_a_power_cut) {
  damage_each_unit(RESTART_AFTER_A_CLOSE);
}

/* -- digests ----------------------------------------------------------------------------------- */

static enum digest_found decode(const struct digest *digest, uint64_t end) {
  uint8_t bytes[DIGEST_BYTES];
  struct digest read;
  (void)digest_encode(digest, bytes);
  return digest_decode(bytes, end, &read);
}

Test(recover, a_digest_that_cannot_be_is_wrong) {
  static const struct digest_run runs[][3] = {
      {{0, 1}},          {{1, 1}},         {{1, 2}},         {{2, 0}},
      {{2, 1}, {2, 1}},  {{5, 2}, {6, 1}}, {{9, 1}, {3, 1}}, {{2, 1}, {3, 1}},
      {{100, 1}},        {{99, 2}},        {{2, 513}},       {{2, 300}, {400, 300}},
      {{UINT32_MAX, 1}}, {{2, UINT32_MAX}}};
  static struct digest digest;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    digest = (struct digest){.transaction = 5};
    while (digest.run_count < 3 && (runs[i][digest.run_count].page || !digest.run_count)) {
      digest.runs[digest.run_count] = runs[i][digest.run_count];
      digest.run_count++;
    }
    cr_assert_eq(decode(&digest, i < 8 || i > 9 ? 1000 : 100), DIGEST_WRONG, "case %zu", i);
  }
  digest = (struct digest){.transaction = 5, .run_count = 1, .runs = {{99, 1}}};
  cr_assert_eq(decode(&digest, 100), DIGEST_FOUND);
}

Test(recover, a_digest_with_any_bit_changed_is_wrong) {
  struct digest read, digest = {.transaction = 9, .flushed = 8, .head_crc = 1, .pages_crc = 2};
  uint8_t bytes[DIGEST_BYTES] = {0}, nothing[DIGEST_BYTES] = {0};
  for (uint64_t page = 2; page < 40; page += 3) cr_assert(digest_add_pages(&digest, page, 2));
  size_t len = digest_encode(&digest, bytes);
  cr_assert_eq(digest_decode(bytes, 1000, &read), DIGEST_FOUND);
  cr_assert_eq(read.run_count, digest.run_count);
  cr_assert_eq(digest_pages(&read), 26);
  for (size_t bit = 0; bit < len * 8; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    cr_assert_eq(digest_decode(bytes, 1000, &read), DIGEST_WRONG, "bit %zu", bit);
    bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
  cr_assert_eq(digest_decode(nothing, 1000, &read), DIGEST_NONE);
}

Test(recover, a_digest_has_room_for_so_many_pages) {
  struct digest digest = {.transaction = 1};
  for (uint64_t i = 0; i < DIGEST_RUNS; i++) cr_assert(digest_add_pages(&digest, 2 + i * 2, 1));
  cr_assert_not(digest_add_pages(&digest, 10000, 1));
  digest = (struct digest){.transaction = 1};
  cr_assert(digest_add_pages(&digest, 2, DIGEST_PAGES));
  cr_assert_not(digest_add_pages(&digest, 2 + DIGEST_PAGES, 1));
  cr_assert_not(digest_add_pages(&digest, 2, 1));
}

/* -- without digests --------------------------------------------------------------------------- */

/* A tool has copied the store, so neither head has a digest. The first commit makes both. */
Test(recover, a_copy_without_digests_is_used_and_gets_them) {
  struct tidings_error error = new_error();
  struct heads heads;
  make_store();
  struct image image = image_read();
  memset(image.bytes + DIGEST_AT, 0, DIGEST_BYTES);
  memset(image.bytes + PAGE + DIGEST_AT, 0, DIGEST_BYTES);
  image_write(&image);
  const struct store_options options = {
      .directory = kit_store, .create_budget_ms = KIT_BUDGET_MS, .only_reads = true};
  struct store *store;
  cr_assert_eq(store_open(&options, &store, &error), 0, "%s", error.text);
  cr_assert_eq(heads_read(&heads, store->db->data_fd, PAGE, datafile_map_bytes()), 0);
  cr_assert_eq(heads.head[0].state, HEAD_BARE, "who only reads changes nothing");
  cr_assert_eq(say(store, (struct said){.message = "more"}, NULL, &error), 0, "%s", error.text);
  cr_assert_eq(heads_read(&heads, store->db->data_fd, PAGE, datafile_map_bytes()), 0);
  cr_assert(heads.head[0].state == HEAD_RIGHT && heads.head[1].state == HEAD_RIGHT);
  store_close(store);
  cr_assert_eq(count_items(), 31);
}

/* If the other head has a digest, the newest head needs its own. A missing digest, or one of
 * another commit, shows that the commit was cut. */
Test(recover, a_newest_head_without_its_own_digest_does_not_count) {
  struct image before, after;
  make_store();
  make_commit(&before, &after);
  size_t page = memcmp(before.bytes, after.bytes, PAGE) != 0 ? 0 : PAGE;
  struct image image = {malloc(after.len), after.len};
  memcpy(image.bytes, after.bytes, after.len);
  memset(image.bytes + page + DIGEST_AT, 0, DIGEST_BYTES);
  image_write(&image);
  cr_assert_eq(count_items(), 30);
  memcpy(image.bytes, after.bytes, after.len);
  memcpy(image.bytes + page + DIGEST_AT, before.bytes + page + DIGEST_AT, DIGEST_BYTES);
  image_write(&image);
  cr_assert_eq(count_items(), 30);
  free(image.bytes);
}
