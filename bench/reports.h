/* SPDX-License-Identifier: MIT
 *
 * bench/reports.h: sample events around an agent that fixes a build, as in the demo: files change,
 * builds fail, CI reports. The cost of a block is measured with these.
 */
#ifndef BENCH_REPORTS_H
#define BENCH_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sample_report {
  const char *source, *name, *level;
  bool is_file; /* `text` is a path; else a message */
  char text[96];
};

/* Returns report number i of an endless list, in which three of five are files. */
static inline struct sample_report sample_report_at(size_t i) {
  static const char *const files[] = {"parser", "lexer", "ast", "emit", "main", "pool"};
  struct sample_report report = {"file", "changed", "info", true, ""};
  if (i % 5 == 0) {
    report = (struct sample_report){"tool", "failed", "error", false, ""};
    (void)snprintf(report.text, sizeof report.text,
                   "Tool `cc` (handle `h_%zu`) failed with exit code 1.", i / 5 + 1);
  } else if (i % 5 == 3) {
    report = (struct sample_report){"ci", "failed", "warning", false, ""};
    (void)snprintf(report.text, sizeof report.text,
                   "CI run %zu failed on main: the same error in src/parser.c.", 4812 + i / 5);
  } else {
    size_t file = i / 5 * 3 + (i % 5 > 3 ? 2 : i % 5 - 1);
    (void)snprintf(report.text, sizeof report.text, "src/%s%.0zu.c", files[file % 6], file / 6);
  }
  return report;
}

#endif
