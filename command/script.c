/* SPDX-License-Identifier: MIT
 */
#include "command/script.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* The lists are texts in which each word has a blank on both sides. */
struct interpreter {
  const char *name;
  bool versions;      /* the name may be longer: python3.12, qemu-aarch64-static */
  const char *valued; /* options that take the next argument */
  const char *code;   /* options after which there is no script */
  const char *named;  /* options whose value is the script */
  const char *verbs;  /* words before the script */
};

static const struct interpreter interpreters[] = {
    {"node", false, " -r --require --import --loader --experimental-loader -C --conditions ",
     " -e --eval -p --print -pe ", "", ""},
    {"nodejs", false, " -r --require --import --loader -C --conditions ",
     " -e --eval -p --print -pe ", "", ""},
    {"bun", false, " -r --preload --cwd -c --config ", " -e --eval -p --print ", "", " run x "},
    {"deno", false, " -c --config --import-map --cert ", "", "", " run "},
    {"python", true, " -X -W --check-hash-based-pycs ", " -c ", " -m ", ""},
    {"pypy", true, " -X -W ", " -c ", " -m ", ""},
    {"perl", false, " -I ", " -e -E ", "", ""},
    {"ruby", false, " -I -r -C ", " -e ", "", ""},
    {"ld.so", false, " --library-path --preload --audit --argv0 --inhibit-rpath ", "", "", ""},
    {"ld-", true,
     " --library-path --preload --audit --argv0 --inhibit-rpath --glibc-hwcaps-prepend "
     "--glibc-hwcaps-mask ",
     "", "", ""},
    {"qemu-", true,
     " -0 -B -D -E -L -R -U -cpu -d -dfilter -g -p -plugin -r -s -seed -singlestep-for ", "", "",
     ""},
};

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const struct interpreter *find_interpreter(const char *program) {
  for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++) {
    const struct interpreter *one = &interpreters[i];
    size_t len = strlen(one->name);
    if (strncmp(program, one->name, len) == 0 && (one->versions || !program[len])) return one;
  }
  return NULL;
}

static bool has_word(const char *list, const char *word) {
  size_t len = strlen(word);
  for (const char *at = list; len && (at = strstr(at, word)); at++) {
    if (at > list && at[-1] == ' ' && at[len] == ' ') return true;
  }
  return false;
}

/* Returns NULL at an argument without a NUL, because the line was cut there. */
static const char *next_argument(const char *at, const char *end) {
  const char *nul = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;
  const char *next = nul ? nul + 1 : end;
  return next < end && memchr(next, '\0', (size_t)(end - next)) ? next : NULL;
}

static const char *script_after(const struct interpreter *interpreter, const char *at,
                                const char *end) {
  bool verbs = true;
  while ((at = next_argument(at, end))) {
    if (has_word(interpreter->code, at)) return NULL;
    if (has_word(interpreter->named, at)) return next_argument(at, end);
    if (has_word(interpreter->valued, at)) at = next_argument(at, end);
    else if (at[0] != '-' && !(verbs && has_word(interpreter->verbs, at))) return at;
    else if (at[0] != '-') verbs = false;
    if (!at) return NULL;
  }
  return NULL;
}

bool script_is_run_by(const char *program) { return find_interpreter(program) != NULL; }

const char *script_path(const char *program, const char *line, size_t len) {
  const struct interpreter *interpreter = find_interpreter(program);
  const char *found = NULL, *end = line + len, *at = line;
  while (interpreter && (at = script_after(interpreter, at, end))) {
    found = at;
    interpreter = find_interpreter(base_of(at));
  }
  return found;
}

/* Accepts "gemini", "gemini.js" and "gemini-cli", but not "geminis". */
static bool is_name(const char *text, size_t len, const char *name) {
  size_t name_len = strlen(name);
  return len >= name_len && strncmp(text, name, name_len) == 0 &&
         (len == name_len || !isalnum((unsigned char)text[name_len]));
}

static bool is_package(const char *path, const char *name) {
  static const char folder[] = "/node_modules/";
  const char *at = NULL;
  for (const char *next = path; (next = strstr(next, folder)); next++) at = next;
  if (!at) return false;
  at += sizeof folder - 1;
  const char *scope_end = *at == '@' ? strchr(at, '/') : NULL;
  if (scope_end) at = scope_end + 1;
  return is_name(at, strcspn(at, "/"), name);
}

bool script_is_of(const char *path, const char *name) {
  const char *base = base_of(path);
  size_t len = strcspn(base, ".");
  return (len == strlen(name) && strncmp(base, name, len) == 0) || is_package(path, name);
}
