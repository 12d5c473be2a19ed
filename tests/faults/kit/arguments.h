/* SPDX-License-Identifier: MIT
 *
 * kit/arguments.h: the command line of all fault tests, and how they report failures.
 */
#ifndef KIT_ARGUMENTS_H
#define KIT_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct arguments {
  const char *plugin;   /* --plugin PATH, else $TIDINGS_PLUGIN: required */
  const char *scratch;  /* --scratch DIR: where stores are made; default /dev/shm if it is there,
                           else $TMPDIR, else /tmp */
  const char *trace;    /* --trace FILE: powercut replays the trace that a failure has saved */
  uint64_t seed;        /* --seed N */
  uint64_t count;       /* --count N: images, kills, swaps */
  uint64_t only;        /* --only N: just this one; UINT64_MAX: all */
  uint64_t workers;     /* --workers N: how many processes work at once; 0: one a processor */
  uint64_t patience_ms; /* --patience MS: a process that takes longer counts as hung; default
                           60000 */
  const char *part;     /* --part NAME: just this part of the test; NULL: all */
};

/* Reads the command line; *arguments has the defaults. A usage error prints the usage line and
 * exits with 2. */
void arguments_read(struct arguments *arguments, int argc, char **argv);

/* Must the part `name` run? If so, prints its name. */
bool arguments_part(const struct arguments *arguments, const char *name);

/* Prints a failure; the test goes on. Any thread. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How often this process has called fail. */
unsigned failures(void);
/* Prints and exits with 1, because the test cannot go on. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the line of JSON that `./dev gate` counts: the part, the seed, how much was done, how many
 * violations there were, and further members as `"name":1,"other":2`. It is the last line, also
 * after failures. A program that ends without it counts as a violation. */
void result(const struct arguments *arguments, const char *part, uint64_t done, uint64_t violations,
            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* From now on a fatal signal kills this process without a sanitizer's report, because asserts and
 * crashes of LMDB are expected. */
void expect_death(void);

/* CTest's code for a test that cannot run here. */
enum { EXIT_SKIPPED = 77 };

#endif
