/* SPDX-License-Identifier: MIT
 *
 * test_store_url.c: tests which part of a store's URL is a password, and which part people see.
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
      {"postgresql://u:se?cret@h/d?schema=s", "postgresql://u@h/d?schema=s", true},
      {"postgresql://u?x:secret@h/d", "postgresql://u?x@h/d", true},
      {"postgresql://u:secret@h?schema=s@t", "postgresql://u@h?schema=s@t", true},
      {"postgresql://u:se?cret@h/d?password=more", "postgresql://u@h/d", true},
      {"postgresql://u@h/d?schema=s&password=secret", "postgresql://u@h/d", true},
      {"postgresql://u@h/d?pass%77ord=secret&schema=s", "postgresql://u@h/d", true},
      {"postgresql://u@h/d?sslpassword=secret", "postgresql://u@h/d", true},
      {"postgresql://u@h/d?passfile=/etc/pass", "postgresql://u@h/d?passfile=/etc/pass", false},
      {"postgresql://h/d?application_name=a:b@c", "postgresql://h/d?application_name=a:b@c", false},
      {"/srv/u/password=x:y@h", "/srv/u/password=x:y@h", false},
      {"/srv/u?password=x", "/srv/u?password=x", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *shown = store_url_shown(cases[i].url);
    cr_assert(shown);
    cr_expect_str_eq(shown, cases[i].shown);
    cr_expect_eq(store_url_has_password(cases[i].url), cases[i].has, "%s", cases[i].url);
    free(shown);
  }
}

Test(store_url, what_is_no_url_is_read_as_well) {
  cr_expect_str_eq(store_url_query("host=h?x"), "?x");
  cr_expect(!store_url_query("/srv/u@h"));
}

Test(store_url, another_schema_is_put_among_the_parameters) {
  static const struct {
    const char *url, *with;
  } cases[] = {
      {"postgresql://u@h/d", "postgresql://u@h/d?schema=t"},
      {"postgresql://u@h/d?port=1", "postgresql://u@h/d?schema=t&port=1"},
      {"postgresql://u:se?cret@h/d", "postgresql://u:se?cret@h/d?schema=t"},
      {"postgresql://u:se?cret@h/d?port=1", "postgresql://u:se?cret@h/d?schema=t&port=1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *with = store_url_with_schema(cases[i].url, "t");
    cr_assert(with);
    cr_expect_str_eq(with, cases[i].with);
    free(with);
  }
}
