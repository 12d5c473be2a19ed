/* SPDX-License-Identifier: MIT
 */
#include "command/kit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/config_file.h"
#include "command/json_value.h"
#include "command/paths.h"
#include "command/terminal.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/random.h"
#include "common/store_url.h"
#include <tidings/abi.h>

/* -- a preset where none is configured --------------------------------------------------------- */

static int begin_object(const char *config, const struct json *object, const char *member,
                        char **ret_text) {
  size_t at = object->start + 1;
  const char *comma = object->count ? "," : "";
  return asprintf(ret_text, "%.*s%s%s%s", (int)at, config, member, comma, config + at) < 0 ? -1 : 0;
}

static int put_into(const char *config, const struct json *root, const char *preset,
                    char **ret_text) {
  const struct json *delivery = json_member(root, "delivery");
  char member[128];
  if (delivery && (delivery->kind != JSON_IS_OBJECT || json_member(delivery, "preset")))
    return (*ret_text = strdup(config)) ? 0 : -1;
  (void)snprintf(member, sizeof member,
                 delivery ? "\"preset\":\"%s\"" : "\"delivery\":{\"preset\":\"%s\"}", preset);
  return begin_object(config, delivery ? delivery : root, member, ret_text);
}

/* Adds delivery.preset to the text of a configuration (NULL: there is none) that lacks this key.
 * Other keys stay, and override the preset as usual. A text that is no configuration stays as it
 * is, and the plugin says what is wrong with it. `preset` needs no escapes. Free *ret_text. Returns
 * 0, or -1: no memory. */
static int kit_put_preset(const char *config, const char *preset, char **ret_text) {
  const char *text = config ? config : "{}";
  struct arena arena = ARENA_EMPTY;
  const struct json *root = NULL;
  char *with = NULL;
  static const struct json_rules rules = {.max_depth = JSON_MAX_DEPTH, .comments = true};
  int unread = json_read_by(&rules, span_text(text), "configuration", &arena, &root, NULL);
  int code = unread == TIDINGS_E_NOMEM ? -1 : 0;
  if (!code && (unread || root->kind != JSON_IS_OBJECT)) code = (with = strdup(text)) ? 0 : -1;
  else if (!code) code = put_into(text, root, preset, &with);
  arena_free(&arena);
  if (!code) *ret_text = with;
  return code;
}

/* A leak checker must be able to name the functions of an image after the image was closed. */
#if defined(__SANITIZE_ADDRESS__)
#define KIT_FLAGS (HOSTKIT_NO_PROBE | HOSTKIT_KEEP_MAPPED)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KIT_FLAGS (HOSTKIT_NO_PROBE | HOSTKIT_KEEP_MAPPED)
#endif
#endif
#ifdef KIT_FLAGS
#define KIT_LEAVE 0u /* the leak checker looks at the memory that is left */
#else
/* This process ends soon, and if the plugin crashes, nothing else ends: it needs no probe. */
#define KIT_FLAGS (HOSTKIT_NO_PROBE | HOSTKIT_COPY_IN_MEMORY)
#define KIT_LEAVE HOSTKIT_LEAVE_TO_EXIT
#endif

enum { PRODUCER_BUDGET_MS = 5000, CLOSE_MS = 5000 };

int32_t kit_error(struct tidings_error *error, int32_t code, const char *format, ...) {
  va_list arguments;
  if (!error) return code;
  error->code = code;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return code;
}

int32_t kit_no_memory(struct tidings_error *error) {
  return kit_error(error, TIDINGS_E_NOMEM, "out of memory");
}

/* -- what the plugin is given ------------------------------------------------------------------ */

static void log_line(void *context, uint32_t severity, const struct tidings_span *message) {
  const struct cli *cli = context;
  if (cli->log) {
    cli->log(severity, message->ptr, message->len);
    return;
  }
  if (severity > TIDINGS_LOG_WARNING) return;
  fprintf(stderr, "%s: ", cli->program->name);
  terminal_bytes(stderr, message->ptr, message->len);
  fputc('\n', stderr);
}

void kit_warn(const struct cli *cli, const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int len = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (len < 0) return;
  const struct tidings_span line = span_text(text);
  log_line((void *)(uintptr_t)cli, TIDINGS_LOG_WARNING, &line);
  free(text);
}

static int64_t host_now_ms(void *context) {
  (void)context;
  return clock_wall_ms();
}

static uint64_t host_mono_ns(void *context) {
  (void)context;
  return clock_mono_ns();
}

static int32_t host_random(void *context, void *buffer, size_t len) {
  (void)context;
  return random_fill(buffer, len) ? -1 : 0;
}

/* -- where things are -------------------------------------------------------------------------- */

uint32_t kit_flags(void) { return KIT_FLAGS; }

char *kit_plugin_path(void) {
  const char *named = getenv("TIDINGS_PLUGIN");
  return named && named[0] ? strdup(named)
                           : paths_beside_program("tidings.so", CLI_PLUGIN_FROM_PROGRAM);
}

char *kit_store_path(const struct cli *cli) {
  const char *named = cli->store ? cli->store : getenv("TIDINGS_STORE");
  return named && named[0] ? strdup(named)
                           : paths_in_home("XDG_STATE_HOME", ".local/state", "tidings");
}

/* *ret_text stays NULL if there is no file and the user has named none. */
static int32_t read_config(const struct cli *cli, char **ret_path, char **ret_text,
                           struct tidings_error *error) {
  bool named = false, missing = false;
  char *path = NULL;
  if (cli->no_config) return TIDINGS_OK;
  int32_t code = config_file_of_user(cli, &path, &named, error);
  if (code || !path) return code;
  code = config_file_read(path, CONFIG_FILE_MOST, ret_text, &missing, error);
  if (code && missing && !named) code = TIDINGS_OK;
  if (code) free(path);
  else *ret_path = path;
  return code;
}

/* Reads the configuration, and adds the preset that the verb prefers. *ret_path stays NULL if no
 * file was read. */
static int32_t make_config(const struct cli *cli, char **ret_path, char **ret_text,
                           struct tidings_error *error) {
  char *read = NULL, *path = NULL, *text = NULL;
  int32_t code = read_config(cli, &path, &read, error);
  bool from_file = read != NULL;
  if (!code && cli->preset && kit_put_preset(read, cli->preset, &text)) code = kit_no_memory(error);
  if (!code) *ret_text = cli->preset ? text : read;
  if (!code && from_file) *ret_path = path;
  else free(path);
  if (code || cli->preset) free(read);
  return code;
}

/* Adds the path of the file to an error, because the plugin names only the key. */
static void name_config(const char *path, int32_t code, struct tidings_error *error) {
  struct tidings_error said = *error;
  if (code != TIDINGS_E_SCHEMA && strncmp(said.text, "configuration", 13) != 0) return;
  (void)kit_error(error, code, "%s: %s", path, said.text);
}

/* -- open and close ---------------------------------------------------------------------------- */

static bool store_is_missing(const char *store) {
  char *file = store_url_is(store) ? NULL : paths_join(store, "data.mdb");
  bool missing = file && access(file, F_OK) && errno == ENOENT;
  free(file);
  return missing;
}

int32_t kit_open(const struct cli *cli, uint32_t role, uint32_t owner_pid, struct hostkit **ret_kit,
                 struct tidings_error *error) {
  const struct tidings_host host = {.size = sizeof host,
                                    .context = (void *)(uintptr_t)cli,
                                    .log = log_line,
                                    .now_ms = host_now_ms,
                                    .mono_ns = host_mono_ns,
                                    .random = host_random};
  static struct tidings_host own_host; /* must outlive the hostkit; a process has one `cli` */
  char *plugin = kit_plugin_path(), *store = kit_store_path(cli), *path = NULL, *config = NULL;
  int32_t code = plugin ? make_config(cli, &path, &config, error) : kit_no_memory(error);
  if (!code && !store)
    code = kit_error(error, TIDINGS_E_STORE,
                     "neither XDG_STATE_HOME nor HOME is set; name a store with --store");
  if (!code && store && cli->verb->with & NEEDS_STORE && store_is_missing(store))
    code = kit_error(error, TIDINGS_E_NOT_FOUND,
                     "there is no store at %s yet; the first push creates it", store);
  if (code) goto out;
  own_host = host;
  bool leave =
      cli->ends_after_close && store &&
      !store_url_is(
          store); /* not for a database: its server waits for the connection to be closed */
  const struct hostkit_options options = {.size = sizeof options,
                                          .flags = KIT_FLAGS | (leave ? KIT_LEAVE : 0),
                                          .plugin_path = plugin,
                                          .store_dir = store,
                                          .configuration = config,
                                          .host_name = cli->host_name,
                                          .role = role,
                                          .owner_pid = owner_pid,
                                          .hook_budget_ms = cli->budget_ms ? cli->budget_ms
                                                            : role == TIDINGS_ROLE_PRODUCER
                                                                ? PRODUCER_BUDGET_MS
                                                                : 0,
                                          .total_budget_ms = cli->total_budget_ms,
                                          .host = &own_host};
  code = hostkit_open(&options, ret_kit, error);
  if (code && path && error) name_config(path, code, error);
out:
  free(path);
  free(plugin);
  free(store);
  free(config);
  return code;
}

void kit_close(struct hostkit *kit) {
  if (kit) (void)hostkit_close(kit, CLOSE_MS, NULL);
}

void kit_end_process(int exit_code) {
  if (KIT_LEAVE) _exit(exit_code);
}

int kit_open_or_say(const struct cli *cli, uint32_t role, uint32_t owner_pid,
                    struct hostkit **ret_kit) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = kit_open(cli, role, owner_pid, ret_kit, &error);
  return code ? cli_fail_with(cli, code, &error) : 0;
}

/* -- another store in the same folder ---------------------------------------------------------- */

bool kit_store_is_url(const struct cli *cli) {
  char *store = kit_store_path(cli);
  bool is_url = store && store_url_is(store);
  free(store);
  return is_url;
}

/* Free *ret_file. False: the store is in a database. */
static bool find_place(const struct cli *cli, char **ret_file, struct kit_place *ret_place) {
  char *store = kit_store_path(cli);
  struct stat info = {.st_ino = 0};
  bool folder = store && !store_url_is(store);
  *ret_file = folder ? paths_join(store, "data.mdb") : NULL;
  free(store);
  if (*ret_file && stat(*ret_file, &info)) info = (struct stat){.st_ino = 0};
  *ret_place = (struct kit_place){.device = (uint64_t)info.st_dev, .inode = (uint64_t)info.st_ino};
  return *ret_file;
}

bool kit_place_equal(const struct kit_place *a, const struct kit_place *b) {
  return a->inode == b->inode && a->device == b->device;
}

void kit_note_place(const struct cli *cli, struct kit_place *ret_place) {
  char *file = NULL;
  (void)find_place(cli, &file, ret_place);
  free(file);
}

int32_t kit_follow_place(const struct cli *cli, struct hostkit *kit, struct kit_place *place,
                         struct tidings_error *error) {
  struct kit_place now;
  char *file = NULL;
  int32_t code = TIDINGS_OK;
  if (find_place(cli, &file, &now) && !kit_place_equal(&now, place)) {
    code = now.inode ? hostkit_swap(kit, NULL, CLOSE_MS, error)
                     : kit_error(error, TIDINGS_E_STORE, "the store's file %s is gone", file);
    if (!code) *place = now;
    else if (code != TIDINGS_E_BUSY && code != TIDINGS_E_SCHEMA_NEWER && code != TIDINGS_E_CLOSED)
      code = TIDINGS_E_STORE; /* the caller's text is not what is wrong */
  }
  free(file);
  return code;
}

/* -- events and queries ------------------------------------------------------------------------ */

json_t *kit_new_event(const char *type, const char *session, json_t *data) {
  return json_pack("{s:s, s:s, s:s, s:s, s:o}", "specversion", "1.0", "type", type, "source",
                   "tidings", "session", session, "data", data);
}

static char *dump(json_t *value) {
  char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
  json_decref(value);
  return text;
}

int32_t kit_event(struct hostkit *kit, json_t *event, struct tidings_reply **ret_reply,
                  struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  char *text = dump(event);
  if (!text) return kit_no_memory(error);
  const struct tidings_span span = {text, strlen(text)};
  int32_t code = hostkit_event(kit, &span, &reply, error);
  free(text);
  if (!code && ret_reply) *ret_reply = reply;
  else hostkit_reply_free(reply);
  return code;
}

static const struct json_rules answers = {.max_depth = 64, .nul = true};

int32_t kit_query(struct hostkit *kit, json_t *request, json_t **ret_answer,
                  struct tidings_error *error) {
  char *text = dump(request), *json = NULL;
  if (!text) return kit_no_memory(error);
  const struct tidings_span span = {text, strlen(text)};
  int32_t code = hostkit_query(kit, &span, &json, error);
  free(text);
  if (code) return code;
  struct tidings_error wrong = {.size = sizeof wrong};
  json_t *answer = NULL;
  code = json_value_read(&answers, span_text(json), "it", &answer, &wrong);
  hostkit_free(json);
  if (code)
    return kit_error(error, TIDINGS_E_STORE, "the plugin answered what is not JSON: %s",
                     wrong.text);
  *ret_answer = answer;
  return TIDINGS_OK;
}

int32_t kit_settle(struct hostkit *kit, uint64_t delivery, uint32_t outcome, uint32_t patience_ms,
                   struct tidings_reply **ret_reply, struct tidings_error *error) {
  const uint64_t until = clock_mono_ns() + (uint64_t)patience_ms * 1000000u;
  int32_t code;
  do
    code = hostkit_settle(kit, delivery, outcome, ret_reply,
                          error); /* the call itself waits for as long as the hook's budget */
  while (code == TIDINGS_E_BUSY && clock_mono_ns() < until);
  return code;
}
