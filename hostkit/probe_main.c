/* SPDX-License-Identifier: MIT
 *
 * probe_main.c: the program tidings-hostkit-probe: tries a plugin, so that a plugin that crashes,
 * exits or hangs does so here and not in the host. Writes its verdict to descriptor 3 (verdict.h).
 * Started by hostkit only.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/store_url.h"
#include "entry_check.h"
#include "errors.h"
#include "image.h"
#include "settings.h"
#include "text.h"
#include "verdict.h"

/* Writes a whole line at once. The reader accepts that a line is missing. */
static void write_verdict(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void write_verdict(const char *format, ...) {
  char line[1024];
  va_list args;
  va_start(args, format);
  int len = vsnprintf(line, sizeof line - 1, format, args);
  va_end(args);
  size_t used = len < 0 ? 0 : (size_t)len < sizeof line - 2 ? (size_t)len : sizeof line - 2;
  line[used] = '\n';
  ssize_t written = write(HK_VERDICT_FD, line, used + 1);
  (void)written;
}

/* Ends the process without the plugin's exit handlers and without a leak checker, whose output
 * would look like a part of the verdict. */
static _Noreturn void refuse(const struct tidings_error *error) {
  write_verdict(HK_VERDICT_REFUSED "%d %s", (int)error->code, error->text);
  _exit(0);
}

static int32_t read_file(const char *path, char **ret_text, struct tidings_error *error) {
  int32_t code = TIDINGS_OK;
  char *text = NULL;
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status)) {
    code = hk_error(error, TIDINGS_E_STORE, "the probe cannot read the configuration: %s",
                    strerror(errno));
    goto out;
  }
  size_t len = (size_t)status.st_size;
  text = malloc(len + 1);
  if (!text || read(fd, text, len) != (ssize_t)len) {
    code = hk_error(error, TIDINGS_E_STORE, "the probe cannot read the configuration");
    goto out;
  }
  text[len] = '\0';
  *ret_text = text;
  text = NULL;
out:
  free(text);
  if (fd >= 0) close(fd);
  return code;
}

/* Opens an instance on a folder of its own and closes it. */
static int32_t try_instance(const struct tidings_entry *entry, const char *label, char *store,
                            char *configuration, struct tidings_error *error) {
  struct hostkit_options given = {.size = sizeof given,
                                  .plugin_path = label,
                                  .store_dir = store,
                                  .configuration = configuration};
  struct hk_settings settings;
  int32_t code = hk_settings_init(&settings, &given, error);
  if (code) return code;
  struct tidings_open_options options = hk_settings_open_options(&settings);
  struct tidings_plugin *plugin = NULL;
  struct tidings_plugin functions;
  write_verdict(HK_VERDICT_STAGE HK_STAGE_OPENING);
  struct tidings_error said = {.size = sizeof said};
  code = hk_entry_open(entry, label, settings.host, &options, &plugin, &functions, &said);
  if (code) code = hk_error(error, code, "in a trial on an empty store: %s", said.text);
  if (!code) {
    write_verdict(HK_VERDICT_STAGE HK_STAGE_CLOSING);
    code = functions.close(plugin, &said);
    if (code)
      code = hk_error(error, code, "%s: its instance could not be closed in a trial: %s", label,
                      said.text[0] ? said.text : hostkit_error_name(code));
  }
  hk_settings_finish(&settings);
  return code;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    (void)fprintf(stderr,
                  "usage: tidings-hostkit-probe COPY LABEL STORE CONFIGURATION_FILE\n"
                  "hostkit runs this; it writes its verdict to descriptor %d\n",
                  HK_VERDICT_FD);
    return 2;
  }
  const char *label = argv[2];
  struct tidings_error error = {.size = sizeof error};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  fcntl(HK_VERDICT_FD, F_SETFD,
        FD_CLOEXEC); /* a process that the plugin starts must not keep the host waiting */

  char *configuration = NULL;
  if (argv[4][0] && read_file(argv[4], &configuration, &error)) refuse(&error);

  write_verdict(HK_VERDICT_STAGE HK_STAGE_LOADING);
  void *image = NULL;
  int32_t code = hk_image_open(argv[1], label, &image, &error);
  if (code) refuse(&error);
  struct tidings_entry entry;
  code = hk_entry_read(dlsym(image, TIDINGS_ENTRY_SYMBOL), label, &entry, &error);
  if (!code && !store_url_is_plugin(label))
    code = try_instance(&entry, label, argv[3], configuration, &error);
  if (code) refuse(&error);

  write_verdict(HK_VERDICT_STAGE HK_STAGE_UNLOADING);
  dlclose(image);
  free(configuration);
  write_verdict(HK_VERDICT_OK);
  _exit(0);
}
