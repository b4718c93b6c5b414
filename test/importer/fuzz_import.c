// libFuzzer's entry into the importer. Run it on a corpus of small models:
//   fuzz_import -max_len=20000 CORPUS
#include "importer/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  char message[MESSAGE_MAX];
  onyx_import_bytes(bytes, size, message);
  return 0;
}
