/* SPDX-License-Identifier: MIT
 *
 * store.c: `tidings store`: checks a store, copies it, salvages a damaged one, converts one of an
 * older layout.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"
#include "command/kit.h"
#include "command/mailbox.h"
#include "command/print.h"
#include "command/store.h"
#include "command/terminal.h"
#include "common/store_url.h"

enum { OPTION_ALSO_STALE = CLI_LONG_ONLY, OPTION_DRY_RUN };

/* -- in words ---------------------------------------------------------------------------------- */

static unsigned long long count_of(const json_t *answer, const char *name) {
  return (unsigned long long)json_value_count(answer, name);
}

static void print_totals(const json_t *answer) {
  printf("%llu sessions, %llu notifications, %llu messages, %llu rows in all\n",
         count_of(answer, "sessions"), count_of(answer, "notifications"),
         count_of(answer, "messages"), count_of(answer, "rows"));
}

static void print_if_any(const json_t *answer, const char *name, const char *what) {
  if (count_of(answer, name)) printf("  %llu %s\n", count_of(answer, name), what);
}

static void print_check(const char *path, const json_t *answer) {
  const json_t *finding = NULL;
  size_t i = 0;
  terminal_text(stdout, path);
  if (json_is_true(json_object_get(answer, "sound"))) {
    fputs(": sound; ", stdout);
    print_totals(answer);
    return;
  }
  puts(": not sound");
  json_array_foreach(json_object_get(answer, "findings"), i, finding) {
    fputs("  ", stdout);
    if (json_object_get(finding, "page")) printf("page %llu: ", count_of(finding, "page"));
    terminal_text(stdout, json_value_text(finding, "text"));
    putchar('\n');
  }
  print_if_any(answer, "damaged", "rows have a wrong checksum in all");
}

static void print_made(const char *to, const json_t *answer) {
  if (json_is_true(json_object_get(answer, "took_away"))) {
    terminal_text(stdout, to);
    puts(".unfinished is gone: a run that was killed had left it");
  }
  terminal_text(stdout, to);
  fputs(": ", stdout);
  print_totals(answer);
}

static void print_salvage(const json_t *answer, bool also_stale) {
  print_if_any(answer, "damaged", "rows are lost: their checksum is wrong");
  print_if_any(answer, "made_heads",
               "sessions had lost their own row, and have a new one; who owns them is not known");
  print_if_any(answer, "pending_again",
               "notifications of those sessions are pending, and may be delivered again");
  print_if_any(answer, "made_names",
               "sessions had lost their name, and are called salvaged-NUMBER");
  print_if_any(answer, "stale",
               also_stale ? "notifications and messages are from pages that were not in use; they "
                            "may be delivered again"
                          : "notifications and messages in pages that were not in use are left "
                            "out; --also-stale takes them");
}

/* -- the tasks --------------------------------------------------------------------------------- */

static int check(const struct cli *cli) {
  struct tidings_error error = {.size = sizeof error};
  json_t *answer = NULL;
  char *path = cli->word_count > 1 ? strdup(cli->words[1]) : kit_store_path(cli), *shown = NULL;
  if (!path) return cli_fail(cli, "neither XDG_STATE_HOME nor HOME is set; name a store");
  int32_t refused = store_check(path, &answer, &error);
  int code = refused ? cli_fail_with(cli, refused, &error) : 0;
  if (!code && !(shown = store_url_shown(path))) code = cli_fail(cli, "out of memory");
  if (!code && cli->json) code = print_json(cli, answer);
  else if (!code) print_check(shown, answer);
  if (!code && !json_is_true(json_object_get(answer, "sound"))) code = EXIT_REFUSED;
  json_decref(answer);
  free(shown);
  free(path);
  return code;
}

static int make(const struct cli *cli, uint32_t task, uint32_t flags, const char *from,
                const char *to) {
  struct tidings_error error = {.size = sizeof error};
  json_t *answer = NULL;
  int32_t refused = store_do(task, flags, from, to, &answer, &error);
  if (refused) return cli_fail_with(cli, refused, &error);
  int code = 0;
  if (cli->json) {
    code = print_json(cli, answer);
  } else {
    print_made(to, answer);
    if (task == HOSTKIT_STORE_SALVAGE) print_salvage(answer, flags);
    else print_if_any(answer, "damaged", "rows have a wrong checksum");
    print_if_any(answer, "left_out",
                 "rows of the old layout are left out: this build cannot read them");
  }
  json_decref(answer);
  return code;
}

static int copy(const struct cli *cli) {
  struct tidings_error error = {.size = sizeof error};
  json_t *answer = NULL;
  char *shown = store_url_shown(cli->words[2]);
  if (!shown) return cli_fail(cli, "out of memory");
  int32_t refused = store_copy(cli->words[1], cli->words[2], &answer, &error);
  int code = refused ? cli_fail_with(cli, refused, &error) : 0;
  if (!code && cli->json) {
    code = print_json(cli, answer);
  } else if (!code) {
    print_made(shown, answer);
    puts("  each row was read back and is the same");
  }
  json_decref(answer);
  free(shown);
  return code;
}

static int backup(const struct cli *cli) {
  char *path = kit_store_path(cli);
  if (!path) return cli_fail(cli, "neither XDG_STATE_HOME nor HOME is set; name a store");
  int code = make(cli, HOSTKIT_STORE_BACKUP, 0, path, cli->words[1]);
  free(path);
  return code;
}

/* Runs a task on the tables of a store in a database. */
static int tables(const struct cli *cli, uint32_t task, uint32_t flags, const char *done) {
  struct tidings_error error = {.size = sizeof error};
  json_t *answer = NULL;
  char *shown = NULL;
  int32_t refused = store_do(task, flags, cli->words[1], NULL, &answer, &error);
  if (refused) return cli_fail_with(cli, refused, &error);
  int code = 0;
  if (cli->json) {
    code = print_json(cli, answer);
  } else if (flags) {
    fputs(json_value_text(answer, "sql"), stdout);
  } else if ((shown = store_url_shown(cli->words[1]))) {
    terminal_text(stdout, shown);
    printf(": %s\n", done);
  }
  free(shown);
  json_decref(answer);
  return code;
}

static void print_forgotten(const char *session, const json_t *answer, bool dry_run) {
  fputs("session ", stdout);
  terminal_text(stdout, session);
  printf("%s %llu notifications, %llu deliveries, %llu messages, %llu rows in all\n",
         dry_run ? ": would go:" : ": gone:", count_of(answer, "notifications"),
         count_of(answer, "deliveries"), count_of(answer, "messages"), count_of(answer, "rows"));
}

/* Removes the forgotten session from its boxes, so that a later one of the same name is not in
 * them. */
static void leave_boxes(const struct cli *cli, const char *path) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit *kit = NULL;
  struct cli there = *cli;
  there.store = path;
  int32_t code = kit_open(&there, TIDINGS_ROLE_HOST, 0, &kit, &error);
  if (!code) code = mailbox_leave_all(kit, cli->session, &error);
  if (code) cli_warn(cli, "it stays the member of its boxes: %s", error.text);
  kit_close(kit);
}

static int forget(const struct cli *cli, uint32_t flags) {
  struct tidings_error error = {.size = sizeof error};
  json_t *answer = NULL;
  const char *session = cli->session;
  if (!session || !*session)
    return cli_usage(cli, "name the session with -s: forget takes no other one");
  char *path = cli->word_count > 1 ? strdup(cli->words[1]) : kit_store_path(cli);
  if (!path) return cli_fail(cli, "neither XDG_STATE_HOME nor HOME is set; name a store");
  int32_t refused = store_forget(path, session, flags, &answer, &error);
  int code = refused ? cli_fail_with(cli, refused, &error) : 0;
  if (!code && !flags) leave_boxes(cli, path);
  if (!code && cli->json) code = print_json(cli, answer);
  else if (!code) print_forgotten(session, answer, flags);
  json_decref(answer);
  free(path);
  return code;
}

/* These are in the order of `tasks`. */
enum { CHECK, BACKUP, SALVAGE, MIGRATE, INIT, UPGRADE, DROP, COPY, FORGET };
#define TASKS "check, backup, salvage, migrate, init, upgrade, drop, copy"

struct task {
  int least, most; /* how many words, including the task's name */
  const char *missing;
  uint32_t flags;
};
static const struct task tasks[] = {
    [CHECK] = {1, 2, NULL, 0},
    [BACKUP] = {2, 2, "name the folder to make", 0},
    [SALVAGE] = {3, 3, "name the store and the folder to make", TIDINGS_STORE_ALSO_STALE},
    [MIGRATE] = {3, 3, "name the store and the folder to make", 0},
    [INIT] = {2, 2, "name the store's URL", TIDINGS_STORE_DRY_RUN},
    [UPGRADE] = {2, 2, "name the store's URL", TIDINGS_STORE_DRY_RUN},
    [DROP] = {2, 2, "name the store's URL", TIDINGS_STORE_DRY_RUN},
    [COPY] = {3, 3, "name the store, and the folder or URL of the copy", 0},
    [FORGET] = {1, 2, NULL, TIDINGS_STORE_DRY_RUN}};

/* Do the flags fit the task? */
static int check_usage(const struct cli *cli, int what, uint32_t flags) {
  const struct task *task = &tasks[what];
  uint32_t wrong = flags & ~task->flags;
  if (cli->word_count < task->least) return cli_usage(cli, "%s", task->missing);
  if (cli->word_count > task->most)
    return cli_usage(cli, "unexpected argument '%s'", cli->words[task->most]);
  if (wrong & TIDINGS_STORE_ALSO_STALE) return cli_usage(cli, "--also-stale is for salvage");
  if (wrong & TIDINGS_STORE_DRY_RUN)
    return cli_usage(cli, "--dry-run is for init, upgrade, drop and forget");
  if (cli->session && what != FORGET) return cli_usage(cli, "-s is for forget");
  bool takes_store = what == CHECK || what == BACKUP || what == FORGET;
  if (cli->store && (!takes_store || cli->word_count > task->least))
    return cli_usage(cli, "%s takes the store as an argument", cli->words[0]);
  return 0;
}

static int store_verb(struct cli *cli) {
  static const char *const words[] = {"check",   "backup", "salvage", "migrate", "init",
                                      "upgrade", "drop",   "copy",    "forget",  NULL};
  uint32_t flags = 0;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == OPTION_ALSO_STALE) flags |= TIDINGS_STORE_ALSO_STALE;
    else if (key == OPTION_DRY_RUN) flags |= TIDINGS_STORE_DRY_RUN;
    else return cli->exit_code;
  }
  int code = cli_take_words(cli, 1, 3, TASKS " or forget is");
  if (code) return code;
  int what = cli_word(cli->words[0], words);
  if (what < 0) return cli_usage(cli, "'%s' is not one of " TASKS ", forget", cli->words[0]);
  code = check_usage(cli, what, flags);
  if (code) return code;
  switch (what) {
  case CHECK: return check(cli);
  case BACKUP: return backup(cli);
  case SALVAGE: return make(cli, HOSTKIT_STORE_SALVAGE, flags, cli->words[1], cli->words[2]);
  case INIT: return tables(cli, HOSTKIT_STORE_INIT, flags, "made");
  case UPGRADE: return tables(cli, HOSTKIT_STORE_UPGRADE, flags, "up to date");
  case DROP: return tables(cli, HOSTKIT_STORE_DROP, flags, "removed");
  case COPY: return copy(cli);
  case FORGET: return forget(cli, flags);
  default: return make(cli, HOSTKIT_STORE_MIGRATE, 0, cli->words[1], cli->words[2]);
  }
}

const struct cli_verb verb_store = {
    .name = "store",
    .usage = "[OPTION]... check [STORE] | backup TO | salvage FROM TO | migrate FROM TO | "
             "init URL | upgrade URL | drop URL | copy FROM TO | forget -s SESSION [STORE]",
    .summary = "check, back up or repair the store, or forget a session",
    .help =
        "check reads every page and every row and lists what is wrong. It may run while the store "
        "is in use. The exit code is 0 if the store is sound, and 1 if it is not. Of a store in a "
        "database it counts the rows.\n\n"
        "backup copies the store as it is at one moment into the folder TO. It may run while the "
        "store is in use.\n\n"
        "salvage makes a new store TO with every row that is whole in the damaged store FROM. A "
        "session whose own row is lost gets a new one; then some of its notifications may be "
        "delivered again.\n\n"
        "migrate makes a new store TO from a store FROM of an older layout.\n\n"
        "FROM is never changed, and no process may use it meanwhile. TO must not exist, or be an "
        "empty folder.\n\n"
        "init makes the tables of a store in a PostgreSQL database, in the schema that the URL "
        "names "
        "(postgresql://USER@HOST/DATABASE?schema=NAME); upgrade brings the tables of an older "
        "tidings up to date; drop removes the schema with all that is in it. --dry-run prints the "
        "SQL instead.\n\n"
        "copy makes the store TO with every row of FROM, without a database's dead letters; each "
        "of them is a folder or a URL. No agent or command may use FROM meanwhile. Each row is "
        "read back before TO can be used: until then TO, or the schema, is not there. Its "
        "notifications, ids, orders, states and history are the same. FROM stays as it is.\n\n"
        "forget deletes everything that the store has of the session that -s names: its name, "
        "what is pending, its history, and the ids of events that it has seen. It is refused "
        "while a host that has the session runs. The store may be in use; a later session of the "
        "same name begins with nothing.",
    .with = WITH_STORE | WITH_JSON | ONLY_READS,
    .completion = COMPLETE_WORDS,
    .words = "check backup salvage migrate init upgrade drop copy forget",
    .options =
        (const struct cli_option[]){
            {.key = OPTION_ALSO_STALE,
             .name = "also-stale",
             .help = "With salvage: also take rows from pages that were not in use. They had been "
                     "deleted or replaced, perhaps, and may be delivered again."},
            {.key = OPTION_DRY_RUN,
             .name = "dry-run",
             .help = "With init, upgrade and drop: print the SQL, and do nothing. With forget: "
                     "count what would go, and do nothing."},
            {.key = 's',
             .name = "session",
             .argument = "SESSION",
             .completion = COMPLETE_SESSION,
             .help = "With forget: the session, by its whole id."},
            {.name = NULL},
        },
    .run = store_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings store check", "Find out whether the store is damaged."},
            {"tidings store backup ~/tidings-monday", "Copy the store while agents run."},
            {"tidings store salvage ~/.local/state/tidings ~/tidings-saved",
             "Recover what is left of a damaged store."},
            {"tidings store init --dry-run postgresql://agents@db.example/fleet?schema=team",
             "Print the SQL that makes a store in a database."},
            {"tidings store copy ~/tidings-monday ~/tidings-copy",
             "Copy a store that no agent uses; each may be a URL."},
            {"tidings store forget -s deploy-of-2024 --dry-run",
             "Count what the store has of a session."},
            {NULL, NULL}},
};
