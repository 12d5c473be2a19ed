/* SPDX-License-Identifier: MIT
 */
#include "command/address.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/kit.h"
#include "common/buffer.h"
#include "common/span.h"
#include "common/utf8.h"

enum { LONGEST_NAME = 255 }; /* of a session */

static const char *const kinds[] = {[ADDRESS_SESSION] = "session:",
                                    [ADDRESS_FOLDER] = "folder:",
                                    [ADDRESS_BOX] = "box:",
                                    [ADDRESS_REPOSITORY] = "repo:"};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int find_kind(const char *text) {
  for (int i = 0; i < KINDS; i++) {
    if (strncmp(text, kinds[i], strlen(kinds[i])) == 0) return i;
  }
  return -1;
}

bool address_is_mailbox(const char *session) { return find_kind(session) > ADDRESS_SESSION; }

const char *address_rest(const struct address *address) {
  return address->name + strlen(kinds[address->kind]);
}

/* -- folders ----------------------------------------------------------------------------------- */

/* Is `inside` the same folder, or inside it? Both paths are absolute. */
static bool has_folder(const char *folder, const char *inside) {
  size_t len = strlen(folder);
  while (len > 1 && folder[len - 1] == '/') len--;
  if (!len || folder[0] != '/') return false;
  if (len == 1) return inside[0] == '/';
  return strncmp(folder, inside, len) == 0 && (inside[len] == '/' || !inside[len]);
}

/* Removes empty parts, "." and "..", for a folder that is not on this machine. */
static void clean_path(char *path) {
  size_t len = 0;
  for (char *part = path; *part;) {
    size_t size = strcspn(part, "/");
    char *next = part + size + (part[size] == '/');
    if (size == 2 && memcmp(part, "..", 2) == 0) {
      while (len && path[--len] != '/') continue;
    } else if (size && !(size == 1 && *part == '.')) {
      path[len++] = '/';
      memmove(path + len, part, size);
      len += size;
    }
    part = next;
  }
  if (!len) path[len++] = '/';
  path[len] = '\0';
}

static char *find_folder(const char *path, const char *here) {
  char joined[2 * PATH_MAX];
  int len = path[0] == '/' ? snprintf(joined, sizeof joined, "%s", path)
                           : snprintf(joined, sizeof joined, "%s/%s", here, path);
  if (len < 0 || (size_t)len >= sizeof joined) return NULL;
  char *real = realpath(joined, NULL);
  if (real) return real;
  /* The copy has one byte more than the text, because a part without a slash before it gets one. */
  char *copy = malloc((size_t)len + 2);
  if (!copy) return NULL;
  copy[0] = '/';
  memcpy(copy + 1, joined, (size_t)len + 1);
  clean_path(copy);
  return copy;
}

/* A byte that is not UTF-8 becomes U+FFFD, as agents write it in the folder of a session. */
static int32_t parse_folder(struct address *address, const char *rest, const char *here,
                            struct tidings_error *error) {
  if (!rest[0]) return kit_error(error, TIDINGS_E_SCHEMA, "folder: is empty; expected a path");
  char *folder = find_folder(rest, here);
  if (!folder) return kit_no_memory(error);
  struct buffer name = BUFFER_EMPTY;
  buffer_text(&name, kinds[ADDRESS_FOLDER]);
  utf8_repair(span_text(folder), &name);
  free(folder);
  size_t size = name.len;
  address->name = buffer_take(&name);
  if (size > LONGEST_NAME)
    return kit_error(error, TIDINGS_E_SCHEMA,
                     "folder: the path has %zu bytes; expected at most %zu; use box:NAME",
                     size - strlen(kinds[ADDRESS_FOLDER]),
                     LONGEST_NAME - strlen(kinds[ADDRESS_FOLDER]));
  return address->name ? TIDINGS_OK : kit_no_memory(error);
}

/* -- repositories ------------------------------------------------------------------------------ */

static int32_t refuse_repository(const char *rest, struct tidings_error *error) {
  return kit_error(error, TIDINGS_E_SCHEMA,
                   "repo: '%s' is not HOST/OWNER/NAME or HOST/OWNER/NAME@BRANCH, such as "
                   "github.com/sqlite/sqlite@main",
                   rest);
}

/* Finds the beginning of "@BRANCH". In a URL the user's name may have an "@" too, so only the URL's
 * path counts. */
static const char *find_branch(const char *rest) {
  const char *host = strstr(rest, "://");
  const char *path = host ? strchr(host + 3, '/') : rest;
  return path ? strchr(path, '@') : NULL;
}

/* Git allows none of these characters in the name of a branch. */
static bool is_branch(const char *text) { return *text && !text[strcspn(text, " ~^:?*[\\")]; }

/* Returns "host/owner/name" from such a text or from a URL; free it. */
static char *copy_repository(const char *rest, size_t len) {
  char *text = strndup(rest, len), *read = NULL;
  if (!text || !strstr(text, "://")) return text;
  read = checkout_repository(text);
  free(text);
  return read ? read : strdup("");
}

static int32_t parse_repository(struct address *address, const char *rest,
                                struct tidings_error *error) {
  const char *at = find_branch(rest);
  address->repository = copy_repository(rest, at ? (size_t)(at - rest) : strlen(rest));
  if (!address->repository) return kit_no_memory(error);
  for (size_t i = 0; address->repository[i]; i++)
    address->repository[i] = (char)tolower((unsigned char)address->repository[i]);
  if (!checkout_is_repository(address->repository) || (at && !is_branch(at + 1)))
    return refuse_repository(rest, error);
  char *name = NULL;
  if (asprintf(&name, "repo:%s%s", address->repository, at ? at : "") < 0)
    return kit_no_memory(error);
  address->name = name;
  if (!at) return TIDINGS_OK;
  address->branch = strdup(at + 1);
  return address->branch ? TIDINGS_OK : kit_no_memory(error);
}

/* -- all of them ------------------------------------------------------------------------------- */

/* Applies the plugin's rule for a session's name. */
static int32_t check_name(const char *name, struct tidings_error *error) {
  const struct tidings_span text = span_text(name);
  uint32_t character = 0;
  if (!text.len) return kit_error(error, TIDINGS_E_SCHEMA, "the address has no name");
  if (text.len > LONGEST_NAME)
    return kit_error(error, TIDINGS_E_SCHEMA, "the address has %zu bytes; expected at most %d",
                     text.len, LONGEST_NAME);
  for (size_t at = 0, width = 0; at < text.len; at += width) {
    width = utf8_decode(text, at, &character);
    if (!width || utf8_is_control(character))
      return kit_error(error, TIDINGS_E_SCHEMA,
                       "the address has a byte that is no text, or a control character");
  }
  return TIDINGS_OK;
}

/* Parses the name of a session or a box. */
static int32_t parse_name(struct address *address, const char *text, const char *rest,
                          struct tidings_error *error) {
  bool session = address->kind == ADDRESS_SESSION;
  if (!rest[0]) return kit_error(error, TIDINGS_E_SCHEMA, "%s is empty; expected a name", text);
  if (session && address_is_mailbox(rest))
    return kit_error(error, TIDINGS_E_SCHEMA, "%s: no session is called so; expected %s", text,
                     rest);
  address->name = strdup(session ? rest : text);
  return address->name ? TIDINGS_OK : kit_no_memory(error);
}

int32_t address_parse(const char *text, const char *here, struct address *ret_address,
                      struct tidings_error *error) {
  struct address address = {.name = NULL};
  int kind = find_kind(text);
  if (kind < 0)
    return kit_error(error, TIDINGS_E_SCHEMA,
                     "'%s' is no address; expected session:ID, folder:PATH, box:NAME or "
                     "repo:HOST/OWNER/NAME[@BRANCH]",
                     text);
  const char *rest = text + strlen(kinds[kind]);
  int32_t code = TIDINGS_OK;
  address.kind = (enum address_kind)kind;
  if (kind == ADDRESS_FOLDER) code = parse_folder(&address, rest, here, error);
  else if (kind == ADDRESS_REPOSITORY) code = parse_repository(&address, rest, error);
  else code = parse_name(&address, text, rest, error);
  if (!code && address.name) code = check_name(address.name, error);
  if (code) address_finish(&address);
  else *ret_address = address;
  return code;
}

void address_finish(struct address *address) {
  free(address->name);
  free(address->repository);
  free(address->branch);
  *address = (struct address){.name = NULL};
}

bool address_fits(const struct address *address, const char *folder,
                  const struct checkout *checkout) {
  switch (address->kind) {
  case ADDRESS_FOLDER: return has_folder(folder, address_rest(address));
  case ADDRESS_REPOSITORY:
    return checkout && checkout_is_of(checkout, address->repository) &&
           (!address->branch ||
            (checkout->branch && strcmp(checkout->branch, address->branch) == 0));
  default: return false;
  }
}
