/* SPDX-License-Identifier: MIT
 *
 * Secrets, and texts that only look like secrets. The tokens are invented; their prefixes are
 * written in two parts, so that no scanner takes them for real.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "common/mask.h"
#include "kit.h"

#define TWENTY "a1B2c3D4e5F6g7H8i9J0"
#define FORTY TWENTY TWENTY
#define JWT                                                                                        \
  "ey"                                                                                             \
  "JhbGciOiJIUzI1NiJ9.ey"                                                                          \
  "JzdWIiOiIxMjM0NSJ9.TJVA95OrM7E2cBab30RMHrHDcEfxjoYZ"

static void is_masked_as(const char *text, const char *expected) {
  struct buffer out = BUFFER_EMPTY, again = BUFFER_EMPTY;
  mask_text(span_text(text), &out);
  cr_expect(span_is(buffer_view(&out), expected), "%s is masked as %.*s, not as %s", text,
            SPAN_FORMAT(buffer_view(&out)), expected);
  mask_text(buffer_view(&out), &again);
  cr_expect(span_equal(buffer_view(&out), buffer_view(&again)), "%.*s is masked again as %.*s",
            SPAN_FORMAT(buffer_view(&out)), SPAN_FORMAT(buffer_view(&again)));
  buffer_free(&out);
  buffer_free(&again);
}

/* Tests each token alone, in a sentence, in quotes and after a sign. */
Test(mask, knows_the_formats_of_tokens) {
  static const char *const tokens[] = {"gh"
                                       "p_" FORTY,
                                       "gh"
                                       "o_" FORTY,
                                       "gh"
                                       "u_" FORTY,
                                       "gh"
                                       "s_" FORTY,
                                       "gh"
                                       "r_" FORTY,
                                       "github"
                                       "_pat_11ABCDEFG0" FORTY,
                                       "gl"
                                       "pat-" TWENTY,
                                       "gl"
                                       "dt-" TWENTY,
                                       "gl"
                                       "rt-" TWENTY,
                                       "gl"
                                       "cbt-64_" TWENTY,
                                       "gl"
                                       "ptt-" FORTY,
                                       "AK"
                                       "IAIOSFODNN7EXAMPL3",
                                       "AS"
                                       "IAIOSFODNN7EXAMPL3",
                                       "xox"
                                       "b-123456789012-" TWENTY,
                                       "xox"
                                       "p-1234-5678-" TWENTY,
                                       "xox"
                                       "a-2-" TWENTY,
                                       "xox"
                                       "r-" TWENTY,
                                       "xox"
                                       "s-" TWENTY,
                                       "xox"
                                       "e.xoxp-1-" FORTY,
                                       "xa"
                                       "pp-1-A0123-" TWENTY,
                                       "sk_"
                                       "live_" TWENTY,
                                       "sk_"
                                       "test_" TWENTY,
                                       "rk_"
                                       "live_" TWENTY,
                                       "rk_"
                                       "test_" TWENTY,
                                       "whs"
                                       "ec_" TWENTY,
                                       "sk"
                                       "-proj-" FORTY,
                                       "sk"
                                       "-ant-api03-" FORTY "-AA",
                                       "sk"
                                       "-" FORTY,
                                       "gs"
                                       "k_" FORTY,
                                       "xa"
                                       "i-" FORTY,
                                       "h"
                                       "f_" TWENTY "aBcDeFgHiJkLmN",
                                       "np"
                                       "m_" TWENTY "aBcDeFgHiJkLmNoP",
                                       "py"
                                       "pi-AgEIcHlwaS5vcmc" FORTY,
                                       "AI"
                                       "zaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6q",
                                       "ya"
                                       "29.a0A" FORTY,
                                       "GOC"
                                       "SPX-" TWENTY "-abc",
                                       "S"
                                       "G." TWENTY ".ab" FORTY,
                                       "do"
                                       "p_v1_" FORTY FORTY,
                                       "dck"
                                       "r_pat_" TWENTY "_ab",
                                       "hv"
                                       "s." FORTY,
                                       "gl"
                                       "sa_" TWENTY "_1a2b3c4d",
                                       "shp"
                                       "at_" FORTY,
                                       "lin"
                                       "_api_" FORTY,
                                       "AT"
                                       "ATT3xFf" FORTY,
                                       "AGE-SECRET-"
                                       "KEY-1"
                                       "QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGP5",
                                       JWT};
  static const struct {
    const char *before, *after;
  } around[] = {{"", ""},   {"the key ", " is wrong"}, {"\"", "\","}, {"x=", ""}, {"(", ")."},
                {"/", "/a"}};
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
    for (size_t j = 0; j < sizeof around / sizeof *around; j++) {
      char text[512], expected[512];
      if (j == 5 && strncmp(tokens[i], "whsec", 5) == 0) continue; /* it may have a slash */
      snprintf(text, sizeof text, "%s%s%s", around[j].before, tokens[i], around[j].after);
      snprintf(expected, sizeof expected, "%s[masked]%s", around[j].before, around[j].after);
      is_masked_as(text, expected);
    }
  }
}

Test(mask, knows_names_options_headers_and_urls) {
  static const struct {
    const char *text, *masked;
  } cases[] = {
      {"PASSWORD=hunter2 ./start", "PASSWORD=[masked] ./start"},
      {"export DB_PASSWORD='two words'; run", "export DB_PASSWORD='[masked]'; run"},
      {"X_TOKEN='it'\\''s a' y", "X_TOKEN='[masked]' y"},
      {"PGPASSWORD=x psql -h db", "PGPASSWORD=[masked] psql -h db"},
      {"MYSQL_PWD=x mysql", "MYSQL_PWD=[masked] mysql"},
      {"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
       "AWS_SECRET_ACCESS_KEY=[masked]"},
      {"env NPM_TOKEN=abcdef npm publish", "env NPM_TOKEN=[masked] npm publish"},
      {"DB_PASS=x SMTP_PWD=y", "DB_PASS=[masked] SMTP_PWD=[masked]"},
      {"deploy --token=abc --verbose", "deploy --token=[masked] --verbose"},
      {"deploy --password hunter2 --verbose", "deploy --password [masked] --verbose"},
      {"deploy --password 'two words' x", "deploy --password '[masked]' x"},
      {"deploy --api-key abc", "deploy --api-key [masked]"},
      {"deploy --client-secret \"a b\"", "deploy --client-secret \"[masked]\""},
      {"keytool -storepass changeit -list", "keytool -storepass [masked] -list"},
      {"java -Ddb.password=x -jar a.jar", "java -Ddb.password=[masked] -jar a.jar"},
      {"mysql -u root -phunter2 shop", "mysql -u root -p[masked] shop"},
      {"sh -c 'mysqldump -phunter2 shop'", "sh -c 'mysqldump -p[masked] shop'"},
      {"sshpass -p hunter2 ssh host", "sshpass -p [masked] ssh host"},
      {"sshpass -phunter2 ssh host", "sshpass -p[masked] ssh host"},
      {"docker login -u me -p hunter2 reg", "docker login -u me -p [masked] reg"},
      {"redis-cli -a hunter2 ping", "redis-cli -a [masked] ping"},
      {"curl -u me:hunter2 https://host/", "curl -u me:[masked] https://host/"},
      {"curl --user me:hunter2 host", "curl --user me:[masked] host"},
      {"curl --user=me:hunter2 host", "curl --user=me:[masked] host"},
      {"smbclient -U me%hunter2 //host/x", "smbclient -U me%[masked] //host/x"},
      {"curl -H 'Authorization: Bearer abc.def' host",
       "curl -H 'Authorization: Bearer [masked]' host"},
      {"> authorization: Basic bWU6aHVudGVyMg==", "> authorization: Basic [masked]"},
      {"Authorization: abcdef", "Authorization: [masked]"},
      {"-H \"Cookie: session=abc; b=c\" x", "-H \"Cookie: [masked]\" x"},
      {"X-Api-Key: 1a2b3c4d", "X-Api-Key: [masked]"},
      {"PRIVATE-TOKEN: 1a2b3c4d5e", "PRIVATE-TOKEN: [masked]"},
      {"sent Bearer " TWENTY " to it", "sent Bearer [masked] to it"},
      {"postgres://me:hunter2@db:5432/shop", "postgres://me:[masked]@db:5432/shop"},
      {"git clone https://me:a%20b@host/x.git", "git clone https://me:[masked]@host/x.git"},
      {"redis://:hunter2@host", "redis://:[masked]@host"},
      {"https://x/a?access_token=abc&b=c", "https://x/a?access_token=[masked]&b=c"},
      {"https://x/a?X-Amz-Signature=abcdef01", "https://x/a?X-Amz-Signature=[masked]"},
      {"https://hooks.slack"
       ".com/services/T0/B0/abc ok",
       "https://hooks.slack.com/services/[masked] ok"},
      {"{\"user\": \"me\", \"password\": \"hunter2\"}",
       "{\"user\": \"me\", \"password\": \"[masked]\"}"},
      {"{\\\"apiKey\\\": \\\"abc\\\"}", "{\\\"apiKey\\\": \\\"[masked]\\\"}"},
      {"password: hunter2", "password: [masked]"},
      {"  clientSecret: a1b2c3d4e5", "  clientSecret: [masked]"},
      {"secret_key = \"abc def\"", "secret_key = \"[masked]\""},
      {"password => 'hunter2'", "password => '[masked]'"},
      {"//registry.npmjs.org/:_authToken=abc", "//registry.npmjs.org/:_authToken=[masked]"},
      {"AccountName=a;AccountKey=abc==;x=y", "AccountName=a;AccountKey=[masked];x=y"},
      {"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nafter",
       "[masked]\nafter"},
      {"key: -----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "key: [masked]"},
      {"-----BEGIN PRIVATE KEY-----\nMIIE\n", "[masked]\n"},
      {"app | -----BEGIN PRIVATE KEY-----\napp | MIIEvQIBADANBgkqhkiG\napp | -----END PRIVATE "
       "KEY-----\nx",
       "app | [masked]\nx"},
      {"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE\nno more of it",
       "[masked]\nno more of it"},
      {"found -----BEGIN PRIVATE KEY----- in a.c\nwhich is wrong\nab",
       "found [masked]\nwhich is wrong\nab"},
      {"\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\"", "\"[masked]\\n\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    is_masked_as(cases[i].text, cases[i].masked);
}

Test(mask, leaves_everything_else) {
  static const char *const texts[] = {
      "",
      "commit 25f60f68d1c3ab5f0e9f4b6e9a2b1c0d3e4f5a6b",
      "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
      "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  x.tar",
      "integrity sha512-" FORTY FORTY "==",
      "registry.example.com/team/image:1.2.3@sha256:9f86d081884c7d659a2feaa0c55ad015",
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
      "SGVsbG8sIHdvcmxkISBUaGlzIGlzIGEgbmFtZQ==",
      "https://host:8080/path?x=a@b:c",
      "https://me@host/x.git",
      "git@github.com:me/x.git",
      "http://[::1]:8080/",
      "a task-abcdefghijklmnopqrstuvwxyz1",
      "disk-0123456789abcdefghijkl",
      "sk-learn-and-other-long-names-in-words",
      "npm_config_registry=https://registry.npmjs.org",
      "PWD=/home/me OLDPWD=/tmp",
      "max_tokens=1024 tokens: 512",
      "token: 5",
      "next token",
      "SyntaxError: Unexpected token: } in JSON",
      "error: expected token: identifier",
      "error: unknown option '--token'",
      "--password is required",
      "use --token or --password",
      "password: must have 8 characters",
      "Password:",
      "Enter password: ",
      "password authentication failed for user \"me\"",
      "error: invalid password",
      "token = lexer.next()",
      "token=$TOKEN ./x",
      "PASSWORD=${PASSWORD:?}",
      "--token \"$TOKEN\"",
      "password=None",
      "--password <password>",
      "--password-file /run/secret",
      "secretName: tls-cert",
      "passwordHash: x1",
      "tokenizer=bert-base",
      "const secretKey = process.env.SECRET_KEY",
      "if token == '(':",
      "a.token === b",
      "password=os.environ[x]",
      "getToken(): string",
      "public token: Token",
      "mkdir -p /tmp/x",
      "docker run -p 8080:80 x",
      "ssh -p 2222 host",
      "mysql -p shop",
      "cp -pr a b",
      "compass: 3",
      "bypass=1",
      "# pass 3",
      "curl -u me https://host/",
      "author: me",
      "The cookie is 3",
      "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
      "-----BEGIN PUBLIC KEY-----\nabc",
      "eyJhbGciOiJIUzI1NiJ9 and more words",
      "AKIA",
      "ghp_short",
      "[masked]",
      "PASSWORD=[masked] x",
      "docker build --secret id=npmrc,src=.npmrc .",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) is_masked_as(texts[i], texts[i]);
}

Test(mask, remembers_a_key_between_lines) {
  static const char *const lines[] = {"before", "-----BEGIN EC PRIVATE KEY-----", "MHcCAQEE",
                                      "",       "-----END EC PRIVATE KEY-----",   "after"};
  static const char *const masked[] = {"before", "[masked]", "[masked]", "", "[masked]", "after"};
  bool in_key = false, followed = false;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    struct buffer out = BUFFER_EMPTY;
    mask_lines(&in_key, span_text(lines[i]), &out);
    cr_expect(span_is(buffer_view(&out), masked[i]), "%s is masked as %.*s", lines[i],
              SPAN_FORMAT(buffer_view(&out)));
    bool is_part = mask_follow(&followed, span_text(lines[i]));
    cr_expect(is_part == (i > 0 && i < 5), "%s", lines[i]);
    cr_expect(in_key == followed, "after %s", lines[i]);
    buffer_free(&out);
  }
}
