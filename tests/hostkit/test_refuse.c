/* SPDX-License-Identifier: MIT
 *
 * test_refuse.c: each kind of broken plugin is refused with its own sentence, and nothing of it
 * stays.
 */
#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit.h"
#include "verdict.h"

/* Tries to open the plugin of the options, and returns the error; its code is 0 if the plugin could
 * be opened. */
static struct tidings_error refuse(struct kit *kit) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit *hostkit = NULL;
  int32_t code = hostkit_open(&kit->options, &hostkit, &error);
  cr_assert_eq(code, error.code, "returned %d, wrote %d", code, error.code);
  cr_assert_null(hostkit);
  return error;
}

static void assert_refused(struct kit *kit, int32_t code, const char *words) {
  struct tidings_error error = refuse(kit);
  cr_expect_str_eq(hostkit_error_name(error.code), hostkit_error_name(code), "%s", error.text);
  cr_expect_not_null(strstr(error.text, words), "expected \"%s\" in: %s", words, error.text);
}

struct refusal {
  const char *plugin;
  int32_t code;
  const char *words;
};

static const struct refusal refusals[] = {
    {"wrong_major", TIDINGS_E_UNSUPPORTED,
     "speaks version 2.0 of the contract, this host 1.2: the first numbers must be equal"},
    {"short_struct", TIDINGS_E_INVAL, "has an entry struct of 32 bytes, version 1.0 has 48"},
    {"missing_function", TIDINGS_E_INVAL,
     "has an incomplete entry struct: it lacks the function open"},
    {"missing_settle", TIDINGS_E_INVAL, "has an incomplete instance: it lacks the function settle"},
    {"short_instance", TIDINGS_E_INVAL, "has an instance struct of 56 bytes, version 1.0 has 64"},
    {"no_symbol", TIDINGS_E_INVAL, "is not a tidings plugin: it exports no symbol tidings_entry"},
    {"undefined_symbol", TIDINGS_E_INVAL, "undefined symbol: function_that_nobody_has"},
    {"open_fails", TIDINGS_E_SCHEMA_NEWER, "the moon is in the wrong house; wait a fortnight"},
    {"open_fails_silently", TIDINGS_E_STORE, "open answered TIDINGS_E_STORE and gave no reason"},
    {"open_gives_nothing", TIDINGS_E_INVAL, "open answered TIDINGS_OK and gave no instance"},
};

/* Plugins that are refused with and without a probe process. */
Test(refuse, in_its_own_words) {
  struct kit kit;
  kit_init(&kit);
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    kit_plugin(&kit, refusals[i].plugin);
    kit.options.flags &= ~HOSTKIT_NO_PROBE;
    assert_refused(&kit, refusals[i].code, refusals[i].words);
    kit.options.flags |= HOSTKIT_NO_PROBE;
    assert_refused(&kit, refusals[i].code, refusals[i].words);
  }
  cr_assert_null(kit_finish(&kit));
}

/* Plugins that would end the host if there were no probe process. */
Test(refuse, what_would_take_the_host_along) {
  static const struct refusal deaths[] = {
      {"open_exits", TIDINGS_E_STATE,
       "exited the probe process with status 3 while opening an instance"},
      {"open_crashes", TIDINGS_E_STATE,
       "crashed the probe process while opening an instance: signal 11 (Segmentation fault)"},
      {"close_crashes", TIDINGS_E_STATE,
       "crashed the probe process while closing the instance: signal 6 (Aborted)"},
      {"constructor_exits", TIDINGS_E_STATE,
       "exited the probe process with status 0 while loading it"},
  };
  struct kit kit;
  kit_init(&kit);
  for (size_t i = 0; i < sizeof deaths / sizeof deaths[0]; i++) {
    kit_plugin(&kit, deaths[i].plugin);
    assert_refused(&kit, deaths[i].code, deaths[i].words);
  }
  cr_assert_null(kit_finish(&kit));
}

/* The plugin gets none of the host's descriptors, ignored signals and blocked signals, and its
 * output does not reach the terminal. */
Test(refuse, in_a_process_of_its_own) {
  struct kit kit;
  char printed[128];
  sigset_t usr1;
  kit_init(&kit);
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  sigprocmask(SIG_BLOCK, &usr1, NULL);
  (void)signal(SIGPIPE, SIG_IGN);
  kit_plugin(&kit, "fresh_process_only");
  cr_assert_eq(dup2(STDERR_FILENO, 77), 77);
  assert_refused(&kit, TIDINGS_E_STATE,
                 "in a trial on an empty store: all is well, but it refuses anyway");
  kit.options.flags |= HOSTKIT_NO_PROBE;
  assert_refused(&kit, TIDINGS_E_STATE, "descriptor 77 is open");
  close(77);

  (void)snprintf(printed, sizeof printed, "%s/printed", kit.root);
  int kept = dup(STDOUT_FILENO);
  int fd = open(printed, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  cr_assert_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
  kit.options.flags &= ~HOSTKIT_NO_PROBE;
  kit_plugin(&kit, "constructor_exits");
  struct tidings_error error = refuse(&kit);
  cr_assert_eq(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
  cr_expect_eq(error.code, TIDINGS_E_STATE);
  cr_expect_eq(lseek(fd, 0, SEEK_END), 0, "the plugin's greeting came through");
  close(kept);
  close(fd);
  cr_assert_null(kit_finish(&kit));
}

/* A probe process that has not begun to load the plugin when its time is over gets more time. */
Test(refuse, what_hangs) {
  enum { MOST_MS = 100000 };
  struct kit kit;
  struct tidings_error error;
  char words[96];
  kit_init(&kit);
  kit_plugin(&kit, "constructor_hangs");
  kit.options.probe_timeout_ms = 100;
  do {
    kit.options.probe_timeout_ms *= 3;
    error = refuse(&kit);
  } while (strstr(error.text, HK_STAGE_STARTING) && kit.options.probe_timeout_ms < MOST_MS);
  (void)snprintf(words, sizeof words,
                 "hung in the probe process while loading it: killed after %u ms",
                 (unsigned)kit.options.probe_timeout_ms);
  cr_expect_eq(error.code, TIDINGS_E_STATE);
  cr_expect_not_null(strstr(error.text, words), "expected \"%s\" in: %s", words, error.text);
  cr_assert_null(kit_finish(&kit));
}

/* A host that ignores SIGCHLD cannot learn how a child ended, but it can still tell whether a
 * plugin is sound. */
Test(refuse, without_an_exit_status) {
  struct kit kit;
  kit_init(&kit);
  (void)signal(SIGCHLD, SIG_IGN);
  kit_plugin(&kit, "open_crashes");
  assert_refused(&kit, TIDINGS_E_STATE, "ended the probe process while opening an instance");
  kit_plugin(&kit, "open_fails");
  assert_refused(&kit, TIDINGS_E_SCHEMA_NEWER, "the moon is in the wrong house");
  struct hostkit *hostkit = kit_open(&kit, "good_a");
  cr_assert_eq(hostkit_close(hostkit, 0, NULL), TIDINGS_OK);
  cr_assert_null(kit_finish(&kit));
}

struct file {
  char *bytes;
  size_t len;
};

static struct file read_file(const char *path) {
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  cr_assert(fd >= 0 && fstat(fd, &status) == 0, "%s", path);
  struct file file = {.bytes = malloc((size_t)status.st_size), .len = (size_t)status.st_size};
  cr_assert_eq(read(fd, file.bytes, file.len), (ssize_t)file.len);
  close(fd);
  return file;
}

/* Makes a plugin of the first `len` bytes. */
static void write_plugin(struct kit *kit, const char *bytes, size_t len) {
  (void)snprintf(kit->plugin, sizeof kit->plugin, "%s/made.so", kit->root);
  kit->options.plugin_path = kit->plugin;
  unlink(kit->plugin);
  int fd = open(kit->plugin, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  cr_assert_eq(write(fd, bytes, len), (ssize_t)len);
  close(fd);
}

/* There is no probe here, so a cut file that is not refused kills this process. */
Test(refuse, a_file_cut_short_anywhere) {
  struct kit kit;
  kit_init(&kit);
  kit.options.flags |= HOSTKIT_NO_PROBE;
  struct file whole = read_file(kit_plugin(&kit, "good_a"));
  int worded = 0;
  for (size_t i = 0; i < 120; i++) {
    size_t len = i < 40 ? i * 16 : i < 80 ? whole.len * (i - 39) / 42 : whole.len - (120 - i);
    write_plugin(&kit, whole.bytes, len);
    struct tidings_error error = refuse(&kit);
    cr_expect_eq(error.code, TIDINGS_E_INVAL, "%zu of %zu bytes: %s", len, whole.len, error.text);
    worded += strstr(error.text, "is cut short: its") != NULL;
  }
  cr_assert_eq(worded, 119, "all but the empty file are called cut short, these were %d", worded);
  free(whole.bytes);
  cr_assert_null(kit_finish(&kit));
}

struct patch {
  size_t at;
  unsigned char byte;
  int32_t code;
  const char *words;
};

Test(refuse, what_is_no_shared_object_of_this_machine) {
  static const struct patch patches[] = {
      {EI_MAG1, 'X', TIDINGS_E_INVAL, "does not start with the ELF magic bytes"},
      {EI_CLASS, ELFCLASSNONE, TIDINGS_E_UNSUPPORTED, "is for another machine"},
      {EI_DATA, ELFDATA2MSB, TIDINGS_E_UNSUPPORTED, "is for another machine"},
      {offsetof(Elf64_Ehdr, e_phentsize), 1, TIDINGS_E_INVAL, "program headers of 1 bytes"},
      {offsetof(Elf64_Ehdr, e_shentsize), 1, TIDINGS_E_INVAL, "its header tables have"},
      {offsetof(Elf64_Ehdr, e_machine), 0xEE, TIDINGS_E_UNSUPPORTED, "is for another machine"},
      {offsetof(Elf64_Ehdr, e_type), ET_REL, TIDINGS_E_INVAL,
       "is not a shared object: its ELF type is 1, expected 3"},
      {offsetof(Elf64_Ehdr, e_phnum), 0, TIDINGS_E_INVAL,
       "its header tables have 0 program headers"},
      {offsetof(Elf64_Ehdr, e_phoff) + 7, 0xFF, TIDINGS_E_INVAL,
       "is cut short: its program headers"},
      {offsetof(Elf64_Ehdr, e_shoff) + 6, 0x7F, TIDINGS_E_INVAL,
       "is cut short: its section headers"},
      {sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz) + 7, 0xFF, TIDINGS_E_INVAL,
       "is cut short: its program segments"},
  };
  struct kit kit;
  kit_init(&kit);
  struct file whole = read_file(kit_plugin(&kit, "good_a"));
  for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
    char kept = whole.bytes[patches[i].at];
    whole.bytes[patches[i].at] = (char)patches[i].byte;
    write_plugin(&kit, whole.bytes, whole.len);
    assert_refused(&kit, patches[i].code, patches[i].words);
    whole.bytes[patches[i].at] = kept;
  }
  write_plugin(&kit, "#!/bin/sh\n", 10);
  assert_refused(&kit, TIDINGS_E_INVAL,
                 "is not an ELF shared object: it does not start with the ELF magic bytes");
  write_plugin(&kit, "", 0);
  assert_refused(&kit, TIDINGS_E_INVAL, "is not an ELF shared object: it is empty");
  free(whole.bytes);
  cr_assert_null(kit_finish(&kit));
}

/* The file was read into memory that suits each type. */
static void *at_offset(const struct file *file, size_t offset) { return file->bytes + offset; }

static void drop_segments(const struct file *file, uint32_t type) {
  const Elf64_Ehdr *header = at_offset(file, 0);
  Elf64_Phdr *segments = at_offset(file, header->e_phoff);
  for (size_t i = 0; i < header->e_phnum; i++)
    if (segments[i].p_type == type) segments[i].p_type = PT_NULL;
}

/* The first section header has the count if a 16-bit number cannot say it. */
Test(refuse, a_file_without_segments_or_whose_last_section_is_outside) {
  struct kit kit;
  kit_init(&kit);
  struct file whole = read_file(kit_plugin(&kit, "good_a"));
  Elf64_Ehdr *header = at_offset(&whole, 0);
  Elf64_Shdr *sections = at_offset(&whole, header->e_shoff);
  uint64_t *size = &sections[header->e_shnum - 1].sh_size, kept = *size;
  *size = whole.len;
  write_plugin(&kit, whole.bytes, whole.len);
  assert_refused(&kit, TIDINGS_E_INVAL, "is cut short: its sections");
  sections[0].sh_size = header->e_shnum;
  header->e_shnum = 0;
  write_plugin(&kit, whole.bytes, whole.len);
  assert_refused(&kit, TIDINGS_E_INVAL, "is cut short: its sections");
  *size = kept;
  drop_segments(&whole, PT_DYNAMIC);
  write_plugin(&kit, whole.bytes, whole.len);
  assert_refused(&kit, TIDINGS_E_INVAL, "is not a shared object: it has no dynamic segment");
  drop_segments(&whole, PT_LOAD);
  write_plugin(&kit, whole.bytes, whole.len);
  assert_refused(&kit, TIDINGS_E_INVAL, "is not a shared object: it has no loadable segment");
  free(whole.bytes);
  cr_assert_null(kit_finish(&kit));
}

Test(refuse, paths_without_a_plugin) {
  struct kit kit;
  kit_init(&kit);
  kit.options.plugin_path = "/nowhere/tidings.so";
  assert_refused(&kit, TIDINGS_E_NOT_FOUND,
                 "cannot open the plugin /nowhere/tidings.so: No such file or directory");
  kit.options.plugin_path = kit.root;
  assert_refused(&kit, TIDINGS_E_INVAL, "is not a regular file");
  (void)snprintf(kit.plugin, sizeof kit.plugin, "%s/fifo", kit.root);
  cr_assert_eq(mkfifo(kit.plugin, 0600), 0);
  kit.options.plugin_path = kit.plugin;
  assert_refused(&kit, TIDINGS_E_INVAL, "is not a regular file");
  cr_assert_null(kit_finish(&kit));
}

Test(refuse, a_probe_that_cannot_run) {
  struct kit kit;
  kit_init(&kit);
  kit_plugin(&kit, "good_a");
  kit.options.probe_path = "/nowhere/probe";
  assert_refused(&kit, TIDINGS_E_NOT_FOUND,
                 "cannot run the probe program /nowhere/probe (given as probe_path): No such file");
  kit.options.probe_path = NULL;
  setenv("TIDINGS_HOSTKIT_PROBE", "/elsewhere/probe", 1);
  assert_refused(&kit, TIDINGS_E_NOT_FOUND, "/elsewhere/probe (named by TIDINGS_HOSTKIT_PROBE)");
  (void)snprintf(kit.probe, sizeof kit.probe, "%s/probe", kit.root);
  int fd = open(kit.probe, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
  cr_assert_eq(write(fd, "no program", 10), 10);
  close(fd);
  kit.options.probe_path = kit.probe;
  assert_refused(&kit, TIDINGS_E_STORE, "cannot start the probe program");
  cr_assert_null(kit_finish(&kit));
}

Test(refuse, a_folder_for_copies_that_cannot_be_used) {
  struct kit kit;
  kit_init(&kit);
  kit_plugin(&kit, "good_a");
  kit.options.copy_dir = "/nowhere";
  assert_refused(
      &kit, TIDINGS_E_STORE,
      "cannot make a folder for the plugin's private copy in /nowhere: No such file or directory");
  kit.options.copy_dir = "/proc"; /* noexec, and nothing can be made there */
  assert_refused(&kit, TIDINGS_E_STORE, "writable and not mounted noexec");
  cr_assert_null(kit_finish(&kit));
}

Test(refuse, options_that_make_no_sense) {
  struct kit kit;
  kit_init(&kit);
  struct tidings_error error = {.size = sizeof error};
  struct hostkit *hostkit = NULL;
  cr_expect_eq(hostkit_open(NULL, &hostkit, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "options is a null pointer");
  cr_expect_eq(hostkit_open(&kit.options, NULL, &error), TIDINGS_E_INVAL);
  cr_expect_str_eq(error.text, "ret_hostkit is a null pointer");
  assert_refused(&kit, TIDINGS_E_INVAL, "options.plugin_path is empty");
  kit_plugin(&kit, "good_a");
  kit.options.flags |= 0x100;
  assert_refused(&kit, TIDINGS_E_INVAL, "which has a bit without a meaning");
  kit.options.flags = HOSTKIT_COPY_IN_MEMORY;
  assert_refused(&kit, TIDINGS_E_INVAL, "HOSTKIT_COPY_IN_MEMORY needs HOSTKIT_NO_PROBE");
  kit.options.flags = 0;
  kit.options.reserved = 5;
  assert_refused(&kit, TIDINGS_E_INVAL, "options.reserved is 5, expected 0");
  kit.options.reserved = 0;
  kit.options.size = 16;
  assert_refused(&kit, TIDINGS_E_INVAL, "options.size is 16, expected at least");
  cr_assert_null(kit_finish(&kit));
}

/* The plugin's refusal of the configuration comes through the probe with its code and sentence. */
Test(refuse, a_configuration) {
  struct kit kit;
  kit_init(&kit);
  kit_plugin(&kit, "good_a");
  kit.options.configuration = "[]";
  assert_refused(&kit, TIDINGS_E_SCHEMA, "configuration is not an object");
  kit.options.flags |= HOSTKIT_NO_PROBE;
  struct tidings_error error = refuse(&kit);
  cr_assert_str_eq(error.text, "configuration is not an object",
                   "the plugin's own sentence and no more");
  cr_assert_null(kit_finish(&kit));
}

/* `error` may be shorter than this version's, or missing. */
Test(refuse, into_a_small_error_struct) {
  struct kit kit;
  kit_init(&kit);
  kit_plugin(&kit, "no_symbol");
  struct hostkit *hostkit = NULL;
  struct tidings_error error;
  memset(&error, 0x55, sizeof error);
  error.size = offsetof(struct tidings_error, text) + 10;
  cr_expect_eq(hostkit_open(&kit.options, &hostkit, &error), TIDINGS_E_INVAL);
  cr_expect_eq(error.code, TIDINGS_E_INVAL);
  cr_expect_eq(strnlen(error.text, 10), 9);
  cr_expect_eq(error.text[10], 0x55, "nothing is written behind the size");
  cr_expect_eq(hostkit_open(&kit.options, &hostkit, NULL), TIDINGS_E_INVAL);
  cr_assert_null(kit_finish(&kit));
}
