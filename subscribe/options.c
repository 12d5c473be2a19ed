/* SPDX-License-Identifier: MIT
 */
#include "subscribe/options.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
  OPTION_RECIPE = CLI_LONG_ONLY,
  OPTION_ARGS,
  OPTION_MODE,
  OPTION_WEBHOOK,
  OPTION_SECRET_FILE,
  OPTION_TOKEN_FILE,
  OPTION_HEARTBEAT,
  OPTION_SSE
};
enum { LEAST_HEARTBEAT_MS = 100 };

static const char *const modes[] = {"poll", "push", NULL};
static const char *const levels[] = {"info", "warning", "error", "critical", NULL};

static int read_level(const struct cli *cli, uint32_t *level) {
  int place = cli_word(cli->value, levels);
  if (place < 0)
    return cli_usage(cli, "--level: '%s' is none of info, warning, error, critical", cli->value);
  *level = (uint32_t)place;
  return 0;
}

static int read_heartbeat(const struct cli *cli, uint64_t *ms) {
  if (cli_duration(cli->value, ms) || *ms < LEAST_HEARTBEAT_MS)
    return cli_usage(cli, "--heartbeat: '%s' is no duration such as 30s", cli->value);
  return 0;
}

static int read_mode(const struct cli *cli, const char **mode) {
  if (cli_word(cli->value, modes) < 0)
    return cli_usage(cli, "--mode: '%s' is neither poll nor push; see --webhook too", cli->value);
  *mode = cli->value;
  return 0;
}

static bool read_all(struct cli *cli, struct subscribe_options *options, int *ret_code) {
  int code = 0;
  for (int key; !code && (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_RECIPE: options->recipe = cli->value; break;
    case OPTION_ARGS: options->arguments = cli->value; break;
    case OPTION_MODE: code = read_mode(cli, &options->mode); break;
    case OPTION_WEBHOOK: options->webhook = cli->value; break;
    case OPTION_SECRET_FILE: options->secret_file = cli->value; break;
    case OPTION_TOKEN_FILE: options->token_file = cli->value; break;
    case OPTION_HEARTBEAT: code = read_heartbeat(cli, &options->heartbeat_ms); break;
    case OPTION_SSE: options->sse = true; break;
    case 'l': code = read_level(cli, &options->level); break;
    default: *ret_code = cli->exit_code; return false;
    }
  }
  *ret_code = code;
  return !code;
}

static bool is_url(const char *word) {
  return strncasecmp(word, "https://", 8) == 0 || strncasecmp(word, "http://", 7) == 0;
}

static bool is_loopback(const char *host, size_t len) {
  struct in_addr address;
  char name[64];
  if (len >= sizeof name) return false;
  memcpy(name, host, len);
  name[len] = '\0';
  if (strcmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0) return true;
  return inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

static const char clear[] = "http://";

static bool is_clear(const char *url) { return strncasecmp(url, clear, sizeof clear - 1) == 0; }

/* Is the URL on this machine, and not encrypted? */
static bool is_local(const char *url) {
  if (!is_clear(url)) return false;
  const char *host = url + sizeof clear - 1, *end = host + strcspn(host, "/?#");
  const char *at = memchr(host, '@', (size_t)(end - host)); /* a name and a password before it */
  if (at) host = at + 1;
  size_t len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, "/?#:");
  return len <= (size_t)(end - host) && is_loopback(host, len);
}

static int take_words(const struct cli *cli, struct subscribe_options *options) {
  int code = cli_take_words(cli, options->sse ? 1 : 2, options->sse ? 1 : INT32_MAX,
                            options->sse ? "with --sse, one URL is" : "a server and an event are");
  if (code) return code;
  bool by_url = is_url(cli->words[0]);
  if (options->sse && !by_url) return cli_usage(cli, "'%s' is no URL", cli->words[0]);
  if (by_url) {
    options->url = cli->words[0];
    options->local = is_local(options->url);
    if (options->sse) return 0;
    if (cli->word_count > 2) return cli_usage(cli, "'%s' is one word too many", cli->words[2]);
    options->event = cli->words[1];
  } else {
    options->event = cli->words[0];
    options->command = cli->words + 1;
  }
  return 0;
}

static int check(const struct cli *cli, const struct subscribe_options *options) {
  if (!cli->to) return cli_usage(cli, "--to is missing: where the notifications go");
  if (!options->url && options->token_file)
    return cli_usage(cli, "--token-file is for a URL; a command has its own environment");
  if (options->webhook && options->mode)
    return cli_usage(cli, "--webhook and --mode exclude each other");
  if (!options->webhook != !options->secret_file)
    return cli_usage(cli, "--webhook and --secret-file belong together");
  if (options->sse && (options->webhook || options->mode || options->arguments))
    return cli_usage(cli, "with --sse, there is neither --webhook nor --mode nor --args");
  /* Others on the network could read a token or a secret in clear text. */
  if (options->url && (options->token_file || options->secret_file) && is_clear(options->url) &&
      !options->local)
    return cli_usage(cli, "%s is not encrypted: a token or secret is sent by https only",
                     options->url);
  return 0;
}

bool subscribe_read_options(struct cli *cli, struct subscribe_options *ret_options, int *ret_code) {
  struct subscribe_options options = {.level = TIDINGS_LEVEL_ERROR};
  if (!read_all(cli, &options, ret_code)) return false;
  *ret_code = take_words(cli, &options);
  if (!*ret_code) *ret_code = check(cli, &options);
  *ret_options = options;
  return !*ret_code;
}

char *subscribe_name_server(const struct subscribe_options *options) {
  if (!options->url) {
    const char *slash = strrchr(options->command[0], '/');
    return strdup(slash ? slash + 1 : options->command[0]);
  }
  size_t scheme = strcspn(options->url, ":") + 3, len = strcspn(options->url, "?#");
  const char *host = options->url + scheme, *at = memchr(host, '@', strcspn(host, "/?#"));
  const char *from = at ? at + 1 : host;
  char *name = NULL;
  if (asprintf(&name, "%.*s%.*s", (int)scheme, options->url, (int)(options->url + len - from),
               from) < 0)
    return NULL;
  return name;
}

const struct cli_option subscribe_option_rows[] = {
    {.key = OPTION_ARGS,
     .name = "args",
     .argument = "JSON",
     .help = "The arguments of the subscription, a JSON object, such as '{\"severity\": \"P1\"}'."},
    {.key = OPTION_RECIPE,
     .name = "recipe",
     .argument = "RECIPE",
     .completion = COMPLETE_FILE,
     .help = "How an event becomes a notification: a file, or the name of a recipe that tidings "
             "has. Default: mcp-events, or any with --sse."},
    {.key = 'l',
     .name = "level",
     .argument = "LEVEL",
     .completion = COMPLETE_WORDS,
     .words = "info warning error critical",
     .help = "The highest level that a notification gets: error if not given."},
    {.key = OPTION_MODE,
     .name = "mode",
     .argument = "MODE",
     .completion = COMPLETE_WORDS,
     .words = "poll push",
     .help = "How events are delivered. Default: push, if the server offers it, else poll."},
    {.key = OPTION_WEBHOOK,
     .name = "webhook",
     .argument = "URL",
     .help = "Have the server send events to this URL, of a route of 'tidings listen', and keep "
             "that subscription alive."},
    {.key = OPTION_SECRET_FILE,
     .name = "secret-file",
     .argument = "FILE",
     .completion = COMPLETE_FILE,
     .help = "The file with the webhook's secret (whsec_...), which the route has too."},
    {.key = OPTION_TOKEN_FILE,
     .name = "token-file",
     .argument = "FILE",
     .completion = COMPLETE_FILE,
     .help = "A file with the token that the server wants; only its owner may read it. It is "
             "read again for each request."},
    {.key = OPTION_HEARTBEAT,
     .name = "heartbeat",
     .argument = "DURATION",
     .help = "How often the server says at least that a stream lives. Default: 30s; with --sse it "
             "may be silent."},
    {.key = OPTION_SSE, .name = "sse", .help = "The URL is a plain stream of server-sent events."},
    {.name = NULL},
};

const struct cli_example subscribe_examples[] = {
    {"tidings subscribe --to box:ops http://127.0.0.1:3000/mcp incident.created",
     "Notify whoever has joined the box ops of incidents."},
    {"tidings subscribe --to folder:. build.finished -- node server.js",
     "The same of a server that is a program."},
    {"tidings subscribe --sse --to folder:. http://127.0.0.1:8080/events",
     "Notify the agent that works here of the events of a web service."},
    {NULL, NULL}};
