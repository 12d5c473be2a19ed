/* SPDX-License-Identifier: MIT
 */
#include "store/maintenance/gather.h"
#include "store/db/lmdb/files.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/page.h"

/* -- one row ----------------------------------------------------------------------------------- */

static bool read_bytes(int fd, uint64_t at, size_t bytes, struct buffer *buffer) {
  buffer->len = 0;
  if (bytes > buffer->capacity && !buffer_grow(buffer, bytes)) return false;
  while (buffer->len < bytes) {
    ssize_t len =
        pread(fd, buffer->bytes + buffer->len, bytes - buffer->len, (off_t)(at + buffer->len));
    if (len < 0 && errno == EINTR) continue;
    if (len <= 0) return false;
    buffer->len += (size_t)len;
  }
  return true;
}

bool maintenance_row_read(const struct maintenance_rows *rows, const struct maintenance_row *row,
                          struct buffer *buffer) {
  return read_bytes(rows->fd, row->at, row->bytes, buffer);
}

/* Finds the value of a node. False: its key is not from tidings, or its value is not in the
 * file. */
static bool locate(const struct maintenance_rows *rows, const uint8_t *node, uint64_t page,
                   struct maintenance_row *ret_row, bool *ret_big) {
  const uint8_t *value = node + NODE_HEAD_BYTES + DB_KEY_BYTES;
  uint16_t flags = page_u16(node, NODE_FLAGS_AT);
  if (page_u16(node, NODE_KEY_BYTES_AT) != DB_KEY_BYTES || flags > NODE_BIG) return false;
  uint64_t in_page = (uint64_t)(value - rows->page);
  *ret_big = flags == NODE_BIG;
  ret_row->bytes = page_u32(node, NODE_LOW_AT);
  memcpy(ret_row->key.bytes, node + NODE_HEAD_BYTES, DB_KEY_BYTES);
  if (!*ret_big) {
    ret_row->at = page * rows->page_bytes + in_page;
    return ret_row->bytes <= rows->page_bytes - in_page;
  }
  if (in_page + sizeof(uint64_t) > rows->page_bytes) return false;
  uint64_t first = page_u64(value, 0);
  if (first < PAGE_HEADS || first >= rows->pages) return false;
  ret_row->at = first * rows->page_bytes + PAGE_HEAD_BYTES;
  return ret_row->bytes <= rows->pages * rows->page_bytes - ret_row->at;
}

/* False: the row is not in the file as it was written, or there is no memory to read it. */
static bool is_sound(const struct maintenance_rows *rows, const struct maintenance_row *row,
                     struct buffer *buffer) {
  return maintenance_row_read(rows, row, buffer) && record_format(&row->key, buffer_view(buffer));
}

static bool add(struct maintenance_rows *rows, const struct maintenance_row *row) {
  if (rows->count == rows->capacity) {
    size_t capacity = rows->capacity ? rows->capacity * 2 : 1024;
    struct maintenance_row *list = realloc(rows->list, capacity * sizeof *list);
    if (!list) return false;
    rows->list = list;
    rows->capacity = capacity;
  }
  rows->list[rows->count++] = *row;
  return true;
}

/* -- the leaves -------------------------------------------------------------------------------- */

/* Two passes over the sound rows: one marks the pages of large values, then one notes all rows. */
struct pass {
  struct maintenance_rows *rows;
  struct buffer buffer;
  uint8_t worth;
  bool marks;
};

static void mark_content(struct maintenance_rows *rows, const struct maintenance_row *row) {
  uint64_t first = row->at / rows->page_bytes, last = (row->at + row->bytes) / rows->page_bytes;
  for (uint64_t page = first; page <= last && page < rows->pages; page++)
    if (rows->uses[page] != USE_LEAF) rows->uses[page] = USE_CONTENT;
}

static bool read_leaf(struct pass *pass, uint64_t number) {
  struct maintenance_rows *rows = pass->rows;
  if (!maintenance_page_read(rows, number, rows->page)) return true;
  unsigned count = maintenance_page_nodes(rows, rows->page, number, PAGE_LEAF);
  for (unsigned i = 0; i < count; i++) {
    struct maintenance_row row = {.worth = pass->worth};
    bool big = false;
    const uint8_t *node = maintenance_page_node(rows, rows->page, i);
    bool sound = node && locate(rows, node, number, &row, &big) && (big || !pass->marks) &&
                 is_sound(rows, &row, &pass->buffer);
    if (pass->buffer.failed) return false;
    if (sound && pass->marks) mark_content(rows, &row);
    else if (sound && !add(rows, &row)) return false;
    else if (!sound && !pass->marks && pass->worth == MAINTENANCE_IN_TREE) rows->damaged++;
  }
  return true;
}

static bool is_of(uint8_t use, uint8_t worth, bool known) {
  switch (worth) {
  case MAINTENANCE_IN_TREE: return use == USE_LEAF;
  case MAINTENANCE_LOST: return use == USE_UNKNOWN && known;
  default: return use == USE_FREE || (use == USE_UNKNOWN && !known);
  }
}

static bool read_leaves(struct maintenance_rows *rows, uint8_t worth, bool known) {
  struct pass pass = {.rows = rows, .worth = worth, .marks = true};
  bool fine = true;
  for (int twice = 0; fine && twice < 2; twice++, pass.marks = false) {
    for (uint64_t page = PAGE_HEADS; fine && page < rows->pages; page++)
      if (is_of(rows->uses[page], worth, known)) fine = read_leaf(&pass, page);
  }
  buffer_free(&pass.buffer);
  return fine;
}

static int compare_rows(const void *a, const void *b) {
  const struct maintenance_row *left = a, *right = b;
  int by_key = memcmp(left->key.bytes, right->key.bytes, DB_KEY_BYTES);
  if (by_key) return by_key;
  if (left->worth != right->worth) return left->worth < right->worth ? -1 : 1;
  return left->at > right->at ? -1 : left->at < right->at;
}

int maintenance_gather(const struct maintenance_from *from, struct maintenance_rows *ret_rows,
                       struct tidings_error *error) {
  struct maintenance_rows *rows = ret_rows;
  bool known = false;
  *rows = (struct maintenance_rows){.fd = from->data_fd,
                                    .flushed = recover_noted(from->directory_fd, from->data_fd)};
  int code = maintenance_pages(rows, &known, error);
  if (code) return code;
  for (unsigned worth = MAINTENANCE_IN_TREE; worth <= MAINTENANCE_STALE; worth++) {
    if (!read_leaves(rows, (uint8_t)worth, known))
      return fail(error, TIDINGS_E_NOMEM, "no memory for the rows of store %s", from->path);
  }
  if (rows->count) qsort(rows->list, rows->count, sizeof *rows->list, compare_rows);
  return 0;
}

void maintenance_rows_free(struct maintenance_rows *rows) {
  free(rows->uses);
  free(rows->list);
  free(rows->page);
}
