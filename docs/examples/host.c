/* SPDX-License-Identifier: MIT
 * A whole host: a notification is pushed, delivered with a tool's result, and settled. Build:
 * cc host.c $(pkg-config --cflags --libs tidings-hostkit) */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <tidings/hostkit.h>

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

/* Writes what goes to the model and into the transcript. An agent sends each part as the message or
 * block that its voice says; here all go to standard output. NULL: the tool's result, unchanged. */
static bool write_carrier(const struct tidings_span *content, const struct hostkit_outgoing *out) {
  if (!out) fwrite(content->ptr, 1, content->len, stdout);
  for (size_t i = 0; out && i < out->part_count; i++)
    fwrite(out->parts[i]->text, 1, out->parts[i]->text_len, stdout);
  return fflush(stdout) == 0 && !ferror(stdout);
}

int main(int argc, char **argv) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit_options options = {.size = sizeof options,
                                    .plugin_path = argc > 1 ? argv[1] : "tidings.so",
                                    .store_dir = argc > 2 ? argv[2] : NULL};
  struct hostkit_notification note = {.size = sizeof note,
                                      .session = span("s"),
                                      .kind_source = span("tool"),
                                      .kind_name = span("failed"),
                                      .level = TIDINGS_LEVEL_ERROR,
                                      .text = span("The build failed.")};
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = span("s"),
                                       .call_id = span("c1"),
                                       .tool = span("ls"),
                                       .content = span("a.c\n")};
  struct tidings_reply *reply = NULL;
  struct hostkit_outgoing *outgoing = NULL;
  struct hostkit *kit = NULL;

  int32_t code = hostkit_open(&options, &kit, &error);
  if (!code) code = hostkit_push(kit, &note, NULL, &error); /* stored for good when it returns 0 */
  if (!code) code = hostkit_tool_result(kit, &result, &reply, &error);
  if (!code) code = hostkit_compose(&result.content, reply, &outgoing, &error);
  /* On any error the result goes out unchanged. The transcript also keeps reply->delivery_id. */
  bool written = write_carrier(&result.content, outgoing);
  uint32_t outcome = outgoing && written ? TIDINGS_OUTCOME_COMMITTED : TIDINGS_OUTCOME_ROLLED_BACK;
  int32_t settled = 0;
  if (reply && reply->delivery_id)
    settled = hostkit_settle(kit, reply->delivery_id, outcome, NULL, code ? NULL : &error);
  if (!code) code = settled;

  if (code) fprintf(stderr, "%s: %s\n", hostkit_error_name(code), error.text);
  hostkit_outgoing_free(outgoing);
  hostkit_reply_free(reply);
  return hostkit_close(kit, 1000, NULL) || code || !written;
}
