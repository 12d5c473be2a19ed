#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""c_rules.py: rules about C that are read from its text; style.py checks them.

A rule of a file takes its path and text, a rule of the tree all paths and texts. It returns what
it finds. Each table names what is allowed, and why.
"""
import collections
import os
import re

PRODUCT = ("abi/", "common/", "plugin/", "hostkit/", "recipes/", "command/", "agents/", "mcp/", "listen/", "subscribe/", "cli/", "hostsim/", "bench/")
FROZEN = ("tests/abi/old/",)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
ATTRIBUTE = re.compile(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)\s*")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
# clang-format makes a function begin and end in the first column, or puts it on one line.
FUNCTION = re.compile(r"^(?P<head>[A-Za-z_][\w \t\n*]*?[ *\n])(?P<name>\w+)\((?P<arguments>[^;{}]*?)\) \{"
                      r"(?P<body>[^\n]*\}$|.*?^\})", re.MULTILINE | re.DOTALL)
DECLARED = re.compile(r"^(?P<head>[A-Za-z_][\w \t\n*]*?[ *\n])(?P<name>\w+)\([^;{}]*?\)(?:;| \{)", re.MULTILINE)
STRUCT = re.compile(r"^struct (?P<name>\w+) \{\n(?P<members>.*?)^\}", re.MULTILINE | re.DOTALL)


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def code_of(text):
    """Returns the text without comments, quoted text, directives and attributes, with the same lines."""
    text = STRING.sub(lambda match: match[0][0] + blank(match)[1:-1] + match[0][0], COMMENT.sub(blank, text))
    return ATTRIBUTE.sub(lambda match: "\n" * match[0].count("\n"), DIRECTIVE.sub(blank, text))


def line_of(code, offset):
    return code.count("\n", 0, offset) + 1


# -- the members of the plugin's structs ------------------------------------------------------------

OF_A_CALL = re.compile(r"\b(?:struct settings|struct store_txn|MDB_txn)\b|\bstore_deadline\b|\b(?:settings|txn|now_ms|deadline)(?:;|,| =)")
HOLDERS = {
    "op": "it is the operation",
    "configuration": "it owns the settings",
    "instance": "until when all calls of a command that ends soon may wait, together",
    "data_input": "an argument: what readers of data need of the configuration",
    "work": "a value: the policy's input",
    "backlog_wanted": "a value: the policy's input",
    "turns_input": "a value: the rules' input",
    "render_input": "a value: how old a line is follows from it",
}
# The store is below struct op, so its structs may hold transactions.
HOLDING_FOLDERS = ("plugin/store/",)


def held_outside_op(path, text):
    if not path.startswith("plugin/") or path.startswith(HOLDING_FOLDERS):
        return []
    code = code_of(text)
    return [f"line {line_of(code, struct.start('members') + member.start())}: struct {struct['name']} holds {' '.join(member[0].split())}; "
            "settings, transaction and time of a call are in struct op"
            for struct in STRUCT.finditer(code) if struct["name"] not in HOLDERS
            for member in re.finditer(r"[^;]*;", struct["members"]) if OF_A_CALL.search(member[0]) and "(" not in member[0]]


# -- an int is 0 or an error -------------------------------------------------------------------------

AN_INT = re.compile(r"^(?:static\s|inline\s|_Noreturn\s)*int(?:32_t)?\s$")
A_BOOL = re.compile(r"^(?:static\s|inline\s)*bool\s$")
AN_ERROR = re.compile(r"^(?:TIDINGS_OK|TIDINGS_E_\w+|MDB_\w+|PG_E_\w+|E[A-Z]+|INT_MAX)$")
COMPARES = re.compile(r"^const void \*\w+, const void \*\w+$")
NO_ERRORS = {
    "main": "an exit status",
    "clock_ms_until": "what poll takes",
    "is_named": "called by dl_iterate_phdr, which stops at 1",
}


def without_parentheses(expression):
    while "(" in expression and expression != (shorter := re.sub(r"\([^()]*\)", "", expression)):
        expression = shorter
    return expression


def int_results(path, text):
    if not path.startswith(("plugin/", "hostkit/", "common/")):
        return []
    code, found = code_of(text), []
    for function in FUNCTION.finditer(code):
        if A_BOOL.match(function["head"]) and re.search(r"\bstruct tidings_error \*", function["arguments"]):
            found.append(f"line {line_of(code, function.start())}: {function['name']} reports an error as a bool; return an int, 0 or the error")
        if not AN_INT.match(function["head"]) or function["name"] in NO_ERRORS or COMPARES.match(" ".join(function["arguments"].split())):
            continue
        for result in re.finditer(r"\breturn\b([^;]*);", function["body"]):
            expression = without_parentheses(result[1])
            # The returned value is the whole expression, or a part after ? and :
            for value in re.split(r"[?:]", expression):
                value = value.strip()
                if re.fullmatch(r"[1-9]\d*[uUlL]*|true|(?:[A-Z][A-Z0-9]*_)*[A-Z][A-Z0-9]+", value) and not AN_ERROR.match(value):
                    found.append(f"line {line_of(code, function.start('body') + result.start())}: {function['name']} returns {value}; "
                                 "an int is 0 or an error, what to do next is an output parameter")
            if "?" not in expression and re.search(r"[^<>-](?:[<>]=?|[=!]=|&&|\|\|)[^<>]", expression):
                found.append(f"line {line_of(code, function.start('body') + result.start())}: {function['name']} returns a truth value as an int")
    return found


# -- names -------------------------------------------------------------------------------------------

def static_names(texts):
    """Finds static functions of one folder with the same name."""
    where = collections.defaultdict(set)
    for path, text in texts.items():
        if path.startswith(PRODUCT) and path.endswith(".c"):
            for function in DECLARED.finditer(code_of(text)):
                if re.match(r"(?:inline )?static\s", function["head"]):
                    where[os.path.dirname(path), function["name"]].add(path)
    return [f"{', '.join(sorted(paths))}: each has a static function {name}: a name is unique in its folder"
            for (_, name), paths in sorted(where.items()) if len(paths) > 1]


# -- one way to write it -----------------------------------------------------------------------------

COMPARED_NULL = re.compile(r"[!=]= ?NULL\b|\bNULL [!=]=")


def operand_begins(code, place):
    """Returns the begin of the operand that ends at `place`: after an opening parenthesis, a comma or a weaker operator."""
    depth = 0
    while place > 0:
        place -= 1
        if code[place] in ")]":
            depth += 1
        elif code[place] in "([":
            if depth == 0:
                return place + 1
            depth -= 1
        elif depth == 0 and (code[place] in ",;{}?:" or code[place - 1:place + 1] in ("&&", "||") or re.match(r"[^=!<>]= ", code[place - 1:place + 2])):
            return place + 1
    return 0


def null_checks(path, text):
    if not path.endswith((".c", ".h")) or path.startswith(FROZEN):
        return []
    code, found = code_of(text), []
    for hit in COMPARED_NULL.finditer(code):
        before = code[:operand_begins(code, hit.start())].rstrip()
        after = code[hit.end():].lstrip()
        opened = re.search(r"(?:\b(?:if|while) |&&\s*|\|\|\s*|!)\($", before)
        joined = re.search(r"(?:&&|\|\|)$", before) or after.startswith(("&&", "||", "?"))
        of_a_loop = re.search(r"\bfor \([^;]*;$", before)
        compared = re.match(r"\)\s*[=!<>]", after)  # the comparison is used as a value
        if (opened or joined or of_a_loop) and not compared:
            found.append(f"line {line_of(code, hit.start())}: a condition compares with NULL; write `pointer` or `!pointer`")
    return found


BRACED = re.compile(r"^[ \t]*(?:if|for|while) \((?:[^{}\n]|\n(?![ \t]*\w+ \())*\) \{\n[^\n{}]*;\n[ \t]*\}(?! else| while)", re.MULTILINE)

BRACED_BOTH = re.compile(r"^([ \t]*)if \([^{};]*\) \{\n[^\n{}]*;\n\1\} else \{\n[^\n{}]*;\n\1\}", re.MULTILINE)


def braces(path, text):
    if not path.endswith((".c", ".h")) or path.startswith(FROZEN):
        return []
    code = COMMENT.sub(lambda comment: re.sub(r"[^\n]", "{", comment[0]), text)  # a comment counts as a second statement
    code = STRING.sub(blank, code)
    found = []
    for hit in [*BRACED.finditer(code), *BRACED_BOTH.finditer(code)]:
        body = hit[0].splitlines()[-2].strip()
        if body.count(";") == 1 and not re.match(r"(?:if|for|while|do|switch|case)\b", body):
            found.append(f"line {line_of(code, hit.start())}: braces around one statement: {body[:60]}")
    return found


# -- one of each -------------------------------------------------------------------------------------

A_PROCESS = re.compile(r"\b(?:v?fork|posix_spawnp?|exec[lv]p?e?|fexecve|popen|system)\(")
A_CLOCK = re.compile(r"\b(?:clock_gettime|gettimeofday|time|timespec_get)\(")
A_RANDOM = re.compile(r"\b(?:getrandom|getentropy|s?rand|s?random|[delmn]rand48)\(|/dev/u?random")
A_LIBC = re.compile(r"\b(?:pthread_(?:mutex_clocklock|cond_clockwait)|(?<!libc_)close_range|sig(?:abbrev|descr)_np|strerror(?:name|desc)_np|\w+_addclosefrom_np)\("
                    r"|__GLIBC|#include <linux/")
ONE_OF_EACH = (
    (A_PROCESS, "starts a process", {
        "common/spawn.c": "the one way to start a program",
        "cli/other_programs.c": "a verb becomes a program of its own",
        "mcp/act.c": "it becomes the verb after it has asked to be ended with its parent",
        "agents/wait/apart.c": "the waiter goes on without the hook: it forks and runs no program",
        "cli/run/watchdog.c": "it outlives the run to report its end: it forks and runs no program",
        "cli/run/leftover.c": "it outlives the run to read what is printed later: it forks and runs no program",
        "cli/run/run.c": "a daemon: it forks twice and runs no program",
        "hostsim/conformance/cases_processes.c": "a second host process of the same memory",
        "hostsim/conformance/cases_wake.c": "a second host process of the same memory",
        "bench/": "measures across processes of the same memory",
    }),
    (A_CLOCK, "reads a clock", {
        "common/clock.c": "the one clock outside the plugin",
        "plugin/store/db/deadline.c": "deadlines of the store; the wall clock comes from the host",
        "common/libc.c": "a wait until a deadline, where the C library has only one by the wall clock",
        "common/libc_lookup.c": "a wait for a resolver, until a time that the caller chooses",
    }),
    (A_LIBC, "takes what musl or an older glibc does not have", {
        "common/libc": "says where the C libraries differ",
    }),
    (A_RANDOM, "takes randomness", {
        "common/random.c": "the one source outside the plugin, which asks its host",
    }),
)


def one_of_each(path, text):
    if not path.startswith(PRODUCT) or not path.endswith((".c", ".h")):
        return []
    code, found = COMMENT.sub(blank, text), []
    for pattern, what, places in ONE_OF_EACH:
        if not path.startswith(tuple(places)):
            for hit in pattern.finditer(code):
                before = code[:hit.start()]
                if not re.search(r"(?:->|\.|\b(?:int|void|static) \*?)$", before):
                    found.append(f"line {line_of(code, hit.start())}: {hit[0].rstrip('(')} {what}: {', '.join(places)} may")
    return found


OF_FILES = {
    "no struct of the plugin but struct op holds settings, a transaction or a clock": held_outside_op,
    "an int is 0 or an error": int_results,
    "conditions do not compare with NULL": null_checks,
    "no braces around one statement of one line": braces,
    "one place starts processes, one reads the clock, one takes randomness, one knows the C library": one_of_each,
}
OF_THE_TREE = {
    "a static function's name is unique in its folder": static_names,
}

# rule, path, a text in which it finds something, one in which it does not
SAMPLES = (
    (held_outside_op, "plugin/flow/a.h", "struct taking {\n  int64_t now_ms;\n};\n", "struct op {\n  int64_t now_ms;\n};\n"),
    (held_outside_op, "plugin/flow/a.c", "struct taking {\n  const struct settings *s;\n};\n", "struct taking {\n  struct op *op; /* its settings */\n};\n"),
    (int_results, "plugin/a.c", "static int look(void) {\n  return 1;\n}\n", "static bool look(void) {\n  return 1;\n}\n"),
    (int_results, "hostkit/a.c", "int look(int a,\n         int b) {\n  return a ? 0 : FOUND;\n}\n", "int look(int a) {\n  return a ? 0 : TIDINGS_E_STATE;\n}\n"),
    (int_results, "hostkit/a.c", "int32_t look(void) {\n  return FOUND;\n}\n", "int32_t look(void) {\n  return TIDINGS_OK;\n}\n"),
    (int_results, "hostkit/a.c", "bool look(struct tidings_error *error) {\n  return !error;\n}\n", "bool look(int error) {\n  return !error;\n}\n"),
    (int_results, "common/a.c", "int is_same(int a, int b) { return a == b; }\n", "int same(int a) { return fail(a == 1 ? 2 : 3); }\n"),
    (null_checks, "a.c", "  if (a && b(c) == NULL) return;\n", "  if (!a) found = b(c) != NULL;\n"),
    (null_checks, "a.c", "  x = a != NULL ? a->b : 0;\n", "  x = (a != NULL) + 1;\n"),
    (null_checks, "a.c", "  for (;\n       (a = b()) != NULL;) c();\n", "  return a != NULL;\n"),
    (braces, "a.c", "  if (a) {\n    b();\n  }\n", "  if (a) {\n    b(); /* why */\n  }\n"),
    (braces, "a.c", "  for (a = 0; a < b; a++) {\n    c(a);\n  }\n", "  for (a = 0; a < b; a++) {\n    if (a) c(a);\n  }\n"),
    (braces, "a.c", "  while (a) {\n    b = \"};\";\n  }\n", "  if (a) {\n    b();\n  } else {\n    c();\n    d();\n  }\n"),
    (braces, "a.c", "  if (a) {\n    b();\n  } else {\n    c();\n  }\n", "  if (a) {\n    b();\n  } else {\n    if (c) d();\n  }\n"),
    (one_of_each, "hostkit/a.c", "  pid = fork();\n", "  pid = spawn(); /* not fork() */\n"),
    (one_of_each, "plugin/flow/a.c", "  clock_gettime(clock, &now);\n", "  host->time(host);\n"),
    (one_of_each, "cli/a.c", 'open("/dev/urandom", 0);\n', 'open("/dev/null", 0);\n'),
    (one_of_each, "cli/a.c", "  close_range(3, 4, 0);\n", "  libc_close_range(3, 4);\n"),
    (one_of_each, "plugin/store/a.c", "#include <linux/magic.h>\n", "#include <sys/vfs.h>\n"),
    (one_of_each, "cli/a.c", "  system(command);\n", "  file_system(command);\n"),
)


def tree_samples():
    """Yields (title, whether it holds) for the rules of the tree."""
    one, other = "static int look(void) {\n  return 0;\n}\n", "static bool\nis_seen(int a, int b,\n        int c) {\n  return a;\n}\n"
    yield "a static name twice in one folder is found", static_names({"cli/a.c": one, "cli/b.c": one})
    yield "and so is one whose parameters have two lines", static_names({"cli/a.c": other, "cli/b.c": other})
    yield "in two folders it may be", not static_names({"cli/a.c": one, "cli/run/a.c": one, "cli/b.c": other})
