/* SPDX-License-Identifier: MIT
 *
 * FNV-1a against results that its authors have published.
 */
#include <criterion/criterion.h>

#include "common/fnv.h"

Test(fnv, published_results) {
  cr_assert_eq(fnv_span(FNV_START, span_text("")), UINT64_C(0xcbf29ce484222325));
  cr_assert_eq(fnv_span(FNV_START, span_text("a")), UINT64_C(0xaf63dc4c8601ec8c));
  cr_assert_eq(fnv_span(FNV_START, span_text("foobar")), UINT64_C(0x85944171f73967e8));
  cr_assert_eq(fnv_span(fnv_byte(FNV_START, 'f'), span_text("oobar")),
               UINT64_C(0x85944171f73967e8));
}
