// Inputs for a model that is given none: the same on every machine.
//
// Element j (row-major) of input i is made from z = splitmix64's output number j of the stream
// whose state begins at seed + (i << 32): state += 0x9e3779b97f4a7c15 before each output, then z =
// (s ^ s >> 30) * 0xbf58476d1ce4e5b9, z = (z ^ z >> 27) * 0x94d049bb133111eb, z ^= z >> 31. Floats
// are (z >> 40) / 2^24, in [0, 1); both halves of a complex number are made so, from two outputs;
// integers z mod 10 (of 4 bits z mod 8, of 2 bits z mod 2); bools z mod 2; strings "0" to "9".
#ifndef ONYX_RUN_RANDOM_H
#define ONYX_RUN_RANDOM_H

#include "onyx/model.h"

#include <stdbool.h>

// False when memory is short or the kind has no random value (sequences, maps). Absent optionals.
bool random_value(const onyx_type *type, const int64_t *shape, uint64_t seed, size_t input,
                  onyx_value *value);

#endif
