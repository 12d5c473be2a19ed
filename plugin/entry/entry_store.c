/* SPDX-License-Identifier: MIT
 *
 * entry/entry_store.c: copies and checks the arguments of tidings.store/1.
 */
#include "entry/entry_store.h"

#include "common/error.h"
#include "entry/copy_in.h"
#include "query/maintenance.h"

static int check_path(const struct tidings_span *span, const char *name,
                      struct tidings_error *error) {
  enum { LONGEST_PATH = 4096 };
  if (span->len && !span->ptr)
    return fail(error, TIDINGS_E_INVAL, "%s: a null pointer with length %zu", name, span->len);
  if (span->len > LONGEST_PATH)
    return fail(error, TIDINGS_E_TOO_BIG, "%s: %zu bytes are over the limit of %d", name, span->len,
                (int)LONGEST_PATH);
  return 0;
}

static int run_task(enum maintenance_task task, uint32_t known_flags,
                    const struct tidings_store_request *theirs,
                    const struct tidings_answer **ret_answer, struct tidings_error *error) {
  struct tidings_store_request request;
  int code = COPY_IN(&request, theirs, TIDINGS_STORE_REQUEST_SIZE_1_1, "request", error);
  if (code) return code;
  if (request.flags & ~known_flags)
    return fail(error, TIDINGS_E_INVAL, "request.flags: 0x%x; expected none but 0x%x",
                request.flags, known_flags);
  code = check_path(&request.from, "request.from", error);
  if (!code) code = check_path(&request.to, "request.to", error);
  if (!code) code = check_path(&request.session, "request.session", error);
  if (!code && !ret_answer) code = fail(error, TIDINGS_E_INVAL, "ret_answer: null pointer");
  if (code) return code;
  struct tidings_error own;
  error_clear(&own);
  return fail_as(error, query_maintenance(task, &request, ret_answer, &own), &own);
}

#define TASK(name, task, known_flags)                                                              \
  static int32_t name(const struct tidings_store_request *request,                                 \
                      const struct tidings_answer **ret_answer, struct tidings_error *error) {     \
    return run_task(MAINTENANCE_##task, known_flags, request, ret_answer, error);                  \
  }

TASK(check_store, CHECK, 0)
TASK(backup_store, BACKUP, 0)
TASK(salvage_store, SALVAGE, TIDINGS_STORE_FLAG_ALSO_STALE)
TASK(migrate_store, MIGRATE, 0)
TASK(init_store, INIT, TIDINGS_STORE_FLAG_DRY_RUN)
TASK(upgrade_store, UPGRADE, TIDINGS_STORE_FLAG_DRY_RUN)
TASK(drop_store, DROP, TIDINGS_STORE_FLAG_DRY_RUN | TIDINGS_STORE_FLAG_KEEP_TABLES)
TASK(dump_store, DUMP, 0)
TASK(load_store, LOAD, 0)
TASK(forget_session, FORGET, TIDINGS_STORE_FLAG_DRY_RUN)

const struct tidings_store entry_store_extension = {.size = sizeof entry_store_extension,
                                                    .check = check_store,
                                                    .backup = backup_store,
                                                    .salvage = salvage_store,
                                                    .migrate = migrate_store,
                                                    .release_answer = query_maintenance_release,
                                                    .init = init_store,
                                                    .upgrade = upgrade_store,
                                                    .drop = drop_store,
                                                    .dump = dump_store,
                                                    .load = load_store,
                                                    .forget = forget_session};
