#include "runtime/run/compare.h"

#include "runtime/run/scalar.h"
#include "runtime/value.h"

#include <math.h>
#include <string.h>

static const char *kind_name(onyx_value_kind kind) {
  static const char *const names[] = {"nothing",    "a tensor",    "strings",
                                      "a sequence", "an optional", "a map"};
  return names[kind];
}

static void print_index(FILE *file, int64_t index, const int64_t *shape, int rank) {
  int64_t scale = 1;
  for (int i = 1; i < rank; i++)
    scale *= shape[i];
  putc('[', file);
  for (int i = 0; i < rank; i++) {
    fprintf(file, i ? ", %lld" : "%lld", (long long)(index / scale));
    index %= scale;
    scale /= i + 1 < rank ? shape[i + 1] : 1;
  }
  putc(']', file);
}

static void print_shape(FILE *file, const int64_t *shape, int rank) {
  putc('[', file);
  for (int i = 0; i < rank; i++)
    fprintf(file, i ? ", %lld" : "%lld", (long long)shape[i]);
  putc(']', file);
}

static bool same_shape(const char *what, const int64_t *got, int got_rank, const int64_t *expected,
                       int rank, FILE *report) {
  if (got_rank == rank && (!rank || !memcmp(got, expected, (size_t)rank * sizeof *got)))
    return true;
  fprintf(report, "%s: shape ", what);
  print_shape(report, got, got_rank);
  fputs(", expected ", report);
  print_shape(report, expected, rank);
  putc('\n', report);
  return false;
}

//===-- Tensors -----------------------------------------------------------------------------===//

// How far past what is allowed: 0 is fine, more is worse, infinity for what no tolerance covers.
static double excess_real(double got, double expected, tolerance tol) {
  if (isnan(got) && isnan(expected))
    return 0;
  if (got == expected)
    return 0;
  if (isnan(got) || isnan(expected) || isinf(got) || isinf(expected))
    return INFINITY;
  double difference = fabs(got - expected), allowed = tol.atol + tol.rtol * fabs(expected);
  if (difference <= allowed)
    return 0;
  return allowed > 0 ? difference / allowed : INFINITY;
}

static double excess(onyx_elem elem, scalar got, scalar expected, tolerance tol) {
  switch (scalar_kind_of(elem)) {
  case SCALAR_SIGNED:
    return got.i == expected.i ? 0 : fabs((double)got.i - (double)expected.i) + 1;
  case SCALAR_UNSIGNED:
    return got.u == expected.u ? 0 : fabs((double)got.u - (double)expected.u) + 1;
  case SCALAR_COMPLEX:
    return fmax(excess_real(got.re, expected.re, tol), excess_real(got.im, expected.im, tol));
  default:
    return excess_real(got.re, expected.re, tol);
  }
}

// Dense: outputs of a model and what the readers make.
static const char *data_of(const DLTensor *t) {
  return (const char *)t->data + t->byte_offset;
}

static void report_worst(const char *what, const onyx_element *element, const DLTensor *got,
                         const DLTensor *expected, int64_t wrong, int64_t count, int64_t worst,
                         FILE *report) {
  char g[96], e[96];
  scalar_print(g, sizeof g, element->elem, scalar_load(element->elem, data_of(got), worst));
  scalar_print(e, sizeof e, element->elem, scalar_load(element->elem, data_of(expected), worst));
  fprintf(report, "%s: %lld of %lld elements are wrong; the worst is at ", what, (long long)wrong,
          (long long)count);
  print_index(report, worst, expected->shape, expected->ndim);
  fprintf(report, ": got %s, expected %s\n", g, e);
}

static bool compare_tensors(const char *what, const DLTensor *got, const DLTensor *expected,
                            tolerance tol, FILE *report) {
  const onyx_element *element = onyx_element_of_dtype(expected->dtype),
                     *found = onyx_element_of_dtype(got->dtype);
  if (element != found) {
    fprintf(report, "%s: element type %s, expected %s\n", what, found->mlir, element->mlir);
    return false;
  }
  if (!same_shape(what, got->shape, got->ndim, expected->shape, expected->ndim, report))
    return false;
  int64_t count = 0, wrong = 0, worst = -1;
  onyx_volume(expected->shape, expected->ndim, &count);
  double most = 0;
  for (int64_t i = 0; i < count; i++) {
    double e = excess(element->elem, scalar_load(element->elem, data_of(got), i),
                      scalar_load(element->elem, data_of(expected), i), tol);
    wrong += e > 0;
    if (e > most) {
      most = e;
      worst = i;
    }
  }
  if (wrong)
    report_worst(what, element, got, expected, wrong, count, worst, report);
  return !wrong;
}

static bool compare_strings(const char *what, const onyx_value *got, const onyx_value *expected,
                            FILE *report) {
  const onyx_strings *g = &got->strings, *e = &expected->strings;
  if (!same_shape(what, g->shape, g->rank, e->shape, e->rank, report))
    return false;
  int64_t count = onyx_value_count(expected), wrong = 0, first = -1;
  for (int64_t i = 0; i < count; i++)
    if (g->items[i].size != e->items[i].size ||
        (e->items[i].size && memcmp(g->items[i].data, e->items[i].data, e->items[i].size))) {
      first = wrong++ ? first : i;
    }
  if (!wrong)
    return true;
  fprintf(report, "%s: %lld of %lld strings are wrong; the first is at ", what, (long long)wrong,
          (long long)count);
  print_index(report, first, e->shape, e->rank);
  fprintf(report, ": got \"%.*s\", expected \"%.*s\"\n", (int)g->items[first].size,
          g->items[first].data, (int)e->items[first].size, e->items[first].data);
  return false;
}

//===-- The other kinds ---------------------------------------------------------------------===//

static bool compare_sequences(const char *what, const onyx_sequence *got,
                              const onyx_sequence *expected, tolerance tol, FILE *report) {
  if (got->count != expected->count) {
    fprintf(report, "%s: a sequence of %zu, expected %zu\n", what, got->count, expected->count);
    return false;
  }
  bool same = true;
  for (size_t i = 0; i < expected->count; i++) {
    char name[256];
    snprintf(name, sizeof name, "%.200s, item %zu", what, i);
    same &= value_compare(name, &got->items[i], &expected->items[i], tol, report);
  }
  return same;
}

static bool compare_optionals(const char *what, const onyx_value *got, const onyx_value *expected,
                              tolerance tol, FILE *report) {
  if (!got->optional != !expected->optional) {
    fprintf(report, "%s: an optional that is %s, expected %s\n", what,
            got->optional ? "present" : "absent", expected->optional ? "present" : "absent");
    return false;
  }
  return !got->optional || value_compare(what, got->optional, expected->optional, tol, report);
}

bool value_compare(const char *what, const onyx_value *got, const onyx_value *expected,
                   tolerance tol, FILE *report) {
  if (got->kind != expected->kind) {
    fprintf(report, "%s: %s, expected %s\n", what, kind_name(got->kind), kind_name(expected->kind));
    return false;
  }
  switch (expected->kind) {
  case ONYX_VALUE_TENSOR:
    return compare_tensors(what, got->tensor, expected->tensor, tol, report);
  case ONYX_VALUE_STRINGS:
    return compare_strings(what, got, expected, report);
  case ONYX_VALUE_SEQUENCE:
    return compare_sequences(what, &got->sequence, &expected->sequence, tol, report);
  case ONYX_VALUE_OPTIONAL:
    return compare_optionals(what, got, expected, tol, report);
  case ONYX_VALUE_MAP:
    return value_compare(what, got->map.keys, expected->map.keys, tol, report) &&
           value_compare(what, got->map.values, expected->map.values, tol, report);
  default:
    return true;
  }
}
