/* SPDX-License-Identifier: MIT
 */
#include "load.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "common/libc.h"
#include "elf_check.h"
#include "entry_check.h"
#include "errors.h"
#include "image.h"
#include "probe.h"
#include "sized.h"
#include "text.h"

int32_t hk_prepare(const char *path, const struct hk_settings *settings, struct hk_copy *ret_copy,
                   struct tidings_error *error) {
  struct hk_copy copy = HK_COPY_NONE;
  int32_t code = settings->flags & HOSTKIT_COPY_IN_MEMORY
                     ? hk_copy_make_in_memory(path, settings->copy_dir, &copy, error)
                     : hk_copy_make(path, settings->copy_dir, &copy, error);
  if (!code) code = hk_elf_check(copy.fd, path, error);
  if (!code && !(settings->flags & HOSTKIT_NO_PROBE)) code = hk_probe(&copy, path, settings, error);
  if (code) hk_copy_drop(&copy);
  else *ret_copy = copy;
  return code;
}

static int is_named(struct dl_phdr_info *info, size_t size, void *path) {
  (void)size;
  return info->dlpi_name && strcmp(info->dlpi_name, path) == 0;
}

/* Unloads an image. An image that stays mapped is harmless, because every load has a file of its
 * own, but then each swap loses memory. */
static void unload_image(void *image, const struct hk_copy *copy,
                         const struct hk_settings *settings) {
  if (settings->flags & HOSTKIT_KEEP_MAPPED) return;
  int failed = dlclose(image);
  if (!failed && !LIBC_UNLOADS) return; /* the image has no thread, and its file was removed */
  if (!failed && !dl_iterate_phdr(is_named, copy->path)) return;
  char *warning =
      hk_format("the plugin's image %s is still mapped after it was unloaded: %s", copy->path,
                failed ? dlerror() : "something in this process, or a nodelete flag, holds it");
  hk_log(settings, TIDINGS_LOG_WARNING,
         warning ? warning : "a plugin's image is still mapped after it was unloaded");
  free(warning);
}

/* Returns the extension, but only if it has all functions of its first version. */
static struct tidings_query query_extension(const struct tidings_entry *entry) {
  const struct tidings_query *theirs = entry->get_extension(TIDINGS_EXT_QUERY);
  struct tidings_query ours;
  HK_READ_SIZED(&ours, theirs);
  return ours.query && ours.release_answer ? ours : (struct tidings_query){0};
}

static struct tidings_wake wake_extension(const struct tidings_entry *entry) {
  const struct tidings_wake *theirs = entry->get_extension(TIDINGS_EXT_WAKE);
  struct tidings_wake ours;
  HK_READ_SIZED(&ours, theirs);
  return ours.descriptor && ours.next_session ? ours : (struct tidings_wake){0};
}

/* Maps the copy, which stays the caller's. */
static int32_t map_image(struct hk_copy *copy, const char *label,
                         const struct hk_settings *settings, struct hk_instance *ret_instance,
                         struct tidings_error *error) {
  struct hk_instance loaded = {.image = NULL};
  int32_t code = hk_image_open(copy->path, label, &loaded.image, error);
  hk_copy_unlink(
      copy); /* nothing needs the file's name any more, and if the host is killed, no file stays */
  if (code) return code;
  code = hk_entry_read(dlsym(loaded.image, TIDINGS_ENTRY_SYMBOL), label, &loaded.entry, error);
  if (code) unload_image(loaded.image, copy, settings);
  else *ret_instance = loaded;
  return code;
}

static void take_copy(struct hk_instance *loaded, struct hk_copy *copy) {
  loaded->copy = *copy;
  *copy = HK_COPY_NONE;
}

int32_t hk_load_entry(struct hk_copy *copy, const char *label, const struct hk_settings *settings,
                      struct hk_instance *ret_instance, struct tidings_error *error) {
  int32_t code = map_image(copy, label, settings, ret_instance, error);
  if (!code) take_copy(ret_instance, copy);
  return code;
}

int32_t hk_load(struct hk_copy *copy, const char *label, const struct hk_settings *settings,
                struct hk_instance *ret_instance, struct tidings_error *error) {
  struct hk_instance loaded;
  int32_t code = map_image(copy, label, settings, &loaded, error);
  if (code) return code;
  struct tidings_open_options options = hk_settings_open_options(settings);
  code = hk_entry_open(&loaded.entry, label, settings->host, &options, &loaded.plugin,
                       &loaded.functions, error);
  if (code) {
    unload_image(loaded.image, copy, settings);
    return code;
  }
  loaded.query = query_extension(&loaded.entry);
  loaded.wake = wake_extension(&loaded.entry);
  take_copy(&loaded, copy);
  *ret_instance = loaded;
  return TIDINGS_OK;
}

void hk_unload(struct hk_instance *instance, const struct hk_settings *settings) {
  void *image = instance->image;
  instance->image = NULL;
  instance->plugin = NULL;
  memset(&instance->functions, 0, sizeof instance->functions);
  memset(&instance->query, 0, sizeof instance->query);
  memset(&instance->wake, 0, sizeof instance->wake);
  memset(&instance->entry, 0, sizeof instance->entry);
  unload_image(image, &instance->copy, settings);
}
