/* SPDX-License-Identifier: MIT
 */
#include "command/mailbox.h"

#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"
#include "command/session_choice.h"
#include "command/session_list.h"

/* A session that has joined a box writes this into the host and the folder of the box's mailbox. */
static const char member_host[] = "tidings box join", member_prefix[] = "session:";

enum { MOST_SOURCES = 16, MOST_ROUNDS = 64 };

/* -- asking ------------------------------------------------------------------------------------ */

/* `details`: the query reads everything that waits. */
static int32_t query_sessions(struct hostkit *kit, bool mailboxes, bool details,
                              json_t **ret_sessions, struct tidings_error *error) {
  json_t *answer = NULL;
  int32_t code = session_list(
      kit, json_pack("{s:b, s:b}", "mailboxes", mailboxes, "details", details), &answer, error);
  if (!code) *ret_sessions = json_incref(json_object_get(answer, "sessions"));
  json_decref(answer);
  return code;
}

static bool is_open(const json_t *sessions, const char *name) {
  const json_t *session = NULL;
  size_t i = 0;
  json_array_foreach(sessions, i, session) {
    if (strcmp(json_value_text(session, "session"), name) == 0)
      return !json_object_get(session, "closed");
  }
  return false;
}

/* Removes members that were closed, or that the store has forgotten: nobody would ever see what
 * they collect. */
static int32_t drop_lost_members(struct hostkit *kit, json_t *mailboxes,
                                 struct tidings_error *error) {
  json_t *sessions = NULL, *mailbox = NULL;
  size_t i = 0;
  int32_t code = TIDINGS_OK;
  json_array_foreach(mailboxes, i, mailbox) {
    const char *member = mailbox_member(mailbox);
    if (!member) continue;
    if (!sessions) code = query_sessions(kit, false, false, &sessions, error);
    if (code) break;
    if (is_open(sessions, member)) continue;
    (void)json_object_set_new(mailbox, "host", json_string(""));
    (void)json_object_set_new(mailbox, "cwd", json_string(""));
  }
  json_decref(sessions);
  return code;
}

static int32_t query_mailboxes(struct hostkit *kit, bool details, json_t **ret_mailboxes,
                               struct tidings_error *error) {
  json_t *mailboxes = NULL;
  int32_t code = query_sessions(kit, true, details, &mailboxes, error);
  if (!code) code = drop_lost_members(kit, mailboxes, error);
  if (!code) *ret_mailboxes = json_incref(mailboxes);
  json_decref(mailboxes);
  return code;
}

int32_t mailbox_list(struct hostkit *kit, json_t **ret_mailboxes, struct tidings_error *error) {
  return query_mailboxes(kit, true, ret_mailboxes, error);
}

const char *mailbox_member(const json_t *mailbox) {
  const char *named = json_value_text(mailbox, "cwd");
  size_t skip = sizeof member_prefix - 1;
  if (strcmp(json_value_text(mailbox, "host"), member_host) != 0) return NULL;
  return strncmp(named, member_prefix, skip) == 0 && named[skip] ? named + skip : NULL;
}

static uint64_t count_waiting(const json_t *mailbox) {
  return json_value_count(mailbox, "pending") + json_value_count(mailbox, "queued");
}

/* -- moving ------------------------------------------------------------------------------------ */

static int32_t collect_once(struct hostkit *kit, const char *session, json_t *from,
                            struct mailbox_moved *moved, uint64_t *ret_left,
                            struct tidings_error *error) {
  static const struct json_rules rules = {.max_depth = 8};
  struct tidings_reply *reply = NULL;
  json_t *counts = NULL, *data = json_pack("{s:O}", "from", from);
  int32_t code = kit_event(kit, kit_new_event("session.collected", session, data), &reply, error);
  if (!code && reply) code = json_value_read(&rules, reply->ledger, "the reply", &counts, error);
  hostkit_reply_free(reply);
  if (code) return code;
  uint64_t notifications = json_value_count(counts, "notifications");
  moved->notifications += notifications;
  moved->messages += json_value_count(counts, "messages");
  *ret_left = json_value_count(counts, "left");
  moved->full = *ret_left && !notifications;
  if (moved->full) *ret_left = 0;
  json_decref(counts);
  return TIDINGS_OK;
}

static int32_t collect(struct hostkit *kit, const char *session, json_t *from,
                       struct mailbox_moved *moved, struct tidings_error *error) {
  uint64_t left = json_array_size(from);
  int32_t code = TIDINGS_OK;
  for (int round = 0; !code && left && round < MOST_ROUNDS; round++)
    code = collect_once(kit, session, from, moved, &left, error);
  return code;
}

/* -- who works there now ----------------------------------------------------------------------- */

static const json_t *find_by_checkout(const json_t *sessions, const struct address *address) {
  const json_t *session = NULL, *found = NULL;
  size_t i = 0;
  json_array_foreach(sessions, i, session) {
    struct checkout checkout = {.remotes = NULL};
    const char *folder = json_value_text(session, "cwd");
    if (!json_is_true(json_object_get(session, "alive")) || !checkout_read(folder, &checkout))
      continue;
    bool fits = address_fits(address, folder, &checkout);
    checkout_finish(&checkout);
    if (fits && (!found || session_choice_used_later(session, found))) found = session;
  }
  return found;
}

int32_t mailbox_find_session(struct hostkit *kit, const struct address *address, char **ret_session,
                             struct tidings_error *error) {
  json_t *sessions = NULL;
  const json_t *found = NULL, *mailbox = NULL;
  const char *name = NULL;
  size_t i = 0;
  int32_t code = address->kind == ADDRESS_BOX ? query_mailboxes(kit, false, &sessions, error)
                                              : query_sessions(kit, false, false, &sessions, error);
  if (address->kind == ADDRESS_FOLDER)
    found = session_choice_by_folder(sessions, address_rest(address)).session;
  if (address->kind == ADDRESS_REPOSITORY) found = find_by_checkout(sessions, address);
  if (found) name = json_value_text(found, "session");
  if (address->kind == ADDRESS_BOX) {
    json_array_foreach(sessions, i, mailbox) {
      if (strcmp(json_value_text(mailbox, "session"), address->name) == 0)
        name = mailbox_member(mailbox);
    }
  }
  char *copy = name ? strdup(name) : NULL;
  json_decref(sessions);
  if (!code && name && !copy) return kit_no_memory(error);
  *ret_session = copy;
  return code;
}

int32_t mailbox_forward(struct hostkit *kit, const struct address *address, char **ret_session,
                        struct mailbox_moved *ret_moved, struct tidings_error *error) {
  struct mailbox_moved moved = {0};
  char *session = NULL;
  int32_t code = mailbox_find_session(kit, address, &session, error);
  if (!code && session) {
    json_t *from = json_pack("[s]", address->name);
    code = from ? collect(kit, session, from, &moved, error) : kit_no_memory(error);
    json_decref(from);
  }
  if (code == TIDINGS_E_FULL) { /* the rest waits in the mailbox */
    moved.full = true;
    free(session);
    session = NULL;
    code = TIDINGS_OK;
  }
  if (code) {
    free(session);
    return code;
  }
  *ret_session = session;
  *ret_moved = moved;
  return TIDINGS_OK;
}

/* -- what waits for a session that starts ------------------------------------------------------ */

struct arrival {
  const char *session, *folder;
  struct checkout checkout;
  bool has_checkout, looked;
};

static bool is_for(struct arrival *arrival, const json_t *mailbox) {
  struct tidings_error error = {.size = sizeof error};
  struct address address = {.name = NULL};
  const char *member = mailbox_member(mailbox);
  if (!count_waiting(mailbox)) return false;
  if (member) return strcmp(member, arrival->session) == 0;
  if (address_parse(json_value_text(mailbox, "session"), "/", &address, &error)) return false;
  if (address.kind == ADDRESS_REPOSITORY && !arrival->looked) {
    arrival->has_checkout = checkout_read(arrival->folder, &arrival->checkout);
    arrival->looked = true;
  }
  bool fits =
      address_fits(&address, arrival->folder, arrival->has_checkout ? &arrival->checkout : NULL);
  address_finish(&address);
  return fits;
}

int32_t mailbox_collect(struct hostkit *kit, const char *session, const char *folder,
                        struct mailbox_moved *ret_moved, struct tidings_error *error) {
  struct arrival arrival = {.session = session, .folder = folder};
  struct mailbox_moved moved = {0};
  json_t *mailboxes = NULL, *mailbox = NULL, *from = json_array();
  size_t i = 0;
  int32_t code = from ? mailbox_list(kit, &mailboxes, error) : kit_no_memory(error);
  json_array_foreach(mailboxes, i, mailbox) {
    if (!code && is_for(&arrival, mailbox))
      json_array_append(from, json_object_get(mailbox, "session"));
    if (json_array_size(from) < MOST_SOURCES && i + 1 < json_array_size(mailboxes)) continue;
    if (!code) code = collect(kit, session, from, &moved, error);
    json_array_clear(from);
  }
  json_decref(from);
  json_decref(mailboxes);
  checkout_finish(&arrival.checkout);
  if (!code) *ret_moved = moved;
  return code;
}

/* -- members ----------------------------------------------------------------------------------- */

int32_t mailbox_set_member(struct hostkit *kit, const struct address *box, const char *session,
                           struct tidings_error *error) {
  json_t *data = session
                     ? json_pack("{s:s, s:s+}", "host", member_host, "cwd", member_prefix, session)
                     : json_object();
  return kit_event(kit, kit_new_event("session.opened", box->name, data), NULL, error);
}

int32_t mailbox_leave_all(struct hostkit *kit, const char *session, struct tidings_error *error) {
  json_t *mailboxes = NULL, *mailbox = NULL;
  size_t i = 0;
  int32_t code = query_sessions(kit, true, false, &mailboxes, error);
  json_array_foreach(mailboxes, i, mailbox) {
    const char *member = mailbox_member(mailbox);
    char *name = (char *)(uintptr_t)json_value_text(mailbox, "session");
    const struct address box = {.kind = ADDRESS_BOX, .name = name};
    if (!code && member && strcmp(member, session) == 0)
      code = mailbox_set_member(kit, &box, NULL, error);
  }
  json_decref(mailboxes);
  return code;
}
