/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/tables.c: checks that no column of an agent's row contradicts another, and
 * that the reader of transcripts has room for each table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/hosts/hosts.h"
#include "common/json_scan.h"

static size_t failed;

static void expect(bool good, const struct host *host, const char *what) {
  if (!good) printf("# %s: %s\n", host->name, what);
  failed += !good;
}

static void check_paths(const struct host *host) {
  struct json_paths paths = {.count = 0};
  size_t of_any = 0;
  for (const struct host_record *row = host->records; row && row->path; row++) {
    bool any = strcmp(row->path, HOST_ANY_STRING) == 0;
    of_any += any;
    expect(any || json_paths_add(&paths, row->path) >= 0, host, row->path);
    expect(row->says < 32, host, "more kinds of values than a record has bits");
    expect(!row->text || strlen(row->text) > 1, host, "a text that every value has");
  }
  expect(of_any <= 1, host, "two rows of any string");
}

static void check_undoing(const struct host *host) {
  static const enum host_says needed[][2] = {
      [HOST_UNDOES_BY_LINES] = {SAYS_SNAPSHOT, SAYS_SNAPSHOT_ID},
      [HOST_UNDOES_BY_SIBLINGS] = {SAYS_PROMPT, SAYS_PARENT},
      [HOST_UNDOES_BY_RECORDS] = {SAYS_REWIND, SAYS_PARENT},
      [HOST_UNDOES_BY_FILES] = {SAYS_BASE, SAYS_BASE_BYTES}};
  for (int i = 0; host->undoing && i < 2; i++)
    expect(host_record_says(host, needed[host->undoing][i]), host,
           "its records do not say what it takes back");
}

static void check_hooks(const struct host *host) {
  bool result = false;
  for (const struct host_hook *hook = host->hooks; hook && hook->event; hook++) {
    expect(host_moment(host, hook->event) == hook->moment, host, hook->event);
    result = result || hook->moment == HOOK_AFTER_TOOL;
  }
  expect(!(host->reads & HOST_READS_RESULT) || result, host, "no hook of a tool's result");
}

static void check_row(const struct host *host) {
  expect(host_find(host->name) == host && host_find_title(host->title) == host, host, "its name");
  expect(host->room && host->room_measured, host, "its room");
  expect(host->kind == HOST_NODE || host->hooks, host, "its hooks");
  expect(host->kind != HOST_HOOKS || host->timeout_unit, host, "the unit of its timeouts");
  expect(host->kind != HOST_HOOKS || host->caller.transcript, host, "how its calls are recognized");
  expect(host->kind != HOST_BORROWS || host->proof == HOST_PROOF_NEXT_CALL, host, "its proof");
  bool by_transcript = host->kind == HOST_HOOKS && host->proof == HOST_PROOF_TRANSCRIPT;
  expect(by_transcript == (host->records != NULL), host, "its transcript");
  expect(!by_transcript ||
             (host_record_says(host, SAYS_MODEL) && host_record_says(host, SAYS_TIME)),
         host, "its transcript does not say what the model has answered, and when");
  check_paths(host);
  check_undoing(host);
  check_hooks(host);
}

int main(void) {
  for (size_t i = 0; i < host_count; i++) {
    failed = 0;
    check_row(hosts[i]);
    printf("%s %zu - %s\n", failed ? "not ok" : "ok", i + 1, hosts[i]->name);
    if (failed) return EXIT_FAILURE;
  }
  printf("1..%zu\n", host_count);
  return EXIT_SUCCESS;
}
