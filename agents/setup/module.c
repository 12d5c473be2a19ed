/* SPDX-License-Identifier: MIT
 *
 * agents/setup/module.c: for hosts that load modules from a folder of the user's: a file there that
 * hands on the module that was installed with this program.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/setup/setup.h"
#include "command/paths.h"

static const char mark[] = "// Made by `tidings setup`";

char *setup_module_folder(void) {
  const char *named = getenv("TIDINGS_MODULES"); /* a checkout's agents/node */
  char *installed = named && named[0]
                        ? strdup(named)
                        : paths_beside_program("node-modules", CLI_MODULES_FROM_PROGRAM);
  char *real = installed ? realpath(installed, NULL) : NULL;
  if (!real) return installed;
  free(installed);
  return real;
}

char *setup_named_module(const char *text) {
  static const char before[] = "import(\"";
  const char *at = strncmp(text, mark, strlen(mark)) == 0 ? strstr(text, before) : NULL;
  return at ? strndup(at + sizeof before - 1, strcspn(at + sizeof before - 1, "\"")) : NULL;
}

int setup_module(const struct cli *cli, const struct host *host, const char *folder,
                 struct change *change) {
  char *text = NULL, *module = NULL;
  if (change->after && strncmp(change->after, mark, strlen(mark)) != 0)
    return cli_fail(cli,
                    "%s: line 1: tidings did not write this file; move it away, or "
                    "load %s/%s.ts from it",
                    change->path, folder ? folder : "tidings", host->name);
  change->has_ours = change->after != NULL;
  if (folder) {
    if (asprintf(&module, "%s/%s.ts", folder, host->name) < 0)
      return cli_fail(cli, "out of memory");
    bool there = access(module, R_OK) == 0;
    int len = there ? asprintf(&text,
                               "%s %s; `tidings setup %s --remove` takes it away.\n"
                               "// Without the installation the agent goes on.\n"
                               "export default async (...given: any[]) => {\n"
                               "  const module = await import(\"%s\").catch(() => undefined);\n"
                               "  return module ? module.default(...given) : {};\n"
                               "};\n",
                               mark, host->name, host->name, module)
                    : 0;
    int code = !there    ? cli_fail(cli, "%s does not exist; install tidings again", module)
               : len < 0 ? cli_fail(cli, "out of memory")
                         : 0;
    free(module);
    if (code) return code;
  }
  free(change->after);
  change->after = text;
  return 0;
}
