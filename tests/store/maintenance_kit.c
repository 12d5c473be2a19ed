/* SPDX-License-Identifier: MIT
 */
#include "maintenance_kit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct maintenance_report report;
struct tidings_error why;

const char *to_path(void) { return kit_path("to"); }

struct bytes read_bytes_of(const char *store) {
  struct bytes bytes;
  struct stat entry;
  (void)snprintf(bytes.path, sizeof bytes.path, "%s/data.mdb", store);
  int fd = open(bytes.path, O_RDONLY);
  cr_assert_geq(fd, 0);
  cr_assert_eq(fstat(fd, &entry), 0);
  bytes.len = (size_t)entry.st_size;
  bytes.at = malloc(bytes.len);
  cr_assert_eq(pread(fd, bytes.at, bytes.len, 0), entry.st_size);
  close(fd);
  return bytes;
}

void write_bytes_of(struct bytes *bytes) {
  int fd = open(bytes->path, O_WRONLY);
  cr_assert_eq(pwrite(fd, bytes->at, bytes->len, 0), (ssize_t)bytes->len);
  close(fd);
  free(bytes->at);
}

static uint8_t *newest_head(const struct bytes *bytes) {
  uint8_t *second = bytes->at + PAGE;
  return page_u64(second, HEAD_TRANSACTION_AT) > page_u64(bytes->at, HEAD_TRANSACTION_AT)
             ? second
             : bytes->at;
}

/* The root of the tree of rows. */
uint8_t *root_page(const struct bytes *bytes) {
  return bytes->at + page_u64(newest_head(bytes), HEAD_TREES_AT + TREE_BYTES + TREE_ROOT_AT) * PAGE;
}

void tear_head(const char *path) {
  struct bytes bytes = read_bytes_of(path);
  uint8_t *newest = newest_head(&bytes), *older = newest == bytes.at ? newest + PAGE : bytes.at;
  uint64_t number = page_u64(newest, HEAD_TRANSACTION_AT) + 1;
  memcpy(older + HEAD_TRANSACTION_AT, &number, sizeof number);
  write_bytes_of(&bytes);
}

void zero_root(const char *path) {
  struct bytes bytes = read_bytes_of(path);
  cr_assert_eq(page_u16(root_page(&bytes), PAGE_KIND_AT), PAGE_BRANCH);
  memset(root_page(&bytes), 0, PAGE);
  write_bytes_of(&bytes);
}

void put_raw(struct store *store, const struct db_key *key, struct tidings_span value) {
  struct store_txn *txn;
  expect_done(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &why));
  expect_done(db_put(txn->db, key, value));
  expect_done(store_commit(txn, &why));
}

void put_record(struct store *store, const struct db_key *key, struct buffer *body) {
  record_end(body, key);
  put_raw(store, key, buffer_view(body));
  buffer_free(body);
}

void put_layout(struct store *store, uint64_t layout) {
  const struct db_key key = row_key(0, ROW_META, 0);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_u64(&body, layout);
  record_u64(&body, 2);
  put_record(store, &key, &body);
}

/* Session "s": 1..20 are delivered, 21..30 are leased, 31..400 are pending; "t" has 5 pending. */
void make_store(void) {
  struct store *store = store_at(kit_store);
  fill_items(store, "s", 1, 400, 1000);
  deliver_items(store, number_of(store, "s"), 1, 1, 20, true, 2000);
  deliver_items(store, number_of(store, "s"), 2, 21, 30, false, 2000);
  fill_items(store, "t", 1, 5, 1000);
  store_close(store);
}

void expect_pending(const char *path, const char *session, size_t expected) {
  struct store *store = store_at(path);
  size_t pending = pending_in(store, session);
  cr_assert_eq(pending, expected, "%s: %zu are pending, expected %zu", session, pending, expected);
  store_close(store);
}

void expect_sound(const char *path) {
  expect_done(maintenance_check(path, &report, &why));
  cr_assert_eq(report.finding_count, 0, "page %llu %s", (unsigned long long)report.findings[0].page,
               report.findings[0].text);
}
