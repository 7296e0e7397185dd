// Values in C++, with handles that free themselves.

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "trommel.h"

struct Free {
  void operator()(void *handle) const { trommel_free(handle); }
};

template <typename T>
using Handle = std::unique_ptr<T, Free>;

static void must(TrommelStatus status) {
  if (status != TROMMEL_STATUS_OK) throw std::runtime_error(trommel_error_message());
}

static int32_t print(void *count, const TrommelValue *value) {
  std::string_view text(reinterpret_cast<const char *>(value->bytes), value->length);
  std::cout << value->location << " = " << text << '\n';
  return ++*static_cast<int *>(count) == 2;  // two are enough
}

int main() try {
  std::string_view text = R"({"users":[{"name":"Ada"},{"name":"Bob"},{"name":"Cyd"}]})";
  TrommelDocument *opened = nullptr;
  must(trommel_open_bytes(reinterpret_cast<const uint8_t *>(text.data()), text.size(), &opened));
  Handle<TrommelDocument> document(opened);
  TrommelQuestions *asked = nullptr;
  must(trommel_questions(R"({"requests":[{"kind":"values","query":"$.users[*].name"}]})", &asked));
  Handle<TrommelQuestions> questions(asked);
  int count = 0;
  TrommelOptions options{};
  options.on_value = print;
  options.value_context = &count;
  options.locations = true;
  TrommelText report{};
  TrommelStatus status = trommel_run(questions.get(), document.get(), &options, &report);
  return status == TROMMEL_STATUS_STOPPED && count == 2 ? 0 : 1;
} catch (const std::exception &error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
