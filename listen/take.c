/* SPDX-License-Identifier: MIT
 */
#include "listen/take.h"

#include <stdlib.h>

#include "command/recipes.h"
#include "command/session_now.h"
#include "common/clock.h"
#include "listen/known.h"
#include "listen/room.h"

enum { LONGEST_ID = 200, FULL_S = 60, BUSY_S = 5, STORE_S = 30 };

static const struct json_rules body_rules = {
    .max_depth = 64, .nul = true, .halves = true, .repeats = true, .large = true};

struct taking {
  const struct take_place *place;
  const struct route *route;
  struct tidings_span id; /* the request's id */
  size_t accepted, repeated, overtaken, unaddressed;
  unsigned status, retry_after_s; /* 0: no failure so far */
};

void take_refusal(unsigned status, const char *text, struct answer *ret_answer) {
  ret_answer->status = status;
  buffer_text(&ret_answer->body, "{\"error\":");
  json_write_string(span_text(text), &ret_answer->body);
  buffer_text(&ret_answer->body, "}\n");
}

/* -- ids --------------------------------------------------------------------------------------- */

int take_id(bool ids_count, const struct recipe_document *request, struct tidings_span body,
            struct buffer *out) {
  static const char *const names[] = {"webhook-id", "x-github-delivery", "idempotency-key",
                                      "x-gitlab-event-uuid"};
  struct tidings_span id = span_of(NULL, 0);
  size_t count = ids_count ? sizeof names / sizeof *names : 0;
  for (size_t i = 0; !id.len && i < count; i++) id = signature_header(request, names[i]);
  if (id.len && id.len <= LONGEST_ID) buffer_span(out, id);
  else recipes_write_digest(id.len ? id : body, out);
  return out->failed ? -1 : 0;
}

/* Takes the recipe's id, else the request's, and adds a number if one request makes several. */
static int choose_id(const struct taking *taking, const struct recipe_push *push, size_t number,
                     struct buffer *out) {
  if (push->id.len && push->id.len <= LONGEST_ID) buffer_span(out, push->id);
  else if (push->id.len) recipes_write_digest(push->id, out);
  else {
    buffer_span(out, taking->id);
    if (number) buffer_format(out, "/%zu", number);
  }
  return out->failed ? -1 : 0;
}

/* -- storing ----------------------------------------------------------------------------------- */

static void note_failure(struct taking *taking, int32_t code) {
  switch (code) {
  case TIDINGS_E_FULL:
    taking->status = 429;
    taking->retry_after_s = FULL_S;
    break;
  case TIDINGS_E_SCHEMA:
  case TIDINGS_E_INVAL:
  case TIDINGS_E_TOO_BIG: taking->status = 400; break;
  default: taking->status = 503; taking->retry_after_s = code == TIDINGS_E_BUSY ? BUSY_S : STORE_S;
  }
}

/* Pushes to the session that the window shows now, because after /clear nobody reads the old one;
 * but a push that the old session already has is not stored again. */
static int32_t push_to(const struct take_place *place, const struct address *address,
                       const struct recipe_push *push, struct hostkit_notification *notification,
                       enum recipes_outcome *ret_outcome, struct tidings_error *error) {
  char *now = address->kind == ADDRESS_SESSION ? session_now(place->kit, address->name) : NULL;
  if (now) notification->session = span_text(now);
  struct tidings_span route = notification->event_source, id = notification->event_id,
                      session = notification->session;
  bool known = now && listen_known_elsewhere(route, id, session);
  int32_t code = TIDINGS_OK;
  if (known) *ret_outcome = RECIPES_KNOWN;
  else code = recipes_push(place->cli, place->kit, push, notification, ret_outcome, error);
  if (now && !code && !known && *ret_outcome == RECIPES_STORED)
    listen_known_note(route, id, session);
  free(now);
  return code;
}

static void store(struct taking *taking, const struct address *address,
                  const struct recipe_push *push, struct tidings_span id) {
  struct tidings_error error = {.size = sizeof error};
  enum recipes_outcome outcome = RECIPES_STORED;
  struct recipe_push with_id = *push;
  with_id.id = id;
  struct hostkit_notification notification =
      recipes_notification(&with_id, span_text(address->name), taking->route->path);
  if (notification.level > taking->route->level) notification.level = taking->route->level;
  const struct take_place *place = taking->place;
  int32_t code = TIDINGS_E_STORE;
  if (!atomic_load(place->away))
    code = push_to(place, address, push, &notification, &outcome, &error);
  if (code) note_failure(taking, code);
  else if (outcome == RECIPES_KNOWN) taking->repeated++;
  else if (outcome == RECIPES_OVERTAKEN) taking->overtaken++;
  else taking->accepted++;
  if (!code && address->kind != ADDRESS_SESSION && forward_to(place->forward, address->name))
    note_failure(taking, TIDINGS_E_NOMEM);
}

/* Stores a push at the route's address, or at the push's own if the route has none. */
static void store_at(struct taking *taking, const struct recipe_push *push,
                     struct tidings_span id) {
  struct tidings_error error = {.size = sizeof error};
  struct address own = {.name = NULL};
  if (taking->route->address.name) {
    store(taking, &taking->route->address, push, id);
    return;
  }
  int32_t code = push->to.len ? address_parse(push->to.ptr, "/", &own, &error) : TIDINGS_E_SCHEMA;
  if (code == TIDINGS_E_NOMEM) note_failure(taking, code);
  else if (code || own.kind == ADDRESS_SESSION) taking->unaddressed++;
  else store(taking, &own, push, id);
  address_finish(&own);
}

/* Stores the pushes. Stops at a failure if a later try may succeed. After an invalid notification
 * the others are still stored, because it stays invalid. */
static void store_all(struct taking *taking, const struct recipe_push *pushes, size_t count) {
  for (size_t i = 0; i < count && (!taking->status || taking->status == 400); i++) {
    struct buffer id = BUFFER_EMPTY;
    if (choose_id(taking, &pushes[i], i, &id)) note_failure(taking, TIDINGS_E_NOMEM);
    else store_at(taking, &pushes[i], buffer_view(&id));
    buffer_free(&id);
  }
}

/* -- the request ------------------------------------------------------------------------------- */

static void count_and_answer(const struct taking *taking, struct answer *ret_answer) {
  struct counts *counts = taking->route->counts;
  if (taking->status) {
    ret_answer->retry_after_s = taking->retry_after_s;
    take_refusal(taking->status,
                 taking->status == 429   ? "Too much waits there; nothing more is taken now."
                 : taking->status == 400 ? "A notification that this makes is not valid."
                                         : "The store cannot take it now.",
                 ret_answer);
    return;
  }
  if (taking->accepted) atomic_fetch_add(&counts->accepted, 1);
  else if (taking->repeated) atomic_fetch_add(&counts->repeated, 1);
  else if (taking->overtaken) atomic_fetch_add(&counts->overtaken, 1);
  else if (taking->unaddressed) atomic_fetch_add(&counts->unaddressed, 1);
  else atomic_fetch_add(&counts->ignored, 1);
  ret_answer->status = 200;
  buffer_format(&ret_answer->body, "{\"accepted\":%zu,\"repeated\":%zu}\n", taking->accepted,
                taking->repeated);
}

/* Answers a service that checks who owns an endpoint: its challenge has to be sent back. */
static bool answer_challenge(const struct route *route, const struct json *root,
                             struct answer *ret_answer) {
  const struct json *type = json_member(root, "type"), *text = json_member(root, "challenge");
  if (route->scheme != SIGNATURE_STANDARD || !type || !text || type->kind != JSON_IS_STRING ||
      text->kind != JSON_IS_STRING || !span_is(type->text, "verification"))
    return false;
  ret_answer->status = 200;
  buffer_text(&ret_answer->body, "{\"challenge\":");
  json_write_string(text->text, &ret_answer->body);
  buffer_text(&ret_answer->body, "}\n");
  return true;
}

static void take_document(struct taking *taking, struct recipe_document *document,
                          struct tidings_span body, struct arena *arena) {
  struct buffer id = BUFFER_EMPTY;
  struct recipe_push *pushes = NULL;
  size_t count = 0;
  bool fits = false;
  int32_t code = recipe_apply(taking->route->recipe, document, arena, &pushes, &count, &fits);
  if (!code && take_id(taking->route->ids_count, document, body, &id)) code = TIDINGS_E_NOMEM;
  taking->id = buffer_view(&id);
  if (code) note_failure(taking, code);
  else store_all(taking, pushes, count);
  buffer_free(&id);
}

static void take_signed(struct taking *taking, const struct recipe_document *request,
                        struct tidings_span body, struct answer *ret_answer) {
  struct tidings_error error = {.size = sizeof error};
  struct recipe_document document = *request;
  struct arena arena = ARENA_EMPTY;
  if (json_read_by(&body_rules, body, "the body", &arena, &document.root, &error)) {
    bool memory = error.code == TIDINGS_E_NOMEM;
    take_refusal(memory ? 503 : 400, memory ? "out of memory" : "The body is not JSON.",
                 ret_answer);
    ret_answer->retry_after_s = memory ? BUSY_S : 0;
  } else if (!answer_challenge(taking->route, document.root, ret_answer)) {
    take_document(taking, &document, body, &arena);
    count_and_answer(taking, ret_answer);
  }
  arena_free(&arena);
}

void take_request(const struct take_place *place, const struct route *route,
                  const struct recipe_document *request, struct tidings_span body,
                  struct answer *ret_answer) {
  static struct room room = ROOM_EMPTY;
  struct taking taking = {.place = place, .route = route};
  const char *refusal =
      signature_refusal(route->scheme, &route->secrets, request, body, clock_wall_ms() / 1000);
  if (refusal) {
    take_refusal(401, refusal, ret_answer);
  } else {
    listen_room_enter(&room, body.len);
    take_signed(&taking, request, body, ret_answer);
    listen_room_leave(&room, body.len);
  }
  if (ret_answer->status != 200) counts_refused(route->counts, ret_answer->status);
}

/* Commits a declaration, because that makes no notification. */
bool take_can_store(const struct take_place *place) {
  static atomic_uint turn;
  struct tidings_error error = {.size = sizeof error};
  if (atomic_load(place->away)) return false;
  const char *kind = atomic_fetch_add(&turn, 1) % 2 ? "up" : "well";
  json_t *data = json_pack("{s:s, s:[s]}", "tool", "tidings-listen", "kinds", kind);
  return kit_event(place->kit, kit_new_event("tools.declared", "box:tidings.health", data), NULL,
                   &error) == TIDINGS_OK;
}
