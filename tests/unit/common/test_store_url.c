/* SPDX-License-Identifier: MIT
 *
 * test_store_url.c: what of a store's URL is a password, and what of it people see.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/store_url.h"

Test(store_url, a_password_is_found_and_never_shown) {
  static const struct {
    const char *url, *shown;
    bool has;
  } cases[] = {
      {"postgresql://u@one,two:5433/d?schema=s", "postgresql://u@one,two:5433/d?schema=s", false},
      {"postgresql://u:secret@h/d?schema=s", "postgresql://u@h/d?schema=s", true},
      {"postgresql://u:se@cret@h/d", "postgresql://u@h/d", true},
      {"postgresql://u@h/d?schema=s&password=secret", "postgresql://u@h/d", true},
      {"postgresql://u@h/d?pass%77ord=secret&schema=s", "postgresql://u@h/d", true},
      {"postgresql://u@h/d?sslpassword=secret", "postgresql://u@h/d", true},
      {"postgresql://u@h/d?passfile=/etc/pass", "postgresql://u@h/d?passfile=/etc/pass", false},
      {"/srv/u/password=x:y@h", "/srv/u/password=x:y@h", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *shown = store_url_shown(cases[i].url);
    cr_assert(shown);
    cr_expect_str_eq(shown, cases[i].shown);
    cr_expect_eq(store_url_has_password(cases[i].url), cases[i].has, "%s", cases[i].url);
    free(shown);
  }
}
