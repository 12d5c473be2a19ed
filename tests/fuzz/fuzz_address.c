/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_address.c: the input's first line is an address, and the rest a folder or a
 * remote's URL. An address is refused with a sentence, or it has one form: a text that is read as
 * the same address again. A folder's notifications reach sessions that work there or above it, but
 * no session whose folder's name only begins in the same way. A repository's notifications reach
 * only its checkouts.
 */
#include "fuzz.h"

#include <ctype.h>
#include <string.h>

#include "command/address.h"
#include "common/span.h"
#include "common/utf8.h"

enum { MOST_BYTES = 255 }; /* of a session's name */

static void check_folder(const struct address *address) {
  char inside[MOST_BYTES + 8], neighbor[MOST_BYTES + 8];
  const char *folder = address_rest(address);
  size_t len = strlen(folder);
  MUST(folder[0] == '/' && !strstr(folder, "//"), "%s is not clean", folder);
  (void)snprintf(inside, sizeof inside, "%s/x", len > 1 ? folder : "");
  MUST(address_fits(address, folder, NULL), "%s is not for who works there", folder);
  MUST(address_fits(address, "/", NULL), "%s is not for who works in all folders", folder);
  MUST(!address_fits(address, inside, NULL), "%s is for %s", folder, inside);
  (void)snprintf(neighbor, sizeof neighbor, "%.*s", (int)len - 1, folder);
  if (len > 1 && neighbor[len - 2] != '/')
    MUST(!address_fits(address, neighbor, NULL), "%s is for %s", folder, neighbor);
}

static void check_repository(const struct address *address) {
  const char *name = address->repository;
  char branch[] = "main", *remotes[] = {address->repository};
  char another[] = "h/o/n", *others[] = {another};
  struct checkout checkout = {.remotes = remotes, .remote_count = 1, .branch = branch};
  for (const char *at = name; *at; at++)
    MUST(!isupper((unsigned char)*at) && (unsigned char)*at > ' ', "%s is not in its form", name);
  if (address->branch) checkout.branch = address->branch;
  MUST(address_fits(address, "/", &checkout), "%s does not fit its checkout", name);
  checkout.branch = NULL;
  MUST(!address->branch || !address_fits(address, "/", &checkout), "it fits without a branch");
  checkout = (struct checkout){.remotes = others, .remote_count = 1, .branch = address->branch};
  MUST(strcmp(name, another) == 0 || !address_fits(address, "/", &checkout), "%s fits all", name);
  MUST(!address_fits(address, "/", NULL), "%s fits a folder of no repository", name);
}

static void check_address(const struct address *address) {
  struct address again = {.name = NULL};
  struct tidings_error error = {.size = sizeof error, .text = ""};
  struct tidings_span name = span_text(address->name);
  bool mailbox = address->kind != ADDRESS_SESSION;
  MUST(name.len && name.len <= MOST_BYTES && utf8_valid(name), "a name of %zu bytes", name.len);
  MUST(address_is_mailbox(address->name) == mailbox, "%s is of another kind", address->name);
  if (!mailbox) return;
  MUST(!address_parse(address->name, "/another", &again, &error), "%s is refused: %s",
       address->name, error.text);
  MUST(strcmp(again.name, address->name) == 0, "%s becomes %s", address->name, again.name);
  address_finish(&again);
  if (address->kind == ADDRESS_FOLDER) check_folder(address);
  if (address->kind == ADDRESS_REPOSITORY) check_repository(address);
}

static bool is_text(const char *bytes) {
  const struct tidings_span text = span_text(bytes);
  uint32_t character = 0;
  for (size_t at = 0, width = 0; at < text.len; at += width) {
    width = utf8_decode(text, at, &character);
    if (!width || utf8_is_control(character)) return false;
  }
  return true;
}

/* The repository of a checkout can be written as an address, if it is text. */
static void check_remote(const char *url) {
  char *repository = checkout_repository(url);
  if (!repository) return;
  char text[MOST_BYTES + 16];
  struct address address = {.name = NULL};
  struct tidings_error error = {.size = sizeof error, .text = ""};
  (void)snprintf(text, sizeof text, "repo:%s", repository);
  if (strlen(text) <= MOST_BYTES && is_text(text)) {
    MUST(!address_parse(text, "/", &address, &error), "%s of %s: %s", text, url, error.text);
    MUST(strcmp(address.repository, repository) == 0, "%s is %s", text, address.repository);
    address_finish(&address);
  }
  free(repository);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  char *text = malloc(len + 1);
  if (!text) return 0;
  if (len) memcpy(text, data, len);
  text[len] = '\0';
  char *cut = strchr(text, '\n');
  if (cut) *cut = '\0';
  struct address address = {.name = NULL};
  struct tidings_error error = {.size = sizeof error, .text = ""};
  int32_t code = address_parse(text, "/here/it/is", &address, &error);
  MUST(!code || (code == TIDINGS_E_SCHEMA && error.text[0]), "code %d: %s", code, error.text);
  if (!code) check_address(&address);
  if (!code) address_finish(&address);
  if (cut) check_remote(cut + 1);
  free(text);
  return 0;
}
