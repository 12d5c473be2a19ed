/* SPDX-License-Identifier: MIT
 *
 * excerpt/pattern_table.c: the lines of failures. tests/unit/excerpt/outputs/ has outputs of real
 * tools; test_excerpt.c has lines of others.
 */
#include "cli/excerpt/pattern.h"

#define NOISE(text)                                                                                \
  { text, ROLE_NOISE, 0, true }
#define WEAK(text)                                                                                 \
  { text, ROLE_WEAK, 0, true }
#define TITLE(text)                                                                                \
  { text, ROLE_TITLE, 0, true }
#define TITLE_THEN(text, next)                                                                     \
  { text, ROLE_TITLE, next, true }
#define STATEMENT(text)                                                                            \
  { text, ROLE_STATEMENT, 0, true }
#define STATEMENT_THEN(text, next)                                                                 \
  { text, ROLE_STATEMENT, next, true }
#define AT_START(text)                                                                             \
  { text, ROLE_STATEMENT, 0, false }
#define PLACE(text)                                                                                \
  { text, ROLE_PLACE, 0, true }
#define FILE_NAME(text)                                                                            \
  { text, ROLE_FILE, 0, true }
#define DETAIL(text)                                                                               \
  { text, ROLE_DETAIL, 0, true }

const struct pattern patterns[] = {
    /* npm, yarn and pnpm say that a script has failed, not why */
    NOISE("npm error Lifecycle script"),
    NOISE("npm error code ELIFECYCLE"),
    NOISE("npm error command "),
    NOISE("npm error path "),
    NOISE("npm error workspace "),
    NOISE("npm error location "),
    NOISE("npm error errno "),
    NOISE("npm error A complete log"),
    NOISE("npm error$"),
    NOISE("npm ERR! A complete log"),
    NOISE("npm ERR! Test failed."),
    NOISE("npm ERR!$"),
    NOISE("npm warn "),
    NOISE("error Command failed with exit code #."),
    STATEMENT("npm error Missing script"),
    STATEMENT("npm error code E"),
    STATEMENT("npm error # "),
    WEAK("npm error "),
    WEAK("npm ERR! "),
    /* cargo and rustc */
    NOISE("error: could not compile "),
    NOISE("error: aborting due to "),
    NOISE("error: test failed, to rerun"),
    NOISE("error: process didn't exit successfully"),
    NOISE("For more information about this error"),
    STATEMENT("error[E#]: "),
    PLACE("--> ~:#:#$"),
    NOISE("at /rustc/"),
    STATEMENT_THEN("thread '*' *panicked at ", 1),
    TITLE("---- ~ stdout ----"),
    DETAIL("left: "),
    DETAIL("right: "),
    NOISE("test ~ ... FAILED"),
    NOISE("test result: FAILED"),
    /* go */
    NOISE("FAIL\t"),
    NOISE("exit status #$"),
    TITLE("--- FAIL: "),
    STATEMENT("~.go:#:#: "),
    STATEMENT("~.go:#: "),
    PLACE("~.go:# +0x"),
    /* gcc, clang, gnat, ghc, kotlinc, swiftc, clang-tidy */
    STATEMENT("*:#:#: fatal error: "),
    STATEMENT_THEN("*.hs:#:#: error:", 1),
    STATEMENT("*:#:#: error: "),
    STATEMENT("*:#:#: runtime error: "),
    STATEMENT("*:#: error: "),
    STATEMENT("*:#: Error: "),
    STATEMENT("e: *"),
    STATEMENT("*undefined reference to "),
    STATEMENT("*multiple definition of "),
    STATEMENT("*: error: undefined symbol"),
    NOISE("collect2: error: ld returned"),
    NOISE("clang: error: linker command failed"),
    STATEMENT("*: *: Assertion `*' failed"),
    STATEMENT("==#==ERROR: "),
    STATEMENT("SUMMARY: ~Sanitizer: "),
    STATEMENT_THEN("terminate called after throwing", 1),
    STATEMENT("Segmentation fault"),
    STATEMENT("*Out of memory"),
    STATEMENT("*: No space left on device"),
    /* TypeScript, eslint, .NET */
    STATEMENT("*(#,#): error ~#: "),
    STATEMENT("*:#:# - error TS#: "),
    STATEMENT("#:# *error  "),
    TITLE("Failed ~ [* ms]"),
    TITLE("Failed ~ [* s]"),
    DETAIL("Error Message:"),
    STATEMENT("Assert.~() Failure"),
    STATEMENT("Unhandled exception. "),
    PLACE("at *:line #"),
    /* Maven, Gradle, javac, JUnit */
    NOISE("[ERROR] -> [Help"),
    NOISE("[ERROR] [Help"),
    NOISE("[ERROR] To see "),
    NOISE("[ERROR] Re-run "),
    NOISE("[ERROR] For more information"),
    NOISE("[ERROR] COMPILATION ERROR"),
    NOISE("[ERROR]$"),
    NOISE("[ERROR] Failures:"),
    NOISE("[ERROR] Errors:"),
    NOISE("[ERROR] Tests run:"),
    STATEMENT("[ERROR] *.java:[#,#] "),
    STATEMENT("[ERROR]   ~:# "),
    STATEMENT("[ERROR]   ~:#->~:# "),
    STATEMENT("[ERROR] Failed to execute goal "),
    STATEMENT("[ERROR] "),
    TITLE("> Task ~ FAILED"),
    STATEMENT_THEN("* What went wrong:", 2),
    TITLE("~ > *FAILED$"),
    NOISE("FAILURE: Build failed with an exception"),
    STATEMENT("Exception in thread \""),
    STATEMENT("Caused by: "),
    NOISE("at org.junit."),
    NOISE("at junit."),
    NOISE("at org.opentest4j."),
    NOISE("at java."),
    NOISE("at jdk."),
    NOISE("at sun."),
    NOISE("at org.gradle."),
    NOISE("at org.apache.maven."),
    PLACE("at ~(~.java:#)"),
    PLACE("at ~(~.kt:#)"),
    PLACE("at ~(~.scala:#)"),
    /* JavaScript: mocha, jest, vitest, node */
    NOISE("at *node_modules/"),
    NOISE("at *(node:"),
    NOISE("at node:"),
    NOISE("at *<anonymous>)$"),
    PLACE("at *(~:#:#)$"),
    PLACE("at ~:#:#$"),
    PLACE("\xE2\x9D\xAF ~:#:#$"),                    /* vitest: heavy right-pointing angle */
    TITLE_THEN("\xE2\x97\x8F Test suite failed", 1), /* jest: black circle */
    TITLE("\xE2\x97\x8F * \xE2\x80\xBA "),
    NOISE("\xE2\x97\x8F Console"),
    TITLE("\xE2\x97\x8F "),
    STATEMENT("expect(*)"),
    STATEMENT("Error: expect(*)"),
    DETAIL("Expected: "),
    DETAIL("Received: "),
    DETAIL("Expected substring: "),
    DETAIL("Received string: "),
    TITLE("FAIL  ~ > "),
    TITLE("not ok # "),
    PLACE("location: '~:#:#'"),
    {"error: |-$", ROLE_NOISE, 2, true},
    NOISE("code: 'ERR_"),
    DETAIL("actual: "),
    STATEMENT("error: '"),
    /* Python: tracebacks, pytest, unittest */
    {"Traceback (most recent call last):", ROLE_TRACE, 0, true},
    {"E   ", ROLE_EXPLANATION, 0, true},
    PLACE("~.py:#: ~$"),
    FILE_NAME("File \"*\", line #"),
    TITLE("FAILED ~::"),
    TITLE("ERROR ~::"),
    TITLE("ERROR ~.py"),
    TITLE("FAIL: ~ ("),
    TITLE("ERROR: ~ (~.~)"),
    NOISE("FAILED ("),
    /* Ruby, RSpec, minitest */
    STATEMENT("Failure/Error: "),
    STATEMENT("~.rb:#:in "),
    PLACE("./~:#:in "),
    NOISE("rspec ./"),
    TITLE_THEN("#) Failure:$", 3),
    TITLE_THEN("#) Error:$", 2),
    DETAIL("expected: "),
    DETAIL("got: "),
    /* PHP */
    NOISE("FAILURES!"),
    STATEMENT("PHP Fatal error: "),
    STATEMENT("PHP Parse error: "),
    STATEMENT("Fatal error: "),
    STATEMENT("Parse error: "),
    STATEMENT("Failed asserting that "),
    PLACE("/~.php:#$"),
    FILE_NAME("/~$"), /* eslint */
    /* Elixir, Erlang */
    STATEMENT("** (~) "),
    STATEMENT("Assertion with ~ failed"),
    STATEMENT("match (=) failed"),
    PLACE("~.exs:#: "),
    PLACE("~.exs:#$"),
    DETAIL("code: "),
    /* Perl, prove, TAP */
    STATEMENT("Failed test "),
    PLACE("at ~ line #."),
    NOISE("Looks like you failed"),
    NOISE("Failed #/# subtests"),
    NOISE("Failed tests:"),
    NOISE("Failed test: "),
    NOISE("Result: FAIL"),
    STATEMENT("* at ~ line #.$"),
    /* make, ninja, cmake, ctest */
    STATEMENT("make: *** No rule to make target"),
    STATEMENT("*: *** missing separator"),
    WEAK("make*: *** ["),
    STATEMENT("ninja: error: "),
    TITLE("FAILED: "),
    STATEMENT_THEN("CMake Error at ", 3),
    STATEMENT_THEN("CMake Error: ", 1),
    NOISE("-- Configuring incomplete"),
    STATEMENT_THEN("#/# Test *Failed", 1),
    STATEMENT("#/# Test *Timeout"),
    STATEMENT("#/# Test *Exception"),
    NOISE("The following tests FAILED"),
    NOISE("Errors while running CTest"),
    NOISE("#% tests passed"),
    /* shells */
    STATEMENT("*: line #: "),
    STATEMENT("~: #: *: not found$"),
    STATEMENT("~: #: *: Permission denied$"),
    STATEMENT("*: command not found"),
    /* docker, kubectl, terraform */
    TITLE("> [*] "),
    STATEMENT("ERROR: failed to "),
    STATEMENT("unable to prepare context: "),
    STATEMENT("Error response from daemon"),
    STATEMENT("Error from server"),
    STATEMENT("The connection to the server "),
    STATEMENT("\xE2\x94\x82 Error: "), /* terraform: box drawings light vertical */
    PLACE("\xE2\x94\x82   on ~ line #"),
    /* git, PostgreSQL */
    NOISE("error: failed to push some refs"),
    STATEMENT("CONFLICT ("),
    STATEMENT("! [rejected]"),
    STATEMENT("! [remote rejected]"),
    AT_START("fatal: "),
    STATEMENT("psql*: ERROR: "),
    STATEMENT("psql: error: "),
    AT_START("ERROR:  "),
    AT_START("FATAL:  "),
    /* anything that names itself an error */
    STATEMENT("panic: "),
    STATEMENT("fatal error: "),
    STATEMENT("~Error [~]: "),
    STATEMENT("~Error: "),
    STATEMENT("~Exception: "),
    STATEMENT("~Failure: "),
    STATEMENT("Uncaught "),
    AT_START("error: "),
    AT_START("ERROR: "),
    AT_START("~: error: "),
    AT_START("~: fatal: "),
    {0},
};
