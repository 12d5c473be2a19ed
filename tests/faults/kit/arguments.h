/* SPDX-License-Identifier: MIT
 *
 * kit/arguments.h: the command line that all fault tests share, and how they fail.
 */
#ifndef KIT_ARGUMENTS_H
#define KIT_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct arguments {
  const char *plugin;   /* --plugin PATH, else $TIDINGS_PLUGIN: required */
  const char *scratch;  /* --scratch DIR: where stores are made; default /dev/shm if it is there,
                           else $TMPDIR, else /tmp */
  const char *trace;    /* --trace FILE: powercut replays a trace that a failure had saved */
  uint64_t seed;        /* --seed N */
  uint64_t count;       /* --count N: images, kills, swaps */
  uint64_t only;        /* --only N: just this one; UINT64_MAX: all */
  uint64_t workers;     /* --workers N: processes working side by side; 0: one a processor */
  uint64_t patience_ms; /* --patience MS: after which a process hangs; default 60000 */
  const char *part;     /* --part NAME: just this part of the test; NULL: all */
};

/* Reads the command line over the defaults in *arguments; a usage error prints the usage line and
 * exits 2. */
void arguments_read(struct arguments *arguments, int argc, char **argv);

/* True if the part named `name` is to run; says so on stdout. */
bool arguments_part(const struct arguments *arguments, const char *name);

/* Prints a failure; the test goes on. Any thread. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How often this process has called fail. */
unsigned failures(void);
/* Prints and exits 1 at once: the test cannot go on. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the one line of JSON by which `./dev gate` counts: the part, the seed, how much was done,
 * how many violations there were, and further members as `"name":1,"other":2`. Printed as the last
 * line, also after failures; a program that ends without it has a violation that it could not
 * count. */
void result(const struct arguments *arguments, const char *part, uint64_t done, uint64_t violations,
            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* From now on a fatal signal kills this process and nothing else: lmdb's asserts and a sanitizer's
 * report of a death inside it are expected. */
void expect_death(void);

/* CTest's code for a test that cannot run here. */
enum { EXIT_SKIPPED = 77 };

#endif
