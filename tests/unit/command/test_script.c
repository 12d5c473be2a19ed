/* SPDX-License-Identifier: MIT
 *
 * test_script.c: tests which program a command line runs, through interpreters, emulators and
 * loaders.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "command/script.h"

enum { MOST_ARGUMENTS = 8 };

static const struct {
  const char *program, *arguments[MOST_ARGUMENTS], *script;
} lines[] = {
    {"node", {"node", "/usr/bin/gemini"}, "/usr/bin/gemini"},
    {"node", {"node", "--no-warnings=X", "-r", "ts", "cli.js", "-p"}, "cli.js"},
    {"node", {"node", "-e", "x()", "cli.js"}, NULL},
    {"node", {"node"}, NULL},
    {"node", {"gemini"}, NULL},
    {"bun", {"bun", "run", "--preload", "a.ts", "cli.ts"}, "cli.ts"},
    {"bun", {"bun", "cli.ts", "run"}, "cli.ts"},
    {"python3.11", {"python3", "-X", "dev", "-m", "tool", "x"}, "tool"},
    {"python3", {"python3", "-c", "x()", "a.py"}, NULL},
    {"python3", {"python3", "-I", "a.py"}, "a.py"},
    {"qemu-aarch64-static",
     {"qemu-aarch64-static", "-L", "/root", "/bin/sh", "-c", "x"},
     "/bin/sh"},
    {"qemu-aarch64", {"/q", "/usr/bin/node", "node", "/usr/bin/claude"}, "/usr/bin/claude"},
    {"ld-linux-x86-64.so.2", {"ld.so", "--argv0", "a", "/bin/dash", "-c", "x"}, "/bin/dash"},
    {"ld-musl-x86_64.so.1", {"ld", "/usr/bin/python3", "wrap.py"}, "wrap.py"},
    {"dash", {"sh", "a.sh"}, NULL},
    {"nodes", {"nodes", "a"}, NULL},
};

Test(script, path) {
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char line[256] = "";
    size_t len = 0;
    for (size_t k = 0; k < MOST_ARGUMENTS && lines[i].arguments[k]; k++) {
      (void)strcpy(line + len, lines[i].arguments[k]);
      len += strlen(lines[i].arguments[k]) + 1;
    }
    const char *got = script_path(lines[i].program, line, len), *wanted = lines[i].script;
    cr_expect(wanted ? got && strcmp(got, wanted) == 0 : !got, "%zu: %s, expected %s", i,
              got ? got : "none", wanted ? wanted : "none");
  }
}

Test(script, line_that_was_cut) {
  static const char line[] = "node\0/usr/bin/gemini";
  cr_expect_not(script_path("node", line, sizeof line - 2));
  cr_expect_not(script_path("node", line, 3));
  cr_expect_not(script_path("node", "", 0));
}

Test(script, is_of) {
  static const struct {
    const char *path, *name;
    bool is;
  } scripts[] = {
      {"/usr/bin/gemini", "gemini", true},
      {"bundle/gemini.js", "gemini", true},
      {"/l/node_modules/@qwen-code/qwen-code/cli.js", "qwen", true},
      {"/l/node_modules/a/node_modules/codex/bin/x.js", "codex", true},
      {"/srv/claude/server.js", "claude", false},
      {"/l/node_modules/@claude/other/cli.js", "claude", false},
      {"/l/node_modules/@claude", "claude", false},
      {"/l/node_modules/claude/node_modules/other/x.js", "claude", false},
      {"/usr/bin/geminis", "gemini", false},
      {"/l/node_modules/geminis/cli.js", "gemini", false},
      {"", "gemini", false},
  };
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
    cr_expect_eq(script_is_of(scripts[i].path, scripts[i].name), scripts[i].is, "%s %s",
                 scripts[i].path, scripts[i].name);
}
