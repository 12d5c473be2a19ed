/* SPDX-License-Identifier: MIT
 *
 * host/clock_plugin.c: a plugin that opens the plugin under test with hostsim's clock and
 * randomness. A host in any language loads it instead of that plugin, so that scenarios in which
 * time passes need no clock in the host. The instance is the plugin's under test: only open and
 * get_extension pass through here.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tidings/tidings.h>
#include <unistd.h>

#include "host/clock_page.h"
#include "host/simhost.h"

static struct {
  pthread_mutex_t lock;
  const struct clock_page *page;
  void *image;
  const struct tidings_entry *entry; /* the entry of the plugin under test */
  struct tidings_host given;         /* the struct that the host gave, with its log and its
                                        tokens */
  struct simhost simhost;
} clocked = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void clocked_log(void *context, uint32_t severity, const struct tidings_span *line) {
  (void)context;
  clocked.given.log(clocked.given.context, severity, line);
}

static int64_t clocked_now_ms(void *context) {
  (void)context;
  return *(const volatile int64_t *)&clocked.page->now_ms;
}

/* The page's clock goes back only when hostsim starts the next scenario, and then this process has
 * ended.
 */
static uint64_t clocked_mono_ns(void *context) {
  (void)context;
  return *(const volatile uint64_t *)&clocked.page->mono_ns;
}

static int32_t clocked_random(void *context, void *buffer, size_t len) {
  (void)context;
  return clocked.simhost.host.random(&clocked.simhost, buffer, len);
}

static uint64_t clocked_tokens(void *context, const struct tidings_span *text) {
  (void)context;
  return clocked.given.count_tokens(clocked.given.context, text);
}

static int32_t refuse(struct tidings_error *error, const char *what, const char *why) {
  if (error) {
    error->code = TIDINGS_E_STATE;
    snprintf(error->text, sizeof error->text, "hostsim's clock: %.200s: %.200s", what, why);
  }
  return TIDINGS_E_STATE;
}

static const struct clock_page *map_page(void) {
  const char *path = getenv(CLOCK_PAGE_VARIABLE);
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return NULL;
  void *page = mmap(NULL, sizeof(struct clock_page), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  return page == MAP_FAILED ? NULL : page;
}

/* Maps the page and loads the plugin under test, once. */
static int32_t prepare(struct tidings_error *error) {
  if (clocked.entry) return TIDINGS_OK;
  if (!clocked.page) clocked.page = map_page();
  if (!clocked.page)
    return refuse(error, CLOCK_PAGE_VARIABLE, "it names no file: only hostsim starts such a host");
  if (!clocked.image) clocked.image = dlopen(clocked.page->plugin, RTLD_NOW | RTLD_LOCAL);
  if (!clocked.image) return refuse(error, clocked.page->plugin, dlerror());
  clocked.entry = dlsym(clocked.image, TIDINGS_ENTRY_SYMBOL);
  return clocked.entry ? TIDINGS_OK : refuse(error, clocked.page->plugin, "it is no plugin");
}

static void take_host(const struct tidings_host *host) {
  memset(&clocked.given, 0, sizeof clocked.given);
  memcpy(&clocked.given, host,
         host->size < sizeof clocked.given ? host->size : sizeof clocked.given);
  simhost_finish(&clocked.simhost);
  simhost_init(&clocked.simhost, clocked.page->seed, false);
}

static int32_t clocked_open(const struct tidings_host *host,
                            const struct tidings_open_options *options,
                            struct tidings_plugin **ret_plugin, struct tidings_error *error) {
  if (!host || host->size < TIDINGS_HOST_SIZE_1_0) return TIDINGS_E_INVAL;
  pthread_mutex_lock(&clocked.lock);
  int32_t code = prepare(error);
  if (!code) {
    take_host(host);
    const struct tidings_host ours = {.size = sizeof ours,
                                      .log = clocked.given.log ? clocked_log : NULL,
                                      .now_ms = clocked_now_ms,
                                      .mono_ns = clocked_mono_ns,
                                      .random = clocked_random,
                                      .count_tokens =
                                          clocked.given.count_tokens ? clocked_tokens : NULL};
    code = clocked.entry->open(&ours, options, ret_plugin, error);
  }
  pthread_mutex_unlock(&clocked.lock);
  return code;
}

static const void *clocked_extension(const char *id) {
  pthread_mutex_lock(&clocked.lock);
  int32_t code = prepare(NULL);
  pthread_mutex_unlock(&clocked.lock);
  return code ? NULL : clocked.entry->get_extension(id);
}

/* A swap unloads this image, which then unloads the plugin under test. */
__attribute__((destructor)) static void unload(void) {
  if (clocked.image) dlclose(clocked.image);
}

TIDINGS_EXPORT const struct tidings_entry tidings_entry = {
    .size = sizeof tidings_entry,
    .abi_major = TIDINGS_ABI_MAJOR,
    .abi_minor = TIDINGS_ABI_MINOR,
    .name = "hostsim-clock",
    .version = TIDINGS_VERSION,
    .build_id = "",
    .open = clocked_open,
    .get_extension = clocked_extension,
};
