/* SPDX-License-Identifier: MIT
 *
 * conformance/cases_open.c: open, with arguments that are wrong in every way, and stores that must
 * be refused.
 */
#include "conformance/trial.h"

#include "common/store_url.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens with arguments that must be refused; the plugin must not write *ret_plugin. */
static int32_t open_badly(struct trial *trial, const struct tidings_host *host,
                          const struct tidings_open_options *options, struct tidings_error *error) {
  memset(error, 0, sizeof *error);
  error->size = sizeof *error;
  struct tidings_plugin *const untouched = (struct tidings_plugin *)trial;
  struct tidings_plugin *plugin = untouched;
  int32_t code = trial->entry->open(host, options, &plugin, error);
  if (code != TIDINGS_OK && plugin != untouched) trial_fail("open failed and wrote *ret_plugin");
  return code;
}

static void null_open_arguments(struct trial *trial) {
  trial_load(trial);
  struct tidings_open_options options = trial_options(trial);
  struct tidings_error error;
  trial_expect(TIDINGS_E_INVAL, open_badly(trial, NULL, &options, &error), &error,
               "open with no host");
  trial_expect(TIDINGS_E_INVAL, open_badly(trial, &trial->simhost.host, NULL, &error), &error,
               "open with no options");
  error.size = sizeof error;
  trial_expect(TIDINGS_E_INVAL, trial->entry->open(&trial->simhost.host, &options, NULL, &error),
               &error, "open with nowhere to put it");
  trial_expect(TIDINGS_E_INVAL, trial->entry->open(NULL, NULL, NULL, NULL), NULL,
               "open with nothing at all");
  options.store_dir.ptr = NULL;
  trial_expect(TIDINGS_E_INVAL, open_badly(trial, &trial->simhost.host, &options, &error), &error,
               "open with a null span of some length");
}

static void short_open_structs(struct trial *trial) {
  trial_load(trial);
  const uint32_t host_size = TIDINGS_HOST_SIZE_1_0;
  const uint32_t options_size = TIDINGS_OPEN_OPTIONS_SIZE_1_0;
  struct tidings_open_options options = trial_options(trial);
  struct tidings_error error;
  const uint32_t host_sizes[] = {0, 4, host_size - 1};
  const uint32_t options_sizes[] = {0, 4, options_size - 1};
  for (size_t i = 0; i < 3; i++) {
    struct tidings_host host = trial->simhost.host;
    host.size = host_sizes[i];
    trial_expect(TIDINGS_E_INVAL, open_badly(trial, &host, &options, &error), &error,
                 "open with a short host struct");
    struct tidings_open_options cut = options;
    cut.size = options_sizes[i];
    trial_expect(TIDINGS_E_INVAL, open_badly(trial, &trial->simhost.host, &cut, &error), &error,
                 "open with short options");
  }
}

static void bigger_open_structs(struct trial *trial) {
  trial_load(trial);
  struct {
    struct tidings_host known;
    unsigned char unknown[64];
  } host;
  struct {
    struct tidings_open_options known;
    unsigned char unknown[64];
  } options;
  memset(&host, 0xA5, sizeof host);
  memset(&options, 0xA5, sizeof options);
  host.known = trial->simhost.host;
  host.known.size = sizeof host;
  options.known = trial_options(trial);
  options.known.size = sizeof options;
  struct tidings_plugin *plugin = NULL;
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_OK, trial->entry->open(&host.known, &options.known, &plugin, &error), &error,
               "open with structs of a later minor");
  trial_push(plugin, "s", "one");
  trial_expect_delivery(plugin, "s", "one");
  trial_close(plugin);
}

static void missing_host_functions(struct trial *trial) {
  trial_load(trial);
  struct tidings_open_options options = trial_options(trial);
  struct tidings_error error;
  static const char *const names[] = {"log", "now_ms", "mono_ns", "random"};
  for (size_t i = 0; i < 4; i++) {
    struct tidings_host host = trial->simhost.host;
    if (i == 0) host.log = NULL;
    else if (i == 1) host.now_ms = NULL;
    else if (i == 2) host.mono_ns = NULL;
    else host.random = NULL;
    trial_expect(TIDINGS_E_INVAL, open_badly(trial, &host, &options, &error), &error,
                 "open with a host function missing");
    trial_expect_word(&error, names[i], "open with a host function missing");
  }
}

static void unknown_open_numbers(struct trial *trial) {
  trial_load(trial);
  struct tidings_error error;
  struct tidings_host host = trial->simhost.host;
  struct tidings_open_options options = trial_options(trial);
  host.flags = 1u << 31;
  trial_expect(TIDINGS_E_INVAL, open_badly(trial, &host, &options, &error), &error,
               "open with an unknown flag of the host");
  options.flags = 1u << 31;
  trial_expect(TIDINGS_E_INVAL, open_badly(trial, &trial->simhost.host, &options, &error), &error,
               "open with an unknown flag");
  options = trial_options(trial);
  options.role = 7;
  trial_expect(TIDINGS_E_INVAL, open_badly(trial, &trial->simhost.host, &options, &error), &error,
               "open with role 7");
  options = trial_options(trial);
  options.settle_on_return = 2;
  trial_expect(TIDINGS_E_INVAL, open_badly(trial, &trial->simhost.host, &options, &error), &error,
               "open with settle_on_return 2");
}

static void bad_configuration(struct trial *trial) {
  trial_load(trial);
  static const struct {
    const char *text;
    const char *word;
  } bad[] = {
      {"{", ""},
      {"[]", ""},
      {"{\"no_such_part\":{}}", "no_such_part"},
      {"{\"delivery\":{\"max_itmes\":3}}", "max_itmes"},
      {"{\"delivery\":{\"max_items\":\"three\"}}", "delivery.max_items"},
      {"{\"delivery\":{\"preset\":\"no-such-preset\"}}", "no-such-preset"},
      {"{\"conversation\":{\"notifications\":{\"kinds\":{\"tool\":7}}}}",
       "conversation.notifications.kinds"},
  };
  struct tidings_open_options options = trial_options(trial);
  struct tidings_error error;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    options.configuration = trial_span(bad[i].text);
    trial_expect_refused(open_badly(trial, &trial->simhost.host, &options, &error), &error,
                         bad[i].text);
    trial_expect_word(&error, bad[i].word, bad[i].text);
  }
}

static void bad_store(struct trial *trial) {
  if (store_url_is(trial->store)) trial_skip("the store is no folder");
  trial_load(trial);
  struct tidings_open_options options = trial_options(trial);
  const char *path = trial->store;
  struct tidings_error error;
  FILE *file = fopen(path, "we");
  if (!file || fclose(file) != 0) trial_fail("no file could be made");
  trial_expect(TIDINGS_E_STORE, open_badly(trial, &trial->simhost.host, &options, &error), &error,
               "open where a file lies");
  if (unlink(path) != 0 || mkdir(path, 0700) != 0 || chmod(path, 0770) != 0)
    trial_fail("no folder could be made");
  trial_expect(TIDINGS_E_STORE, open_badly(trial, &trial->simhost.host, &options, &error), &error,
               "open in a group-writable folder");
  char *elsewhere = NULL;
  if (chmod(path, 0700) != 0 || asprintf(&elsewhere, "%s-real", path) < 0 ||
      rename(path, elsewhere) != 0 || symlink(elsewhere, path) != 0)
    trial_fail("no symbolic link could be made");
  trial_expect(TIDINGS_E_STORE, open_badly(trial, &trial->simhost.host, &options, &error), &error,
               "open through a symbolic link");
  free(elsewhere);
}

static void same_store_twice(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  struct tidings_open_options options = trial_options(trial);
  struct tidings_error error;
  trial_push(plugin, "s", "one");
  if (open_badly(trial, &trial->simhost.host, &options, &error) == TIDINGS_OK)
    trial_fail("the same store was opened a second time in one process");
  if (error.text[0] == '\0') trial_fail("the second open was refused without an error text");
  trial_expect_delivery(plugin, "s", "one");
  trial_close(plugin);
  trial_close(trial_open(trial, NULL));
}

static void two_stores(struct trial *trial) {
  if (store_url_is(trial->store)) trial_skip("the store is no folder");
  trial_load(trial);
  struct tidings_open_options options = trial_options(trial);
  struct tidings_plugin *one = trial_open(trial, &options);
  char *path = NULL;
  if (asprintf(&path, "%s/other", trial->dir) < 0) trial_fail("out of memory");
  options.store_dir = trial_span(path);
  struct tidings_plugin *other = trial_open(trial, &options);
  trial_push(one, "s", "one");
  trial_expect_nothing(other, "s");
  trial_expect_delivery(one, "s", "one");
  trial_close(one);
  trial_close(other);
  free(path);
}

static void short_error(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  const uint32_t sizes[] = {0, 4, 8, 64};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    struct tidings_error error;
    memset(&error, 0xA5, sizeof error);
    error.size = sizes[i];
    struct tidings_error before = error;
    if (trial_event(plugin, "{bad", 4, &error) == TIDINGS_OK)
      trial_fail("an event that is not JSON was accepted");
    size_t from = sizes[i] > sizeof error.size ? sizes[i] : sizeof error.size;
    if (memcmp((const char *)&error + from, (const char *)&before + from, sizeof error - from) != 0)
      trial_fail("it wrote past an error struct of %u bytes", sizes[i]);
  }
  trial_close(plugin);
}

const struct conformance_case cases_open[] = {
    {"open.null-arguments", "null pointers are INVAL", null_open_arguments},
    {"open.short-structs", "structs shorter than version 1.0 are INVAL", short_open_structs},
    {"open.bigger-structs", "structs of a later minor are accepted", bigger_open_structs},
    {"open.missing-host-functions", "a missing host function is INVAL and named",
     missing_host_functions},
    {"open.unknown-numbers", "unknown flags, roles and modes are INVAL", unknown_open_numbers},
    {"open.bad-configuration", "a configuration that is wrong is refused with the key's path",
     bad_configuration},
    {"open.bad-store", "a store that is a file, a link or open to others is refused", bad_store},
    {"open.same-store-twice", "one process opens a store only once", same_store_twice},
    {"open.two-stores", "two stores in one process do not mix", two_stores},
    {"error.short-struct", "nothing is written past a short error struct", short_error},
    {NULL, NULL, NULL},
};
