/* SPDX-License-Identifier: MIT
 *
 * common/mask_tokens.c: finds tokens and keys by their format, and URLs that contain a password.
 */
#include "common/mask.h"
#include "common/mask_find.h"

/* The characters that may follow a prefix. */
enum { LETTERS, UPPER_AND_DIGITS, WITH_UNDERSCORE, WITH_DASH, WITH_DOT, IN_BASE64 };

struct token {
  const char *prefix;
  uint8_t characters;
  uint8_t least; /* characters after the prefix */
  uint8_t exact; /* 0: any number from `least` on */
};

/* The formats are documented by the vendors; secret scanners look for the same ones. */
static const struct token tokens[] = {
    {"ghp_", LETTERS, 20, 0},                /* GitHub: personal, */
    {"gho_", LETTERS, 20, 0},                /* OAuth, */
    {"ghu_", LETTERS, 20, 0},                /* user to server, */
    {"ghs_", WITH_DOT, 20, 0},               /* server to server, */
    {"ghr_", LETTERS, 20, 0},                /* refresh, */
    {"github_pat_", WITH_UNDERSCORE, 20, 0}, /* fine-grained */
    {"glpat-", WITH_DOT, 16, 0},             /* GitLab: personal, */
    {"gldt-", WITH_DASH, 16, 0},             /* deploy, */
    {"glrt-", WITH_DOT, 16, 0},              /* runner, */
    {"glcbt-", WITH_DASH, 16, 0},            /* CI job, */
    {"glptt-", WITH_DASH, 16, 0},            /* trigger */
    {"AKIA", UPPER_AND_DIGITS, 16, 16},      /* AWS: a user's, */
    {"ASIA", UPPER_AND_DIGITS, 16, 16},      /* temporary */
    {"xoxb-", WITH_DASH, 10, 0},             /* Slack: bot, */
    {"xoxp-", WITH_DASH, 10, 0},             /* user, */
    {"xoxa-", WITH_DASH, 10, 0},             /* app, */
    {"xoxr-", WITH_DASH, 10, 0},             /* refresh, */
    {"xoxs-", WITH_DASH, 10, 0},             /* session, */
    {"xoxe.", WITH_DOT, 10, 0},              /* rotated, */
    {"xapp-", WITH_DASH, 10, 0},             /* app level */
    {"sk_live_", WITH_UNDERSCORE, 16, 0},    /* Stripe */
    {"sk_test_", WITH_UNDERSCORE, 16, 0},
    {"rk_live_", WITH_UNDERSCORE, 16, 0},
    {"rk_test_", WITH_UNDERSCORE, 16, 0},
    {"whsec_", IN_BASE64, 16, 0},
    {"sk-", WITH_DASH, 20, 0},         /* OpenAI, Anthropic, OpenRouter */
    {"gsk_", LETTERS, 20, 0},          /* Groq */
    {"xai-", LETTERS, 20, 0},          /* xAI */
    {"hf_", LETTERS, 30, 0},           /* Hugging Face */
    {"npm_", LETTERS, 30, 0},          /* npm */
    {"pypi-", WITH_DASH, 40, 0},       /* PyPI */
    {"AIza", WITH_DASH, 35, 35},       /* Google: API, */
    {"ya29.", WITH_DOT, 20, 0},        /* OAuth, */
    {"GOCSPX-", WITH_DASH, 20, 0},     /* client */
    {"SG.", WITH_DOT, 40, 0},          /* SendGrid */
    {"dop_v1_", LETTERS, 40, 0},       /* DigitalOcean */
    {"dckr_pat_", WITH_DASH, 20, 0},   /* Docker Hub */
    {"hvs.", WITH_DASH, 20, 0},        /* Vault */
    {"glsa_", WITH_UNDERSCORE, 20, 0}, /* Grafana */
    {"shpat_", LETTERS, 30, 0},        /* Shopify */
    {"lin_api_", LETTERS, 30, 0},      /* Linear */
    {"ATATT3", WITH_DASH, 40, 0},      /* Atlassian */
    {"AGE-SECRET-KEY-1", UPPER_AND_DIGITS, 50, 0},
    {"eyJ", WITH_DOT, 30, 0}, /* a JSON Web Token, see is_jwt */
};

static bool is_of(uint8_t characters, char byte) {
  bool lower = byte >= 'a' && byte <= 'z';
  if (characters == UPPER_AND_DIGITS) return mask_is_alnum(byte) && !lower;
  if (mask_is_alnum(byte)) return true;
  if (characters == LETTERS) return false;
  if (characters == WITH_UNDERSCORE) return byte == '_';
  if (characters == WITH_DASH) return byte == '_' || byte == '-';
  return byte && strchr(characters == WITH_DOT ? "_-." : "+/=", byte);
}

static bool has_digit(const char *bytes, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (bytes[i] >= '0' && bytes[i] <= '9') return true;
  }
  return false;
}

/* A JSON Web Token has three parts. The second one, too, begins like JSON in base64. */
static bool is_jwt(const char *bytes, size_t len) {
  const char *dot = memchr(bytes, '.', len);
  size_t left = dot ? len - (size_t)(dot - bytes) - 1 : 0;
  return left > 4 && memcmp(dot + 1, "eyJ", 3) == 0 && memchr(dot + 1, '.', left);
}

struct secret mask_find_token(struct tidings_span text, size_t at) {
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
    const struct token *token = &tokens[i];
    if (text.ptr[at] != token->prefix[0] || !mask_starts(text, at, token->prefix)) continue;
    size_t prefix = strlen(token->prefix), len = prefix;
    while (at + len < text.len && is_of(token->characters, text.ptr[at + len])) len++;
    while (len > prefix && strchr(".-/+", text.ptr[at + len - 1]))
      len--; /* the end of a sentence */
    size_t count = len - prefix;
    if (count < token->least || (token->exact && count != token->exact)) continue;
    if (!has_digit(text.ptr + at + prefix, count)) continue; /* a name that consists of words */
    if (strcmp(token->prefix, "eyJ") == 0 && !is_jwt(text.ptr + at, len)) continue;
    return (struct secret){.hidden = len};
  }
  return (struct secret){0};
}

/* -- URLs -------------------------------------------------------------------------------------- */

static bool ends_url(char byte) { return (unsigned char)byte <= ' ' || strchr("\"'`<>\\", byte); }

static struct secret hide_rest(struct tidings_span text, size_t at, size_t from) {
  size_t end = from;
  while (end < text.len && !ends_url(text.ptr[end])) end++;
  return (struct secret){.shown = from - at, .hidden = end - from};
}

/* The path of a webhook is its password. */
static struct secret find_webhook(struct tidings_span text, size_t at, size_t host) {
  static const char *const hooks[] = {"hooks.slack.com/services/", "discord.com/api/webhooks/",
                                      "discordapp.com/api/webhooks/", "api.telegram.org/bot"};
  for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
    size_t path = host + strlen(hooks[i]);
    if (mask_starts(text, host, hooks[i]) && !mask_starts(text, path, MASK_WORD))
      return hide_rest(text, at, path);
  }
  return (struct secret){0};
}

struct secret mask_find_url(struct tidings_span text, size_t at) {
  size_t scheme = at;
  while (scheme < text.len &&
         (mask_is_alnum(text.ptr[scheme]) || (text.ptr[scheme] && strchr("+.-", text.ptr[scheme]))))
    scheme++;
  if (scheme == at || !mask_starts(text, scheme, "://")) return (struct secret){0};
  size_t host = scheme + 3, colon = 0, password_end = 0;
  for (size_t i = host; i < text.len && !ends_url(text.ptr[i]); i++) {
    if (text.ptr[i] == '@') password_end = i;
    else if (text.ptr[i] == ':' && !colon) colon = i;
    else if (strchr("/?#", text.ptr[i])) break;
  }
  if (!colon || password_end <= colon + 1) return find_webhook(text, at, host);
  struct tidings_span password = span_of(text.ptr + colon + 1, password_end - colon - 1);
  if (mask_is_placeholder(password)) return (struct secret){0};
  return (struct secret){.shown = colon + 1 - at, .hidden = password.len};
}
