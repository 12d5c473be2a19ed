/* SPDX-License-Identifier: MIT
 *
 * store/open/open.c: opening and closing a store.
 */
#include <stdlib.h>

#include "store/forget/sweep.h"
#include "store/rows/rows.h"

/* A snapshot begins with a look at the schema. */
static int check_schema(struct store *store, store_deadline deadline, struct tidings_error *error) {
  struct store_txn *txn;
  int code = store_read(store, NULL, deadline, &txn, error);
  if (code) return code;
  store_end(txn);
  return 0;
}

/* The kinds of rows, for an engine that keeps history apart. */
static const uint8_t kinds[] = {[ROW_ITEM] = DB_KIND_ENDS,
                                [ROW_DELIVERY] = DB_KIND_ENDS,
                                [ROW_MESSAGE] = DB_KIND_ENDS,
                                [ROW_CONTENT] = DB_KIND_ENDS,
                                [ROW_TRANSITION] = DB_KIND_ENDS,
                                [ROW_DEDUP] = DB_KIND_LOOKED_UP,
                                [ROW_MESSAGE_ID] = DB_KIND_LOOKED_UP,
                                [ROW_TOOLS] = DB_KIND_KEPT,
                                [ROW_DELIVERY_ID] = DB_KIND_ONCE};

static int first_value(const void *context, bool for_older_builds, struct buffer *ret_value) {
  const struct meta_life life = meta_life_fresh(context);
  meta_first(for_older_builds ? db_layout : DB_LAYOUT, &life, ret_value);
  return ret_value->failed ? -1 : 0;
}

static int open_db(struct store *store, const struct store_options *options,
                   struct tidings_error *error) {
  const struct db_options opening = {.place = options->directory,
                                     .log = options->log,
                                     .log_context = options->log_context,
                                     .budget_ms = options->create_budget_ms,
                                     .first = meta_key(),
                                     .first_value = first_value,
                                     .first_context = options,
                                     .kinds = kinds,
                                     .kind_count = sizeof kinds};
  return db_open(&opening, &store->db, error);
}

int store_open(const struct store_options *options, struct store **ret_store,
               struct tidings_error *error) {
  store_deadline deadline = store_deadline_in(options->create_budget_ms);
  struct store *store = calloc(1, sizeof *store);
  if (!store) return fail(error, TIDINGS_E_NOMEM, "no memory to open store %s", options->directory);
  int code = open_db(store, options, error);
  if (!code) {
    store->random = options->random;
    store->random_context = options->random_context;
    code = check_schema(store, deadline, error);
    if (code) db_close(store->db);
    else store->lives = true;
  }
  if (code) {
    free(store);
    return code;
  }
  if (db_is_alone(store->db) && !options->only_reads && !db_remote)
    purge_run(store, options->now_ms, deadline);
  db_admit(store->db);
  *ret_store = store;
  return 0;
}

void store_note_clean(struct store *store) { db_note_clean(store->db); }

void store_close(struct store *store) {
  if (!store) return;
  db_close(store->db);
  free(store);
}

const struct owner *store_self(const struct store *store) { return db_self(store->db); }

uint32_t store_lives(const struct store *store) {
  return atomic_load_explicit(&store->voided, memory_order_acquire) +
         (db_remote ? db_remote->lives(store->db) : 0);
}

int64_t store_now(const struct store *store, int64_t host_ms) { return db_now(store->db, host_ms); }

bool store_owner_alive(struct store *store, const struct owner *owner) {
  return db_owner_alive(store->db, owner);
}

void store_owner_machine(const struct store *store, const struct owner *owner,
                         char ret_name[OWNER_MACHINE_BYTES]) {
  db_owner_machine(store->db, owner, ret_name);
}
