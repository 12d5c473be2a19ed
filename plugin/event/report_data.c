/* SPDX-License-Identifier: MIT
 *
 * event/report_data.c: the data of the events by which subsystems report: handles, commands, MCP
 * servers, files, the configuration, budgets, limits, subagents.
 */
#include "common/error.h"
#include "event/event_data.h"

static const char *const level_names[] = {"info", "warning", "error", "critical"};

/* Any text but the empty one. */
static int read_name(const struct path *parent, const struct json *value, size_t max,
                     struct tidings_span *ret, struct tidings_error *error) {
  struct path path = field_place(parent, value);
  struct tidings_span text;
  int code = field_string(parent, value, max, &text, error);
  if (code) return code;
  if (!text.len)
    return fail(error, TIDINGS_E_SCHEMA, "%s: must not be empty", field_path_text(&path).text);
  *ret = text;
  return 0;
}

static int read_level(const struct data_input *input, const struct json *value,
                      struct report *report) {
  if (!value) return 0;
  report->has_level = true;
  return field_choice(&event_data, value, level_names, LEVEL_COUNT, &report->level, input->error);
}

static int read_exit_code(const struct data_input *input, const struct json *value,
                          struct report *report) {
  report->has_exit_code = value;
  return value ? field_integer(&event_data, value, INT64_MIN, INT64_MAX, &report->exit_code,
                               input->error)
               : 0;
}

static int read_output(const struct data_input *input, const struct json *value,
                       struct report *report) {
  report->has_output = value;
  return value ? field_string(&event_data, value, SIZE_MAX, &report->output, input->error) : 0;
}

/* The fields by which a reporter describes the notification that is made, as in a `notification`;
 * they are the last fields of each report that makes one. */
#define REPORT_OPTIONS "key", "ttl_ms", "activation"
enum { OPTION_COUNT = 3 };

static int read_options(const struct json *const *options, struct report *report,
                        struct tidings_error *error) {
  static const char *const activations[] = {"passive", "idle", "interrupt"};
  const struct path *data = &event_data;
  int code = 0;
  if (options[0]) code = field_string(data, options[0], SMALL_STRING_BYTES, &report->key, error);
  if (!code && options[1])
    code = field_integer(data, options[1], 1, INT64_MAX, &report->ttl_ms, error);
  if (!code && options[2])
    code = field_choice(data, options[2], activations, 3, &report->activation, error);
  report->has_activation = options[2];
  return code;
}

static int report_members(const struct data_input *input, const char *const *names, size_t count,
                          size_t required, const struct json **slots, struct report *report) {
  int code = event_data_members(input, names, count, required, slots);
  return code ? code : read_options(&slots[count - OPTION_COUNT], report, input->error);
}

int event_read_handle_state(const struct data_input *input, struct event *event) {
  enum { HANDLE, TOOL, STATE, EXIT_CODE, CONTENT, LEVEL, OPTIONS, COUNT = OPTIONS + OPTION_COUNT };
  static const char *const names[COUNT] = {"handle",  "tool",  "state",       "exit_code",
                                           "content", "level", REPORT_OPTIONS};
  static const char *const states[] = {"running", "waiting", "stopped", "failed"};
  struct report *report = &event->report;
  const struct json *slots[COUNT] = {NULL};
  int code = report_members(input, names, COUNT, STATE, slots, &event->report);
  if (!code)
    code = read_name(&event_data, slots[HANDLE], SMALL_STRING_BYTES, &report->handle, input->error);
  if (!code)
    code = read_name(&event_data, slots[TOOL], SMALL_STRING_BYTES, &report->tool, input->error);
  if (!code)
    code = field_needed_choice(&event_data, "state", slots[STATE], states, 4, &report->state,
                               input->error);
  if (!code) code = read_exit_code(input, slots[EXIT_CODE], report);
  if (!code) code = read_output(input, slots[CONTENT], report);
  return code ? code : read_level(input, slots[LEVEL], report);
}

enum run_field {
  RUN_COMMAND,
  RUN_HANDLE,
  RUN_TOOL,
  RUN_SIGNAL,
  RUN_LOG,
  RUN_LOG_ERROR,
  RUN_EXIT_CODE,
  RUN_DURATION_MS,
  RUN_TAIL,
  RUN_LOST,
  RUN_ERRORS,
  RUN_LEVEL
};
enum { RUN_OPTIONS = RUN_LEVEL + 1, RUN_FIELDS = RUN_OPTIONS + OPTION_COUNT };

static const char *const run_fields[RUN_FIELDS] = {
    "command",     "handle", "tool", "signal", "log",   "log_error",   "exit_code",
    "duration_ms", "tail",   "lost", "errors", "level", REPORT_OPTIONS};

static int read_run_texts(const struct data_input *input, const struct json *const *slots,
                          struct report *report) {
  const struct {
    size_t max;
    struct tidings_span *to;
  } texts[] = {[RUN_COMMAND] = {SIZE_MAX, &report->command},
               [RUN_HANDLE] = {SMALL_STRING_BYTES, &report->handle},
               [RUN_TOOL] = {SMALL_STRING_BYTES, &report->tool},
               [RUN_SIGNAL] = {SMALL_STRING_BYTES, &report->signal},
               [RUN_LOG] = {PATH_BYTES, &report->log},
               [RUN_LOG_ERROR] = {SMALL_STRING_BYTES, &report->log_error}};
  int code = 0;
  for (size_t i = 0; i < sizeof texts / sizeof *texts && !code; i++) {
    if (slots[i]) code = read_name(&event_data, slots[i], texts[i].max, texts[i].to, input->error);
  }
  return code ? code : read_output(input, slots[RUN_TAIL], report);
}

/* Nobody knows the exit code or the signal of a command that was lost track of. */
static int read_lost(const struct data_input *input, const struct json *const *slots,
                     struct event *event) {
  const struct json *lost = slots[RUN_LOST];
  if (!lost) return 0;
  if (event->type == EVENT_RUN_FINISHED)
    return field_misplaced(&event_data, lost, "in run.finished; expected only in run.failed",
                           input->error);
  if (slots[RUN_SIGNAL] || slots[RUN_EXIT_CODE])
    return field_misplaced(&event_data, lost,
                           slots[RUN_SIGNAL]
                               ? "together with data.signal; expected only one of the two"
                               : "together with data.exit_code; expected only one of the two",
                           input->error);
  return field_bool(&event_data, lost, &event->report.lost, input->error);
}

/* A command that has finished did not fail. */
static int read_errors(const struct data_input *input, const struct json *const *slots,
                       struct event *event) {
  const struct json *errors = slots[RUN_ERRORS];
  if (!errors) return 0;
  if (event->type == EVENT_RUN_FINISHED)
    return field_misplaced(&event_data, errors, "in run.finished; expected only in run.failed",
                           input->error);
  return field_string(&event_data, errors, SIZE_MAX, &event->report.errors, input->error);
}

/* Reads either an exit code or a signal. A command that finished was not killed by a signal, and
 * one that failed did not exit with 0. */
static int read_run_ending(const struct data_input *input, const struct json *const *slots,
                           struct event *event) {
  const struct path *data = &event_data;
  struct report *report = &event->report;
  if (slots[RUN_SIGNAL] && event->type == EVENT_RUN_FINISHED)
    return field_misplaced(data, slots[RUN_SIGNAL], "in run.finished; expected only in run.failed",
                           input->error);
  if (slots[RUN_SIGNAL] && slots[RUN_EXIT_CODE])
    return field_misplaced(data, slots[RUN_SIGNAL],
                           "together with data.exit_code; expected only one of the two",
                           input->error);
  report->has_duration = slots[RUN_DURATION_MS];
  int code = read_exit_code(input, slots[RUN_EXIT_CODE], report);
  if (!code && report->has_exit_code && !report->exit_code && event->type == EVENT_RUN_FAILED)
    code =
        field_misplaced(data, slots[RUN_EXIT_CODE],
                        "in run.failed; expected another exit code, or run.finished", input->error);
  if (!code && slots[RUN_DURATION_MS])
    code = field_integer(data, slots[RUN_DURATION_MS], 0, INT64_MAX, &report->duration_ms,
                         input->error);
  return code;
}

int event_read_run(const struct data_input *input, struct event *event) {
  const struct json *slots[RUN_FIELDS] = {NULL};
  int code = report_members(input, run_fields, RUN_FIELDS, 2, slots, &event->report);
  if (!code) code = read_run_texts(input, slots, &event->report);
  if (!code) code = read_run_ending(input, slots, event);
  if (!code) code = read_lost(input, slots, event);
  if (!code) code = read_errors(input, slots, event);
  return code ? code : read_level(input, slots[RUN_LEVEL], &event->report);
}

int event_read_handle_polled(const struct data_input *input, struct event *event) {
  static const char *const names[] = {"handle"};
  const struct json *slots[1] = {NULL};
  int code = event_data_members(input, names, 1, 1, slots);
  return code ? code
              : read_name(&event_data, slots[0], SMALL_STRING_BYTES, &event->report.handle,
                          input->error);
}

int event_read_mcp_state(const struct data_input *input, struct event *event) {
  enum { SERVER, STATE, LEVEL, OPTIONS, COUNT = OPTIONS + OPTION_COUNT };
  static const char *const names[COUNT] = {"server", "state", "level", REPORT_OPTIONS};
  static const char *const states[] = {"connected", "disconnected", "unresponsive", "reconnected"};
  const struct json *slots[COUNT] = {NULL};
  int code = report_members(input, names, COUNT, STATE, slots, &event->report);
  if (!code)
    code = read_name(&event_data, slots[SERVER], SMALL_STRING_BYTES, &event->report.server,
                     input->error);
  if (!code)
    code = field_needed_choice(&event_data, "state", slots[STATE], states, 4, &event->report.state,
                               input->error);
  return code ? code : read_level(input, slots[LEVEL], &event->report);
}

static int read_paths(const struct data_input *input, const struct json *list,
                      struct report *report) {
  struct path path = field_place(&event_data, list);
  if (list->kind != JSON_IS_ARRAY || !list->count)
    return field_refuse(&event_data, list, "an array of at least one path", input->error);
  if (list->count > PATHS_MOST)
    return fail(input->error, TIDINGS_E_TOO_BIG,
                "data.paths: %zu paths are over the limit of %d; send several events", list->count,
                PATHS_MOST);
  struct tidings_span *paths = arena_zalloc(input->arena, list->count, sizeof *paths);
  if (!paths) return fail(input->error, TIDINGS_E_NOMEM, "event: no memory to keep it");
  size_t count = 0;
  for (const struct json *one = list->members; one; one = one->next) {
    int code = read_name(&path, one, PATH_BYTES, &paths[count++], input->error);
    if (code) return code;
  }
  report->paths = paths;
  report->path_count = count;
  return 0;
}

/* A stamp tells the reporter whether a file is still the same. It is kept in the data, and an empty
 * one is as good as none. */
static int check_stamp(const struct path *parent, const struct json *value,
                       struct tidings_error *error) {
  struct tidings_span stamp;
  return field_string(parent, value, SMALL_STRING_BYTES, &stamp, error);
}

/* Each path has a stamp, or null. */
static int check_stamps(const struct data_input *input, const struct json *list,
                        const struct report *report) {
  struct path path = field_place(&event_data, list);
  if (list->kind != JSON_IS_ARRAY || list->count != report->path_count)
    return field_refuse(&event_data, list, "an array with a stamp or null for each of data.paths",
                        input->error);
  for (const struct json *one = list->members; one; one = one->next) {
    int code = one->kind == JSON_IS_NULL ? 0 : check_stamp(&path, one, input->error);
    if (code) return code;
  }
  return 0;
}

/* `stamp` and `stamps` may be NULL. */
static int check_stamp_fields(const struct data_input *input, const struct json *stamp,
                              const struct json *stamps, const struct report *report) {
  bool is_list = json_member(input->data, "paths");
  if (stamp && is_list)
    return fail(input->error, TIDINGS_E_SCHEMA,
                "data.stamp: given together with data.paths; expected data.stamps, with a stamp or "
                "null for each path");
  if (stamps && !is_list)
    return fail(input->error, TIDINGS_E_SCHEMA,
                "data.stamps: given together with data.path; expected data.stamp");
  if (stamp) return check_stamp(&event_data, stamp, input->error);
  return stamps ? check_stamps(input, stamps, report) : 0;
}

static int read_path(const struct data_input *input, const struct json *value,
                     struct report *report) {
  struct tidings_span *path = arena_zalloc(input->arena, 1, sizeof *path);
  if (!path) return fail(input->error, TIDINGS_E_NOMEM, "event: no memory to keep it");
  int code = read_name(&event_data, value, PATH_BYTES, path, input->error);
  if (code) return code;
  report->paths = path;
  report->path_count = 1;
  return 0;
}

int event_read_file_changed(const struct data_input *input, struct event *event) {
  enum { PATH, PATHS, CHANGE, CAUSED_BY, STAMP, STAMPS, OPTIONS, COUNT = OPTIONS + OPTION_COUNT };
  static const char *const names[COUNT] = {"path",  "paths",  "change",      "caused_by",
                                           "stamp", "stamps", REPORT_OPTIONS};
  static const char *const changes[] = {"modified", "created", "deleted", "renamed"};
  struct report *report = &event->report;
  const struct json *slots[COUNT] = {NULL};
  int code = report_members(input, names, COUNT, 0, slots, &event->report);
  if (code) return code;
  if (slots[PATH] && slots[PATHS])
    return fail(input->error, TIDINGS_E_SCHEMA,
                "data.paths: given together with data.path; expected only one of the "
                "two");
  if (!slots[PATH] && !slots[PATHS])
    return field_missing(&event_data, "path", "a path, or data.paths", input->error);
  code =
      slots[PATH] ? read_path(input, slots[PATH], report) : read_paths(input, slots[PATHS], report);
  if (!code && slots[CHANGE])
    code = field_choice(&event_data, slots[CHANGE], changes, 4, &report->change, input->error);
  if (!code && slots[CAUSED_BY])
    code = field_string(&event_data, slots[CAUSED_BY], SMALL_STRING_BYTES, &report->caused_by,
                        input->error);
  return code ? code : check_stamp_fields(input, slots[STAMP], slots[STAMPS], report);
}

int event_read_config_changed(const struct data_input *input, struct event *event) {
  enum { SUMMARY, KEYS, OPTIONS, COUNT = OPTIONS + OPTION_COUNT };
  static const char *const names[COUNT] = {"summary", "keys", REPORT_OPTIONS};
  const struct json *slots[COUNT] = {NULL};
  int code = report_members(input, names, COUNT, 1, slots, &event->report);
  if (!code)
    code =
        field_string(&event_data, slots[SUMMARY], SIZE_MAX, &event->report.summary, input->error);
  if (code) return code;
  if (event_is_blank(event->report.summary))
    return fail(input->error, TIDINGS_E_SCHEMA, "data.summary: must not be empty or blank");
  if (!slots[KEYS]) return 0;
  if (slots[KEYS]->kind != JSON_IS_ARRAY)
    return field_refuse(&event_data, slots[KEYS], "an array of keys", input->error);
  struct path path = field_place(&event_data, slots[KEYS]);
  for (const struct json *one = slots[KEYS]->members; one && !code; one = one->next) {
    struct tidings_span key;
    code = read_name(&path, one, SMALL_STRING_BYTES, &key, input->error);
  }
  return code;
}

int event_read_budget_usage(const struct data_input *input, struct event *event) {
  enum { USED, LIMIT, OPTIONS, COUNT = OPTIONS + OPTION_COUNT };
  static const char *const names[COUNT] = {"used", "limit", REPORT_OPTIONS};
  const struct json *slots[COUNT] = {NULL};
  int code = report_members(input, names, COUNT, 2, slots, &event->report);
  if (!code)
    code = field_integer(&event_data, slots[USED], 0, INT64_MAX, &event->report.used, input->error);
  if (!code)
    code =
        field_integer(&event_data, slots[LIMIT], 1, INT64_MAX, &event->report.limit, input->error);
  return code;
}

int event_read_rate_limited(const struct data_input *input, struct event *event) {
  enum { RETRY_AFTER_MS, PROVIDER, OPTIONS, COUNT = OPTIONS + OPTION_COUNT };
  static const char *const names[COUNT] = {"retry_after_ms", "provider", REPORT_OPTIONS};
  const struct json *slots[COUNT] = {NULL};
  int code = report_members(input, names, COUNT, 1, slots, &event->report);
  if (!code)
    code = field_integer(&event_data, slots[RETRY_AFTER_MS], 0, INT64_MAX,
                         &event->report.retry_after_ms, input->error);
  if (!code && slots[PROVIDER])
    code = field_string(&event_data, slots[PROVIDER], SMALL_STRING_BYTES, &event->report.provider,
                        input->error);
  return code;
}

int event_read_subagent_finished(const struct data_input *input, struct event *event) {
  enum { SLUG, SUMMARY, OPTIONS, COUNT = OPTIONS + OPTION_COUNT };
  static const char *const names[COUNT] = {"slug", "summary", REPORT_OPTIONS};
  const struct json *slots[COUNT] = {NULL};
  int code = report_members(input, names, COUNT, 2, slots, &event->report);
  if (!code)
    code =
        read_name(&event_data, slots[SLUG], SMALL_STRING_BYTES, &event->report.slug, input->error);
  if (!code)
    code =
        field_string(&event_data, slots[SUMMARY], SIZE_MAX, &event->report.summary, input->error);
  return code;
}
