/* SPDX-License-Identifier: MIT
 *
 * conformance/cases_events.c: invalid events. Each is refused with a sentence, and does not change
 * the store.
 */
#include "conformance/trial.h"

#include <stdlib.h>
#include <string.h>

struct bad_event {
  const char *what;
  const char *text;
  size_t len;       /* 0: strlen */
  const char *word; /* a word that the error's text must contain */
};

static void refuse(struct tidings_plugin *plugin, const struct bad_event *bad) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code =
      trial_event(plugin, bad->text, bad->len > 0 ? bad->len : strlen(bad->text), &error);
  trial_expect_refused(code, &error, bad->what);
  trial_expect_word(&error, bad->word, bad->what);
}

static void refuse_all(struct trial *trial, const struct bad_event *bad, size_t count) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  for (size_t i = 0; i < count; i++) refuse(plugin, &bad[i]);
  trial_expect_nothing(plugin, "s");
  trial_push(plugin, "s", "one");
  trial_expect_delivery(plugin, "s", "one");
  trial_close(plugin);
}

#define NOTIFICATION(data) "{\"type\":\"notification\",\"session\":\"s\",\"data\":" data "}"

static void not_json(struct trial *trial) {
  static const struct bad_event bad[] = {
      {"an open brace", "{", 0, ""},
      {"a word", "nonsense", 0, ""},
      {"a list", "[]", 0, ""},
      {"a number", "7", 0, ""},
      {"white space", "   ", 0, ""},
      {"two values", NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"m\"}") " {}", 0, ""},
      {"a trailing comma", "{\"type\":\"notification\",}", 0, ""},
      {"a duplicate key",
       "{\"type\":\"notification\",\"session\":\"s\",\"session\":\"t\",\"data\":{\"kind\":\"a.b\","
       "\"message\":\"m\"}}",
       0, ""},
      {"a duplicate key inside",
       NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"m\",\"message\":\"n\"}"), 0, ""},
      {"invalid UTF-8", NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"\xC3\x28\"}"), 0, ""},
      {"an overlong form", NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"\xC0\xAF\"}"), 0, ""},
      {"a surrogate in UTF-8", NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"\xED\xA0\x80\"}"), 0,
       ""},
      {"half a surrogate pair", NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"\\ud800\"}"), 0, ""},
      {"a NUL byte", "{\"type\":\"notification\",\0\"session\":\"s\"}",
       sizeof "{\"type\":\"notification\",\0\"session\":\"s\"}" - 1, ""},
      {"a NUL byte after it", NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"m\"}") "\0",
       sizeof NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"m\"}"), ""},
  };
  refuse_all(trial, bad, sizeof bad / sizeof bad[0]);
}

static void wrong_shape(struct trial *trial) {
  static const struct bad_event bad[] = {
      {"no type", "{\"session\":\"s\",\"data\":{\"kind\":\"a.b\",\"message\":\"m\"}}", 0, "type"},
      {"a type that is a number", "{\"type\":7,\"session\":\"s\"}", 0, "type"},
      {"no session", "{\"type\":\"notification\",\"data\":{\"kind\":\"a.b\",\"message\":\"m\"}}", 0,
       "session"},
      {"a session that is a number",
       "{\"type\":\"notification\",\"session\":7,\"data\":{\"kind\":\"a.b\",\"message\":\"m\"}}", 0,
       "session"},
      {"no data", "{\"type\":\"notification\",\"session\":\"s\"}", 0, "data"},
      {"data that is a list", NOTIFICATION("[]"), 0, "data"},
      {"no kind", NOTIFICATION("{\"message\":\"m\"}"), 0, "kind"},
      {"a kind that is a number", NOTIFICATION("{\"kind\":7,\"message\":\"m\"}"), 0, "kind"},
      {"no message", NOTIFICATION("{\"kind\":\"a.b\"}"), 0, "message"},
      {"a message that is a list", NOTIFICATION("{\"kind\":\"a.b\",\"message\":[]}"), 0, "message"},
      {"an unknown level",
       NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"m\",\"level\":\"urgent\"}"), 0, "urgent"},
      {"a level that is a number", NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"m\",\"level\":2}"),
       0, "level"},
      {"a ttl that is a string",
       NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"m\",\"ttl_ms\":\"soon\"}"), 0, "ttl_ms"},
      {"a negative ttl", NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"m\",\"ttl_ms\":-1}"), 0,
       "ttl_ms"},
      {"an unknown activation",
       NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"m\",\"activation\":\"now\"}"), 0,
       "activation"},
  };
  refuse_all(trial, bad, sizeof bad / sizeof bad[0]);
}

static void unknown_level(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  static const char text[] =
      NOTIFICATION("{\"kind\":\"a.b\",\"message\":\"m\",\"level\":\"urgent\"}");
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_E_SCHEMA, trial_event(plugin, text, sizeof text - 1, &error), &error,
               "an unknown level");
  static const char *const words[] = {"level", "urgent", "info", "warning", "error", "critical"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    trial_expect_word(&error, words[i], "an unknown level");
  trial_close(plugin);
}

static void unknown_type(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  static const char text[] = "{\"type\":\"no.such.event\",\"session\":\"s\",\"data\":{}}";
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_E_UNSUPPORTED, trial_event(plugin, text, sizeof text - 1, &error), &error,
               "an unknown event type");
  trial_expect_word(&error, "no.such.event", "an unknown event type");
  trial_close(plugin);
}

/* Sends an event whose data.data is `count` copies of `opening`. */
static void nest(struct tidings_plugin *plugin, size_t count, const char *opening,
                 const char *closing, const char *what) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (!out) trial_fail("out of memory");
  fputs("{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"a.b\",\"message\":\"m\","
        "\"data\":{\"x\":",
        out);
  for (size_t i = 0; i < count; i++) fputs(opening, out);
  if (closing) {
    fputs("1", out);
    for (size_t i = 0; i < count; i++) fputs(closing, out);
    fputs("}}}", out);
  }
  fclose(out);
  struct bad_event bad = {what, text, len, ""};
  refuse(plugin, &bad);
  free(text);
}

static void depth_bombs(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  nest(plugin, 20, "[", "]", "20 lists in one another");
  nest(plugin, 20, "{\"x\":", "}", "20 objects in one another");
  nest(plugin, 100000, "[", "]", "100,000 lists in one another");
  nest(plugin, 250000, "[", NULL, "250,000 open brackets");
  nest(plugin, 40000, "{\"x\":", NULL, "40,000 open braces");
  trial_expect_nothing(plugin, "s");
  trial_push(plugin, "s", "one");
  trial_expect_delivery(plugin, "s", "one");
  trial_close(plugin);
}

static void oversized(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  const size_t limit = 262144;
  static const char head[] =
      "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"a.b\",\"message\":\"";
  static const char tail[] = "\"}}";
  char *text = malloc(limit + 1);
  if (!text) trial_fail("out of memory");
  for (size_t len = limit; len <= limit + 1; len++) {
    memset(text, 'x', len);
    memcpy(text, head, sizeof head - 1);
    memcpy(text + len - (sizeof tail - 1), tail, sizeof tail - 1);
    struct tidings_error error = {.size = sizeof error};
    trial_expect(len == limit ? TIDINGS_OK : TIDINGS_E_TOO_BIG,
                 trial_event(plugin, text, len, &error), &error,
                 len == limit ? "an event of 262,144 bytes" : "an event of 262,145 bytes");
  }
  free(text);
  const struct tidings_reply *reply = trial_deliver(plugin, "s");
  if (!reply || reply->notification_count != 1)
    trial_fail("one event was accepted, %zu were delivered", reply ? reply->notification_count : 0);
  if (reply->notifications[0]->text.len > 16384 + 64)
    trial_fail("a message of %zu bytes was not cut at 16,384", reply->notifications[0]->text.len);
  plugin->release(plugin, reply);
  trial_close(plugin);
}

static void try_session(struct tidings_plugin *plugin, const char *id, size_t len, bool is_good,
                        const char *what) {
  struct tidings_tool_result result = {
      .size = sizeof result, .session = {id, len}, .content = trial_span("ok")};
  struct tidings_chat_request request = {
      .size = sizeof request, .session = {id, len}, .content = trial_span("ok")};
  const struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = plugin->on_tool_result(plugin, &result, &reply, &error);
  if (is_good) {
    trial_expect(TIDINGS_OK, code, &error, what);
    plugin->release(plugin, reply);
    return;
  }
  trial_expect_refused(code, &error, what);
  trial_expect_word(&error, "session", what);
  trial_expect_refused(plugin->on_chat_request(plugin, &request, &reply, &error), &error, what);
}

static void session_ids(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  char letters[256];
  memset(letters, 's', sizeof letters);
  try_session(plugin, "", 0, false, "an empty session id");
  try_session(plugin, letters, 256, false, "a session id of 256 bytes");
  try_session(plugin, letters, 255, true, "a session id of 255 bytes");
  try_session(plugin, "a\nb", 3, false, "a session id with a line break");
  try_session(plugin, "a\0b", 3, false, "a session id with a NUL");
  try_session(plugin, "a\x7F", 2, false, "a session id with DEL");
  try_session(plugin, "\xC2\x85", 2, false, "a session id with a C1 control character");
  try_session(plugin, "\xFF\xFE", 2, false, "a session id that is not UTF-8");
  try_session(plugin, "../../etc/passwd", 16, true, "a session id that looks like a path");
  try_session(plugin, "s\xC3\xA9ssion \xF0\x9F\x93\xAC", 13, true,
              "a session id of several scripts");
  static const struct bad_event bad[] = {
      {"an empty session id",
       "{\"type\":\"notification\",\"session\":\"\",\"data\":{\"kind\":\"a.b\",\"message\":\"m\"}}",
       0, "session"},
      {"a session id with a line break",
       "{\"type\":\"notification\",\"session\":\"a\\nb\",\"data\":{\"kind\":\"a.b\",\"message\":"
       "\"m\"}}",
       0, "session"},
      {"a session id with a NUL",
       "{\"type\":\"notification\",\"session\":\"a\\u0000b\",\"data\":{\"kind\":\"a.b\","
       "\"message\":\"m\"}}",
       0, ""},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) refuse(plugin, &bad[i]);
  char event[512];
  int len = snprintf(event, sizeof event,
                     "{\"type\":\"notification\",\"session\":\"%.256s\",\"data\":{\"kind\":\"a.b\","
                     "\"message\":\"m\"}}",
                     letters);
  refuse(plugin, &(struct bad_event){"a session id of 256 bytes", event, (size_t)len, "session"});
  trial_close(plugin);
}

/* The text of an error may quote input, but always ends inside its 504 bytes and stays one line. */
static void error_text(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (!out) trial_fail("out of memory");
  fputs("{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"a.b\",\"message\":\"m\","
        "\"level\":\"",
        out);
  for (int i = 0; i < 2000; i++) fputs("\xE2\x82\xAC\\n\\u001b[31m", out);
  fputs("\"}}", out);
  fclose(out);
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_E_SCHEMA, trial_event(plugin, text, len, &error), &error,
               "a very long level");
  free(text);
  for (const char *c = error.text; *c != '\0'; c++) {
    if ((unsigned char)*c < 0x20) {
      trial_fail("the error's text has a control character 0x%02x in it",
                 (unsigned)(unsigned char)*c);
    }
  }
  json_t *as_json = json_string(error.text); /* NULL when it is not UTF-8 */
  if (!as_json) trial_fail("the error's text was cut inside a character");
  json_decref(as_json);
  trial_close(plugin);
}

static void duplicate(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_span event =
      trial_span("{\"type\":\"notification\",\"session\":\"s\",\"source\":\"ci\",\"id\":\"1\","
                 "\"data\":{\"kind\":\"ci.done\",\"message\":\"one\"}}");
  for (int i = 0; i < 3; i++) {
    const struct tidings_reply *reply = NULL;
    struct tidings_error error = {.size = sizeof error};
    trial_expect(TIDINGS_OK, plugin->on_event(plugin, &event, &reply, &error), &error,
                 "an event with an id");
    bool is_duplicate = reply && (reply->flags & TIDINGS_REPLY_DUPLICATE) != 0;
    if (is_duplicate != (i > 0)) {
      trial_fail("push %d of the same source and id: duplicate is %s", i + 1,
                 is_duplicate ? "set" : "not set");
    }
    plugin->release(plugin, reply);
  }
  trial_expect_delivery(plugin, "s", "one");
  trial_expect_nothing(plugin, "s");
  trial_close(plugin);
}

const struct conformance_case cases_event[] = {
    {"event.not-json", "input that is not one JSON object in UTF-8 is refused", not_json},
    {"event.wrong-shape",
     "an event without a required field, or with a wrong type, "
     "is refused, naming the field",
     wrong_shape},
    {"event.unknown-level", "an unknown level is SCHEMA, naming field, value and choices",
     unknown_level},
    {"event.unknown-type", "an unknown type is UNSUPPORTED, by name", unknown_type},
    {"event.depth-bombs", "nesting beyond the limit is refused before it costs anything",
     depth_bombs},
    {"event.oversized", "the limit of an event is 256 KiB", oversized},
    {"event.session-ids", "session ids are 1 to 255 bytes of UTF-8 without control characters",
     session_ids},
    {"event.duplicate", "the same source and id a second time has no effect", duplicate},
    {"error.text", "an error's text is one terminated line of UTF-8", error_text},
    {NULL, NULL, NULL},
};
