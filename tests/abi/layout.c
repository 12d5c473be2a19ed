/* SPDX-License-Identifier: MIT
 *
 * layout.c: compares the layout of the contract's structs, and its constants, with a golden file. A
 * golden file of the same version must be equal line by line. Since an older minor version, structs
 * may only have become longer. `layout` without arguments prints the text for a golden file.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tidings/tidings.h>

enum { MAX_LINES = 1024, MAX_LINE = 160 };

struct text {
  size_t count;
  char lines[MAX_LINES][MAX_LINE];
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...) {
  if (text->count == MAX_LINES) {
    (void)fprintf(stderr, "layout: more than %d lines\n", (int)MAX_LINES);
    exit(2);
  }
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text->lines[text->count++], MAX_LINE, format, arguments);
  va_end(arguments);
}

static void describe(struct text *text) {
  add(text, "abi %d.%d, pointers of %zu bytes", TIDINGS_ABI_MAJOR, TIDINGS_ABI_MINOR,
      sizeof(void *));
#define NUMBER(name) add(text, "%s = %lld", #name, (long long)(name));
#define TEXT(name) add(text, "%s = \"%s\"", #name, name);
#define STRUCT(type)                                                                               \
  add(text, "struct %s: size %zu, align %zu", #type, sizeof(struct type), _Alignof(struct type));
#define FIELD(type, field)                                                                         \
  add(text, "  %s.%s: offset %zu, size %zu", #type, #field, offsetof(struct type, field),          \
      sizeof(((struct type *)0)->field));
#include "layout_list.h"
}

static int read_golden(const char *path, struct text *text) {
  char line[MAX_LINE];
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    return -1;
  }
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    add(text, "%s", line);
  }
  (void)fclose(file);
  return 0;
}

static int contains(const struct text *text, const char *line) {
  for (size_t i = 0; i < text->count; i++) {
    if (strcmp(text->lines[i], line) == 0) return 1;
  }
  return 0;
}

struct measure {
  unsigned long size, align;
};

/* Reads what follows the name in "struct NAME: size N, align M". */
static struct measure measure_of(const char *text) {
  struct measure measure = {0, 0};
  char *end = NULL;
  if (strncmp(text, ": size ", 7) != 0) return measure;
  measure.size = strtoul(text + 7, &end, 10);
  if (strncmp(end, ", align ", 8) == 0) measure.align = strtoul(end + 8, NULL, 10);
  return measure;
}

/* Is there a struct of the same name and alignment that is as long or longer? A span never
 * grows. */
static int has_grown(const struct text *now, const char *golden) {
  size_t name = strcspn(golden, ":");
  if (strncmp(golden, "struct ", 7) != 0 || strncmp(golden, "struct tidings_span:", 20) == 0)
    return 0;
  struct measure before = measure_of(golden + name);
  for (size_t i = 0; i < now->count; i++) {
    if (strncmp(now->lines[i], golden, name + 1) != 0) continue;
    struct measure after = measure_of(now->lines[i] + name);
    return before.size && after.size >= before.size && after.align == before.align;
  }
  return 0;
}

/* Prints the lines of `golden` that are no longer true, and counts them. */
static int missing(const struct text *golden, const struct text *now, int same_version) {
  int count = 0;
  for (size_t i = 1; i < golden->count; i++) {
    const char *line = golden->lines[i];
    int moves_on = strncmp(line, "TIDINGS_ABI_MINOR ", 18) == 0;
    if (contains(now, line) || (!same_version && (moves_on || has_grown(now, line)))) continue;
    printf("# the golden file says, and it does not hold:  %s\n", line);
    count++;
  }
  return count;
}

static int added(const struct text *golden, const struct text *now) {
  int count = 0;
  for (size_t i = 0; i < now->count; i++) {
    if (contains(golden, now->lines[i])) continue;
    printf("# holds, and the golden file does not say it:  %s\n", now->lines[i]);
    count++;
  }
  return count;
}

/* Returns 1 if the golden file is not true any more. */
static int compare(const char *path, const struct text *now, int number) {
  static struct text golden;
  golden.count = 0;
  if (read_golden(path, &golden)) return 1;
  const char *pointers = strchr(now->lines[0], ',');
  if (golden.count == 0 || !strstr(golden.lines[0], pointers)) {
    printf("ok %d - %s # SKIP is for machines with pointers of another size\n", number, path);
    return 0;
  }
  int same_version = strcmp(golden.lines[0], now->lines[0]) == 0;
  int wrong = missing(&golden, now, same_version);
  if (same_version) wrong += added(&golden, now);
  printf("%s %d - the layout is that of %s%s\n", wrong ? "not ok" : "ok", number, path,
         same_version ? "" : ", grown");
  return wrong ? 1 : 0;
}

int main(int argc, char **argv) {
  static struct text now;
  int failed = 0;
  describe(&now);
  if (argc < 2) {
    for (size_t i = 0; i < now.count; i++) puts(now.lines[i]);
    return 0;
  }
  for (int i = 1; i < argc; i++) failed |= compare(argv[i], &now, i);
  printf("1..%d\n", argc - 1);
  return failed;
}
