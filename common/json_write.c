/* SPDX-License-Identifier: MIT
 */
#include "common/json_write.h"

#include "common/utf8.h"

static void begin(struct json_writer *writer, const char *key) {
  if (writer->comma) buffer_byte(writer->out, ',');
  writer->comma = true;
  if (!key) return;
  json_write_string(span_text(key), writer->out);
  buffer_byte(writer->out, ':');
}

void json_open(struct json_writer *writer, const char *key, char bracket) {
  begin(writer, key);
  buffer_byte(writer->out, bracket);
  writer->comma = false;
}

void json_close(struct json_writer *writer, char bracket) {
  buffer_byte(writer->out, bracket);
  writer->comma = true;
}

void json_put_string(struct json_writer *writer, const char *key, struct tidings_span text) {
  begin(writer, key);
  if (utf8_valid(text)) {
    json_write_string(text, writer->out);
    return;
  }
  struct buffer repaired = BUFFER_EMPTY;
  utf8_repair(text, &repaired);
  json_write_string(buffer_view(&repaired), writer->out);
  if (repaired.failed) writer->out->failed = true;
  buffer_free(&repaired);
}

void json_put_text(struct json_writer *writer, const char *key, const char *text) {
  if (text) json_put_string(writer, key, span_text(text));
  else json_put_raw(writer, key, span_text("null"));
}

void json_put_u64(struct json_writer *writer, const char *key, uint64_t value) {
  begin(writer, key);
  buffer_format(writer->out, "%llu", (unsigned long long)value);
}

void json_put_u64_at(struct json_writer *writer, struct tidings_span key, uint64_t value) {
  begin(writer, NULL);
  json_write_string(key, writer->out);
  buffer_format(writer->out, ":%llu", (unsigned long long)value);
}

void json_put_i64(struct json_writer *writer, const char *key, int64_t value) {
  begin(writer, key);
  buffer_format(writer->out, "%lld", (long long)value);
}

void json_put_bool(struct json_writer *writer, const char *key, bool value) {
  begin(writer, key);
  buffer_text(writer->out, value ? "true" : "false");
}

void json_put_id(struct json_writer *writer, const char *key, uint64_t id) {
  begin(writer, key);
  buffer_format(writer->out, "\"%llu\"", (unsigned long long)id);
}

/* Converts days since 1970-01-01 into a date of the proleptic Gregorian calendar. It counts in eras
 * of 400 years that begin on 1 March. */
static void civil_date(int64_t days, int64_t *ret_year, unsigned *ret_month, unsigned *ret_day) {
  days += 719468;
  int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  unsigned day_of_era = (unsigned)(days - era * 146097);
  unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  unsigned shifted_month = (5 * day_of_year + 2) / 153;
  *ret_day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  *ret_month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  *ret_year = (int64_t)year_of_era + era * 400 + (*ret_month <= 2);
}

void json_put_time(struct json_writer *writer, const char *key, int64_t ms) {
  int64_t day_ms = ms % 86400000, year;
  if (day_ms < 0) day_ms += 86400000;
  unsigned month, day, rest = (unsigned)day_ms;
  civil_date((ms - day_ms) / 86400000, &year, &month, &day);
  begin(writer, key);
  buffer_format(writer->out, "\"%04lld-%02u-%02uT%02u:%02u:%02u.%03uZ\"", (long long)year, month,
                day, rest / 3600000, rest / 60000 % 60, rest / 1000 % 60, rest % 1000);
}

void json_put_raw(struct json_writer *writer, const char *key, struct tidings_span json) {
  begin(writer, key);
  buffer_span(writer->out, json);
}
