/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/late_transcript.c: agents that write their transcripts late. The linker
 * replaces clock_wall_ms by __wrap_clock_wall_ms, so that nobody has to wait, and hook_later_look
 * by __wrap_hook_later_look, which first lets the agent write more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agents/call/call.h"
#include "agents/deliver/deliver.h"
#include "agents/hook/hook.h"
#include "agents/transcript/later.h"
#include "agents/turn/turns.h"
#include "command/json_value.h"
#include "common/clock.h"
#include "tests/agents/hooks/race.h"

static struct tidings_error error = {.size = sizeof error};
static int64_t later_ms;
static char path[4096];

int64_t __real_clock_wall_ms(void);
int64_t __wrap_clock_wall_ms(void);
int64_t __wrap_clock_wall_ms(void) { return __real_clock_wall_ms() + later_ms; }

/* The line that an agent writes: %s is a call's id, or a time. */
struct dialect {
  const char *host, *session;
  bool names_calls;
  const char *result, *answer;
};
static const struct dialect dialects[] = {
    {"claude", "a", true,
     "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"%"
     "s\"}]}}",
     "{\"type\":\"assistant\",\"timestamp\":\"%s\"}"},
    {"codex", "b", true, "{\"payload\":{\"type\":\"function_call_output\",\"call_id\":\"%s\"}}",
     "{\"timestamp\":\"%s\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\"}}"},
    {"qwen", "c", true,
     "{\"type\":\"tool_result\",\"message\":{\"parts\":[{\"functionResponse\":{\"id\":\"%s\"}}]}}",
     "{\"type\":\"assistant\",\"timestamp\":\"%s\"}"},
    {"gemini", "d", false, "{\"type\":\"user\",\"content\":\"%s\"}",
     "{\"type\":\"gemini\",\"timestamp\":\"%s\"}"},
    {"copilot", "e", false,
     "{\"type\":\"tool.execution_complete\",\"data\":{\"toolCallId\":\"%s\"}}",
     "{\"type\":\"assistant.message\",\"timestamp\":\"%s\"}"},
};

static void append(const char *line) {
  FILE *file = fopen(path, "a");
  MUST(file && fprintf(file, "%s\n", line) > 0 && fclose(file) == 0);
}

static void append_filled(const char *template, const char *text) {
  char line[256];
  const char *mark = strstr(template, "%s");
  MUST(mark);
  (void)snprintf(line, sizeof line, "%.*s%s%s", (int)(mark - template), template, text, mark + 2);
  append(line);
}

static void write_result(const struct dialect *dialect, const char *call_id) {
  append_filled(dialect->result, call_id);
}

/* Writes an answer of the model, with a time this many milliseconds from now. */
static void write_answer(const struct dialect *dialect, int64_t from_now_ms) {
  char text[64];
  int64_t ms = clock_wall_ms() + from_now_ms;
  time_t seconds = (time_t)(ms / 1000);
  struct tm utc;
  MUST(gmtime_r(&seconds, &utc) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc));
  append_filled(dialect->answer, text);
}

/* -- what is written while a hook reads -------------------------------------------------------- */

static const struct dialect *writer; /* NULL: nobody writes */
static char marked[1024];            /* the line with the answer of a hook */

void __real_hook_later_look(const char *from, const struct host *host, struct hook_handed *handed,
                            size_t count);
void __wrap_hook_later_look(const char *from, const struct host *host, struct hook_handed *handed,
                            size_t count);
void __wrap_hook_later_look(const char *from, const struct host *host, struct hook_handed *handed,
                            size_t count) {
  if (writer) {
    write_result(writer, "c2");
    append(marked);
    write_answer(writer, 2000);
  }
  writer = NULL;
  __real_hook_later_look(from, host, handed, count);
}

/* Returns what the model gets; free it. */
static char *call_hook(struct hostkit *kit, const struct dialect *dialect, enum hook_moment moment,
                       const char *call_id) {
  const struct hook_call call = {.host = host_find(dialect->host),
                                 .known = true,
                                 .moment = moment,
                                 .event = "PostToolUse",
                                 .session = dialect->session,
                                 .cwd = "",
                                 .source = "",
                                 .prompt = "x",
                                 .call_id = dialect->names_calls ? call_id : "",
                                 .tool = "t",
                                 .failure = "",
                                 .transcript = path,
                                 .begun_ms = clock_wall_ms()};
  struct hook_answer answer = {.output = NULL};
  MUST(hook_answer_call(kit, &call, (uint32_t)getpid(), &answer, &error) == TIDINGS_OK);
  char *text = strdup(answer.output ? hook_context_said(&call, answer.output) : "");
  MUST(text);
  json_decref(answer.output);
  return text;
}

static void must_get(struct hostkit *kit, const struct dialect *dialect, enum hook_moment moment,
                     const char *call_id, const char *words) {
  char *text = call_hook(kit, dialect, moment, call_id);
  MUST(words[0] ? strstr(text, words) != NULL : !text[0]);
  free(text);
}

static void push(struct hostkit *kit, const struct dialect *dialect, const char *message) {
  json_t *note = json_pack("{s:s, s:s}", "message", message, "kind", "ci.done");
  MUST(kit_event(kit, kit_new_event("notification", dialect->session, note), NULL, &error) ==
       TIDINGS_OK);
}

static size_t count_leased(struct hostkit *kit, const struct dialect *dialect) {
  json_t *status = NULL;
  MUST(kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", dialect->session),
                 &status, &error) == TIDINGS_OK);
  size_t count = json_array_size(json_object_get(status, "leased"));
  json_decref(status);
  return count;
}

/* Delivers a notification with a tool's result. `marked` is the line that the agent writes about
 * it. */
static void hand_out(struct hostkit *kit, const struct dialect *dialect, const char *message,
                     const char *call_id) {
  push(kit, dialect, message);
  char *text = call_hook(kit, dialect, HOOK_AFTER_TOOL, call_id);
  char *marker = strstr(text, "[tidings ");
  MUST(strstr(text, message) && marker);
  (void)snprintf(marked, sizeof marked, "{\"text\":\"%s\\n\\n%s\"}", message, marker);
  free(text);
}

/* Puts a delivery into the transcript, which shows that this agent records deliveries. Then makes
 * another one. */
static void begin(struct hostkit *kit, const struct dialect *dialect) {
  MUST(truncate(path, 0) == 0);
  must_get(kit, dialect, HOOK_PROMPT, "", "");
  hand_out(kit, dialect, "First.", "c1");
  append(marked);
  hand_out(kit, dialect, "Second.", "c2");
  MUST(count_leased(kit, dialect) == 1);
}

static void a_late_transcript_drops_nothing(struct hostkit *kit, const struct dialect *dialect) {
  begin(kit, dialect);
  later_ms += 30000;
  must_get(kit, dialect, HOOK_STOP, "", "");
  must_get(kit, dialect, HOOK_PROMPT, "", "");
  MUST(count_leased(kit, dialect) == 1);
  if (dialect->names_calls) {
    write_answer(dialect, 0); /* as with tools that run at the same time: before the result */
    must_get(kit, dialect, HOOK_STOP, "", "");
    must_get(kit, dialect, HOOK_PROMPT, "", "");
    write_result(dialect, "c1");
    write_answer(dialect, 0);
    must_get(kit, dialect, HOOK_STOP, "", "");
  } else {
    write_answer(dialect, -40000);
    must_get(kit, dialect, HOOK_STOP, "", "");
  }
  must_get(kit, dialect, HOOK_PROMPT, "", "");
  MUST(count_leased(kit, dialect) == 1);
}

static void what_has_an_answer_after_it_was_dropped(struct hostkit *kit,
                                                    const struct dialect *dialect) {
  write_result(dialect, "c2");
  must_get(kit, dialect, HOOK_STOP, "", "");
  must_get(kit, dialect, HOOK_PROMPT, "", "");
  MUST(count_leased(kit, dialect) == 1);
  write_answer(dialect, 2000);
  must_get(kit, dialect, dialect->names_calls ? HOOK_AFTER_TOOL : HOOK_PROMPT, "c3", "Second.");
}

static void time_bounds_the_wait(struct hostkit *kit, const struct dialect *dialect) {
  MUST(count_leased(kit, dialect) == 1);
  later_ms += 61000;
  must_get(kit, dialect, HOOK_PROMPT, "", "Second.");
}

/* The first look does not find the delivery, and the second finds later words of the model. */
static void what_is_written_between_two_looks_was_delivered(struct hostkit *kit,
                                                            const struct dialect *dialect) {
  begin(kit, dialect);
  writer = dialect;
  must_get(kit, dialect, dialect->names_calls ? HOOK_AFTER_TOOL : HOOK_PROMPT, "c3", "");
  MUST(!writer && count_leased(kit, dialect) == 0);
}

int main(void) {
  race_make_folder("late-transcript");
  (void)snprintf(path, sizeof path, "%s/transcript.jsonl", race_folder);
  append("");
  struct hostkit *kit = race_open_kit(&error);
  for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
    a_late_transcript_drops_nothing(kit, &dialects[i]);
    what_has_an_answer_after_it_was_dropped(kit, &dialects[i]);
    time_bounds_the_wait(kit, &dialects[i]);
    struct dialect another = dialects[i];
    another.session = dialects[i].host;
    what_is_written_between_two_looks_was_delivered(kit, &another);
    printf("ok %zu - %s: what is not in a late transcript is not shown again until the model has "
           "answered after it, or a minute has passed\n",
           i + 1, dialects[i].host);
  }
  printf("1..%zu\n", sizeof dialects / sizeof dialects[0]);
  kit_close(kit);
  return 0;
}
