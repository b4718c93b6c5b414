#include "runtime/strings.h"

#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

//===-- Memory ------------------------------------------------------------------------------===//

struct onyx_string_block {
  onyx_string_block *next;
  void *memory;
};

static _Thread_local onyx_string_block *blocks;

onyx_string_block *onyx_strings_begin(void) {
  onyx_string_block *before = blocks;
  blocks = NULL;
  return before;
}

void onyx_strings_end(onyx_string_block *before) {
  while (blocks) {
    onyx_string_block *block = blocks;
    blocks = block->next;
    free(block->memory);
    free(block);
  }
  blocks = before;
}

static bool adopt(void *memory) {
  onyx_string_block *block = memory ? malloc(sizeof *block) : NULL;
  if (!block)
    return false;
  *block = (onyx_string_block){blocks, memory};
  blocks = block;
  return true;
}

void onyx_strings_adopt(void *block) {
  adopt(block);
}

const char *onyx_string_bytes(int64_t string, size_t *size) {
  const int64_t *record = (const int64_t *)(intptr_t)string;
  *size = record ? (size_t)record[0] : 0;
  return record ? (const char *)(record + 1) : "";
}

int64_t onyx_string_new(size_t size, char **bytes) {
  int64_t *record = size ? malloc(sizeof *record + size) : NULL;
  if (!adopt(record)) {
    free(record);
    return 0;
  }
  record[0] = (int64_t)size;
  *bytes = (char *)(record + 1);
  return (int64_t)(intptr_t)record;
}

static int64_t copy_of(const char *data, size_t size) {
  char *bytes;
  int64_t string = onyx_string_new(size, &bytes);
  if (string)
    memcpy(bytes, data, size);
  return string;
}

//===-- Comparison, concatenation, case -----------------------------------------------------===//

int64_t onyx_string_compare(int64_t a, int64_t b) {
  size_t m, n;
  const char *x = onyx_string_bytes(a, &m), *y = onyx_string_bytes(b, &n);
  int order = memcmp(x, y, m < n ? m : n);
  return order ? order : m < n ? -1 : m > n;
}

bool onyx_string_equal(int64_t a, int64_t b) {
  return a == b || onyx_string_compare(a, b) == 0;
}

int64_t onyx_string_concat(int64_t a, int64_t b) {
  size_t m, n;
  const char *x = onyx_string_bytes(a, &m), *y = onyx_string_bytes(b, &n);
  char *bytes;
  int64_t string = onyx_string_new(m + n, &bytes);
  if (string) {
    memcpy(bytes, x, m);
    memcpy(bytes + m, y, n);
  }
  return string;
}

// The next code point of UTF-8; a byte that begins none is taken as itself.
static wint_t decode(const unsigned char *at, const unsigned char *end, int *length) {
  static const unsigned char masks[] = {0x7f, 0x1f, 0x0f, 0x07};
  int n = *at < 0x80 ? 1 : *at >> 5 == 6 ? 2 : *at >> 4 == 14 ? 3 : *at >> 3 == 30 ? 4 : 0;
  *length = 1;
  if (n == 0 || end - at < n)
    return *at;
  wint_t c = *at & masks[n - 1];
  for (int i = 1; i < n; i++) {
    if (at[i] >> 6 != 2)
      return *at;
    c = c << 6 | (at[i] & 0x3f);
  }
  *length = n;
  return c;
}

static int encode(wint_t c, char *to) {
  if (c < 0x80)
    return to[0] = (char)c, 1;
  int n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (int i = n; i-- > 1; c >>= 6)
    to[i] = (char)(0x80 | (c & 0x3f));
  to[0] = (char)(leads[n] | c);
  return n;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t unicode; // C.UTF-8; 0 where the system has none

static void open_unicode(void) {
  unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
}

__attribute__((destructor)) static void close_unicode(void) {
  if (unicode)
    freelocale(unicode);
}

int64_t onyx_string_case(int64_t string, bool upper) {
  size_t size, used = 0;
  const unsigned char *at = (const unsigned char *)onyx_string_bytes(string, &size),
                      *end = at + size;
  pthread_once(&once, open_unicode);
  char *to = malloc(4 * size + 1);
  if (!to)
    return 0;
  for (int n; at < end; at += n) {
    wint_t c = decode(at, end, &n);
    if (n == 1 && c >= 0x80) // no UTF-8: the byte stays
      to[used++] = (char)c;
    else
      used += (size_t)encode(!unicode ? c
                             : upper  ? towupper_l(c, unicode)
                                      : towlower_l(c, unicode),
                             to + used);
  }
  int64_t result = copy_of(to, used);
  free(to);
  return result;
}

//===-- Splitting ---------------------------------------------------------------------------===//

// Walks over the parts; stops at number `wanted` (< 0: counts them all) and tells its bytes.
static int64_t walk_parts(int64_t string, int64_t delimiter, int64_t maxsplit, int64_t wanted,
                          const char **part, size_t *part_size) {
  size_t size, cut;
  const char *at = onyx_string_bytes(string, &size), *end = at + size;
  const char *by = onyx_string_bytes(delimiter, &cut);
  int64_t count = 0;
  for (;;) {
    if (!cut) // runs of white space part, and none is at the ends
      while (at < end && isspace((unsigned char)*at))
        at++;
    if (!cut && at == end)
      return count;
    const char *stop = end;
    bool last = maxsplit >= 0 && count >= maxsplit;
    if (!last && cut) {
      const char *found = memmem(at, (size_t)(end - at), by, cut);
      stop = found ? found : end;
      last = !found;
    } else if (!last) {
      for (stop = at; stop < end && !isspace((unsigned char)*stop);)
        stop++;
    } else if (!cut) {
      while (stop > at && isspace((unsigned char)stop[-1]))
        stop--;
    }
    *part = at;
    *part_size = (size_t)(stop - at);
    if (count++ == wanted || last || (!cut && stop == end))
      return count;
    at = cut ? stop + cut : stop;
  }
}

int64_t onyx_string_split_count(int64_t string, int64_t delimiter, int64_t maxsplit) {
  size_t size;
  const char *part;
  onyx_string_bytes(string, &size);
  return size ? walk_parts(string, delimiter, maxsplit, -1, &part, &size) : 0;
}

int64_t onyx_string_split_part(int64_t string, int64_t delimiter, int64_t maxsplit, int64_t k) {
  size_t size = 0;
  const char *part = "";
  return walk_parts(string, delimiter, maxsplit, k, &part, &size) == k + 1 ? copy_of(part, size)
                                                                           : 0;
}

//===-- Regular expressions -----------------------------------------------------------------===//

// RE2's classes that POSIX's extended syntax lacks, and groups that capture nothing; the rest is
// alike.
static char *posix_pattern(const char *from, size_t size) {
  static const char *const classes[][2] = {{"d", "[0-9]"},        {"D", "[^0-9]"},
                                           {"w", "[0-9A-Za-z_]"}, {"W", "[^0-9A-Za-z_]"},
                                           {"s", "[[:space:]]"},  {"S", "[^[:space:]]"}};
  char *to = malloc(16 * size + 8), *out = to;
  if (!to)
    return NULL;
  out += sprintf(out, "^(");
  bool in_class = false;
  for (size_t i = 0; i < size; i++) {
    const char *found = NULL;
    for (int k = 0; from[i] == '\\' && i + 1 < size && k < 6; k++)
      if (from[i + 1] == classes[k][0][0])
        found = classes[k][1];
    if (found) { // inside [..] only the members
      size_t length = strlen(found);
      out +=
          sprintf(out, "%.*s", (int)(in_class ? length - 2 : length), in_class ? found + 1 : found);
      i++;
    } else if (from[i] == '\\' && in_class && i + 1 < size) { // POSIX takes it for itself there
      *out++ = from[++i];
    } else if (from[i] == '\\' && i + 1 < size) {
      *out++ = '\\';
      *out++ = from[++i];
    } else if (!in_class && size - i >= 3 && !memcmp(from + i, "(?:", 3)) {
      *out++ = '(';
      i += 2;
    } else {
      in_class = in_class ? from[i] != ']' : from[i] == '[';
      *out++ = from[i];
    }
  }
  strcpy(out, ")$");
  return to;
}

bool onyx_string_match(int64_t string, int64_t pattern) {
  size_t size, length;
  const char *text = onyx_string_bytes(string, &size), *from = onyx_string_bytes(pattern, &length);
  char *posix = posix_pattern(from, length), *copy = strndup(text, size);
  regex_t compiled;
  bool ok = posix && copy && !regcomp(&compiled, posix, REG_EXTENDED | REG_NOSUB);
  bool matches = ok && !regexec(&compiled, copy, 0, NULL, 0);
  if (ok)
    regfree(&compiled);
  free(posix);
  free(copy);
  return matches;
}

//===-- Numbers -----------------------------------------------------------------------------===//

// As NumPy prints them: the shortest digits that give the number back.
static int64_t from_float(double value, bool single) {
  char text[40];
  if (isnan(value))
    return copy_of("NaN", 3);
  if (isinf(value))
    return value > 0 ? copy_of("INF", 3) : copy_of("-INF", 4);
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
      break;
  }
  if (!strpbrk(text, ".e"))
    strcat(text, ".0");
  return copy_of(text, strlen(text));
}

int64_t onyx_string_from_f32(float value) {
  return from_float(value, true);
}

int64_t onyx_string_from_f64(double value) {
  return from_float(value, false);
}

int64_t onyx_string_from_i64(int64_t value) {
  char text[24];
  int n = snprintf(text, sizeof text, "%" PRId64, value);
  return copy_of(text, (size_t)n);
}

int64_t onyx_string_from_u64(uint64_t value) {
  char text[24];
  int n = snprintf(text, sizeof text, "%" PRIu64, value);
  return copy_of(text, (size_t)n);
}

static void text_of(int64_t string, char *text, size_t room) {
  size_t size;
  const char *bytes = onyx_string_bytes(string, &size);
  snprintf(text, room, "%.*s", size < room ? (int)size : (int)room - 1, bytes);
}

double onyx_string_to_f64(int64_t string) {
  char text[512];
  text_of(string, text, sizeof text);
  return strtod(text, NULL);
}

int64_t onyx_string_to_i64(int64_t string) {
  char text[512];
  text_of(string, text, sizeof text);
  return strtoll(text, NULL, 10);
}

uint64_t onyx_string_to_u64(int64_t string) {
  char text[512];
  text_of(string, text, sizeof text);
  return strtoull(text, NULL, 10);
}
