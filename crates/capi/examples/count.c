// Counts and describes a file: cc count.c -ltrommel && ./a.out orders.json '$.orders[*]'

#include <stdio.h>
#include <stdlib.h>

#include "trommel.h"

static void must(TrommelStatus status) {
  if (status == TROMMEL_STATUS_OK) return;
  fprintf(stderr, "error: %s\n", trommel_error_message());
  exit(1);
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "/dev/null";
  TrommelDocument *document = NULL;
  if (argc > 1) {
    must(trommel_open_file(path, &document));
  } else {
    static const char text[] = "{\"orders\":[{\"id\":1},{\"id\":2}]}";
    must(trommel_open_bytes((const uint8_t *)text, sizeof text - 1, &document));
  }
  char json[1024];
  snprintf(json, sizeof json,
           "{\"requests\":[{\"kind\":\"count\",\"query\":\"%s\"},{\"kind\":\"schema\"}]}",
           argc > 2 ? argv[2] : "$.orders[*]");
  TrommelQuestions *questions = NULL;
  must(trommel_questions(json, &questions));
  TrommelText report = {NULL, 0};
  must(trommel_run(questions, document, NULL, &report));
  printf("%s\n", report.data);
  must(trommel_text_free(report));
  must(trommel_free(questions));
  must(trommel_free(document));
  return 0;
}
