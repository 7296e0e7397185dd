"""A sample through ctypes: python3 sample.py libtrommel.so"""

import ctypes
import json
import sys


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]


library = ctypes.CDLL(sys.argv[1])
library.trommel_error_message.restype = ctypes.c_char_p


def must(status):
    if status != 0:
        raise RuntimeError(library.trommel_error_message().decode())


data = json.dumps({"orders": [{"id": number} for number in range(1000)]}).encode()
asked = {"requests": [{"kind": "sample", "query": "$.orders", "size": 3, "seed": 7}]}
document, questions, report = ctypes.c_void_p(), ctypes.c_void_p(), Text()
must(library.trommel_open_bytes(data, ctypes.c_size_t(len(data)), ctypes.byref(document)))
must(library.trommel_questions(json.dumps(asked).encode(), ctypes.byref(questions)))
must(library.trommel_run(questions, document, None, ctypes.byref(report)))
(sample,) = json.loads(ctypes.string_at(report.data, report.length))["answers"]
must(library.trommel_text_free(report))
must(library.trommel_free(questions))
must(library.trommel_free(document))
print(sample)
assert (sample["total_items"], sample["sample_size"]) == (1000, 3)
try:
    must(library.trommel_free(document))
except RuntimeError as error:
    print(error)
else:
    raise AssertionError("a handle was freed twice")
