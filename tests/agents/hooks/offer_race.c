/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/offer_race.c: a hook at a turn's end is offered the next turn, and when it
 * makes the request, another process has locked the store. The linker replaces hostkit_chat_request
 * by __wrap_hostkit_chat_request, so that this happens each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/call/call.h"
#include "agents/hook/hook.h"
#include "agents/turn/stop.h"
#include "agents/turn/turns.h"
#include "agents/wait/wait.h"
#include "command/json_value.h"
#include "common/clock.h"
#include "tests/agents/hooks/race.h"

static struct tidings_error error = {.size = sizeof error};
static bool store_is_busy; /* the next chat request finds the store busy */
static unsigned messages;

int32_t __real_hostkit_chat_request(struct hostkit *kit, const struct tidings_chat_request *request,
                                    struct tidings_reply **ret_reply,
                                    struct tidings_error *ret_error);
int32_t __wrap_hostkit_chat_request(struct hostkit *kit, const struct tidings_chat_request *request,
                                    struct tidings_reply **ret_reply,
                                    struct tidings_error *ret_error);
int32_t __wrap_hostkit_chat_request(struct hostkit *kit, const struct tidings_chat_request *request,
                                    struct tidings_reply **ret_reply,
                                    struct tidings_error *ret_error) {
  bool busy = store_is_busy;
  store_is_busy = false;
  return busy ? kit_error(ret_error, TIDINGS_E_BUSY, "another process has the store")
              : __real_hostkit_chat_request(kit, request, ret_reply, ret_error);
}

static struct hook_call claude(enum hook_moment moment, const char *event) {
  return (struct hook_call){.host = host_find("claude"),
                            .moment = moment,
                            .event = event,
                            .session = "s",
                            .cwd = "",
                            .source = "",
                            .prompt = "x",
                            .call_id = "c",
                            .tool = "Bash",
                            .failure = "",
                            .transcript = "",
                            .begun_ms = clock_wall_ms()};
}

/* The text that the model gets; free it. */
static char *answer_to(struct hostkit *kit, enum hook_moment moment, const char *event) {
  const struct hook_call call = claude(moment, event);
  struct hook_answer answer = {.output = NULL};
  int32_t code = hook_answer_call(kit, &call, (uint32_t)getpid(), &answer, &error);
  MUST(code == TIDINGS_OK || (code == TIDINGS_E_BUSY && !answer.output));
  char *text = strdup(answer.output ? hook_context_said(&call, answer.output) : "");
  json_decref(answer.output);
  return text;
}

static void must_say(struct hostkit *kit, enum hook_moment moment, const char *event,
                     const char *words) {
  char *text = answer_to(kit, moment, event);
  MUST(words[0] ? strncmp(text, words, strlen(words)) == 0 : !text[0]);
  free(text);
}

static void must_be(struct hostkit *kit, const char *state, const char *of_message) {
  json_t *status = NULL;
  MUST(kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", "s"), &status, &error) ==
       TIDINGS_OK);
  const json_t *queued = json_array_get(json_object_get(status, "queued"), 0);
  MUST(strcmp(json_value_text(status, "state"), state) == 0);
  MUST(strcmp(json_value_text(queued, "state"), of_message) == 0);
  json_decref(status);
}

/* A turn ends while the store is busy, with a message in the queue. */
static void lose_offer(struct hostkit *kit) {
  char id[16];
  must_say(kit, HOOK_PROMPT, "UserPromptSubmit", "");
  (void)snprintf(id, sizeof id, "m%u", ++messages);
  MUST(kit_event(kit,
                 kit_new_event("message.submitted", "s",
                               json_pack("{s:s, s:s}", "id", id, "content", "Do this.")),
                 NULL, &error) == TIDINGS_OK);
  store_is_busy = true;
  must_say(kit, HOOK_STOP, "Stop", "");
  MUST(!store_is_busy);
  must_be(kit, "starting", "offered");
}

static void end_turns(struct hostkit *kit) {
  must_say(kit, HOOK_STOP, "Stop", "");
  must_be(kit, "idle", "");
}

static void a_tool_result_comes_next(struct hostkit *kit) {
  lose_offer(kit);
  must_say(kit, HOOK_AFTER_TOOL, "PostToolUse", "");
  must_be(kit, "busy", "queued");
  must_say(kit, HOOK_STOP, "Stop", "Do this.\n\n[tidings ");
  must_be(kit, "busy", "leased");
  end_turns(kit);
  printf("ok 1 - a tool's result does not start what no carrier has taken\n");
}

static void a_turn_end_comes_next(struct hostkit *kit) {
  lose_offer(kit);
  must_say(kit, HOOK_STOP, "Stop", "Do this.\n\n[tidings ");
  end_turns(kit);
  printf("ok 2 - at the next end of a turn it is the reason to go on\n");
}

static void a_prompt_comes_next(struct hostkit *kit) {
  lose_offer(kit);
  must_say(kit, HOOK_PROMPT, "UserPromptSubmit", "");
  must_be(kit, "busy", "queued");
  must_say(kit, HOOK_STOP, "Stop", "Do this.\n\n[tidings ");
  end_turns(kit);
  printf("ok 3 - a prompt comes first\n");
}

/* The end is reported again (wait/again.h). */
static void the_end_comes_again(struct hostkit *kit) {
  struct hook_call call = claude(HOOK_STOP, "Stop");
  call.late = true;
  lose_offer(kit);
  MUST(hook_turn_ended_late(kit, &call, true, &error) == TIDINGS_OK);
  must_be(kit, "starting", "offered");
  MUST(hook_turn_ended_late(kit, &call, false, &error) == TIDINGS_OK);
  must_be(kit, "idle", "queued");
  must_say(kit, HOOK_PROMPT, "UserPromptSubmit", "");
  must_say(kit, HOOK_STOP, "Stop", "Do this.\n\n[tidings ");
  end_turns(kit);
  printf("ok 4 - it stays offered only if a process waits that starts it\n");
}

/* The hook runs in its own process, as the agent runs it, while the turn ends. */
static void the_waiter_comes_next(struct hostkit *kit) {
  static char store[4096];
  static const struct cli_program program = {.name = "test"};
  (void)snprintf(store, sizeof store, "%s/store", race_folder);
  struct cli cli = {.verb = &verb_hook,
                    .program = &program,
                    .store = store,
                    .no_config = true,
                    .budget_ms = 60000};
  const struct hook_call call = claude(HOOK_STOP, "Stop");
  lose_offer(kit);
  kit_close(kit);
  MUST(setenv("CLAUDE_CODE_ENTRYPOINT", "cli", 1) == 0);
  MUST(setenv("XDG_STATE_HOME", race_folder, 1) == 0);
  MUST(hook_wait_rewake(&cli, &call, (uint32_t)getpid()) == 2);
  printf("ok 5 - nothing comes: the process that waits beside the agent wakes it\n");
}

int main(void) {
  race_make_folder("offer-race");
  struct hostkit *kit = race_open_kit(&error);
  a_tool_result_comes_next(kit);
  a_turn_end_comes_next(kit);
  a_prompt_comes_next(kit);
  the_end_comes_again(kit);
  the_waiter_comes_next(kit);
  printf("1..5\n");
  return 0;
}
