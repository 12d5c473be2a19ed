/* SPDX-License-Identifier: MIT
 *
 * demo/account.c: the account at the end of the demo. The ledger and the store say what was pushed
 * and submitted. Deliveries are counted in the transcript, which has everything that the model has
 * read. All texts differ, so each can be counted.
 */
#include "demo/demo.h"

#include "host/hostkit_flags.h"

#include <stdlib.h>
#include <string.h>

struct count {
  size_t sent;  /* how many the ledger has */
  size_t seen;  /* how many of them were seen */
  size_t twice; /* how many were seen more than once */
};

struct books {
  struct count pushed;    /* notifications */
  struct count submitted; /* messages */
  size_t store_waiting;   /* messages that have not fired */
  json_int_t store_pushed;
  json_int_t store_delivered;
  json_int_t store_open;     /* pending or leased */
  json_int_t store_withheld; /* filtered or annihilated, as configured */
};

static size_t count_in_transcript(const json_t *transcript, const char *message) {
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(transcript); i++) {
    const char *text = json_string_value(json_object_get(json_array_get(transcript, i), "content"));
    while (text && (text = strstr(text, message))) {
      count++;
      text += strlen(message);
    }
  }
  return count;
}

static void count_texts(const json_t *ledger, const json_t *transcript, const char *key,
                        struct count *count) {
  for (size_t i = 0; i < json_array_size(ledger); i++) {
    const char *text = json_string_value(json_object_get(json_array_get(ledger, i), key));
    if (!text) continue;
    size_t seen = count_in_transcript(transcript, text);
    count->sent++;
    count->seen += seen > 0;
    count->twice += seen > 1;
    if (seen != 1) printf("seen %zu times: %s\n", seen, text);
  }
}

static void count_all(const struct demo_folder *folder, struct books *books) {
  json_t *ledger = journal_read(folder->ledger);
  json_t *transcript = journal_read(folder->transcript);
  count_texts(ledger, transcript, LEDGER_PUSHED, &books->pushed);
  count_texts(ledger, transcript, LEDGER_SUBMITTED, &books->submitted);
  json_decref(transcript);
  json_decref(ledger);
}

/* Returns the answer or NULL. */
static json_t *ask(struct hostkit *hostkit, const char *name, const char *session,
                   struct tidings_error *error) {
  char query[64];
  char *text = NULL;
  int len = snprintf(query, sizeof query, "{\"name\":\"%s\",\"session\":\"%s\"}", name, session);
  struct tidings_span span = {query, (size_t)len};
  json_t *answer =
      hostkit_query(hostkit, &span, &text, error) == TIDINGS_OK ? json_loads(text, 0, NULL) : NULL;
  hostkit_free(text);
  return answer;
}

static void add_stats(struct books *books, const json_t *stats) {
  const json_t *outcomes = json_object_get(stats, "outcomes");
  books->store_pushed += json_integer_value(json_object_get(stats, "pushed"));
  books->store_delivered += json_integer_value(json_object_get(outcomes, "delivered"));
  books->store_open += json_integer_value(json_object_get(stats, "pending")) +
                       json_integer_value(json_object_get(stats, "leased"));
  books->store_withheld += json_integer_value(json_object_get(outcomes, "filtered")) +
                           json_integer_value(json_object_get(outcomes, "annihilated"));
}

/* Asks the store by queries. Returns 0 or -1. */
static int ask_store(const struct demo_folder *folder, const char *plugin, struct books *books) {
  struct hostkit_options options = {
      .size = sizeof options,
      .flags = HOSTSIM_HOSTKIT_FLAGS | HOSTKIT_NO_PROBE,
      .plugin_path = plugin,
      .store_dir = folder->store,
      .copy_dir = folder->dir,
      .role = TIDINGS_ROLE_PRODUCER,
      .hook_budget_ms = DEMO_TIMEOUT_MS,
  };
  struct hostkit *hostkit = NULL;
  struct tidings_error error = {.size = sizeof error};
  json_t *stats = NULL;
  json_t *later = NULL; /* NULL in the fleet's demo, which has no such session */
  json_t *status = NULL;
  if (hostkit_open(&options, &hostkit, &error) != TIDINGS_OK ||
      !(stats = ask(hostkit, "stats", DEMO_SESSION, &error)) ||
      !(status = ask(hostkit, "status", DEMO_SESSION, &error))) {
    fprintf(stderr, "hostsim: the store cannot be queried: %s\n", error.text);
    json_decref(stats);
    hostkit_close(hostkit, DEMO_TIMEOUT_MS, NULL);
    return -1;
  }
  books->store_waiting = json_array_size(json_object_get(status, "messages")) +
                         json_array_size(json_object_get(status, "queued"));
  later = ask(hostkit, "stats", DEMO_LATER_SESSION, &error);
  add_stats(books, stats);
  if (later) add_stats(books, later);
  json_decref(later);
  json_decref(stats);
  json_decref(status);
  hostkit_close(hostkit, DEMO_TIMEOUT_MS, NULL);
  return 0;
}

static void print_count(const char *sent, const char *seen, const struct count *count) {
  printf("%s %zu, %s %zu, lost %zu, twice %zu\n", sent, count->sent, seen, count->seen,
         count->sent - count->seen, count->twice);
}

static bool is_exact(const struct count *count) {
  return count->seen == count->sent && count->twice == 0;
}

int demo_account(const struct demo_folder *folder, const char *plugin) {
  struct books books = {0};
  if (ask_store(folder, plugin, &books) != 0) return EXIT_FAILURE;
  count_all(folder, &books);
  json_int_t to_tell = books.store_pushed - books.store_withheld;
  bool agree = to_tell == (json_int_t)books.pushed.sent &&
               books.store_delivered == (json_int_t)books.pushed.seen && books.store_open == 0 &&
               books.store_waiting == 0;
  if (!agree) {
    printf("the store has %" JSON_INTEGER_FORMAT " pushed, %" JSON_INTEGER_FORMAT
           " delivered, %" JSON_INTEGER_FORMAT
           " open, %zu messages waiting; pushes to deliver that returned OK: %zu\n",
           books.store_pushed, books.store_delivered, books.store_open, books.store_waiting,
           books.pushed.sent);
  }
  if (books.submitted.sent)
    print_count("messages that ask for a turn: sent", "delivered", &books.submitted);
  if (books.store_withheld)
    printf("notifications withheld by the configuration: %" JSON_INTEGER_FORMAT ". Of all else:\n",
           books.store_withheld);
  print_count("pushed", "delivered", &books.pushed);
  fflush(stdout);
  return agree && is_exact(&books.pushed) && is_exact(&books.submitted) ? EXIT_SUCCESS
                                                                        : EXIT_FAILURE;
}
