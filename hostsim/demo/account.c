/* SPDX-License-Identifier: MIT
 *
 * The books at the end of the demo. What was pushed is asked of the ledger and of the store; what was delivered is counted in the texts
 * that the transcript holds, which is what the model has seen. Each pushed message is unlike every other, so it can be counted by its text.
 */
#include "demo/demo.h"

#include "hostkit_flags.h"

#include <stdlib.h>
#include <string.h>

struct books {
  size_t pushed;    /* by the ledger */
  size_t delivered; /* seen at least once */
  size_t twice;     /* seen more than once */
  json_int_t store_pushed;
  json_int_t store_delivered;
  json_int_t store_open;     /* pending or leased */
  json_int_t store_withheld; /* as configured: filtered or annihilated */
};

static size_t count_in_transcript(const json_t *transcript, const char *message) {
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(transcript); i++) {
    const char *text = json_string_value(json_object_get(json_array_get(transcript, i), "content"));
    while (text != NULL && (text = strstr(text, message)) != NULL) {
      count++;
      text += strlen(message);
    }
  }
  return count;
}

static void count_messages(const struct demo_folder *folder, struct books *books) {
  json_t *ledger = journal_read(folder->ledger);
  json_t *transcript = journal_read(folder->transcript);
  books->pushed = json_array_size(ledger);
  for (size_t i = 0; i < books->pushed; i++) {
    const char *message = json_string_value(json_object_get(json_array_get(ledger, i), "message"));
    size_t seen = count_in_transcript(transcript, message);
    books->delivered += seen > 0;
    books->twice += seen > 1;
    if (seen != 1) {
      printf("seen %zu times: %s\n", seen, message);
    }
  }
  json_decref(transcript);
  json_decref(ledger);
}

/* Asks the store, as any process may. Returns 0 or -1. */
static int ask_store(const struct demo_folder *folder, const char *plugin, struct books *books) {
  struct hostkit_options options = {
      .size = sizeof options,
      .flags = HOSTSIM_HOSTKIT_FLAGS | HOSTKIT_NO_PROBE,
      .plugin_path = plugin,
      .store_dir = folder->store,
      .copy_dir = folder->dir,
      .role = TIDINGS_ROLE_PRODUCER,
  };
  struct hostkit *hostkit = NULL;
  struct tidings_error error = {.size = sizeof error};
  static const char query[] = "{\"name\":\"stats\",\"session\":\"" DEMO_SESSION "\"}";
  struct tidings_span span = {query, sizeof query - 1};
  char *answer = NULL;
  if (hostkit_open(&options, &hostkit, &error) != TIDINGS_OK || hostkit_query(hostkit, &span, &answer, &error) != TIDINGS_OK) {
    fprintf(stderr, "hostsim: the store cannot be asked: %s\n", error.text);
    hostkit_close(hostkit, DEMO_TIMEOUT_MS, NULL);
    return -1;
  }
  json_t *stats = json_loads(answer, 0, NULL);
  books->store_pushed = json_integer_value(json_object_get(stats, "pushed"));
  books->store_delivered = json_integer_value(json_object_get(json_object_get(stats, "outcomes"), "delivered"));
  books->store_open = json_integer_value(json_object_get(stats, "pending")) + json_integer_value(json_object_get(stats, "leased"));
  books->store_withheld = json_integer_value(json_object_get(json_object_get(stats, "outcomes"), "filtered")) +
                          json_integer_value(json_object_get(json_object_get(stats, "outcomes"), "annihilated"));
  json_decref(stats);
  hostkit_free(answer);
  hostkit_close(hostkit, DEMO_TIMEOUT_MS, NULL);
  return 0;
}

int demo_account(const struct demo_folder *folder, const char *plugin) {
  struct books books = {0};
  if (ask_store(folder, plugin, &books) != 0) {
    return EXIT_FAILURE;
  }
  count_messages(folder, &books);
  json_int_t to_tell = books.store_pushed - books.store_withheld;
  bool agree = to_tell == (json_int_t)books.pushed && books.store_delivered == (json_int_t)books.delivered && books.store_open == 0;
  if (!agree) {
    printf("the store has %" JSON_INTEGER_FORMAT " pushed, %" JSON_INTEGER_FORMAT " delivered, %" JSON_INTEGER_FORMAT
           " open; pushes to be told that returned OK: %zu\n",
           books.store_pushed, books.store_delivered, books.store_open, books.pushed);
  }
  printf("withheld by the configuration: %" JSON_INTEGER_FORMAT ". Of all else:\n", books.store_withheld);
  printf("pushed %zu, delivered %zu, lost %zu, twice %zu\n", books.pushed, books.delivered, books.pushed - books.delivered, books.twice);
  fflush(stdout);
  return agree && books.delivered == books.pushed && books.twice == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
