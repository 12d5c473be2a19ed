/* SPDX-License-Identifier: MIT
 *
 * box.c: `tidings box`: the mailboxes, what waits in them, and which session collects them.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "command/ask.h"
#include "command/destination.h"
#include "command/mailbox.h"
#include "command/print.h"
#include "command/session.h"
#include "command/terminal.h"

/* -- list -------------------------------------------------------------------------------------- */

static void print_mailbox(const json_t *mailbox) {
  const char *member = mailbox_member(mailbox);
  printf("%6llu notifications  %4llu messages  ",
         (unsigned long long)json_value_count(mailbox, "pending"),
         (unsigned long long)json_value_count(mailbox, "queued"));
  terminal_text(stdout, json_value_text(mailbox, "session"));
  if (member) fputs("  joined by ", stdout);
  if (member) terminal_text(stdout, member);
  putchar('\n');
}

static bool is_of_interest(const json_t *mailbox) {
  return json_value_count(mailbox, "pending") || json_value_count(mailbox, "queued") ||
         mailbox_member(mailbox);
}

static int list_mailboxes(const struct cli *cli, struct hostkit *kit) {
  struct tidings_error error = {.size = sizeof error};
  json_t *mailboxes = NULL, *listed = json_array(), *mailbox = NULL;
  size_t i = 0;
  int code = 0;
  int32_t refused = mailbox_list(kit, &mailboxes, &error);
  if (refused) code = cli_fail_with(cli, refused, &error);
  json_array_foreach(mailboxes, i, mailbox) {
    if (is_of_interest(mailbox)) json_array_append(listed, mailbox);
  }
  if (!code && cli->json) code = print_json(cli, listed);
  else if (!code && !json_array_size(listed)) puts("Nothing waits in a mailbox.");
  else if (!code) json_array_foreach(listed, i, mailbox) print_mailbox(mailbox);
  json_decref(listed);
  json_decref(mailboxes);
  return code;
}

/* -- show -------------------------------------------------------------------------------------- */

static void print_waiting(const json_t *pending, const json_t *queue) {
  struct show_clock clock = {.day = ""};
  const json_t *items = json_object_get(pending, "items"), *row = NULL;
  const json_t *messages = json_object_get(queue, "messages");
  size_t i = 0;
  if (!json_array_size(items) && !json_array_size(messages)) puts("Nothing waits there.");
  json_array_foreach(items, i, row) print_notification(&clock, row);
  json_array_foreach(messages, i, row) {
    fputs("message ", stdout);
    terminal_text(stdout, json_value_text(row, "id"));
    fputs("\n    ", stdout);
    terminal_lines(stdout, json_value_text(row, "content"), 4);
    putchar('\n');
  }
}

static int show_mailbox(const struct cli *cli, struct hostkit *kit, const struct address *address) {
  json_t *pending = NULL, *queue = NULL;
  int code =
      ask(cli, kit,
          json_pack("{s:s, s:s, s:i}", "name", "pending", "session", address->name, "limit", 10000),
          &pending);
  if (!code)
    code =
        ask(cli, kit,
            json_pack("{s:s, s:s, s:i}", "name", "queue", "session", address->name, "limit", 10000),
            &queue);
  if (!code && cli->json) {
    json_t *both = json_pack("{s:s, s:O, s:O}", "mailbox", address->name, "pending",
                             json_object_get(pending, "items"), "messages",
                             json_object_get(queue, "messages"));
    code = print_json(cli, both);
    json_decref(both);
  } else if (!code) {
    print_waiting(pending, queue);
  }
  json_decref(pending);
  json_decref(queue);
  return code;
}

/* -- drop, join, leave ------------------------------------------------------------------------- */

static int drop_mailbox(const struct cli *cli, struct hostkit *kit, const struct address *address) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code =
      kit_event(kit, kit_new_event("session.closed", address->name, json_object()), NULL, &error);
  return code ? cli_fail_with(cli, code, &error) : 0;
}

static int join_box(const struct cli *cli, struct hostkit *kit, const struct address *address) {
  struct tidings_error error = {.size = sizeof error};
  struct mailbox_moved moved = {0};
  char *session = NULL, *collector = NULL;
  if (address->kind != ADDRESS_BOX)
    return cli_usage(cli,
                     "%s: only a box:NAME can be joined; a session that works there collects "
                     "the others",
                     address->name);
  int code = session_choose(cli, kit, &session);
  if (!code) code = session_complete(cli, kit, &session);
  int32_t refused = code ? 0 : mailbox_set_member(kit, address, session, &error);
  if (!code && !refused) refused = mailbox_forward(kit, address, &collector, &moved, &error);
  if (refused) code = cli_fail_with(cli, refused, &error);
  if (!code)
    printf("%s: session %s has joined it; %llu notifications and %llu messages were moved\n",
           address->name, session, (unsigned long long)moved.notifications,
           (unsigned long long)moved.messages);
  free(collector);
  free(session);
  return code;
}

static int leave_box(const struct cli *cli, struct hostkit *kit, const struct address *address) {
  struct tidings_error error = {.size = sizeof error};
  if (address->kind != ADDRESS_BOX)
    return cli_usage(cli, "%s: only a box:NAME can be left", address->name);
  int32_t code = mailbox_set_member(kit, address, NULL, &error);
  return code ? cli_fail_with(cli, code, &error) : 0;
}

/* -- collect ----------------------------------------------------------------------------------- */

/* Collects the mailboxes of the host's folder, or else of the current one. */
static int collect_in(const struct cli *cli, struct hostkit *kit, const char *session) {
  struct tidings_error error = {.size = sizeof error};
  struct mailbox_moved moved = {0};
  char here[PATH_MAX];
  json_t *status = NULL;
  int code = ask(cli, kit, json_pack("{s:s, s:s}", "name", "status", "session", session), &status);
  if (code) return code;
  const char *named = json_value_text(json_object_get(status, "attachment"), "cwd");
  if (named[0] != '/') named = getcwd(here, sizeof here);
  int32_t refused = named ? mailbox_collect(kit, session, named, &moved, &error) : TIDINGS_OK;
  json_decref(status);
  if (refused) return cli_fail_with(cli, refused, &error);
  if (cli->json) {
    json_t *counts = json_pack("{s:I, s:I}", "notifications", (json_int_t)moved.notifications,
                               "messages", (json_int_t)moved.messages);
    code = print_json(cli, counts);
    json_decref(counts);
  } else {
    printf("%llu notifications and %llu messages were moved to session %s.\n",
           (unsigned long long)moved.notifications, (unsigned long long)moved.messages, session);
  }
  return code;
}

static int run_collect(const struct cli *cli) {
  struct hostkit *kit = NULL;
  char *session = NULL;
  int code = session_open(cli, &kit, &session);
  if (!code) code = collect_in(cli, kit, session);
  kit_close(kit);
  free(session);
  return code;
}

/* -- the verb ---------------------------------------------------------------------------------- */

struct action {
  const char *name;
  int (*run)(const struct cli *cli, struct hostkit *kit, const struct address *address);
  uint32_t role; /* only hosts open and close sessions */
};

static const struct action actions[] = {{"show", show_mailbox, TIDINGS_ROLE_PRODUCER},
                                        {"drop", drop_mailbox, TIDINGS_ROLE_HOST},
                                        {"join", join_box, TIDINGS_ROLE_HOST},
                                        {"leave", leave_box, TIDINGS_ROLE_HOST}};

/* "ci" is short for "box:ci". */
static int read_address(const struct cli *cli, const char *text, struct address *ret_address) {
  struct tidings_error error = {.size = sizeof error};
  char folder[PATH_MAX], full[1024];
  bool bare = !strchr(text, ':');
  if (!getcwd(folder, sizeof folder)) return cli_fail(cli, "cannot find the current folder");
  (void)snprintf(full, sizeof full, "%s%s", bare ? "box:" : "", text);
  if (address_parse(full, folder, ret_address, &error)) return cli_usage(cli, "%s", error.text);
  if (ret_address->kind != ADDRESS_SESSION) return 0;
  address_finish(ret_address);
  return cli_usage(cli,
                   "'%s' is a session; expected a mailbox: box:NAME, folder:PATH or "
                   "repo:HOST/OWNER/NAME[@BRANCH]",
                   text);
}

static int run_action(const struct cli *cli, const struct action *action) {
  struct address address = {.name = NULL};
  struct hostkit *kit = NULL;
  int code = read_address(cli, cli->words[1], &address);
  if (!code) code = kit_open_or_say(cli, action->role, 0, &kit);
  if (!code) code = action->run(cli, kit, &address);
  kit_close(kit);
  address_finish(&address);
  return code;
}

static int run_list(const struct cli *cli) {
  struct hostkit *kit = NULL;
  int code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &kit);
  if (!code) code = list_mailboxes(cli, kit);
  kit_close(kit);
  return code;
}

static int box_verb(struct cli *cli) {
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == CLI_STOP) return cli->exit_code;
  }
  if (!cli->word_count || strcmp(cli->words[0], "list") == 0) {
    int code = cli_take_words(cli, 0, 1, "");
    return code ? code : run_list(cli);
  }
  if (strcmp(cli->words[0], "collect") == 0) {
    int code = cli_take_words(cli, 1, 1, "");
    return code ? code : run_collect(cli);
  }
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    if (strcmp(cli->words[0], actions[i].name) != 0) continue;
    int code = cli_take_words(cli, 2, 2, "a mailbox is");
    return code ? code : run_action(cli, &actions[i]);
  }
  return cli_usage(cli, "'%s' is not one of list, show, drop, join, leave, collect", cli->words[0]);
}

const struct cli_verb verb_box = {
    .name = "box",
    .usage = "[OPTION]... [list|collect]  or  show|drop MAILBOX  or  join|leave NAME",
    .summary = "show the mailboxes, and have a session collect one",
    .help = "What is sent with --to waits in a mailbox if no session works there: folder:PATH and "
            "repo:HOST/OWNER/NAME[@BRANCH] until a session starts in such a folder, box:NAME until "
            "a session joins it. Without words, or with 'list', this command lists the mailboxes "
            "in which something waits.\n\n"
            "'show' prints what waits in one. 'drop' ends all of it. 'join' makes a session (-s, "
            "else the one of the current folder) the one that receives what is sent to box:NAME, "
            "now and from now on; a box has one such session at a time. 'leave' ends that.\n\n"
            "'collect' gives a session (-s, else that of the current folder) what waits for its "
            "folder and in its boxes. The agents that 'tidings setup' knows do that when a session "
            "starts; a host of your own runs it after session.opened.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON | NEEDS_STORE | FOR_PEOPLE,
    .completion = COMPLETE_WORDS,
    .words = "list show drop join leave collect",
    .run = box_verb,
    .examples =
        (const struct cli_example[]){{"tidings push --to box:ci 'Build 41 failed.'",
                                      "Store it for whoever joins the box ci."},
                                     {"tidings box join ci", "Have the agent of this folder "
                                                             "receive it."},
                                     {NULL, NULL}},
};
