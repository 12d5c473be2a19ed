/* SPDX-License-Identifier: MIT
 *
 * store/dump/dump.c: see the header. After the magic text each entry is a byte for its kind, a key,
 * four bytes for the length of the value, and the value, which is a record with its checksum; an
 * event is a record too, under the key of its session.
 */
#include "store/dump/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "tidings rows 1\n";
enum { MAGIC_BYTES = sizeof magic - 1, HEAD_BYTES = 1 + DB_KEY_BYTES + 4 };

/* -- writing ----------------------------------------------------------------------------------- */

static int fail_to_write(const char *path, int reason, struct tidings_error *error) {
  return fail(error, TIDINGS_E_STORE, "%s cannot be written: %s", path, strerror(reason));
}

static bool is_file(int fd, struct stat *ret_info) {
  return !fstat(fd, ret_info) && S_ISREG(ret_info->st_mode);
}

/* Only the user may read the file, as with the store. A pipe or a terminal stays as it is. Returns
 * a descriptor, or -1 with errno. */
static int open_private(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, S_IRUSR | S_IWUSR);
  struct stat info;
  if (fd < 0 || !is_file(fd, &info) || !(info.st_mode & (S_IRWXG | S_IRWXO))) return fd;
  if (!fchmod(fd, S_IRUSR | S_IWUSR)) return fd;
  int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

int dump_begin(struct dump_writer *writer, const char *path, struct tidings_error *error) {
  int fd = open_private(path);
  *writer = (struct dump_writer){.file = fd < 0 ? NULL : fdopen(fd, "w"), .path = path};
  if (!writer->file) {
    int reason = errno;
    if (fd >= 0) close(fd);
    return fail_to_write(path, reason, error);
  }
  (void)fwrite(magic, 1, MAGIC_BYTES, writer->file);
  return 0;
}

static void put_entry(struct dump_writer *writer, enum dump_kind kind, const struct db_key *key,
                      struct tidings_span value) {
  uint8_t head[HEAD_BYTES];
  uint32_t len = htobe32((uint32_t)value.len);
  head[0] = (uint8_t)kind;
  memcpy(head + 1, key->bytes, DB_KEY_BYTES);
  memcpy(head + 1 + DB_KEY_BYTES, &len, sizeof len);
  (void)fwrite(head, 1, sizeof head, writer->file);
  if (value.len) (void)fwrite(value.ptr, 1, value.len, writer->file);
  writer->count++;
}

void dump_row(struct dump_writer *writer, const struct db_key *key, struct tidings_span value) {
  put_entry(writer, DUMP_ROW, key, value);
}

int dump_event(struct dump_writer *writer, const struct dump_event *event,
               struct tidings_error *error) {
  struct db_key key = row_key(event->session, ROW_DEDUP, 0);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_i64(&body, event->time_ms);
  record_i64(&body, event->keep_ms);
  record_bytes(&body, event->source);
  record_bytes(&body, event->id);
  record_end(&body, &key);
  bool failed = body.failed;
  if (!failed) put_entry(writer, DUMP_EVENT, &key, buffer_view(&body));
  buffer_free(&body);
  return failed ? fail(error, TIDINGS_E_NOMEM, "no memory for a record of the store") : 0;
}

/* Empties the file, which may have other names or none, and removes the name that it was given. */
static void leave_nothing(int fd, const char *path) {
  struct stat info, named;
  if (!is_file(fd, &info)) return;
  (void)!ftruncate(fd, 0);
  if (!lstat(path, &named) && named.st_dev == info.st_dev && named.st_ino == info.st_ino)
    (void)unlink(path);
}

/* Returns 0 or an errno. */
static int flush(FILE *file) {
  struct stat info;
  if (fflush(file)) return errno;
  if (ferror(file)) return EIO; /* an earlier write failed */
  return is_file(fileno(file), &info) && fsync(fileno(file)) ? errno : 0;
}

int dump_finish(struct dump_writer *writer, int code, struct tidings_error *error) {
  struct db_key count = row_key(0, ROW_META, writer->count);
  if (!writer->file) return code;
  if (!code) put_entry(writer, DUMP_END, &count, span_of(NULL, 0));
  int reason = flush(writer->file);
  int fd = code || reason ? dup(fileno(writer->file)) : -1;
  if (fclose(writer->file) && !reason) reason = errno;
  writer->file = NULL;
  if (fd >= 0) {
    leave_nothing(fd, writer->path);
    close(fd);
  }
  return code || !reason ? code : fail_to_write(writer->path, reason, error);
}

/* -- reading ----------------------------------------------------------------------------------- */

static int refuse_dump(const struct dump_reader *reader, const char *why,
                       struct tidings_error *error) {
  return fail(error, TIDINGS_E_STORE, "%s %s", reader->path, why);
}

static bool read_exactly(struct dump_reader *reader, void *to, size_t bytes) {
  if (bytes > reader->left || fread(to, 1, bytes, reader->file) != bytes) return false;
  reader->left -= bytes;
  return true;
}

int dump_rewind(struct dump_reader *reader, struct tidings_error *error) {
  char begin[MAGIC_BYTES];
  struct stat info;
  if (fstat(fileno(reader->file), &info) || fseek(reader->file, 0, SEEK_SET))
    return refuse_dump(reader, strerror(errno), error);
  reader->left = (uint64_t)info.st_size;
  reader->count = 0;
  memset(&reader->last, 0, sizeof reader->last);
  if (!read_exactly(reader, begin, sizeof begin) || memcmp(begin, magic, sizeof begin) != 0)
    return refuse_dump(reader, "is no file of a store's rows", error);
  return 0;
}

int dump_open(struct dump_reader *reader, const char *path, struct tidings_error *error) {
  *reader = (struct dump_reader){.file = fopen(path, "re"), .path = path, .value = BUFFER_EMPTY};
  if (!reader->file)
    return fail(error, errno == ENOENT ? TIDINGS_E_NOT_FOUND : TIDINGS_E_STORE, "%s: %s", path,
                strerror(errno));
  return dump_rewind(reader, error);
}

void dump_close(struct dump_reader *reader) {
  if (reader->file) (void)fclose(reader->file);
  buffer_free(&reader->value);
  reader->file = NULL;
}

/* The value is no longer than the file, so that a wrong length allocates nothing. */
static int read_value(struct dump_reader *reader, uint32_t len, struct tidings_error *error) {
  reader->value.len = 0;
  if (len > reader->left) return refuse_dump(reader, "is cut short", error);
  if (len > reader->value.capacity && !buffer_grow(&reader->value, len))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a record of the store");
  if (len && !read_exactly(reader, reader->value.bytes, len))
    return refuse_dump(reader, "is cut short", error);
  reader->value.len = len;
  return 0;
}

bool dump_event_of(const struct db_key *key, struct tidings_span value,
                   struct dump_event *ret_event) {
  struct dump_event event = {.session = row_key_session(key->bytes)};
  struct record_reader record;
  if (!record_open(&record, key, value)) return false;
  event.time_ms = record_read_i64(&record);
  event.keep_ms = record_read_i64(&record);
  event.source = record_read_bytes(&record);
  event.id = record_read_bytes(&record);
  if (!record_close(&record)) return false;
  *ret_event = event;
  return true;
}

static bool is_sound(struct dump_reader *reader, struct dump_entry *entry) {
  const struct db_key end = row_key(0, ROW_META, reader->count);
  bool first = !reader->count;
  switch (entry->kind) {
  case DUMP_ROW:
    if (!first && memcmp(reader->last.bytes, entry->key.bytes, DB_KEY_BYTES) >= 0) return false;
    reader->last = entry->key;
    return record_format(&entry->key, entry->value) != 0;
  case DUMP_EVENT: return dump_event_of(&entry->key, entry->value, &entry->event);
  case DUMP_END:
    return memcmp(&entry->key, &end, sizeof end) == 0 && !entry->value.len && !reader->left;
  }
  return false;
}

int dump_next(struct dump_reader *reader, struct dump_entry *ret_entry,
              struct tidings_error *error) {
  uint8_t head[HEAD_BYTES];
  struct dump_entry entry = {.kind = DUMP_END};
  uint32_t len;
  if (!read_exactly(reader, head, sizeof head)) return refuse_dump(reader, "is cut short", error);
  entry.kind = (enum dump_kind)head[0];
  memcpy(entry.key.bytes, head + 1, DB_KEY_BYTES);
  memcpy(&len, head + 1 + DB_KEY_BYTES, sizeof len);
  int code = read_value(reader, be32toh(len), error);
  if (code) return code;
  entry.value = buffer_view(&reader->value);
  if (!is_sound(reader, &entry))
    return refuse_dump(reader, "has a row that is not as it was written", error);
  reader->count++;
  *ret_entry = entry;
  return 0;
}
