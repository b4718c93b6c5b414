#include "runtime/run/random.h"

#include "runtime/run/scalar.h"
#include "runtime/value.h"

static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static double next_real(uint64_t *state) {
  return (double)(next(state) >> 40) / 16777216.0;
}

static scalar next_scalar(onyx_elem elem, int bits, uint64_t *state) {
  uint64_t range = elem == ONYX_BOOL || bits == 2 ? 2 : bits == 4 ? 8 : 10;
  switch (scalar_kind_of(elem)) {
  case SCALAR_SIGNED:
    return (scalar){.i = (int64_t)(next(state) % range)};
  case SCALAR_UNSIGNED:
    return (scalar){.u = next(state) % range};
  case SCALAR_COMPLEX: {
    double re = next_real(state);
    return (scalar){.re = re, .im = next_real(state)};
  }
  default:
    // f8E8M0 has powers of two only.
    if (elem == ONYX_F8E8M0)
      return (scalar){.re = (double)(1 << next(state) % 4)};
    return (scalar){.re = next_real(state)};
  }
}

bool random_value(const onyx_type *type, const int64_t *shape, uint64_t seed, size_t input,
                  onyx_value *value) {
  uint64_t state = seed + ((uint64_t)input << 32);
  if (type->kind == ONYX_VALUE_OPTIONAL)
    return onyx_optional_make(NULL, value);
  if (type->kind == ONYX_VALUE_STRINGS) {
    bool ok = onyx_strings_make(shape, type->rank, value);
    for (int64_t i = 0; ok && i < onyx_value_count(value); i++)
      ok = onyx_strings_set(value, i, &"0123456789"[next(&state) % 10], 1);
    return ok;
  }
  if (type->kind != ONYX_VALUE_TENSOR)
    return false;
  const onyx_element *element = onyx_element_of(type->element);
  if (!onyx_tensor_make(element, shape, type->rank, value))
    return false;
  int64_t count = onyx_value_count(value);
  for (int64_t i = 0; i < count; i++)
    scalar_store(element->elem, value->tensor->data, i,
                 next_scalar(element->elem, element->dtype.bits, &state));
  return true;
}
