/* SPDX-License-Identifier: MIT
 *
 * sim/request.c: writes an act as a request, and in words, which quote the request.
 */
#include "sim/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const activations[] = {"passive", "idle", "interrupt", "silent"};

static const char *name_of_id(const struct names *names, int id, char buffer[NAME_SIZE]) {
  if (id >= SYSTEM_ID) {
    unsigned system = (unsigned)(id - SYSTEM_ID);
    return system < names->system_count ? names->system[system] : "tidings:unseen";
  }
  (void)snprintf(buffer, NAME_SIZE, "m%d", id);
  return buffer;
}

int request_id_of_name(struct names *names, const char *name) {
  if (strncmp(name, "tidings:", strlen("tidings:")) != 0)
    return name[0] == 'm' ? (int)strtol(name + 1, NULL, 10) : -1;
  for (unsigned i = 0; i < names->system_count; i++)
    if (strcmp(names->system[i], name) == 0) return SYSTEM_ID + (int)i;
  if (names->system_count == SYSTEM_NAMES || strlen(name) >= NAME_SIZE) return -1;
  memcpy(names->system[names->system_count], name, strlen(name) + 1);
  return SYSTEM_ID + (int)names->system_count++;
}

void request_text_of_words(uint32_t serial, char buffer[NAME_SIZE]) {
  (void)snprintf(buffer, NAME_SIZE, serial == WORDS_KIND ? "approval" : "because %" PRIu32, serial);
}

/* -- events ------------------------------------------------------------------------------------ */

static void set(json_t *object, const char *key, json_t *value) {
  json_object_set_new(object, key, value);
}

static json_t *name(const struct names *names, int id) {
  char buffer[NAME_SIZE];
  return json_string(name_of_id(names, id, buffer));
}

static json_t *requested_ids(const struct act *act, const struct names *names) {
  json_t *list = json_array();
  for (unsigned i = 0; i < act->id_count; i++)
    json_array_append_new(list, name(names, act->ids[i]));
  return list;
}

static json_t *note_data(const struct act *act) {
  char text[TEXT_SIZE];
  const struct note_kind *kind = &act_note_kinds[act->note];
  act_text_of_note(act->serial, text);
  json_t *data = json_pack("{s:{s:s, s:s}, s:s}", "kind", "source", kind->source, "name",
                           kind->name, "message", text);
  if (act->level != 0) set(data, "level", json_string(act_level_names[act->level]));
  if (act->key != 0) set(data, "key", json_sprintf("k%u", act->key));
  if (act->handle != 0) set(data, "handle", json_sprintf("h%u", act->handle));
  if (act->activation != PASSIVE)
    set(data, "activation", json_string(activations[act->activation]));
  if (act->ttl_ms != 0) set(data, "ttl_ms", json_integer(act->ttl_ms));
  if (act->due_ms != 0) set(data, "due_at", json_integer(act->due_ms));
  if (act->caused_by) set(data, "caused_by", json_string("call"));
  return data;
}

static json_t *message_data(const struct act *act, const struct names *names) {
  char text[TEXT_SIZE];
  json_t *data = json_pack("{s:o}", "id", name(names, act->id));
  act_text_of_message(act->serial, text);
  if (act->kind == ACT_SUBMIT || act->kind == ACT_EDIT) set(data, "content", json_string(text));
  if (act->kind == ACT_MOVE)
    set(data, "before", act->before != 0 ? name(names, act->before) : json_null());
  if (act->kind == ACT_SUBMIT && act->steer) set(data, "delivery", json_string("steer"));
  if (act->kind == ACT_REDIRECT) set(data, "delivery", json_string(act->steer ? "steer" : "queue"));
  if (act->kind == ACT_SUBMIT && act->resume) set(data, "resume", json_true());
  if (act->kind == ACT_SUBMIT && act->trigger)
    set(data, "trigger", json_pack("{s:I}", "hook", (json_int_t)act->id));
  return data;
}

static json_t *turn_data(const struct act *act, const struct names *names) {
  char text[NAME_SIZE];
  json_t *data = json_object();
  request_text_of_words(act->serial, text);
  if (act->has_ids) set(data, "messages", requested_ids(act, names));
  if (act->at_ms) set(data, "at", json_integer(act->at_ms));
  if (act->kind == ACT_RETRYING) set(data, "attempt", json_integer(act->attempt));
  if (act->kind == ACT_WAITING) set(data, "kind", json_string("approval"));
  if (act->has_words &&
      (act->kind == ACT_FAILED || act->kind == ACT_RETRYING || act->kind == ACT_WAITING))
    set(data, "message", json_string(text));
  return data;
}

static json_t *opening_data(const struct act *act) {
  json_t *data = json_object();
  if (act->takeover) set(data, "takeover", json_true());
  if (act->rewound) set(data, "rewound", json_true());
  if (act_names_deliveries(act->kind) && act->has_deliveries) {
    json_t *list = json_array();
    for (unsigned i = 0; i < act->delivery_count; i++)
      json_array_append_new(list, json_sprintf("%" PRIu64, act->deliveries[i]));
    set(data, "deliveries", list);
  }
  return data;
}

static json_t *data_of(const struct act *act, const struct names *names) {
  char text[TEXT_SIZE];
  switch (act->kind) {
  case ACT_NOTE: return note_data(act);
  case ACT_POLLED: return json_pack("{s:o}", "handle", json_sprintf("h%u", act->handle));
  case ACT_SUBAGENT:
    act_text_of_note(act->serial, text);
    return json_pack("{s:s, s:s}", "slug", "scout", "summary", text);
  case ACT_SUBMIT:
  case ACT_CANCEL:
  case ACT_EDIT:
  case ACT_MOVE:
  case ACT_REDIRECT: return message_data(act, names);
  case ACT_STOP:
  case ACT_STARTED:
  case ACT_DECLINED:
  case ACT_FINISHED:
  case ACT_ABORTED:
  case ACT_FAILED:
  case ACT_RETRYING:
  case ACT_WAITING: return turn_data(act, names);
  case ACT_OPENED:
  case ACT_RESUMED:
  case ACT_REWOUND: return opening_data(act);
  case ACT_FORKED:
    return json_pack("{s:o}", "child", json_sprintf("%s-%" PRIu32, names->session, act->serial));
  default: return NULL;
  }
}

static char *event_text(const struct act *act, const struct names *names) {
  json_t *event =
      json_pack("{s:s, s:s}", "type", act_event_types[act->kind], "session", names->session);
  json_t *data = data_of(act, names);
  if (act->seen != 0) {
    set(event, "source", json_string("sim"));
    set(event, "id", json_sprintf("e%u", act->seen));
  }
  if (data && json_object_size(data) > 0) json_object_set(event, "data", data);
  json_decref(data);
  char *text = json_dumps(event, JSON_COMPACT);
  json_decref(event);
  return text;
}

/* -- configurations ---------------------------------------------------------------------------- */

/* Sets all settings in which presets differ, so that the schedule's settings count. */
static json_t *delivery_settings(const struct sim_settings *settings) {
  const struct sim_look *look = &act_looks[settings->look];
  json_t *delivery =
      json_pack("{s:s, s:s, s:I, s:I, s:i, s:i, s:b, s:s, s:s}", "preset", look->preset, "order",
                act_order_names[settings->order], "max_items", (json_int_t)settings->max_items,
                "age_after_ms", (json_int_t)settings->age_after_ms, "max_tokens", 0,
                "coalesce_window_ms", 0, "annihilate", 0, "overflow", "defer", "fence", "none");
  if (look->has_format) set(delivery, "format", json_string(look->format));
  if (settings->preamble != SAID_CHOICES)
    set(delivery, "preamble", json_string(act_preamble_names[settings->preamble]));
  return delivery;
}

json_t *request_config_of_settings(const struct sim_settings *settings) {
  json_t *config =
      json_pack("{s:{s:s, s:I, s:s, s:I}, s:{s:b, s:I, s:I}, s:o, s:{s:I}}", "turns", "discipline",
                settings->coalescing ? "coalescing" : "serial", "settle_delay_ms",
                (json_int_t)settings->settle_delay_ms, "restart", settings->hold ? "hold" : "drain",
                "max_auto_turns", (json_int_t)settings->max_auto_turns, "critical", "force",
                settings->force, "max_aborts", (json_int_t)settings->max_aborts, "abort_window_ms",
                (json_int_t)settings->abort_window_ms, "delivery", delivery_settings(settings),
                "limits", "pending_per_session", (json_int_t)settings->pending_limit);
  json_t *wanted = NULL;
  switch (settings->filter) {
  case FILTER_CI: wanted = json_pack("{s:{s:{s:b}}}", "notifications", "kinds", "ci", 0); break;
  case FILTER_TOOL_FAILED:
    wanted = json_pack("{s:{s:{s:b}}}", "notifications", "kinds", "tool.failed", 0);
    break;
  case FILTER_ALL: wanted = json_pack("{s:{s:b}}", "notifications", "enable", 0); break;
  default: break;
  }
  if (wanted) set(config, "conversation", wanted);
  return config;
}

static char *configure_text(const struct act *act) {
  json_t *query = json_pack("{s:s, s:o}", "name", "configure", "config",
                            request_config_of_settings(&act->settings));
  char *text = json_dumps(query, JSON_COMPACT);
  json_decref(query);
  return text;
}

/* -- requests ---------------------------------------------------------------------------------- */

static json_t *with_text(const char *op, const char *key, char *text) {
  json_t *request = json_pack("{s:s, s:s}", "op", op, key, text);
  free(text);
  return request;
}

json_t *request_of_act(const struct act *act, const struct names *names) {
  if (act_is_event(act->kind)) return with_text("event", "event", event_text(act, names));
  json_t *request = NULL;
  switch (act->kind) {
  case ACT_TOOL_RESULT:
    request = json_pack("{s:s, s:s, s:s, s:s, s:s}", "op", "tool_result", "session", names->session,
                        "call_id", "call", "tool", "bash", "content", "ok");
    if (act->room > 0) set(request, "room", json_integer(act->room));
    return request;
  case ACT_CHAT_REQUEST:
    request =
        json_pack("{s:s, s:s, s:s, s:s}", "op", "chat_request", "session", names->session, "source",
                  act->has_ids && act->ids[0] >= SYSTEM_ID ? "system" : "user", "content", "hello");
    if (act->has_ids) set(request, "messages", requested_ids(act, names));
    if (act->room > 0) set(request, "room", json_integer(act->room));
    return request;
  case ACT_SETTLE:
    return json_pack("{s:s, s:o, s:s}", "op", "settle", "delivery",
                     json_sprintf("%" PRIu64, act->delivery), "outcome",
                     act->committed ? "committed" : "rolled_back");
  case ACT_CONFIGURE: return with_text("query", "query", configure_text(act));
  default: return NULL;
  }
}

/* -- words ------------------------------------------------------------------------------------- */

static char *body_words(const struct act *act, const struct names *names) {
  char *words = NULL;
  int written = 0;
  switch (act->kind) {
  case ACT_CLOCK:
    written = asprintf(&words, "the clock jumps by %" PRId64 " ms", act->clock_ms);
    break;
  case ACT_SWAP: written = asprintf(&words, "swaps its plugin"); break;
  case ACT_RESTART: written = asprintf(&words, "exits cleanly and starts again"); break;
  case ACT_CRASH: written = asprintf(&words, "is killed and starts again"); break;
  case ACT_CONFIGURE: words = configure_text(act); break;
  default:
    if (act_is_event(act->kind)) {
      words = event_text(act, names);
    } else {
      json_t *request = request_of_act(act, names);
      json_object_del(request, "session");
      words = json_dumps(request, JSON_COMPACT);
      json_decref(request);
    }
  }
  return written < 0 ? NULL : words;
}

char *request_words_of_act(const struct act *act, const struct names *names) {
  char *words = NULL;
  char *body = body_words(act, names);
  int written = 0;
  if (act->kind == ACT_CLOCK) return body;
  if (act->dies_in > 0) {
    written = asprintf(&words, "%s (killed in commit %" PRIu32 ") %s", act_peer_names[act->peer],
                       act->dies_in, body ? body : "");
  } else {
    written = asprintf(&words, "%s %s", act_peer_names[act->peer], body ? body : "");
  }
  free(body);
  return written < 0 ? NULL : words;
}
