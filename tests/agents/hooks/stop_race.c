/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/stop_race.c: a process finds that a person has stopped the running turn, and
 * before it reports that, the hook of the next prompt is called. The linker replaces kit_query by
 * __wrap_kit_query, so that this happens each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/call/call.h"
#include "agents/hook/hook.h"
#include "agents/turn/person.h"
#include "agents/turn/stop.h"
#include "agents/turn/turns.h"
#include "command/json_value.h"
#include "common/clock.h"
#include "tests/agents/hooks/race.h"

static struct tidings_error error = {.size = sizeof error};
static int64_t
    prompted_ms; /* 0, or the time of a prompt that comes after the next query of the status */

static void prompt(struct hostkit *kit, int64_t begun_ms) {
  struct hook_answer answer = {.output = NULL};
  const struct hook_call call = {.host = host_find("claude"),
                                 .moment = HOOK_PROMPT,
                                 .event = "UserPromptSubmit",
                                 .session = "s",
                                 .cwd = "",
                                 .source = "",
                                 .prompt = "x",
                                 .transcript = "",
                                 .begun_ms = begun_ms};
  MUST(hook_answer_call(kit, &call, (uint32_t)getpid(), &answer, &error) == TIDINGS_OK);
  MUST(!answer.output);
}

int32_t __real_kit_query(struct hostkit *kit, json_t *request, json_t **ret_answer,
                         struct tidings_error *ret_error);
int32_t __wrap_kit_query(struct hostkit *kit, json_t *request, json_t **ret_answer,
                         struct tidings_error *ret_error);
int32_t __wrap_kit_query(struct hostkit *kit, json_t *request, json_t **ret_answer,
                         struct tidings_error *ret_error) {
  int64_t begun_ms = prompted_ms;
  bool now = begun_ms && strcmp(json_value_text(request, "name"), "status") == 0;
  int32_t code = __real_kit_query(kit, request, ret_answer, ret_error);
  if (!now) return code;
  prompted_ms = 0;
  prompt(kit, begun_ms);
  return code;
}

static void must_be(struct hostkit *kit, const char *state, int64_t started_ms) {
  json_t *status = NULL;
  MUST(__real_kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", "s"), &status,
                        &error) == TIDINGS_OK);
  MUST(strcmp(json_value_text(status, "state"), state) == 0);
  MUST(json_integer_value(json_object_get(status, "started_at")) == started_ms);
  json_decref(status);
}

static void stop(struct hostkit *kit, int64_t when_ms) {
  const struct hook_call call = {.host = host_find("claude"), .session = "s"};
  MUST(hook_person_interrupted(kit, &call, when_ms, NULL, &error) == TIDINGS_OK);
}

static void notice(struct hostkit *kit, int64_t begun_ms) {
  json_t *input = json_pack("{s:s}", "notification_type", "idle_prompt");
  const struct hook_call call = {
      .host = host_find("claude"), .session = "s", .input = input, .begun_ms = begun_ms};
  MUST(hook_person_noticed(kit, &call, &error) == TIDINGS_OK);
  json_decref(input);
}

static void ended_late(struct hostkit *kit, enum hook_moment moment, int64_t begun_ms) {
  const struct hook_call call = {.host = host_find("claude"),
                                 .moment = moment,
                                 .session = "s",
                                 .failure = "",
                                 .late = true,
                                 .begun_ms = begun_ms};
  MUST(hook_turn_ended_late(kit, &call, false, &error) == TIDINGS_OK);
}

int main(void) {
  race_make_folder("stop-race");
  struct hostkit *kit = race_open_kit(&error);
  int64_t first_ms = clock_wall_ms() - 10000, later_ms;
  prompt(kit, first_ms);
  must_be(kit, "busy", first_ms);
  prompted_ms = first_ms + 2;
  stop(kit, first_ms + 1);
  MUST(!prompted_ms);
  must_be(kit, "busy", first_ms + 2);
  printf("ok 1 - what stopped the turn before does not end that of a newer prompt\n");
  stop(kit, first_ms + 1);
  must_be(kit, "busy", first_ms + 2);
  printf("ok 2 - nor when it is found again\n");
  stop(kit, first_ms + 3);
  must_be(kit, "idle", 0);
  printf("ok 3 - what comes later ends it\n");
  prompt(kit, first_ms);
  notice(kit, first_ms + 500);
  must_be(kit, "busy", first_ms);
  notice(kit, first_ms + 1500);
  must_be(kit, "idle", 0);
  printf("ok 4 - a notice that the agent has idled for a while is not of a prompt that came just "
         "before\n");
  later_ms = clock_wall_ms() + 3600000;
  prompt(kit, later_ms);
  must_be(kit, "busy", later_ms);
  stop(kit, clock_wall_ms());
  must_be(kit, "idle", 0);
  prompt(kit, later_ms);
  notice(kit, clock_wall_ms());
  must_be(kit, "idle", 0);
  printf("ok 5 - if the clock was set back to before the prompt, times are not compared\n");
  for (int failed = 0; failed < 2; failed++) {
    prompt(kit, first_ms);
    ended_late(kit, failed ? HOOK_TURN_FAILED : HOOK_STOP, first_ms - 1);
    must_be(kit, "busy", first_ms);
    ended_late(kit, failed ? HOOK_TURN_FAILED : HOOK_STOP, first_ms + 1);
    must_be(kit, failed ? "error" : "idle", 0);
  }
  printf(
      "ok 6 - the end of a turn that is reported late does not end that of a newer prompt\n1..6\n");
  kit_close(kit);
  return 0;
}
