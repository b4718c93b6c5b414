// libFuzzer's entry into the importer. A run, with a corpus of the tests' own models:
//   cmake --build build --target fuzz_import && test/importer/corpus.py corpus
//   build/bin/fuzz_import -max_len=20000 -rss_limit_mb=3000 corpus
#include "importer/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  char message[MESSAGE_MAX];
  onyx_import_bytes(bytes, size, message);
  return 0;
}
