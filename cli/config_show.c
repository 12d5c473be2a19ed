/* SPDX-License-Identifier: MIT
 *
 * cli/config_show.c: `tidings config show`: each value of the effective configuration, and its
 * origin. For people it is TOML, which can be saved as a file.
 */
#include "cli/config_show.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/hosts/hosts.h"
#include "command/ask.h"
#include "command/json_value.h"
#include "command/layers.h"
#include "command/print.h"
#include "command/project.h"
#include "command/session.h"
#include "command/terminal.h"
#include "common/folder.h"
#include "common/utf8.h"

int32_t config_open_apart(const struct cli *cli, struct hostkit **ret_kit, char **ret_scratch,
                          struct tidings_error *error) {
  struct cli apart = *cli;
  char *scratch = folder_make_temporary(NULL, "tidings");
  if (!scratch)
    return kit_error(error, TIDINGS_E_STORE, "cannot make a temporary folder: %s", strerror(errno));
  apart.store = scratch;
  int32_t code = kit_open(&apart, TIDINGS_ROLE_PRODUCER, 0, ret_kit, error);
  if (code) config_close_apart(NULL, scratch);
  else *ret_scratch = scratch;
  return code;
}

void config_close_apart(struct hostkit *kit, char *scratch) {
  kit_close(kit);
  if (scratch) (void)folder_remove_all(scratch);
  free(scratch);
}

/* -- what is shown ----------------------------------------------------------------------------- */

enum { HOOKS, USER, PROJECT, LAYERS };

struct shown {
  const struct host *host; /* the agent of the session that -s names; NULL: not known */
  char *folder;            /* the folder in which that session works; NULL: the current one */
  json_t *effective, *defaults, *origins;
  struct layer layers[LAYERS];
  char *files[LAYERS]; /* their names, as valid UTF-8 for JSON */
};

/* Takes both over. */
static void set_layer(struct shown *shown, size_t which, char *path, json_t *config) {
  struct buffer name = BUFFER_EMPTY;
  if (path) utf8_repair(span_text(path), &name);
  shown->files[which] = path ? buffer_take(&name) : NULL;
  const char *file = shown->files[which];
  shown->layers[which] = (struct layer){file ? file : "", config, which == PROJECT};
  free(path);
}

static int32_t ask_config(struct hostkit *kit, json_t **ret_config, struct tidings_error *error) {
  json_t *answer = NULL;
  int32_t code = kit_query(kit, json_pack("{s:s}", "name", "configure"), &answer, error);
  if (!code) *ret_config = json_incref(json_object_get(answer, "config"));
  json_decref(answer);
  return code;
}

static int32_t ask_defaults(const struct cli *cli, json_t **ret_defaults,
                            struct tidings_error *error) {
  struct cli apart = *cli;
  apart.preset = NULL;
  struct hostkit *kit = NULL;
  char *scratch = NULL;
  apart.no_config = true;
  int32_t code = config_open_apart(&apart, &kit, &scratch, error);
  if (!code) code = ask_config(kit, ret_defaults, error);
  config_close_apart(kit, scratch);
  return code;
}

/* -- of a session ------------------------------------------------------------------------------ */

/* Finds the session's agent and folder in its store, without the configuration, which may be wrong.
 */
static int look_up_agent(const struct cli *cli, struct shown *shown) {
  struct cli plain = *cli;
  struct hostkit *kit = NULL;
  json_t *status = NULL;
  plain.no_config = true;
  plain.config = NULL;
  int code = kit_open_or_say(&plain, TIDINGS_ROLE_PRODUCER, 0, &kit);
  if (!code)
    code = ask(&plain, kit, json_pack("{s:s, s:s}", "name", "status", "session", cli->session),
               &status);
  const json_t *owner = json_object_get(status, "attachment");
  const char *folder = json_value_text(owner, "cwd");
  shown->host = host_find_title(json_value_text(owner, "host"));
  if (shown->host && shown->host->kind != HOST_HOOKS) shown->host = NULL;
  if (!code && folder[0] && !(shown->folder = strdup(folder)))
    code = cli_fail(cli, "out of memory");
  json_decref(status);
  kit_close(kit);
  return code;
}

/* Adds the preset that the agent's hooks prefer, below both files. Returns 0, or -1: no memory. */
static int set_hooks(struct shown *shown) {
  const char *preset = shown->host ? host_preset(shown->host) : NULL;
  if (!preset) return 0;
  json_t *config = json_pack("{s:{s:s}}", "delivery", "preset", preset);
  shown->layers[HOOKS] = (struct layer){shown->host->title, config, false};
  return config ? 0 : -1;
}

/* Names the hooks as the origin of their preset, because that layer is no file. */
static void name_hooks(struct shown *shown) {
  json_t *origin = NULL;
  const char *pointer = NULL;
  if (!shown->layers[HOOKS].config) return;
  json_object_foreach(shown->origins, pointer, origin) {
    if (strcmp(json_value_text(origin, "file"), shown->host->title) != 0) continue;
    if (strcmp(json_value_text(origin, "from"), "file") == 0)
      (void)json_object_set_new(origin, "from", json_string("hooks"));
    (void)json_object_set(origin, "agent", json_object_get(origin, "file"));
    (void)json_object_del(origin, "file");
  }
}

/* -- the effective configuration --------------------------------------------------------------- */

/* Reads the project's file. As everywhere, an invalid file has no effect; it causes a warning. */
static void look_for_project(const struct cli *cli, struct hostkit *kit, struct shown *shown) {
  struct tidings_error error = {.size = sizeof error};
  char here[PATH_MAX] = "", *path = NULL;
  json_t *config = NULL;
  if (!shown->folder && !getcwd(here, sizeof here)) here[0] = '\0';
  int32_t code = project_find(shown->folder ? shown->folder : here, &path, &error);
  if (!code && path) code = project_apply(cli, kit, path, &error);
  if (!code && path) code = project_read(path, &config, &error);
  if (code)
    kit_warn(cli, "the project's configuration is not in force, the user's is: %s", error.text);
  set_layer(shown, PROJECT, path, config);
}

static int32_t find_shown(const struct cli *cli, struct shown *shown, struct tidings_error *error) {
  struct hostkit *kit = NULL;
  char *scratch = NULL;
  char *path = NULL;
  json_t *config = NULL;
  int32_t code = ask_defaults(cli, &shown->defaults, error);
  if (!code) code = config_open_apart(cli, &kit, &scratch, error);
  if (!code) code = project_read_user(cli, &path, &config, error);
  set_layer(shown, USER, path, config);
  if (!code && set_hooks(shown)) code = kit_error(error, TIDINGS_E_NOMEM, "out of memory");
  if (!code) look_for_project(cli, kit, shown);
  if (!code) code = ask_config(kit, &shown->effective, error);
  if (!code)
    shown->origins = layers_origins(shown->effective, shown->defaults, shown->layers, LAYERS);
  if (!code && !shown->origins) code = kit_error(error, TIDINGS_E_NOMEM, "out of memory");
  config_close_apart(kit, scratch);
  return code;
}

/* -- how it is printed ------------------------------------------------------------------------- */

static int print_shown_json(const struct cli *cli, const struct shown *shown) {
  json_t *files = json_array(), *answer = NULL;
  for (size_t i = USER; files && i < LAYERS; i++)
    if (shown->layers[i].config) json_array_append_new(files, json_string(shown->layers[i].file));
  answer = json_pack("{s:O, s:O, s:o}", "config", shown->effective, "origins", shown->origins,
                     "files", files);
  if (answer && shown->host) {
    (void)json_object_set_new(answer, "agent", json_string(shown->host->title));
    (void)json_object_set_new(answer, "room", json_integer((json_int_t)shown->host->room));
  }
  int code = answer ? print_json(cli, answer) : cli_fail(cli, "out of memory");
  json_decref(answer);
  return code;
}

static bool is_bare(const char *name) {
  static const char bare[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  return name[0] && !name[strspn(name, bare)];
}

/* Texts, numbers and booleans of JSON are valid TOML too. */
static void print_value(FILE *out, const json_t *value) {
  char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
  if (text) terminal_text(out, text);
  free(text);
}

/* Prints a pointer as TOML's dotted key. */
static void print_key(FILE *out, const char *pointer) {
  for (const char *begin = ""; *pointer; begin = ".") {
    char *name = layers_take_name(&pointer);
    if (!name) return;
    json_t *quoted = is_bare(name) ? NULL : json_string(name);
    fputs(begin, out);
    if (quoted) print_value(out, quoted);
    else fputs(name, out);
    json_decref(quoted);
    free(name);
  }
}

static void print_origin(FILE *out, const json_t *origin) {
  const char *file = json_value_text(origin, "file"), *preset = json_value_text(origin, "preset");
  const char *agent = json_value_text(origin, "agent");
  if (preset[0]) fprintf(out, "preset %s, ", preset);
  if (agent[0]) fprintf(out, "hooks of %s", agent);
  else if (!file[0]) fputs(json_value_text(origin, "from"), out);
  terminal_text(out, file);
}

/* Prints comments in TOML about the session. */
static void print_about(const struct cli *cli, const struct shown *shown) {
  if (!cli->session) return;
  fputs("# session ", stdout);
  terminal_text(stdout, cli->session);
  fputs(shown->folder ? " in " : "", stdout);
  terminal_text(stdout, shown->folder ? shown->folder : "");
  if (shown->host)
    printf("\n# the hooks of %s give it at most %zu bytes at a time, or delivery.max_bytes if that "
           "is less",
           shown->host->title, shown->host->room);
  putchar('\n');
}

/* Prints a row. It cannot align all rows, because a width is known only when the row is made. */
static int print_row(void *context, const char *pointer, json_t *value) {
  enum { COLUMN = 52 };
  const struct shown *shown = context;
  char *row = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&row, &len);
  if (!out) return -1;
  print_key(out, pointer);
  fputs(" = ", out);
  print_value(out, value);
  if (fclose(out)) {
    free(row);
    return -1;
  }
  printf("%-*s # ", COLUMN, row);
  print_origin(stdout, json_object_get(shown->origins, pointer));
  putchar('\n');
  free(row);
  return 0;
}

int config_show(struct cli *cli) {
  struct tidings_error error = {.size = sizeof error};
  struct shown shown = {.effective = NULL};
  struct cli as = *cli;
  int32_t refused = 0;
  int code = cli->session ? look_up_agent(cli, &shown) : 0;
  as.preset = shown.host ? host_preset(shown.host) : NULL;
  if (!code) refused = find_shown(&as, &shown, &error);
  if (refused) code = cli_fail_with(cli, refused, &error);
  if (!code && !cli->json) print_about(cli, &shown);
  if (!code && shown.origins) name_hooks(&shown);
  if (!code && cli->json) code = print_shown_json(cli, &shown);
  else if (!code && layers_walk(shown.effective, print_row, &shown))
    code = cli_fail(cli, "out of memory");
  free(shown.folder);
  json_decref(shown.effective);
  json_decref(shown.defaults);
  json_decref(shown.origins);
  for (size_t i = 0; i < LAYERS; i++) {
    json_decref(shown.layers[i].config);
    free(shown.files[i]);
  }
  return code;
}
