/* SPDX-License-Identifier: MIT
 *
 * conformance/cases_entry.c: the entry struct and its extensions, which a host reads before it runs
 * any code of the plugin.
 */
#include "conformance/trial.h"

#include "common/libc.h"
#include "host/hostkit_flags.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loads the plugin like any host: through hostkit, with its probe. If hostkit refuses it, the
 * refusal is the whole result. */
static void loads(struct trial *trial) {
  struct hostkit_options options = {
      .size = sizeof options,
      .flags = HOSTSIM_HOSTKIT_FLAGS,
      .plugin_path = trial->plugin_path,
      .store_dir = trial->store,
      .probe_timeout_ms = AGENT_TIMEOUT_MS / 2,
      .copy_dir = trial->dir,
      .host = &trial->simhost.host,
  };
  struct hostkit *hostkit = NULL;
  struct tidings_error error = {.size = sizeof error};
  if (hostkit_open(&options, &hostkit, &error) != TIDINGS_OK) trial_fail("refused: %s", error.text);
  if (hostkit_close(hostkit, AGENT_TIMEOUT_MS / 2, &error) != TIDINGS_OK)
    trial_fail("close: %s", error.text);
}

static void readable(struct trial *trial) {
  trial_load(trial);
  const struct tidings_entry *entry = trial->entry;
  if (entry->size < TIDINGS_ENTRY_SIZE_1_0)
    trial_fail("size is %u, version 1.0 has %zu", entry->size, TIDINGS_ENTRY_SIZE_1_0);
  if (!entry->name || entry->name[0] == '\0' || !entry->version || entry->version[0] == '\0')
    trial_fail("name or version is missing");
  if (!entry->build_id) trial_fail("build_id is NULL; it may be empty");
  if (!entry->open) trial_fail("open is missing");
}

static void unknown_extension(struct trial *trial) {
  trial_load(trial);
  static const char *const unknown[] = {"", "tidings.query/999", "tidings.query/1 ",
                                        "no.such.thing/1"};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
    if (trial->entry->get_extension(unknown[i]))
      trial_fail("get_extension(\"%s\") is not NULL", unknown[i]);
  if (trial->entry->get_extension(NULL)) trial_fail("get_extension(NULL) is not NULL");
}

static void extension_tables(struct trial *trial) {
  trial_load(trial);
  if (!trial->query && !trial->wake) trial_skip("it has no extension");
  if (trial->query && (trial->query->size < TIDINGS_QUERY_SIZE_1_0 || !trial->query->query ||
                       !trial->query->release_answer))
    trial_fail("the table of " TIDINGS_EXT_QUERY " is not whole");
  if (trial->wake && (trial->wake->size < TIDINGS_WAKE_SIZE_1_0 || !trial->wake->descriptor ||
                      !trial->wake->next_session))
    trial_fail("the table of " TIDINGS_EXT_WAKE " is not whole");
}

static void instance_table(struct trial *trial) {
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  if (plugin->size < TIDINGS_PLUGIN_SIZE_1_0)
    trial_fail("size is %u, version 1.0 has %zu", plugin->size, TIDINGS_PLUGIN_SIZE_1_0);
  if (!plugin->on_tool_result || !plugin->on_chat_request || !plugin->on_event || !plugin->settle ||
      !plugin->release || !plugin->quiesce || !plugin->close)
    trial_fail("a function is missing");
  trial_close(plugin);
}

static size_t count_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) trial_skip("/proc/self/task cannot be read");
  size_t count = 0;
  for (const struct dirent *task; (task = readdir(tasks));) count += task->d_name[0] != '.';
  closedir(tasks);
  return count;
}

static void use_it(struct tidings_plugin *plugin) {
  struct tidings_error error = {.size = sizeof error};
  trial_push(plugin, "s", "one");
  trial_event(plugin, "{bad", 4, &error);
  trial_expect_delivery(plugin, "s", "one");
}

static void starts_no_thread(struct trial *trial) {
  size_t before = count_threads();
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  use_it(plugin);
  if (count_threads() != before)
    trial_fail("%zu threads before, %zu after", before, count_threads());
  trial_close(plugin);
}

static void is_silent(struct trial *trial) {
  char *path = NULL;
  if (asprintf(&path, "%s/output", trial->dir) < 0) trial_fail("out of memory");
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
    trial_fail("standard output cannot be redirected");
  free(path);
  trial_load(trial);
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  use_it(plugin);
  trial_close(plugin);
  fflush(NULL);
  off_t written = lseek(fd, 0, SEEK_END);
  if (written != 0) {
    trial_fail("it wrote %ld bytes to standard output or error; log through the host",
               (long)written);
  }
  close(fd);
}

static bool is_mapped(const char *path) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps) trial_skip("/proc/self/maps cannot be read");
  char *line = NULL;
  size_t size = 0;
  bool found = false;
  while (!found && getline(&line, &size, maps) > 0) found = strstr(line, path) != NULL;
  free(line);
  fclose(maps);
  return found;
}

static void unloads(struct trial *trial) {
  if (HOSTSIM_KEEPS_MAPPED) trial_skip("images stay mapped in a build with the address sanitizer");
  if (!LIBC_UNLOADS) trial_skip("this C library unmaps no image");
  trial_load(trial);
  if (!is_mapped(trial->plugin_path))
    trial_skip("/proc/self/maps does not show the image by its path");
  struct tidings_plugin *plugin = trial_open(trial, NULL);
  use_it(plugin);
  trial_close(plugin);
  trial->entry = NULL;
  if (dlclose(trial->image) != 0) trial_fail("dlclose: %s", dlerror());
  trial->image = NULL;
  if (is_mapped(trial->plugin_path))
    trial_fail("the image is still mapped after close and dlclose");
}

const struct conformance_case cases_entry[] = {
    {"load", "hostkit loads, opens and closes it", loads},
    {"entry.readable", "the entry struct has all of version 1.0", readable},
    {"entry.unknown-extension", "get_extension answers NULL for unknown names", unknown_extension},
    {"entry.extension-tables", "the tables of extensions are whole", extension_tables},
    {"entry.instance-table", "an open instance has every function", instance_table},
    {"entry.starts-no-thread", "it starts no thread", starts_no_thread},
    {"entry.is-silent", "it never writes to standard output or error", is_silent},
    {"entry.unloads", "after close and dlclose the image is unmapped", unloads},
    {NULL, NULL, NULL},
};
