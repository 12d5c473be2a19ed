/* SPDX-License-Identifier: MIT
 *
 * tests/store/maintenance_kit.h: makes a store for tests of maintenance, reads its bytes, and
 * damages them.
 */
#ifndef TESTS_STORE_MAINTENANCE_KIT_H
#define TESTS_STORE_MAINTENANCE_KIT_H

#include <criterion/criterion.h>

#include "kit.h"
#include "kit_rows.h"
#include "store/db/lmdb/page.h"
#include "store/maintenance/maintenance.h"
#include "store/rows/rows.h"

enum { PAGE = 4096 };

extern struct maintenance_report report; /* of the newest call */
extern struct tidings_error why;

#define expect_done(call)                                                                          \
  do {                                                                                             \
    why = new_error();                                                                             \
    int code_ = (call);                                                                            \
    cr_assert_eq(code_, 0, "%d %s", code_, why.text);                                              \
  } while (0)
#define expect_refused(call, expected, says)                                                       \
  do {                                                                                             \
    why = new_error();                                                                             \
    int code_ = (call);                                                                            \
    cr_assert_eq(code_, expected, "%d %s", code_, why.text);                                       \
    cr_assert(strstr(why.text, says), "%s", why.text);                                             \
  } while (0)

const char *to_path(void); /* there is no such folder yet */

struct bytes {
  char path[320];
  uint8_t *at;
  size_t len;
};
struct bytes read_bytes_of(const char *store);
void write_bytes_of(struct bytes *bytes);      /* and frees them */
uint8_t *root_page(const struct bytes *bytes); /* of the tree of rows */
void zero_root(const char *store);
/* Makes a head that a power cut has torn: its number is new, but its trees are old. */
void tear_head(const char *store);

void put_raw(struct store *store, const struct db_key *key, struct tidings_span value);
void put_record(struct store *store, const struct db_key *key, struct buffer *body);
void put_layout(struct store *store, uint64_t layout);

/* Session "s": 1..20 are delivered, 21..30 are leased, 31..400 are pending; "t" has 5 pending. */
void make_store(void);
void expect_pending(const char *path, const char *session, size_t expected);
void expect_sound(const char *path);

#endif
