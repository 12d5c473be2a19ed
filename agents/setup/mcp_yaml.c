/* SPDX-License-Identifier: MIT
 *
 * agents/setup/mcp_yaml.c: a server is a block below `extensions`, with `cmd` on a line and `args`
 * as a list: in brackets on one line, or with one line for each item.
 */
#include "agents/setup/mcp_yaml.h"

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/json.h"

#define SECTION "extensions"
enum { MOST_ITEMS = 3, NO_INDENT = -1 };

/* -- lines ------------------------------------------------------------------------------------- */

static const char *yaml_line_end(const char *line) {
  const char *end = strchr(line, '\n');
  return end ? end : line + strlen(line);
}

static const char *next_line(const char *line) {
  const char *end = yaml_line_end(line);
  return *end ? end + 1 : end;
}

/* Returns the indentation; NO_INDENT: the line has only blanks or a comment. */
static int indent_of(const char *line) {
  size_t blanks = strspn(line, " ");
  return strchr("#\r\n", line[blanks]) ? NO_INDENT : (int)blanks;
}

/* Reads one value, a word or a text in quotes. The result is empty if it has another form. */
static struct tidings_span scalar_at(const char *at, const char *stops) {
  const char *end = at;
  if (*at == '"' || *at == '\'') {
    for (end = at + 1; *end && *end != '\n' && *end != *at;)
      end += *at == '"' && *end == '\\' && end[1] ? 2 : 1;
    return *end == *at ? span_of(at, (size_t)(end + 1 - at)) : span_of(at, 0);
  }
  if (strchr("[]{}&*!|>%@`#-,?:", *at) && !(*at == '-' && at[1] && !strchr(" \r\n", at[1])))
    return span_of(at, 0);
  while (*end && !strchr("\r\n", *end) && !strchr(stops, *end) &&
         !(end > at && *end == '#' && end[-1] == ' '))
    end++;
  while (end > at && end[-1] == ' ') end--;
  return span_of(at, (size_t)(end - at));
}

/* Returns the decoded value. Free it; NULL: out of memory, or an escape that is not known. */
static char *decoded(struct tidings_span scalar) {
  char quote = '\0';
  if (scalar.len) quote = scalar.ptr[0];
  if (quote != '"' && quote != '\'') return strndup(scalar.ptr, scalar.len);
  struct buffer text = BUFFER_EMPTY;
  const char *end = scalar.ptr + scalar.len - 1;
  bool known = true;
  for (const char *at = scalar.ptr + 1; known && at < end; at++) {
    if (quote == '"' && *at == '\\') known = *++at == '"' || *at == '\\';
    else known = *at != '\'' || quote == '"';
    buffer_byte(&text, *at);
  }
  if (known) return buffer_take(&text);
  buffer_free(&text);
  return NULL;
}

static bool says(struct tidings_span scalar, const char *text) {
  char *value = decoded(scalar);
  bool equal = value && strcmp(value, text) == 0;
  free(value);
  return equal;
}

/* Finds the beginning of the key's value. NULL: the line has another key. */
static const char *value_of_key(const char *line, const char *key) {
  const char *at = line + strspn(line, " ");
  size_t len = strlen(key);
  if (strncmp(at, key, len) != 0 || at[len] != ':') return NULL;
  at += len + 1;
  return *at == ' ' || *at == '\r' || *at == '\n' || !*at ? at + strspn(at, " ") : NULL;
}

/* -- servers ----------------------------------------------------------------------------------- */

struct yaml_server {
  const char *begin, *end; /* its lines */
  struct tidings_span cmd; /* empty: it is missing, or has another form */
  bool has_args, is_flow;  /* has_args: it has arguments in a known form; is_flow: in brackets */
  const char
      *list; /* with is_flow: the place after the bracket; otherwise: the line of the first item */
  struct tidings_span items[MOST_ITEMS]; /* the first items */
  const char *after;                     /* the place after these items */
  size_t count;
};

static void note_item(struct yaml_server *server, struct tidings_span item, const char *next) {
  if (server->count < MOST_ITEMS) {
    server->items[server->count] = item;
    server->after = next;
  }
  server->count++;
}

static bool read_flow(struct yaml_server *server, const char *at) {
  server->is_flow = true;
  server->list = server->after = ++at;
  for (;;) {
    at += strspn(at, " ");
    if (*at == ']') return true;
    struct tidings_span item = scalar_at(at, ",[]{}");
    if (!item.len) return false;
    at = item.ptr + item.len;
    at += strspn(at, " ");
    if (*at == ',') at += 1 + strspn(at + 1, " ");
    else if (*at != ']') return false;
    note_item(server, item, at);
  }
}

static bool read_list(struct yaml_server *server, const char *line, int indent) {
  server->list = server->after = line;
  for (; line < server->end; line = next_line(line)) {
    int own = indent_of(line);
    if (own == NO_INDENT) continue;
    if (own < indent || line[own] != '-') break;
    struct tidings_span item = scalar_at(line + own + 1 + strspn(line + own + 1, " "), "");
    if (!item.len) return false;
    note_item(server, item, next_line(line));
  }
  return server->count > 0;
}

/* Reads a server whose end is known. */
static void read_server(struct yaml_server *server) {
  int indent = NO_INDENT;
  for (const char *line = next_line(server->begin); line < server->end; line = next_line(line)) {
    int own = indent_of(line);
    if (own == NO_INDENT) continue;
    if (indent == NO_INDENT) indent = own;
    if (own != indent) continue;
    const char *cmd = value_of_key(line, "cmd"), *args = value_of_key(line, "args");
    if (cmd) server->cmd = scalar_at(cmd, "");
    if (args && *args == '[') server->has_args = read_flow(server, args);
    else if (args && args == yaml_line_end(line))
      server->has_args = read_list(server, next_line(line), indent);
  }
}

/* Returns the section's first line; NULL: there is none. */
static const char *find_section(const char *text) {
  for (const char *line = text; *line; line = next_line(line)) {
    if (value_of_key(line, SECTION) && indent_of(line) == 0) return line;
  }
  return NULL;
}

/* Finds the next server from a line on. False: there is none. Blank lines and comments belong to no
 * server. */
static bool next_server(const char *line, struct yaml_server *ret_server) {
  struct yaml_server server = {.begin = NULL};
  int indent = NO_INDENT;
  for (; *line; line = next_line(line)) {
    int own = indent_of(line);
    if (own == NO_INDENT) continue;
    if (own == 0 || (server.begin && own <= indent)) break;
    if (!server.begin) {
      server.begin = line;
      indent = own;
    }
    server.end = next_line(line);
  }
  if (!server.begin) return false;
  read_server(&server);
  *ret_server = server;
  return true;
}

bool mcp_is_our_program(const char *command) {
  const char *slash = strrchr(command, '/');
  return strcmp(slash ? slash + 1 : command, "tidings") == 0;
}

static bool is_our_server(const struct yaml_server *server) {
  char *command = server->cmd.len ? decoded(server->cmd) : NULL;
  bool ours = command && mcp_is_our_program(command) && server->has_args && server->count &&
              says(server->items[0], "mcp");
  free(command);
  return ours;
}

static bool is_around_another(const struct yaml_server *server) {
  return is_our_server(server) && server->count >= MOST_ITEMS && says(server->items[1], "--");
}

static bool is_the_entry(const struct yaml_server *server) {
  return is_our_server(server) && !is_around_another(server);
}

static bool can_go_around(const struct yaml_server *server) {
  return server->cmd.len && server->has_args && !is_our_server(server);
}

typedef bool wanted_yaml_server(const struct yaml_server *server);

static bool find_yaml_server(const char *text, wanted_yaml_server *is_wanted,
                             struct yaml_server *ret_server) {
  const char *section = find_section(text);
  if (!section) return false;
  for (const char *line = next_line(section); next_server(line, ret_server);
       line = ret_server->end) {
    if (is_wanted(ret_server)) return true;
  }
  return false;
}

static bool find_numbered(const char *text, size_t number, struct yaml_server *ret_server) {
  const char *section = find_section(text), *line = section ? next_line(section) : "";
  for (; next_server(line, ret_server); line = ret_server->end)
    if (!number--) return true;
  return false;
}

bool mcp_yaml_has_ours(const char *text) {
  struct yaml_server server;
  return find_yaml_server(text, is_our_server, &server);
}

/* -- changes ----------------------------------------------------------------------------------- */

static void copy_between(struct buffer *out, const char *from, const char *to) {
  buffer_append(out, from, (size_t)(to - from));
}

/* Writes an item of a list in brackets. A word with special characters is quoted. */
static void put_item(struct buffer *out, struct tidings_span scalar) {
  bool quoted = scalar.ptr[0] == '"' || scalar.ptr[0] == '\'';
  bool sound = true;
  for (size_t i = 0; !quoted && i < scalar.len; i++)
    sound = sound && !strchr(",[]{}:#", scalar.ptr[i]);
  if (quoted || sound) buffer_span(out, scalar);
  else json_write_string(scalar, out);
}

static void put_wrapped(struct buffer *out, const struct yaml_server *server) {
  if (server->is_flow) {
    buffer_text(out, "\"mcp\", \"--\", ");
    put_item(out, server->cmd);
    if (server->count) buffer_text(out, ", ");
    return;
  }
  size_t indent = strspn(server->list, " ");
  for (int i = 0; i < MOST_ITEMS; i++) {
    buffer_append(out, server->list, indent);
    buffer_text(out, i == 0 ? "- mcp" : i == 1 ? "- \"--\"" : "- ");
    if (i == 2) put_item(out, server->cmd);
    buffer_byte(out, '\n');
  }
}

/* Replaces `cmd` and the beginning of `args`, whichever comes first. */
static char *with_both(const char *text, const struct yaml_server *server,
                       struct tidings_span command, const struct buffer *arguments,
                       const char *list_end) {
  struct buffer out = BUFFER_EMPTY;
  const char *end = server->cmd.ptr + server->cmd.len;
  if (server->cmd.ptr < server->list) {
    copy_between(&out, text, server->cmd.ptr);
    buffer_span(&out, command);
    copy_between(&out, end, server->list);
    buffer_append(&out, arguments->bytes, arguments->len);
    buffer_text(&out, list_end);
  } else {
    copy_between(&out, text, server->list);
    buffer_append(&out, arguments->bytes, arguments->len);
    copy_between(&out, list_end, server->cmd.ptr);
    buffer_span(&out, command);
    buffer_text(&out, end);
  }
  return buffer_take(&out);
}

static char *go_around(const char *text, const struct yaml_server *server, const char *program) {
  struct buffer arguments = BUFFER_EMPTY, command = BUFFER_EMPTY;
  put_wrapped(&arguments, server);
  json_write_string(span_text(program), &command);
  char *changed = arguments.failed || command.failed
                      ? NULL
                      : with_both(text, server, buffer_view(&command), &arguments, server->list);
  buffer_free(&arguments);
  buffer_free(&command);
  return changed;
}

/* Removes `tidings mcp` from a server's command. If its list becomes empty, the list has brackets.
 */
static char *go_away(const char *text, const struct yaml_server *server) {
  struct buffer rest = BUFFER_EMPTY;
  if (!server->is_flow && server->count == MOST_ITEMS) {
    buffer_append(&rest, server->list, strspn(server->list, " "));
    buffer_text(&rest, "  []\n");
  }
  char *changed =
      rest.failed ? NULL : with_both(text, server, server->items[2], &rest, server->after);
  buffer_free(&rest);
  return changed;
}

static char *without(const char *text, const char *from, const char *to) {
  struct buffer out = BUFFER_EMPTY;
  copy_between(&out, text, from);
  buffer_text(&out, to);
  return buffer_take(&out);
}

/* Removes an entry; with the last entry the section is removed. */
static char *take_out(const char *text, const struct yaml_server *server) {
  const char *section = find_section(text);
  struct yaml_server first, next;
  bool alone = next_server(next_line(section), &first) && first.begin == server->begin &&
               !next_server(server->end, &next);
  return without(text, alone ? section : server->begin, server->end);
}

static void put_entry(struct buffer *out, size_t indent, const char *program) {
  static const char *const lines[] = {"tidings:\n",
                                      "  type: stdio\n",
                                      "  name: tidings\n",
                                      "  enabled: true\n",
                                      "  args: [\"mcp\"]\n",
                                      "  timeout: 300\n",
                                      "  cmd: "};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    for (size_t k = 0; k < indent; k++) buffer_byte(out, ' ');
    buffer_text(out, lines[i]);
  }
  json_write_string(span_text(program), out);
  buffer_byte(out, '\n');
}

/* Adds an entry after the last one; NULL with a problem: the section has another form. */
static char *put_in(const char *text, const char *program, const char **ret_problem) {
  struct buffer out = BUFFER_EMPTY;
  struct yaml_server server;
  const char *section = find_section(text), *at = section ? next_line(section) : NULL;
  const char *value = section ? value_of_key(section, SECTION) : NULL;
  size_t indent = 2;
  if (value && value != yaml_line_end(section) && *value != '\r' && *value != '#' &&
      strncmp(value, "{}", 2) != 0) {
    *ret_problem = "'" SECTION "' is not written as a block";
    return NULL;
  }
  while (at && next_server(at, &server)) {
    indent = strspn(server.begin, " ");
    at = server.end;
    if (value_of_key(server.begin, "tidings")) {
      *ret_problem = "there is a server 'tidings' already";
      return NULL;
    }
  }
  if (!at) at = text + strlen(text);
  if (value && strncmp(value, "{}", 2) == 0) {
    copy_between(&out, text, value);
    copy_between(&out, value + 2, at);
  } else {
    copy_between(&out, text, at);
  }
  if (out.len && out.bytes[out.len - 1] != '\n') buffer_byte(&out, '\n');
  if (!section) buffer_text(&out, SECTION ":\n");
  put_entry(&out, indent, program);
  buffer_text(&out, at);
  return buffer_take(&out);
}

/* Takes `text` over. It visits each server once; when one is removed, the next one gets its
 * number. */
static char *change_all(char *text, wanted_yaml_server *is_wanted, const char *program) {
  struct yaml_server server;
  for (size_t number = 0; text && find_numbered(text, number, &server);) {
    bool is_entry = is_wanted == is_the_entry;
    if (!is_wanted(&server)) {
      number++;
      continue;
    }
    char *changed = is_entry                     ? take_out(text, &server)
                    : is_wanted == can_go_around ? go_around(text, &server, program)
                                                 : go_away(text, &server);
    free(text);
    text = changed;
    number += !is_entry;
  }
  return text;
}

char *mcp_yaml_change(const char *text, enum mcp_yaml_edit edit, const char *program,
                      const char **ret_problem) {
  struct yaml_server server;
  *ret_problem = NULL;
  switch (edit) {
  case MCP_YAML_WRAP: return change_all(strdup(text), can_go_around, program);
  case MCP_YAML_REMOVE:
    return change_all(change_all(strdup(text), is_around_another, NULL), is_the_entry, NULL);
  default:
    return find_yaml_server(text, is_the_entry, &server) ? strdup(text)
                                                         : put_in(text, program, ret_problem);
  }
}
