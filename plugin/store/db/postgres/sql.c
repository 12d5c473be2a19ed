/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/sql.c: the SQL that makes, upgrades, empties and drops the tables of a store:
 * the .sql files of this folder, with the tenant's schema for its placeholder.
 */
#include <string.h>

#include "common/buffer.h"
#include "schema_sql.h"
#include "store/db/postgres/admin.h"

static const char placeholder[] = "@schema@";
static const char step_begin[] = "-- [step", of_functions[] = " functions]";

static void write_text(const char *at, const char *end, const char *schema, struct buffer *out) {
  for (const char *hit; (hit = strstr(at, placeholder)) && hit < end;
       at = hit + sizeof placeholder - 1) {
    buffer_append(out, at, (size_t)(hit - at));
    buffer_text(out, schema);
  }
  buffer_append(out, at, (size_t)(end - at));
}

static void write_all(const char *text, const char *schema, struct buffer *out) {
  write_text(text, strchr(text, '\0'), schema, out);
}

/* The roles own nothing, and their rights go with the schema. A role stays if it has rights
 * elsewhere, such as in a dump that was restored beside this store. Both roles stay if the login
 * may not drop them. */
static void drop_roles(const char *schema, struct buffer *out) {
  static const char text[] =
      "DO $$\nDECLARE\n  its_name text;\nBEGIN\n"
      "  FOREACH its_name IN ARRAY ARRAY['@schema@_producer', '@schema@_host'] LOOP\n"
      "    BEGIN\n      EXECUTE 'DROP ROLE IF EXISTS ' || its_name;\n"
      "    EXCEPTION WHEN dependent_objects_still_exist OR insufficient_privilege OR "
      "object_in_use THEN NULL;\n    END;\n  END LOOP;\nEND $$;\n";
  write_all(text, schema, out);
}

static void enter_schema(const char *schema, struct buffer *out) {
  buffer_text(out, "SET LOCAL search_path = \"");
  buffer_text(out, schema);
  buffer_text(out, "\";\n");
}

/* Few rows are deleted with DELETE, because TRUNCATE makes new files for each table. TRUNCATE waits
 * for clients that are writing. */
static void write_emptying(const char *schema, struct buffer *out) {
  static const char *const tables[] = {"inbox", "live",   "history",    "seen",
                                       "rate",  "waiter", "dead_letter"};
  enter_schema(schema, out);
  buffer_text(out, "LOCK TABLE session, inbox IN EXCLUSIVE MODE;\n");
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    buffer_text(out, "DELETE FROM ");
    buffer_text(out, tables[i]);
    buffer_text(out, ";\n");
  }
  buffer_text(out, "DELETE FROM session;\nINSERT INTO session (session) VALUES (0);\n");
}

bool pg_admin_step(size_t number, const char *schema, struct buffer *out) {
  const char *at = strstr(upgrade_sql, step_begin);
  while (at && number--) at = strstr(at + 1, step_begin);
  if (!at) return false;
  const char *end = strstr(at + 1, step_begin);
  write_text(at, end ? end : strchr(at, '\0'), schema, out);
  if (strncmp(at + sizeof step_begin - 1, of_functions, sizeof of_functions - 1) != 0) return true;
  enter_schema(schema, out);
  write_all(push_sql, schema, out);
  write_all(functions_sql, schema, out);
  write_all(rights_sql, schema, out);
  return true;
}

void pg_admin_sql(enum tables_task task, const char *schema, struct buffer *out) {
  if (task == TABLES_DROP) {
    buffer_text(out, "DROP SCHEMA \"");
    buffer_text(out, schema);
    buffer_text(out, "\" CASCADE;\n");
    drop_roles(schema, out);
  }
  if (task == TABLES_EMPTY) write_emptying(schema, out);
  for (size_t step = 0; task == TABLES_UPGRADE && pg_admin_step(step, schema, out);) step++;
  if (task == TABLES_INIT) {
    write_all(schema_sql, schema, out);
    write_all(push_sql, schema, out);
    write_all(functions_sql, schema, out);
    write_all(roles_sql, schema, out);
    write_all(rights_sql, schema, out);
  }
}
