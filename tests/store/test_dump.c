/* SPDX-License-Identifier: MIT
 *
 * test_dump.c: tests files of a store's rows: what was written is read, and a file that was cut or
 * changed anywhere is refused.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "store/dump/dump.h"

enum { ROWS = 3 };

static char path[] = "/tmp/tidings-dump-XXXXXX";

static struct db_key key_of(int i) { return row_key((uint32_t)i / 2, ROW_ITEM, (uint64_t)i << 40); }

static void write_file(void) {
  const struct dump_event event = {.session = 7,
                                   .time_ms = -1,
                                   .keep_ms = 5,
                                   .source = span_text("ci"),
                                   .id = span_text("a\0b")};
  struct tidings_error error = {.size = sizeof error};
  struct dump_writer writer;
  cr_assert_eq(dump_begin(&writer, path, &error), 0, "%s", error.text);
  for (int i = 0; i < ROWS; i++) {
    struct db_key key = key_of(i);
    struct buffer body = BUFFER_EMPTY;
    record_begin(&body);
    for (int j = 0; j < i * 100; j++) buffer_byte(&body, (char)j);
    record_end(&body, &key);
    dump_row(&writer, &key, buffer_view(&body));
    buffer_free(&body);
  }
  cr_assert_eq(dump_event(&writer, &event, &error), 0);
  cr_assert_eq(dump_finish(&writer, 0, &error), 0, "%s", error.text);
}

/* Reads to the end. Returns the error, and how many entries came before it or the end. */
static int read_file(size_t *ret_count) {
  struct tidings_error error = {.size = sizeof error};
  struct dump_reader reader = {.file = NULL};
  struct dump_entry entry = {.kind = DUMP_ROW};
  int code = dump_open(&reader, path, &error);
  for (*ret_count = 0; !code && entry.kind != DUMP_END; (*ret_count)++)
    code = dump_next(&reader, &entry, &error);
  if (code) cr_assert_eq(code, TIDINGS_E_STORE, "%s", error.text);
  dump_close(&reader);
  return code;
}

static void setup(void) {
  int fd = mkstemp(path);
  cr_assert_geq(fd, 0);
  close(fd);
  write_file();
}

static void finish(void) { unlink(path); }

TestSuite(dump, .init = setup, .fini = finish);

Test(dump, what_was_written_is_read_twice) {
  struct tidings_error error = {.size = sizeof error};
  struct dump_reader reader = {.file = NULL};
  struct dump_entry entry = {.kind = DUMP_END};
  cr_assert_eq(dump_open(&reader, path, &error), 0, "%s", error.text);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < ROWS; i++) {
      struct db_key key = key_of(i);
      cr_assert_eq(dump_next(&reader, &entry, &error), 0, "%s", error.text);
      cr_assert(entry.kind == DUMP_ROW && memcmp(&entry.key, &key, sizeof key) == 0);
      cr_assert_eq(entry.value.len, 1 + (size_t)i * 100 + sizeof(uint32_t));
    }
    cr_assert_eq(dump_next(&reader, &entry, &error), 0, "%s", error.text);
    cr_assert(entry.kind == DUMP_EVENT && entry.event.session == 7 && entry.event.time_ms == -1 &&
              entry.event.keep_ms == 5 && span_is(entry.event.source, "ci"));
    cr_assert_eq(dump_next(&reader, &entry, &error), 0, "%s", error.text);
    cr_assert_eq(entry.kind, DUMP_END);
    cr_assert_eq(dump_rewind(&reader, &error), 0);
  }
  dump_close(&reader);
}

static char *read_bytes(size_t *ret_len) {
  FILE *file = fopen(path, "re");
  char *bytes = malloc(4096);
  cr_assert(file && bytes);
  *ret_len = fread(bytes, 1, 4096, file);
  cr_assert_eq(fclose(file), 0);
  return bytes;
}

static void write_bytes(const char *bytes, size_t len) {
  FILE *file = fopen(path, "we");
  cr_assert(file && fwrite(bytes, 1, len, file) == len);
  cr_assert_eq(fclose(file), 0);
}

Test(dump, a_file_that_was_cut_anywhere_is_refused) {
  size_t len, count;
  char *bytes = read_bytes(&len);
  cr_assert_eq(read_file(&count), 0);
  cr_assert_eq(count, ROWS + 2);
  for (size_t cut = 0; cut < len; cut++) {
    write_bytes(bytes, cut);
    cr_expect_neq(read_file(&count), 0, "cut at %zu of %zu", cut, len);
  }
  bytes[len] = 'x';
  write_bytes(bytes, len + 1);
  cr_expect_neq(read_file(&count), 0, "with a byte more");
  free(bytes);
}

Test(dump, a_file_with_any_byte_changed_is_refused) {
  size_t len, count;
  char *bytes = read_bytes(&len);
  for (size_t at = 0; at < len; at++) {
    bytes[at] = (char)(bytes[at] ^ 0x41);
    write_bytes(bytes, len);
    cr_expect_neq(read_file(&count), 0, "byte %zu of %zu", at, len);
    bytes[at] = (char)(bytes[at] ^ 0x41);
  }
  free(bytes);
}

Test(dump, rows_out_of_order_are_refused) {
  struct tidings_error error = {.size = sizeof error};
  struct dump_writer writer;
  size_t count;
  cr_assert_eq(dump_begin(&writer, path, &error), 0);
  for (int i = 1; i >= 0; i--) {
    struct db_key key = key_of(i);
    struct buffer body = BUFFER_EMPTY;
    record_begin(&body);
    record_end(&body, &key);
    dump_row(&writer, &key, buffer_view(&body));
    buffer_free(&body);
  }
  cr_assert_eq(dump_finish(&writer, 0, &error), 0);
  cr_expect_eq(read_file(&count), TIDINGS_E_STORE);
}

static mode_t mode_of(const char *name) {
  struct stat info;
  cr_assert_eq(stat(name, &info), 0);
  return info.st_mode & 0777;
}

/* Also if others could read the file before, and whatever the umask is. */
Test(dump, only_the_user_can_read_it) {
  cr_assert_eq(chmod(path, 0644), 0);
  umask(0);
  write_file();
  cr_expect_eq(mode_of(path), 0600);
  cr_assert_eq(unlink(path), 0);
  write_file();
  cr_expect_eq(mode_of(path), 0600);
}

static int dump_to(const char *name, int code, struct tidings_error *error) {
  struct dump_writer writer;
  struct db_key key = key_of(0);
  cr_assert_eq(dump_begin(&writer, name, error), 0, "%s", error->text);
  dump_row(&writer, &key, span_text("a row"));
  return dump_finish(&writer, code, error);
}

Test(dump, nothing_is_left_after_an_error) {
  struct tidings_error error = {.size = sizeof error};
  char name[64];
  int fd = open(path, O_RDWR | O_CLOEXEC);
  cr_assert_geq(fd, 0);
  cr_expect_eq(dump_to(path, TIDINGS_E_STORE, &error), TIDINGS_E_STORE);
  cr_expect_neq(access(path, F_OK), 0);
  cr_expect_eq(lseek(fd, 0, SEEK_END), 0, "by another name nothing can be read either");
  (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd); /* it has no name any more */
  cr_expect_eq(dump_to(name, 0, &error), 0, "%s", error.text);
  cr_expect_gt(lseek(fd, 0, SEEK_END), 0);
  cr_expect_eq(dump_to(name, TIDINGS_E_NOMEM, &error), TIDINGS_E_NOMEM);
  cr_expect_eq(lseek(fd, 0, SEEK_END), 0);
  close(fd);
}

Test(dump, a_device_or_a_pipe_stays) {
  struct tidings_error error = {.size = sizeof error};
  int ends[2];
  char name[64];
  mode_t mode = mode_of("/dev/null");
  cr_expect_eq(dump_to("/dev/null", 0, &error), 0, "%s", error.text);
  cr_expect_eq(dump_to("/dev/null", TIDINGS_E_STORE, &error), TIDINGS_E_STORE);
  cr_expect_eq(mode_of("/dev/null"), mode);
  cr_expect_eq(dump_to("/dev/full", 0, &error), TIDINGS_E_STORE);
  cr_expect_str_eq(error.text, "/dev/full cannot be written: No space left on device");
  cr_assert_eq(pipe(ends), 0);
  (void)snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
  cr_expect_eq(dump_to(name, 0, &error), 0, "%s", error.text);
}
