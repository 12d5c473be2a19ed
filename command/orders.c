/* SPDX-License-Identifier: MIT
 */
#include "command/orders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "command/json_value.h"
#include "command/kit.h"
#include "command/paths.h"
#include "command/recipes.h"
#include "command/state_file.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "common/store_url.h"

enum { LARGEST = 8 << 20, MOST_KEYS = 4000, LONGEST_KEY = 1024, LONGEST_ORDER = 256 };

static const int64_t kept_ms = (int64_t)RECIPES_REMEMBERED_DAYS * 86400000;

struct orders {
  char *file;
  int fd;         /* of the lock file */
  char *key;      /* the key whose order was noted; NULL: none was */
  json_t *former; /* the key's row before that; NULL: there was none */
};

static char *find_orders_folder(const struct cli *cli) {
  char *store = kit_store_path(cli), *folder = NULL;
  if (store && store_url_is(store))
    folder = paths_in_home("XDG_STATE_HOME", ".local/state", "tidings-recipes");
  else if (store) folder = paths_join(store, "recipes");
  free(store);
  return folder;
}

/* A stopped process keeps the lock, so this waits no longer than a push may wait for the store.
 * *ret_locked false: the file cannot be locked at all. */
static int32_t lock_orders(const struct cli *cli, int fd, bool *ret_locked,
                           struct tidings_error *error) {
  enum { WAIT_MS = 5000, LONGEST_PAUSE_MS = 20 };
  int64_t until_ms = clock_mono_ms() + (cli->budget_ms ? cli->budget_ms : WAIT_MS);
  unsigned pause_ms = 1;
  while (flock(fd, LOCK_EX | LOCK_NB)) {
    if (errno != EWOULDBLOCK && errno != EINTR) return TIDINGS_OK;
    if (clock_mono_ms() >= until_ms)
      return kit_error(error, TIDINGS_E_BUSY, "another process keeps recipes/orders.lock");
    clock_sleep_ms(pause_ms);
    if (pause_ms < LONGEST_PAUSE_MS) pause_ms *= 2;
  }
  *ret_locked = true;
  return TIDINGS_OK;
}

/* *ret_orders stays NULL if the file cannot be used. Errors: BUSY. */
static int32_t open_orders(const struct cli *cli, struct orders **ret_orders,
                           struct tidings_error *error) {
  char *folder = find_orders_folder(cli);
  struct orders *orders = folder ? calloc(1, sizeof *orders) : NULL;
  bool locked = false;
  int32_t code = TIDINGS_OK;
  if (orders) {
    orders->fd = -1;
    char *lock = paths_make_folders(folder) ? NULL : paths_join(folder, "orders.lock");
    orders->file = paths_join(folder, "orders.json");
    if (lock) orders->fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    free(lock);
  }
  free(folder);
  if (orders && orders->file && orders->fd >= 0)
    code = lock_orders(cli, orders->fd, &locked, error);
  if (locked) *ret_orders = orders;
  else orders_leave(orders, false);
  return code;
}

/* Writes spaces and bytes that are not ASCII as %20 and the like. All other characters can stand in
 * JSON. */
static void write_plain(struct tidings_span text, struct buffer *out) {
  for (size_t i = 0; i < text.len; i++) {
    unsigned char c = (unsigned char)text.ptr[i];
    if (c <= ' ' || c == '%' || c >= 0x7F) buffer_format(out, "%%%02x", c);
    else buffer_byte(out, (char)c);
  }
}

/* NULL: the key is too long, or there is no memory. */
static char *name_key(const struct hostkit_notification *notification) {
  struct buffer key = BUFFER_EMPTY;
  write_plain(notification->session, &key);
  buffer_byte(&key, ' ');
  write_plain(notification->kind_source, &key);
  buffer_byte(&key, ' ');
  write_plain(notification->key, &key);
  if (key.len <= LONGEST_KEY) return buffer_take(&key);
  buffer_free(&key);
  return NULL;
}

/* Returns only the numbers in an order, because only these count. */
static char *plain_order(struct tidings_span order) {
  struct buffer plain = BUFFER_EMPTY;
  if (order.len > LONGEST_ORDER) return NULL;
  for (size_t i = 0; i < order.len; i++)
    buffer_byte(&plain, (char)(order.ptr[i] >= '0' && order.ptr[i] <= '9' ? order.ptr[i] : '.'));
  return buffer_take(&plain);
}

/* -- the file ---------------------------------------------------------------------------------- */

static int64_t noted_ms(const json_t *row) {
  return (int64_t)json_integer_value(json_array_get(row, 1));
}

/* Makes room: removes the rows that are too old, and, if that is not enough, the oldest row. */
static void forget_orders(json_t *known, int64_t now_ms) {
  const char *key = NULL, *oldest = NULL;
  json_t *row = NULL;
  void *next = NULL;
  if (json_object_size(known) < MOST_KEYS) return;
  json_object_foreach_safe(known, next, key, row) {
    if (noted_ms(row) < now_ms - kept_ms) json_object_del(known, key);
  }
  if (json_object_size(known) < MOST_KEYS) return;
  json_object_foreach(known, key, row) {
    if (!oldest || noted_ms(row) < noted_ms(json_object_get(known, oldest))) oldest = key;
  }
  json_object_del(known, oldest);
}

static bool note_order(struct orders *orders, const char *key, const char *order) {
  int64_t now_ms = clock_wall_ms();
  json_t *known = state_file_read(orders->file, LARGEST), *row = json_object_get(known, key);
  const char *last = json_string_value(json_array_get(row, 0));
  bool overtaken = last && noted_ms(row) >= now_ms - kept_ms &&
                   recipe_compare_orders(span_text(order), span_text(last)) < 0;
  if (!json_is_object(known)) {
    json_decref(known);
    known = json_object();
  }
  if (!overtaken) {
    orders->key = strdup(key);
    orders->former = json_incref(row);
    if (!row) forget_orders(known, now_ms);
    json_object_set_new(known, key, json_pack("[s, I]", order, (json_int_t)now_ms));
    (void)state_file_write(orders->file, json_incref(known));
  }
  json_decref(known);
  return overtaken;
}

static void take_back(const struct orders *orders) {
  json_t *known = state_file_read(orders->file, LARGEST);
  if (orders->former) json_object_set(known, orders->key, orders->former);
  else json_object_del(known, orders->key);
  if (known) (void)state_file_write(orders->file, known);
}

void orders_leave(struct orders *orders, bool refused) {
  if (!orders) return;
  if (refused && orders->key) take_back(orders);
  if (orders->fd >= 0) close(orders->fd);
  json_decref(orders->former);
  free(orders->key);
  free(orders->file);
  free(orders);
}

int32_t orders_enter(const struct cli *cli, const struct hostkit_notification *notification,
                     struct tidings_span order, struct orders **ret_orders, bool *ret_overtaken,
                     struct tidings_error *error) {
  char *key = name_key(notification), *plain = plain_order(order);
  struct orders *orders = NULL;
  int32_t code = key && plain ? open_orders(cli, &orders, error) : TIDINGS_OK;
  if (!code) {
    *ret_overtaken = orders && note_order(orders, key, plain);
    *ret_orders = orders;
  }
  free(plain);
  free(key);
  return code;
}
