/* SPDX-License-Identifier: MIT
 *
 * agents/setup/module.c: for hosts that load modules from a folder of the user: writes a file there
 * that loads the module that was installed with this program.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/setup/setup.h"
#include "command/paths.h"

static const char mark[] = "// Made by `tidings setup`";

/* Returns the same folder, beside the program's link in PATH; NULL: there is no such link. */
static char *beside_link(const char *real) {
  char *program = setup_program(), *slash = program ? strrchr(program, '/') : NULL;
  if (slash) *slash = '\0';
  char *folder = slash ? paths_join(program, CLI_MODULES_FROM_PROGRAM) : NULL,
       *resolved = folder ? realpath(folder, NULL) : NULL;
  bool same = resolved && strcmp(resolved, real) == 0;
  if (!same) free(folder);
  free(resolved);
  free(program);
  return same ? folder : NULL;
}

char *setup_module_folder(void) {
  const char *named = getenv("TIDINGS_MODULES"); /* a checkout's agents/node */
  char *installed = named && named[0]
                        ? strdup(named)
                        : paths_beside_program("node-modules", CLI_MODULES_FROM_PROGRAM);
  char *real = installed ? realpath(installed, NULL) : NULL;
  if (!real) return installed;
  free(installed);
  char *linked = setup_is_versioned(real) ? beside_link(real) : NULL;
  if (!linked) return real;
  free(real);
  return linked;
}

static char *named_module(const char *text) {
  static const char before[] = "import(\"";
  const char *at = strncmp(text, mark, strlen(mark)) == 0 ? strstr(text, before) : NULL;
  return at ? strndup(at + sizeof before - 1, strcspn(at + sizeof before - 1, "\"")) : NULL;
}

static const char store_line[] = "process.env.TIDINGS_STORE = ";

static char *module_store(const char *text) {
  const char *at = strncmp(text, mark, strlen(mark)) == 0 ? strstr(text, store_line) : NULL;
  json_t *value =
      at ? json_loads(at + sizeof store_line - 1, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, NULL)
         : NULL;
  char *store = json_is_string(value) ? strdup(json_string_value(value)) : NULL;
  json_decref(value);
  return store;
}

struct setup_look setup_module_look(const struct host *host, const char *text) {
  struct setup_look look = {.state = SETUP_NONE};
  char *folder = setup_module_folder(), *ours = NULL;
  if (folder && asprintf(&ours, "%s/%s.ts", folder, host_module(host)) < 0) ours = NULL;
  if (text) {
    look.program = named_module(text);
    look.store = module_store(text);
    look.edited = look.program ? NULL : strdup(host->config_file);
    look.state = !look.program                                 ? SETUP_PARTLY
                 : access(look.program, F_OK)                  ? SETUP_GONE
                 : ours && setup_same_file(look.program, ours) ? SETUP_DONE
                                                               : SETUP_OTHER;
  }
  free(folder);
  free(ours);
  return look;
}

/* Returns lines of the module's file: the store, if it is not the user's default, and the agent's
 * title, if the module belongs to another agent. Free them; NULL: out of memory. */
static char *name_store(const struct host *host, const char *store) {
  char *line = NULL, title[96] = "";
  if (host->module)
    (void)snprintf(title, sizeof title, "(globalThis as any).tidingsAgent = \"%s\";\n",
                   host->title);
  json_t *value = store ? json_string(store) : NULL;
  char *literal = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
  if (!store) line = strdup(title);
  else if (!literal || asprintf(&line, "%s%s%s;\n", title, store_line, literal) < 0) line = NULL;
  free(literal);
  json_decref(value);
  return line;
}

int setup_module(const struct cli *cli, const struct host *host, const char *folder,
                 const char *store, struct change *change) {
  char *text = NULL, *module = NULL;
  if (change->after && strncmp(change->after, mark, strlen(mark)) != 0)
    return cli_fail(cli,
                    "%s: line 1: tidings did not write this file; move it away, or "
                    "load %s/%s.ts from it",
                    change->path, folder ? folder : "tidings", host_module(host));
  change->has_ours = change->after != NULL;
  if (folder) {
    if (asprintf(&module, "%s/%s.ts", folder, host_module(host)) < 0)
      return cli_fail(cli, "out of memory");
    bool there = access(module, R_OK) == 0;
    char *named = name_store(host, store);
    int len = !named  ? -1
              : there ? asprintf(&text,
                                 "%s %s; `tidings setup %s --remove` takes it away.\n"
                                 "// Without the installation the agent goes on.\n"
                                 "%s"
                                 "export default async (...given: any[]) => {\n"
                                 "  const module = await import(\"%s\").catch(() => undefined);\n"
                                 "  return module ? module.default(...given) : {};\n"
                                 "};\n",
                                 mark, host->name, host->name, named, module)
                      : 0;
    int code = !there    ? cli_fail(cli, "%s does not exist; install tidings again", module)
               : len < 0 ? cli_fail(cli, "out of memory")
                         : 0;
    free(module);
    free(named);
    if (code) return code;
  }
  free(change->after);
  change->after = text;
  return 0;
}
