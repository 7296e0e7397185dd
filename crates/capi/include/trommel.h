// The C interface of trommel, generated from crates/capi by `cargo xtask header --write`.

#ifndef TROMMEL_H
#define TROMMEL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
// The Arrow C stream interface.
struct ArrowSchema;
struct ArrowArray;
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif


// The result of a call.
typedef enum TrommelStatus {
  // The call succeeded.
  TROMMEL_STATUS_OK = 0,
  // An argument is null, not UTF-8, not valid JSON, or a handle that is freed or of another
  // type.
  TROMMEL_STATUS_ARGUMENT = 1,
  // A query, filter, or request is not valid.
  TROMMEL_STATUS_QUERY = 2,
  // The input is not valid JSON.
  TROMMEL_STATUS_JSON = 3,
  // A limit was reached: of depth, of a token, or of temporary files.
  TROMMEL_STATUS_LIMIT = 4,
  // The input changed while it was read.
  TROMMEL_STATUS_CHANGED = 5,
  // The input cannot be opened or read.
  TROMMEL_STATUS_IO = 6,
  // The run was cancelled.
  TROMMEL_STATUS_CANCELLED = 7,
  // A callback ended the run.
  TROMMEL_STATUS_STOPPED = 8,
  // The questions cannot be answered for this input.
  TROMMEL_STATUS_REFUSED = 9,
  // A defect of this library.
  TROMMEL_STATUS_DEFECT = 10,
} TrommelStatus;

// The division of an input into records.
typedef enum TrommelFraming {
  // By the first bytes.
  TROMMEL_FRAMING_AUTO = 0,
  // Exactly one value.
  TROMMEL_FRAMING_SINGLE = 1,
  // One value per line.
  TROMMEL_FRAMING_LINES = 2,
  // Values one after another.
  TROMMEL_FRAMING_CONCATENATED = 3,
  // A JSON text sequence (RFC 7464).
  TROMMEL_FRAMING_JSON_SEQ = 4,
} TrommelFraming;

// A token that cancels runs. Free it with `trommel_free`.
typedef struct TrommelCancel TrommelCancel;

// A document. Free it with `trommel_free`.
typedef struct TrommelDocument TrommelDocument;

// The answers to a part of an input. Free them with `trommel_free`.
typedef struct TrommelPartial TrommelPartial;

// Questions. Free them with `trommel_free`.
typedef struct TrommelQuestions TrommelQuestions;

// Reads up to `length` bytes into `into`, and returns their number: 0 at the end, and a negative
// number if reading fails.
typedef int64_t (*TrommelRead)(void *context, uint8_t *into, size_t length);

// A value of a request of the kind `values`. It is valid during the call.
typedef struct TrommelValue {
  // The number of the request, from 0.
  size_t request;
  // The bytes of the value, as they are in the input.
  const uint8_t *bytes;
  // The number of bytes.
  size_t length;
  // The offset of the value in the input.
  uint64_t start;
  // The record that contains the value, from 0.
  uint64_t record;
  // The normalized path, or null if locations were not asked for.
  const char *location;
} TrommelValue;

// Receives a value, on the thread that runs. The run ends if the function does not return 0.
typedef int32_t (*TrommelOnValue)(void *context, const struct TrommelValue *value);

// Receives the bytes that were read and their total, 0 if it is not known. Called on any thread,
// but not on two at the same time.
typedef void (*TrommelOnProgress)(void *context, uint64_t bytes, uint64_t total);

// The options of a run. A structure of zeros has the defaults.
typedef struct TrommelOptions {
  // Receives values; null only counts them.
  TrommelOnValue on_value;
  // Passed to `on_value`.
  void *value_context;
  // Receives progress, or null.
  TrommelOnProgress on_progress;
  // Passed to `on_progress`.
  void *progress_context;
  // Cancels the run, or null.
  const struct TrommelCancel *cancel;
  // The number of threads, or 0 for one per core.
  size_t threads;
  // True if values need their location.
  bool locations;
} TrommelOptions;

// Bytes of this library. A zero follows them, which `length` does not count.
typedef struct TrommelText {
  // The bytes.
  const char *data;
  // Their number.
  size_t length;
} TrommelText;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Opens a file. It is read through a window when a question is asked, any number of times.
//
// # Safety
// `path` is a text that ends with a zero, and `document` is the address of a handle.
enum TrommelStatus trommel_open_file(const char *path, struct TrommelDocument **document);

// Opens bytes without copying them. They must stay as they are until the document, its parts, and
// their Arrow streams are freed.
//
// # Safety
// `bytes` points to `length` bytes as above, and `document` is the address of a handle.
enum TrommelStatus trommel_open_bytes(const uint8_t *bytes,
                                      size_t length,
                                      struct TrommelDocument **document);

// Opens a function that reads. It can be read once, and may be called on another thread.
//
// # Safety
// `read` may be called with `context` until the document is freed, and writes at most as many
// bytes as it is given. `document` is the address of a handle.
enum TrommelStatus trommel_open_reader(TrommelRead read,
                                       void *context,
                                       struct TrommelDocument **document);

// A document with another division into records, one of `TrommelFraming`. Both handles must be
// freed.
//
// # Safety
// `framed` is the address of a handle.
enum TrommelStatus trommel_document_framing(const struct TrommelDocument *document,
                                            int32_t framing,
                                            struct TrommelDocument **framed);

// Part `number`, from 0, of `count` parts, which contain each record once. The records must be
// lines or a text sequence, unless there is one part. Both handles must be freed.
//
// # Safety
// `part` is the address of a handle.
enum TrommelStatus trommel_document_part(const struct TrommelDocument *document,
                                         uint64_t number,
                                         uint64_t count,
                                         struct TrommelDocument **part);

// Frees a handle of any type. A run that uses its object continues. Freeing null does nothing.
enum TrommelStatus trommel_free(void *handle);

// Answers the questions over one part of an input. `number` is the number of the part among those
// to be merged. Values are refused: read them with `trommel_run`.
//
// # Safety
// `options` is null or a structure whose functions may be called with their contexts, and
// `partial` is the address of a handle.
enum TrommelStatus trommel_run_part(const struct TrommelQuestions *questions,
                                    const struct TrommelDocument *document,
                                    uint64_t number,
                                    const struct TrommelOptions *options,
                                    struct TrommelPartial **partial);

// Merges the answers to two parts, of which `later` follows in the input. All three handles must
// be freed.
//
// # Safety
// `merged` is the address of a handle.
enum TrommelStatus trommel_partial_merge(const struct TrommelPartial *earlier,
                                         const struct TrommelPartial *later,
                                         struct TrommelPartial **merged);

// The stored form of partial answers, which must be freed. The Python package reads it, too.
//
// # Safety
// `bytes` is the address of a text.
enum TrommelStatus trommel_partial_to_bytes(const struct TrommelPartial *partial,
                                            struct TrommelText *bytes);

// Reads the stored form.
//
// # Safety
// `bytes` points to `length` bytes, and `partial` is the address of a handle.
enum TrommelStatus trommel_partial_from_bytes(const uint8_t *bytes,
                                              size_t length,
                                              struct TrommelPartial **partial);

// The report of merged partial answers, as of `trommel_run`.
//
// # Safety
// `report` is the address of a text.
enum TrommelStatus trommel_partial_finish(const struct TrommelPartial *partial,
                                          struct TrommelText *report);

// Reads questions: a JSON object with `requests`, an array; and optionally `each`, a query;
// `filters`, an array; and `strict`, a boolean.
//
// # Safety
// `json` is a text that ends with a zero, and `questions` is the address of a handle.
enum TrommelStatus trommel_questions(const char *json, struct TrommelQuestions **questions);

// Answers the questions in one pass. `report` receives a text, which must be freed: an object with
// `answers`, in the order of the requests, and `coverage`.
//
// # Safety
// `options` is null or a structure whose functions may be called with their contexts, and `report`
// is the address of a text.
enum TrommelStatus trommel_run(const struct TrommelQuestions *questions,
                               const struct TrommelDocument *document,
                               const struct TrommelOptions *options,
                               struct TrommelText *report);

// Makes a token that cancels runs.
//
// # Safety
// `cancel` is the address of a handle.
enum TrommelStatus trommel_cancel_new(struct TrommelCancel **cancel);

// Cancels the runs of a token, from any thread. They end with `TROMMEL_STATUS_CANCELLED`.
enum TrommelStatus trommel_cancel(const struct TrommelCancel *cancel);

// The message of the last call of this thread, empty if it succeeded. Valid until the next call.
const char *trommel_error_message(void);

// A short, stable name for the kind of the error in the input, empty if it was another one.
const char *trommel_error_kind(void);

// The byte offset of the error in the input, or the largest number if the error has no offset.
uint64_t trommel_error_offset(void);

// The line of the error in the input, from 1, or 0 if it is not known.
uint64_t trommel_error_line(void);

// The column of the error in the input, in characters from 1, or 0 if it is not known.
uint64_t trommel_error_column(void);

// Reads the records as a table. The types follow from every record, so the input is read twice or
// kept. `columns` is a JSON object of names and queries, or null for all members. The requests of
// the questions are ignored.
//
// The caller releases the stream as the Arrow C stream interface says. The callbacks of the
// options may be called until then.
//
// # Safety
// `columns` is null or a text that ends with a zero; `options` is null or a structure whose
// functions may be called with their contexts; and `stream` is a place for a stream, whose
// contents are overwritten.
enum TrommelStatus trommel_table(const struct TrommelQuestions *questions,
                                 const struct TrommelDocument *document,
                                 const char *columns,
                                 const struct TrommelOptions *options,
                                 struct ArrowArrayStream *stream);

// Frees a text. One that was freed before is an error. A text without data needs no freeing.
enum TrommelStatus trommel_text_free(struct TrommelText text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TROMMEL_H */
