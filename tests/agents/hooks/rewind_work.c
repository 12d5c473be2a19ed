/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/rewind_work.c: measures the work of finding what a person has taken back. The
 * linker replaces the functions that read texts by those below, which count the bytes. A transcript
 * that is four times as long may cost little more than four times as much.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/transcript/marker.h"
#include "agents/transcript/undone.h"
#include "common/json_scan.h"
#include "tests/agents/hooks/race.h"

static uint64_t work; /* bytes */

void *__real_memmem(const void *text, size_t len, const void *words, size_t words_len);
void *__wrap_memmem(const void *text, size_t len, const void *words, size_t words_len);
void *__wrap_memmem(const void *text, size_t len, const void *words, size_t words_len) {
  char *found = __real_memmem(text, len, words, words_len);
  work += 1 + (found ? (size_t)(found - (const char *)text) : len);
  return found;
}

void *__real_memchr(const void *text, int byte, size_t len);
void *__wrap_memchr(const void *text, int byte, size_t len);
void *__wrap_memchr(const void *text, int byte, size_t len) {
  char *found = __real_memchr(text, byte, len);
  work += 1 + (found ? (size_t)(found - (const char *)text) : len);
  return found;
}

void *__real_memrchr(const void *text, int byte, size_t len);
void *__wrap_memrchr(const void *text, int byte, size_t len);
void *__wrap_memrchr(const void *text, int byte, size_t len) {
  char *found = __real_memrchr(text, byte, len);
  work += 1 + (found ? len - (size_t)(found - (const char *)text) : len);
  return found;
}

int __real_memcmp(const void *one, const void *other, size_t len);
int __wrap_memcmp(const void *one, const void *other, size_t len);
int __wrap_memcmp(const void *one, const void *other, size_t len) {
  work += len;
  return __real_memcmp(one, other, len);
}

bool __real_json_scan(const struct json_scan *scan, struct tidings_span text);
bool __wrap_json_scan(const struct json_scan *scan, struct tidings_span text);
bool __wrap_json_scan(const struct json_scan *scan, struct tidings_span text) {
  work += 1 + text.len;
  return __real_json_scan(scan, text);
}

/* Writes one line of the transcript. */
typedef void line_writer(FILE *file, size_t number, bool last);

static void put_marker(FILE *file, size_t delivery) {
  char marker[HOOK_MARKER_SIZE];
  hook_marker_write(HOOK_MARKER_OF_DELIVERY, delivery, marker);
  fprintf(file, "x\\n\\n%s", marker);
}

/* Each line replaces all messages by another one. */
static void all_anew(FILE *file, size_t number, bool last) {
  (void)last;
  fprintf(file, "{\"$set\":{\"messages\":[{\"id\":\"u%zu\",\"text\":\"", number);
  put_marker(file, number + 1);
  fputs("\"}]}}\n", file);
}

/* A line has a message; the next line has only message u1 again. */
static void same_anew(FILE *file, size_t number, bool last) {
  (void)last;
  if (number % 2) fprintf(file, "{\"$set\":{\"messages\":[{\"id\":\"u1\"}]}}\n");
  else {
    fprintf(file, "{\"id\":\"u%zu\",\"text\":\"", number % 4 ? number : 1);
    put_marker(file, number + 1);
    fputs("\"}\n", file);
  }
}

/* A single line has all messages again, and all markers. */
static void one_line(FILE *file, size_t number, bool last) {
  if (!number) fputs("{\"$set\":{\"messages\":[", file);
  fprintf(file, "{\"id\":\"u%zu\",\"text\":\"", number);
  put_marker(file, number + 1);
  fputs(last ? "\"}]}}\n" : "\"},", file);
}

/* Each prompt takes back all prompts before it. */
static void same_parent(FILE *file, size_t number, bool last) {
  (void)last;
  fprintf(file,
          "{\"parentUuid\":\"p\",\"uuid\":\"u%zu\",\"origin\":{\"kind\":\"human\"},\"text\":\"",
          number);
  put_marker(file, number + 1);
  fputs("\"}\n", file);
}

/* Each second record takes back all records but the first. */
static void same_record(FILE *file, size_t number, bool last) {
  (void)last;
  fprintf(file, "{\"uuid\":\"u%zu\",\"parentUuid\":\"u0\",%s\"text\":\"", number,
          number % 2 ? "\"subtype\":\"rewind\"," : "");
  put_marker(file, number + 1);
  fputs("\"}\n", file);
}

static uint64_t work_of(const char *host, line_writer *write_line, size_t lines, bool *ret_undone) {
  char path[4096];
  struct hook_marks marks = {.all = NULL};
  (void)snprintf(path, sizeof path, "%s/transcript.jsonl", race_folder);
  FILE *file = fopen(path, "w");
  MUST(file);
  for (size_t i = 0; i < lines; i++) write_line(file, i, i + 1 == lines);
  MUST(fclose(file) == 0);
  work = 0;
  MUST(hook_undone_read(path, host_find(host), &marks) == 0 &&
       marks.count == lines / (write_line == same_anew ? 2 : 1));
  for (uint64_t delivery = 1; delivery <= lines; delivery++)
    (void)(hook_marks_gone(&marks, delivery) + hook_marks_held(&marks, delivery));
  *ret_undone = marks.any_undone;
  hook_marks_finish(&marks);
  return work;
}

static void must_be_linear(const char *host, const char *what, line_writer *write_line,
                           int number) {
  enum { LINES = 8000, TIMES = 4 };
  bool undone = false;
  uint64_t one = work_of(host, write_line, LINES, &undone),
           more = work_of(host, write_line, (size_t)LINES * TIMES, &undone);
  printf("# %s, %s: %llu bytes, and %llu\n", host, what, (unsigned long long)one,
         (unsigned long long)more);
  MUST(one && more <= one * TIMES * 3 / 2 &&
       undone == (write_line != one_line && write_line != all_anew));
  printf("ok %d - %s, %s: four times as many lines are at most six times the work\n", number, host,
         what);
}

int main(void) {
  static const uint8_t key[16] = {1};
  race_make_folder("rewind-work");
  hook_marker_set_key(key);
  must_be_linear("gemini", "all messages anew in each line", all_anew, 1);
  must_be_linear("gemini", "the same message is left again and again", same_anew, 2);
  must_be_linear("gemini", "one line with all messages", one_line, 3);
  must_be_linear("claude", "all prompts have the same parent", same_parent, 4);
  must_be_linear("qwen", "all rewinds leave the same record", same_record, 5);
  printf("1..5\n");
  return 0;
}
