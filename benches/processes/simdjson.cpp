// The tasks of definitions/processes.toml, as a C++ programmer would write them with simdjson's On-Demand interface:
//
//     g++ -O3 -std=c++20 -march=native benches/processes/simdjson.cpp -lsimdjson -o FOLDER/simdjson
//
// with simdjson 3.3 or later; measured with 4.6.1.
//
// The first argument selects the task, the second is the file. The document is loaded whole, as simdjson requires; lines are
// read in batches. Values are printed verbatim.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include "simdjson.h"

using namespace simdjson;
using std::string_view;

static std::string out;

static void print(string_view value) {
  out.append(value);
  out.push_back('\n');
  if (out.size() > 60000) {
    fwrite(out.data(), 1, out.size(), stdout);
    out.clear();
  }
}

static string_view raw(ondemand::value value) {
  string_view token = value.raw_json_token();
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n')) token.remove_suffix(1);
  return token;
}

static void logins(ondemand::value value) {
  switch (value.type()) {
    case ondemand::json_type::array:
      for (ondemand::value element : value.get_array()) logins(element);
      break;
    case ondemand::json_type::object:
      for (auto field : value.get_object()) {
        string_view name = field.escaped_key();
        ondemand::value child = field.value();
        if (name == "login") print(raw(child));
        logins(child);
      }
      break;
    default:
      break;
  }
}

struct Types {
  uint64_t array, object, number, string, boolean, null, names, depth;
};

// Reads every value in full, as statistics must: strings are unescaped, and numbers are parsed.
static void types(ondemand::value value, Types& found, uint64_t depth) {
  if (depth > found.depth) found.depth = depth;
  switch (value.type()) {
    case ondemand::json_type::array:
      found.array++;
      for (ondemand::value element : value.get_array()) types(element, found, depth + 1);
      break;
    case ondemand::json_type::object:
      found.object++;
      for (auto field : value.get_object()) {
        found.names++;
        types(field.value(), found, depth + 1);
      }
      break;
    case ondemand::json_type::number:
      found.number++;
      (void)value.get_number().value();
      break;
    case ondemand::json_type::string:
      found.string++;
      (void)value.get_string().value();
      break;
    case ondemand::json_type::boolean:
      found.boolean++;
      (void)value.get_bool().value();
      break;
    default:
      found.null++;
      (void)value.is_null().value();
      break;
  }
}

static void records(ondemand::document& document, string_view task) {
  ondemand::array records = document["data"]["records"];
  if (task == "length") {
    printf("%zu\n", size_t(records.count_elements()));
    return;
  }
  for (ondemand::object record : records) {
    if (task == "ids") {
      print(raw(record["id"]));
      continue;
    }
    // In the order of the input: the ID precedes the type.
    string_view id = raw(record["id"]);
    if (record["type"] == "PushEvent") print(id);
  }
}

static int run(string_view task, const char* file) {
  if (task == "check") {
    dom::parser parser;
    padded_string text = padded_string::load(file);
    return parser.parse(text).error() == SUCCESS ? 0 : 1;
  }
  ondemand::parser parser;
  padded_string text = padded_string::load(file);
  if (task == "line-ids") {
    ondemand::document_stream lines = parser.iterate_many(text, 1 << 20);
    for (auto line : lines) print(raw(line["id"]));
    return 0;
  }
  if (task == "line-count") {
    uint64_t count = 0;
    ondemand::document_stream lines = parser.iterate_many(text, 1 << 20);
    for (auto line : lines) count += line.error() == SUCCESS;
    printf("%lu\n", count);
    return 0;
  }
  ondemand::document document = parser.iterate(text);
  if (task == "logins") {
    logins(document.get_value());
  } else if (task == "types") {
    Types found{};
    types(document.get_value(), found, 1);
    printf("array %lu object %lu number %lu string %lu boolean %lu null %lu names %lu depth %lu\n", found.array,
           found.object, found.number, found.string, found.boolean, found.null, found.names, found.depth);
  } else {
    records(document, task);
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int status = 1;
  try {
    status = run(argv[1], argv[2]);
  } catch (simdjson_error& error) {
    fprintf(stderr, "%s\n", error.what());
  }
  fwrite(out.data(), 1, out.size(), stdout);
  return status;
}
