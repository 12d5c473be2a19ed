/* SPDX-License-Identifier: MIT
 *
 * test_address.c: how an address is written, and which folders it fits.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "command/address.h"

static struct tidings_error error = {.size = sizeof error};

/* Checks that the text is read as the address `name`; NULL: the text is refused. */
static void check(const char *text, const char *name) {
  struct address address = {.name = NULL};
  int32_t code = address_parse(text, "/here/it/is", &address, &error);
  if (!name) {
    cr_expect_eq(code, TIDINGS_E_SCHEMA, "%s is taken", text);
    cr_expect_neq(error.text[0], '\0', "%s is refused without a sentence", text);
    return;
  }
  cr_assert_eq(code, 0, "%s: %s", text, error.text);
  cr_expect_str_eq(address.name, name);
  address_finish(&address);
}

Test(address, forms) {
  check("session:a b", "a b");
  check("box:ci", "box:ci");
  check("folder:/no-such-folder/x/", "folder:/no-such-folder/x");
  check("folder:/no-such-folder//x/./y/../z", "folder:/no-such-folder/x/z");
  check("folder:/../no-such-folder", "folder:/no-such-folder");
  check("folder:x", "folder:/here/it/is/x");
  check("folder:../x", "folder:/here/it/x");
  check("folder:/", "folder:/");
  check("repo:GitHub.com/Owner/Name", "repo:github.com/owner/name");
  check("repo:gitlab.com/a/b/c@Feature/X", "repo:gitlab.com/a/b/c@Feature/X");
  check("repo:https://GitHub.com/A/b", "repo:github.com/a/b");
  check("repo:https://u@h.example:3005/A/b.git@X/y", "repo:h.example/a/b@X/y");
}

Test(address, refused) {
  char longest[300], longer[600];
  static const char *const wrong[] = {"",
                                      "ci",
                                      "mailto:me",
                                      "session:",
                                      "session:box:ci",
                                      "repo:github.com/a/b@x://y",
                                      "session:folder:../x",
                                      "box:",
                                      "box:a\nb",
                                      "box:\xff",
                                      "folder:",
                                      "repo:",
                                      "repo:github.com/sqlite",
                                      "repo:github.com//sqlite",
                                      "repo:github.com/a/b/",
                                      "repo:/a/b",
                                      "repo:https://github.com/a",
                                      "repo:https://github.com/a/b@",
                                      "repo:git@github.com:a/b",
                                      "repo:github.com/a/b@"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) check(wrong[i], NULL);
  memset(longest, 'x', sizeof longest);
  memcpy(longest, "box:", 4);
  longest[255] = '\0';
  check(longest, longest);
  longest[255] = 'x';
  longest[256] = '\0';
  check(longest, NULL);
  memset(longer, 'x', sizeof longer);
  memcpy(longer, "folder:/", 8);
  longer[sizeof longer - 1] = '\0';
  check(longer, NULL);
}

Test(address, mailboxes) {
  cr_expect(address_is_mailbox("box:ci") && address_is_mailbox("folder:/x") &&
            address_is_mailbox("repo:h/o/n"));
  cr_expect(!address_is_mailbox("session:s") && !address_is_mailbox("s") &&
            !address_is_mailbox("xbox:ci"));
}

static bool fits(const char *text, const char *folder, const struct checkout *checkout) {
  struct address address = {.name = NULL};
  cr_assert_eq(address_parse(text, "/", &address, &error), 0, "%s", error.text);
  bool answer = address_fits(&address, folder, checkout);
  address_finish(&address);
  return answer;
}

Test(address, folders) {
  cr_expect(fits("folder:/no-such/app", "/no-such/app", NULL), "the folder itself");
  cr_expect(fits("folder:/no-such/app/sub", "/no-such/app", NULL), "a folder in it");
  cr_expect(fits("folder:/no-such/app", "/", NULL), "everything is in /");
  cr_expect(!fits("folder:/no-such/app", "/no-such/app/sub", NULL), "a session further down");
  cr_expect(!fits("folder:/no-such/application", "/no-such/app", NULL), "a prefix of the name");
  cr_expect(!fits("box:ci", "/no-such/app", NULL), "a box has members");
}

Test(address, repositories) {
  char remote[] = "github.com/sqlite/sqlite", branch[] = "main", *remotes[] = {remote};
  struct checkout checkout = {.remotes = remotes, .remote_count = 1, .branch = branch};
  cr_expect(fits("repo:github.com/SQLite/sqlite", "/x", &checkout));
  cr_expect(fits("repo:github.com/sqlite/sqlite@main", "/x", &checkout));
  cr_expect(!fits("repo:github.com/sqlite/sqlite@Main", "/x", &checkout), "branches have a case");
  cr_expect(!fits("repo:github.com/sqlite/sqlite@feature", "/x", &checkout));
  cr_expect(!fits("repo:gitlab.com/sqlite/sqlite", "/x", &checkout));
  cr_expect(!fits("repo:github.com/sqlite/sqlite", "/x", NULL), "no checkout");
  checkout.branch = NULL;
  cr_expect(fits("repo:github.com/sqlite/sqlite", "/x", &checkout), "a detached HEAD");
  cr_expect(!fits("repo:github.com/sqlite/sqlite@main", "/x", &checkout), "a detached HEAD");
}

Test(checkout, urls) {
  static const char *const urls[][2] = {
      {"https://github.com/Owner/Name.git", "github.com/owner/name"},
      {"https://user:token@github.com/o/n", "github.com/o/n"},
      {"https://git.example.com:8443/o/n/", "git.example.com/o/n"},
      {"ssh://git@github.com/o/n.git", "github.com/o/n"},
      {"ssh://git@github.com:2222/group/sub/n", "github.com/group/sub/n"},
      {"git@github.com:o/n.git", "github.com/o/n"},
      {"github.com:o/n", "github.com/o/n"},
      {"git://h/o/n", "h/o/n"},
      {"/srv/git/n.git", NULL},
      {"../n.git", NULL},
      {"./a:b/c", NULL},
      {"file:///srv/o/n", NULL},
      {"https://github.com/n", NULL},
      {"https://", NULL},
      {"", NULL}};
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    char *repository = checkout_repository(urls[i][0]);
    if (!urls[i][1]) cr_expect_null(repository, "%s is %s", urls[i][0], repository);
    else cr_expect(repository && strcmp(repository, urls[i][1]) == 0, "%s", urls[i][0]);
    free(repository);
  }
}
