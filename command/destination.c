/* SPDX-License-Identifier: MIT
 */
#include "command/destination.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/interrupt.h"
#include "command/mailbox.h"
#include "command/patience.h"
#include "command/project.h"
#include "command/session.h"
#include "command/session_now.h"

int destination_parse(const struct cli *cli, struct address *ret_address) {
  struct tidings_error error = {.size = sizeof error};
  char folder[PATH_MAX];
  if (cli->session) return cli_usage(cli, "--to and --session exclude each other");
  if (cli->print_session) return cli_usage(cli, "--to and --print-session exclude each other");
  if (!getcwd(folder, sizeof folder)) return cli_fail(cli, "cannot find the current folder");
  int32_t code = address_parse(cli->to, folder, ret_address, &error);
  return code ? cli_usage(cli, "--to: %s", error.text) : 0;
}

static int open_address(const struct cli *cli, struct destination *destination) {
  struct address address = {.name = NULL};
  int code = destination_parse(cli, &address);
  if (!code) code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &destination->kit);
  if (!code && address.kind == ADDRESS_SESSION && !cli->create)
    code = session_complete(cli, destination->kit, &address.name);
  if (code) {
    address_finish(&address);
    return code;
  }
  destination->session = address.name;
  if (address.kind == ADDRESS_SESSION) project_lay_here(cli, destination->kit, address.name);
  else destination->address = address;
  return 0;
}

/* After /clear nobody reads the old session, so a push to it goes to the session that follows in
 * the same window. */
static int32_t follow(const struct cli *cli, struct destination *destination,
                      struct tidings_error *error) {
  if (destination->address.name) return TIDINGS_OK;
  char *now = session_now(destination->kit, destination->begun);
  if (!now) return kit_error(error, TIDINGS_E_NOMEM, "out of memory");
  if (strcmp(now, destination->session) != 0 && isatty(STDERR_FILENO))
    cli_warn(cli, "session %s was left; %s, which follows it, gets this", destination->session,
             now);
  free(destination->session);
  destination->session = now;
  return TIDINGS_OK;
}

static int begin(const struct cli *cli, struct destination *destination) {
  struct tidings_error error = {.size = sizeof error};
  if (!destination->session) return 0;
  destination->begun = strdup(destination->session);
  int32_t code = destination->begun ? follow(cli, destination, &error) : TIDINGS_E_NOMEM;
  return code ? cli_fail(cli, "out of memory") : 0;
}

int destination_open(const struct cli *cli, struct destination *ret_destination) {
  struct destination destination = {.kit = NULL};
  int code = cli->to ? open_address(cli, &destination)
                     : session_open(cli, &destination.kit, &destination.session);
  if (!code) code = begin(cli, &destination);
  kit_note_place(cli, &destination.place);
  if (code) destination_close(&destination);
  else *ret_destination = destination;
  return code;
}

static int32_t push_once(const struct cli *cli, struct destination *destination,
                         const struct recipe_push *push,
                         const struct hostkit_notification *notification,
                         enum recipes_outcome *ret_outcome, struct tidings_error *error) {
  struct hostkit_notification note = *notification;
  int32_t code = kit_follow_place(cli, destination->kit, &destination->place, error);
  if (!code) code = follow(cli, destination, error);
  note.session = span_text(destination->session);
  return code ? code : recipes_push(cli, destination->kit, push, &note, ret_outcome, error);
}

/* Only a session that collects the mailbox makes room in it. If none can, the next push says so. */
static void make_room(const struct destination *destination) {
  struct tidings_error ignored = {.size = sizeof ignored};
  struct mailbox_moved moved = {0};
  char *session = NULL;
  if (!destination->address.name) return;
  (void)mailbox_forward(destination->kit, &destination->address, &session, &moved, &ignored);
  free(session);
}

int32_t destination_push(const struct cli *cli, struct destination *destination,
                         const struct recipe_push *push,
                         const struct hostkit_notification *notification,
                         enum recipes_outcome *ret_outcome, struct tidings_error *error) {
  enum { LONGEST_PAUSE_MS = 30000 };
  struct patience patience = {.pause_ms = 0};
  int32_t code = push_once(cli, destination, push, notification, ret_outcome, error);
  if (recipes_may_pass(code)) cli_warn(cli, "%s; it is tried again", error->text);
  while (recipes_may_pass(code) && !interrupt_seen()) {
    patience_later(&patience, LONGEST_PAUSE_MS);
    interrupt_pause_ms(patience.pause_ms);
    if (code == TIDINGS_E_FULL) make_room(destination);
    code = push_once(cli, destination, push, notification, ret_outcome, error);
  }
  return code;
}

int destination_sent(const struct cli *cli, struct destination *destination) {
  struct tidings_error error = {.size = sizeof error};
  struct mailbox_moved moved = {0};
  char *session = NULL;
  if (!destination->address.name) return 0;
  int32_t code = mailbox_forward(destination->kit, &destination->address, &session, &moved, &error);
  if (code) {
    cli_warn(cli, "it waits in %s; giving it to a session failed: %s", destination->session,
             error.text);
    return 0;
  }
  if (!session)
    cli_warn(cli, "it waits in %s until a session collects it; see 'tidings box'",
             destination->session);
  else if (isatty(STDERR_FILENO)) cli_warn(cli, "session %s has it", session);
  free(session);
  return 0;
}

void destination_close(struct destination *destination) {
  kit_close(destination->kit);
  if (destination->address.name) address_finish(&destination->address);
  else free(destination->session);
  free(destination->begun);
  *destination = (struct destination){.kit = NULL};
}
