// The dim algebra: what folds, what stays, and that a simplified dim has the value of what was
// asked for.
#include "dialects/onnx/ops/dim.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void expect(onyx_arena *arena, const dim *d, const char *want) {
  const char *got = dim_text(arena, d, NULL, NULL);
  if (strcmp(got, want) != 0) {
    printf("expected %s, found %s\n", want, got);
    failures++;
  }
}

static void test_folding(void) {
  onyx_arena *arena = onyx_arena_create();
  dim_context *c = dim_context_create(arena);
  const dim *n = dim_sym_extent(c, 0), *m = dim_sym_extent(c, 1), *v = dim_sym(c, 2);
  const dim *zero = dim_const(c, 0), *one = dim_const(c, 1), *two = dim_const(c, 2),
            *four = dim_const(c, 4);
  expect(arena, dim_add(c, n, zero), "s0");
  expect(arena, dim_sub(c, dim_add(c, n, m), n), "s1");
  expect(arena, dim_add(c, dim_add(c, n, two), four), "s0 + 6");
  expect(arena, dim_sub(c, n, n), "0");
  expect(arena, dim_mul(c, dim_add(c, n, one), two), "s0 * 2 + 2");
  expect(arena, dim_floordiv(c, dim_mul(c, n, four), two), "s0 * 2");
  expect(arena, dim_floordiv(c, dim_add(c, dim_mul(c, n, four), one), two), "s0 * 2");
  expect(arena, dim_mod(c, dim_add(c, dim_mul(c, n, four), one), two), "1");
  expect(arena, dim_ceildiv(c, dim_add(c, dim_mul(c, n, two), one), two), "s0 + 1");
  expect(arena, dim_max(c, dim_sub(c, n, one), n), "s0");
  expect(arena, dim_max(c, n, zero), "s0"); // an extent
  expect(arena, dim_max(c, v, zero), "max(s2, 0)");
  expect(arena, dim_lt(c, n, zero), "0");
  expect(arena, dim_wrap(c, n, m), "s0");
  expect(arena, dim_wrap(c, dim_const(c, -1), n), "s0 - 1");
  expect(arena, dim_broadcast(c, one, n), "s0");
  expect(arena, dim_broadcast(c, n, four), "4");
  expect(arena, dim_eq(c, n, dim_add(c, n, one)), "0");
  expect(arena, dim_floordiv(c, n, zero), "0"); // by definition
  if (dim_mul(c, n, m) != dim_mul(c, m, n) || dim_add(c, n, m) != dim_add(c, m, n)) {
    printf("sums and products depend on the order of their operands\n");
    failures++;
  }
  if (!dim_has_unknown(dim_add(c, dim_const(c, INT64_MAX), one))) {
    printf("an overflow is a number\n");
    failures++;
  }
  onyx_arena_destroy(arena);
}

// Random expressions over two symbols, computed beside the builders.
static uint64_t seed = 88172645463325252u;
static int64_t next_random(int64_t limit) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (int64_t)(seed % (uint64_t)limit);
}

static int64_t symbols[2];
static int64_t symbol(int64_t s, void *user) {
  (void)user;
  return symbols[s];
}

static int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

typedef struct pair {
  const dim *d;
  int64_t value;
} pair;

static pair combine(dim_context *c, int op, pair a, pair b) {
  switch (op) {
  case 0:
    return (pair){dim_add(c, a.d, b.d), a.value + b.value};
  case 1:
    return (pair){dim_sub(c, a.d, b.d), a.value - b.value};
  case 2:
    return (pair){dim_mul(c, a.d, b.d), a.value * b.value};
  case 3:
    return (pair){dim_floordiv(c, a.d, b.d), floor_div(a.value, b.value)};
  case 4:
    return (pair){dim_ceildiv(c, a.d, b.d), b.value ? -floor_div(-a.value, b.value) : 0};
  case 5:
    return (pair){dim_mod(c, a.d, b.d), a.value - floor_div(a.value, b.value) * b.value};
  case 6:
    return (pair){dim_min(c, a.d, b.d), a.value < b.value ? a.value : b.value};
  case 7:
    return (pair){dim_max(c, a.d, b.d), a.value > b.value ? a.value : b.value};
  case 8:
    return (pair){dim_eq(c, a.d, b.d), a.value == b.value};
  default:
    return (pair){dim_lt(c, a.d, b.d), a.value < b.value};
  }
}

static void test_random(void) {
  for (int round = 0; round < 3000; round++) {
    onyx_arena *arena = onyx_arena_create();
    dim_context *c = dim_context_create(arena);
    symbols[0] = next_random(8);      // an extent
    symbols[1] = next_random(15) - 7; // any value
    pair pool[24] = {{dim_sym_extent(c, 0), symbols[0]}, {dim_sym(c, 1), symbols[1]}};
    int n = 2;
    for (; n < 6; n++)
      pool[n].value = next_random(9) - 4, pool[n].d = dim_const(c, pool[n].value);
    for (; n < 24; n++) {
      pair a = pool[next_random(n)], b = pool[next_random(n)];
      if (a.value > 1000 || a.value < -1000 || b.value > 1000 || b.value < -1000)
        a = pool[0], b = pool[3];
      pool[n] = combine(c, (int)next_random(10), a, b);
      int64_t got, lo, hi;
      dim_bounds(c, pool[n].d, &lo, &hi);
      if (!dim_eval(pool[n].d, symbol, NULL, &got) || got != pool[n].value || got < lo ||
          got > hi) {
        printf("%s with s0 = %lld, s1 = %lld: expected %lld, found %lld\n",
               dim_text(arena, pool[n].d, NULL, NULL), (long long)symbols[0], (long long)symbols[1],
               (long long)pool[n].value, (long long)got);
        failures++;
        break;
      }
    }
    onyx_arena_destroy(arena);
  }
}

int main(void) {
  test_folding();
  test_random();
  printf("%d failures\n", failures);
  return failures > 0;
}
