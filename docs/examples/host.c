/* SPDX-License-Identifier: MIT
 * A whole host: news is pushed, rides on a tool's result, and is settled. Build: cc host.c
 * $(pkg-config --cflags --libs tidings-hostkit) */
#include <stdio.h>
#include <string.h>
#include <tidings/hostkit.h>

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

int main(int argc, char **argv) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit_options options = {.size = sizeof options,
                                    .plugin_path = argc > 1 ? argv[1] : "tidings.so",
                                    .store_dir = argc > 2 ? argv[2] : NULL};
  struct tidings_span news = span("{\"type\": \"notification\", \"session\": \"s\", \"data\": "
                                  "{\"kind\": \"tool.failed\", \"level\": "
                                  "\"error\", \"message\": \"The build failed.\"}}");
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = span("s"),
                                       .call_id = span("c1"),
                                       .tool = span("ls"),
                                       .content = span("a.c\n")};
  struct tidings_reply *reply = NULL;
  struct hostkit_outgoing *outgoing = NULL;
  struct hostkit *kit = NULL;

  int32_t code = hostkit_open(&options, &kit, &error);
  if (!code)
    code = hostkit_event(kit, &news, &reply, &error); /* stored for good when it returns 0 */
  hostkit_reply_free(reply);
  reply = NULL;
  if (!code)
    code = hostkit_tool_result(kit, &result, &reply,
                               &error); /* on an error a host sends the result unchanged */
  if (!code) code = hostkit_compose(&result.content, reply, &outgoing, &error);
  for (size_t i = 0; !code && i < outgoing->part_count;
       i++) /* to the model, and into the transcript with reply->delivery_id */
    fwrite(outgoing->parts[i]->text, 1, outgoing->parts[i]->text_len, stdout);
  if (!code && reply && reply->delivery_id)
    code = hostkit_settle(kit, reply->delivery_id, TIDINGS_COMMITTED, NULL, &error);

  if (code) fprintf(stderr, "%s: %s\n", hostkit_error_name(code), error.text);
  hostkit_outgoing_free(outgoing);
  hostkit_reply_free(reply);
  return hostkit_close(kit, 1000, NULL) || code;
}
