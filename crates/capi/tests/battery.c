// Every function of the interface, with right and wrong arguments.

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trommel.h"

static int failures = 0;

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, trommel_error_message()); \
      failures++;                                                                         \
    }                                                                                     \
  } while (0)

#define OK(call) CHECK((call) == TROMMEL_STATUS_OK)
#define FAILS(status, call) CHECK((call) == TROMMEL_STATUS_##status && *trommel_error_message() != 0)

static const char ORDERS[] = "{\"orders\":[{\"id\":1,\"by\":\"ada\"},{\"id\":2},{\"id\":3,\"by\":\"bob\"}]}";
static const char LINES[] = "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n";

static TrommelDocument *document_of(const char *text) {
  TrommelDocument *document = NULL;
  OK(trommel_open_bytes((const uint8_t *)text, strlen(text), &document));
  return document;
}

static TrommelQuestions *questions_of(const char *json) {
  TrommelQuestions *questions = NULL;
  OK(trommel_questions(json, &questions));
  return questions;
}

// The report of questions over a text; the caller frees it.
static TrommelText report_of(const char *json, const char *text) {
  TrommelDocument *document = document_of(text);
  TrommelQuestions *questions = questions_of(json);
  TrommelText report = {NULL, 0};
  OK(trommel_run(questions, document, NULL, &report));
  OK(trommel_free(document));
  OK(trommel_free(questions));
  return report;
}

static int starts_with(TrommelText text, const char *start) {
  return text.data != NULL && strncmp(text.data, start, strlen(start)) == 0;
}

static void answers(void) {
  TrommelText report = report_of(
      "{\"requests\":[{\"kind\":\"count\",\"query\":\"$.orders[*]\"},"
      "{\"kind\":\"sample\",\"query\":\"$.orders\",\"size\":1,\"strategy\":\"first\"}]}",
      ORDERS);
  CHECK(starts_with(report, "{\"answers\":[3,{\"sample\":[{\"id\":1,\"by\":\"ada\"}],"));
  CHECK(strlen(report.data) == report.length);
  OK(trommel_text_free(report));
  FAILS(ARGUMENT, trommel_text_free(report));
  report = report_of(
      "{\"each\":\"$.orders[*]\",\"filters\":[\"@.id > 1\"],"
      "\"requests\":[{\"kind\":\"group\",\"by\":[\"$.by\"]}]}",
      ORDERS);
  CHECK(starts_with(report, "{\"answers\":[{\"groups\":[{\"key\":{},\"count\":1},{\"key\":{\"by\":\"bob\"}"));
  OK(trommel_text_free(report));
}

typedef struct {
  int seen;
  int stop_after;
  char texts[256];
} Seen;

static int32_t on_value(void *context, const TrommelValue *value) {
  Seen *seen = context;
  seen->seen++;
  size_t used = strlen(seen->texts);
  snprintf(seen->texts + used, sizeof seen->texts - used, "%s=%.*s@%" PRIu64 ";",
           value->location ? value->location : "", (int)value->length, (const char *)value->bytes, value->start);
  return seen->seen == seen->stop_after;
}

static void values(void) {
  TrommelDocument *document = document_of(ORDERS);
  TrommelQuestions *questions = questions_of("{\"requests\":[{\"kind\":\"values\",\"query\":\"$..id\"}]}");
  Seen seen = {0};
  TrommelOptions options = {.on_value = on_value, .value_context = &seen, .locations = true};
  TrommelText report = {NULL, 0};
  OK(trommel_run(questions, document, &options, &report));
  CHECK(strcmp(seen.texts, "$['orders'][0]['id']=1@17;$['orders'][1]['id']=2@37;$['orders'][2]['id']=3@46;") == 0);
  CHECK(starts_with(report, "{\"answers\":[3],"));
  OK(trommel_text_free(report));
  Seen stopped = {.stop_after = 2};
  options.value_context = &stopped;
  FAILS(STOPPED, trommel_run(questions, document, &options, &report));
  CHECK(stopped.seen == 2);
  OK(trommel_free(document));
  OK(trommel_free(questions));
}

// A reader that returns a text in pieces of 7 bytes.
typedef struct {
  const char *text;
  size_t at;
  int64_t fails_with;
} Pieces;

static int64_t read_pieces(void *context, uint8_t *into, size_t length) {
  Pieces *pieces = context;
  if (pieces->fails_with != 0) return pieces->fails_with;
  size_t left = strlen(pieces->text) - pieces->at;
  size_t count = left < 7 ? left : 7;
  if (count > length) count = length;
  memcpy(into, pieces->text + pieces->at, count);
  pieces->at += count;
  return (int64_t)count;
}

static void readers(void) {
  TrommelQuestions *questions = questions_of("{\"requests\":[{\"kind\":\"count\",\"query\":\"$..id\"}]}");
  Pieces pieces = {.text = ORDERS};
  TrommelDocument *document = NULL;
  TrommelText report = {NULL, 0};
  OK(trommel_open_reader(read_pieces, &pieces, &document));
  OK(trommel_run(questions, document, NULL, &report));
  CHECK(starts_with(report, "{\"answers\":[3],"));
  OK(trommel_text_free(report));
  FAILS(REFUSED, trommel_run(questions, document, NULL, &report));
  OK(trommel_free(document));
  const int64_t wrong[] = {-1, INT64_MIN, INT64_MAX};
  for (size_t at = 0; at < sizeof wrong / sizeof *wrong; at++) {
    Pieces broken = {.text = ORDERS, .fails_with = wrong[at]};
    OK(trommel_open_reader(read_pieces, &broken, &document));
    FAILS(IO, trommel_run(questions, document, NULL, &report));
    OK(trommel_free(document));
  }
  FAILS(ARGUMENT, trommel_open_reader(NULL, NULL, &document));
  OK(trommel_free(questions));
}

static void parts(void) {
  TrommelDocument *whole = document_of(LINES), *lines = NULL, *part = NULL;
  OK(trommel_document_framing(whole, TROMMEL_FRAMING_LINES, &lines));
  TrommelQuestions *questions =
      questions_of("{\"requests\":[{\"kind\":\"count\",\"query\":\"$.n\"},{\"kind\":\"stats\",\"values\":true}]}");
  TrommelPartial *merged = NULL;
  for (uint64_t number = 0; number < 3; number++) {
    TrommelPartial *partial = NULL, *read = NULL;
    TrommelText stored = {NULL, 0};
    OK(trommel_document_part(lines, number, 3, &part));
    OK(trommel_run_part(questions, part, number, NULL, &partial));
    OK(trommel_partial_to_bytes(partial, &stored));
    OK(trommel_partial_from_bytes((const uint8_t *)stored.data, stored.length, &read));
    FAILS(REFUSED, trommel_partial_from_bytes((const uint8_t *)stored.data, stored.length / 2, &read));
    OK(trommel_text_free(stored));
    OK(trommel_free(part));
    OK(trommel_free(partial));
    if (merged == NULL) {
      merged = read;
      continue;
    }
    TrommelPartial *both = NULL;
    OK(trommel_partial_merge(merged, read, &both));
    OK(trommel_free(merged));
    OK(trommel_free(read));
    merged = both;
  }
  TrommelText report = {NULL, 0}, one = {NULL, 0};
  OK(trommel_partial_finish(merged, &report));
  OK(trommel_run(questions, lines, NULL, &one));
  CHECK(report.length == one.length && strcmp(report.data, one.data) == 0);
  OK(trommel_text_free(report));
  OK(trommel_text_free(one));
  FAILS(REFUSED, trommel_document_part(whole, 0, 2, &part));
  FAILS(REFUSED, trommel_document_part(lines, 3, 3, &part));
  FAILS(ARGUMENT, trommel_document_framing(whole, 9, &part));
  TrommelQuestions *other = questions_of("{\"requests\":[{\"kind\":\"values\",\"query\":\"$.n\"}]}");
  TrommelPartial *none = NULL;
  FAILS(ARGUMENT, trommel_run_part(other, lines, 0, NULL, &none));
  OK(trommel_free(other));
  other = questions_of("{\"requests\":[{\"kind\":\"count\",\"query\":\"$.m\"}]}");
  OK(trommel_run_part(other, lines, 0, NULL, &none));
  TrommelPartial *mixed = NULL;
  FAILS(REFUSED, trommel_partial_merge(merged, none, &mixed));
  OK(trommel_free(none));
  OK(trommel_free(other));
  OK(trommel_free(merged));
  OK(trommel_free(questions));
  OK(trommel_free(lines));
  OK(trommel_free(whole));
}

static void tables(void) {
  TrommelDocument *document = document_of(ORDERS);
  TrommelQuestions *records = questions_of("{\"requests\":[],\"each\":\"$.orders[*]\"}");
  struct ArrowArrayStream stream;
  memset(&stream, 0, sizeof stream);
  // A stream that is dropped before it is read, and one of columns.
  OK(trommel_table(records, document, NULL, NULL, &stream));
  CHECK(stream.release != NULL);
  stream.release(&stream);
  OK(trommel_table(records, document, "{\"who\":\"$.by\"}", NULL, &stream));
  // The streams own what they need.
  OK(trommel_free(document));
  OK(trommel_free(records));
  CHECK(stream.get_next != NULL && stream.get_schema != NULL);
  stream.release(&stream);
  document = document_of("{\"orders\":[1,");
  records = questions_of("{\"requests\":[],\"each\":\"$.orders[*]\"}");
  FAILS(JSON, trommel_table(records, document, NULL, NULL, &stream));
  FAILS(ARGUMENT, trommel_table(records, document, "[]", NULL, &stream));
  FAILS(ARGUMENT, trommel_table(records, document, "{\"a\":1}", NULL, &stream));
  FAILS(QUERY, trommel_table(records, document, "{\"a\":\"$[\"}", NULL, &stream));
  FAILS(ARGUMENT, trommel_table(records, document, NULL, NULL, NULL));
  OK(trommel_free(document));
  OK(trommel_free(records));
}

static void errors(void) {
  TrommelQuestions *questions = NULL;
  TrommelText report = {NULL, 0};
  FAILS(ARGUMENT, trommel_questions("{\"requests\":[{\"kind\":\"count\"}]}", &questions));
  FAILS(ARGUMENT, trommel_questions("[", &questions));
  FAILS(ARGUMENT, trommel_questions("\xff", &questions));
  FAILS(ARGUMENT, trommel_questions(NULL, &questions));
  FAILS(QUERY, trommel_questions("{\"requests\":[{\"kind\":\"count\",\"query\":\"$[\"}]}", &questions));
  FAILS(QUERY, trommel_questions("{\"requests\":[],\"filters\":[\"@.a ==\"]}", &questions));
  CHECK(questions == NULL);
  questions = questions_of("{\"strict\":true,\"requests\":[{\"kind\":\"count\",\"query\":\"$.a\"}]}");
  FAILS(ARGUMENT, trommel_questions("{\"requests\":[]}", NULL));
  TrommelDocument *document = document_of("{\"a\":1,\n \"b\": [01]}");
  FAILS(JSON, trommel_run(questions, document, NULL, &report));
  CHECK(strcmp(trommel_error_kind(), "number") == 0);
  CHECK(trommel_error_offset() == 16 && trommel_error_line() == 2 && trommel_error_column() == 9);
  OK(trommel_free(document));
  CHECK(trommel_error_offset() == UINT64_MAX && *trommel_error_message() == 0);
  FAILS(IO, trommel_open_file("absent/file.json", &document));
  FAILS(ARGUMENT, trommel_open_file(NULL, &document));
  FAILS(ARGUMENT, trommel_open_bytes(NULL, 1, &document));
  OK(trommel_open_bytes(NULL, 0, &document));
  FAILS(JSON, trommel_run(questions, document, NULL, &report));
  // Handles of other types, freed ones, and addresses that are none.
  FAILS(ARGUMENT, trommel_run((TrommelQuestions *)document, document, NULL, &report));
  FAILS(ARGUMENT, trommel_run(questions, (TrommelDocument *)questions, NULL, &report));
  FAILS(ARGUMENT, trommel_run(questions, (TrommelDocument *)&report, NULL, &report));
  FAILS(ARGUMENT, trommel_run(NULL, document, NULL, &report));
  FAILS(ARGUMENT, trommel_run(questions, document, NULL, NULL));
  TrommelOptions wrong = {.cancel = (TrommelCancel *)document};
  FAILS(ARGUMENT, trommel_run(questions, document, &wrong, &report));
  OK(trommel_free(document));
  FAILS(ARGUMENT, trommel_free(document));
  FAILS(ARGUMENT, trommel_run(questions, document, NULL, &report));
  OK(trommel_free(NULL));
  OK(trommel_free(questions));
}

static void *cancel_soon(void *cancel) {
  CHECK(trommel_cancel(cancel) == TROMMEL_STATUS_OK);
  return NULL;
}

static int32_t cancel_from_another_thread(void *context, const TrommelValue *value) {
  (void)value;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, cancel_soon, context) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  return 0;
}

static void on_progress(void *context, uint64_t bytes, uint64_t total) {
  uint64_t *most = context;
  CHECK(total == 0 || bytes <= total);
  if (bytes > *most) *most = bytes;
}

static void progress_and_cancellation(void) {
  size_t count = 2000000;
  char *text = malloc(2 * count + 2);
  text[0] = '[';
  for (size_t at = 0; at < count; at++) memcpy(text + 1 + 2 * at, "1,", 2);
  memcpy(text + 2 * count, "]", 2);
  TrommelDocument *document = document_of(text);
  TrommelQuestions *questions = questions_of("{\"requests\":[{\"kind\":\"values\",\"query\":\"$[*]\"}]}");
  TrommelText report = {NULL, 0};
  uint64_t most = 0;
  TrommelOptions options = {.on_progress = on_progress, .progress_context = &most, .threads = 2};
  OK(trommel_run(questions, document, &options, &report));
  CHECK(most == 2 * count + 1);
  OK(trommel_text_free(report));
  TrommelCancel *cancel = NULL;
  OK(trommel_cancel_new(&cancel));
  options = (TrommelOptions){.on_value = cancel_from_another_thread, .value_context = cancel, .cancel = cancel};
  FAILS(CANCELLED, trommel_run(questions, document, &options, &report));
  OK(trommel_free(cancel));
  FAILS(ARGUMENT, trommel_cancel(cancel));
  OK(trommel_free(document));
  OK(trommel_free(questions));
  free(text);
}

static void *many_runs(void *unused) {
  (void)unused;
  for (int round = 0; round < 50; round++) {
    TrommelText report = report_of("{\"requests\":[{\"kind\":\"count\",\"query\":\"$..id\"}]}", ORDERS);
    CHECK(starts_with(report, "{\"answers\":[3],"));
    OK(trommel_text_free(report));
  }
  return NULL;
}

static void threads(void) {
  pthread_t running[8];
  for (int at = 0; at < 8; at++) CHECK(pthread_create(&running[at], NULL, many_runs, NULL) == 0);
  for (int at = 0; at < 8; at++) CHECK(pthread_join(running[at], NULL) == 0);
}

int main(void) {
  answers();
  values();
  readers();
  parts();
  tables();
  errors();
  progress_and_cancellation();
  threads();
  if (failures == 0) puts("every check passed");
  return failures != 0;
}
