// Strings of compiled code: the address, as an i64, of an i64 size and the bytes; 0 is the empty
// string.
//
// What a run makes lives until the run ends: results are copied out before. A run uses one thread
// for them.
#ifndef ONYX_RUNTIME_STRINGS_H
#define ONYX_RUNTIME_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct onyx_string_block onyx_string_block;

// Begins and ends what a run of this thread makes; runs may nest.
onyx_string_block *onyx_strings_begin(void);
void onyx_strings_end(onyx_string_block *before);

const char *onyx_string_bytes(int64_t string, size_t *size);
// Frees a malloc'ed block when the run ends.
void onyx_strings_adopt(void *block);
// A new string of this size and its bytes, to be filled; 0 when there is no memory (or size is 0).
int64_t onyx_string_new(size_t size, char **bytes);

// What compiled code calls.
bool onyx_string_equal(int64_t a, int64_t b);
int64_t onyx_string_compare(int64_t a, int64_t b); // < 0, 0, > 0 by bytes
int64_t onyx_string_concat(int64_t a, int64_t b);
bool onyx_string_match(int64_t string, int64_t pattern); // the whole string; an RE2-like pattern
int64_t onyx_string_case(int64_t string, bool upper);
// StringSplit: parts by a delimiter (empty: runs of white space), at most maxsplit cuts (< 0: all).
int64_t onyx_string_split_count(int64_t string, int64_t delimiter, int64_t maxsplit);
int64_t onyx_string_split_part(int64_t string, int64_t delimiter, int64_t maxsplit, int64_t part);
// Cast.
int64_t onyx_string_from_f32(float value);
int64_t onyx_string_from_f64(double value);
int64_t onyx_string_from_i64(int64_t value);
int64_t onyx_string_from_u64(uint64_t value);
double onyx_string_to_f64(int64_t string);
int64_t onyx_string_to_i64(int64_t string);
uint64_t onyx_string_to_u64(int64_t string);

#endif
