// All operator definitions, sorted by name.
#include "dialects/onnx/ops/op.h"

#include <stdlib.h>
#include <string.h>
#include <threads.h>

typedef struct family {
  const op_def *ops;
  const int *count;
} family;

static const family families[] = {
#define FAMILY(f) {ops_##f, &num_ops_##f},
    ONYX_OP_FAMILIES(FAMILY)
#undef FAMILY
};

#define MAX_OPS 512

static const op_def *table[MAX_OPS];
static int table_size;
static once_flag table_once = ONCE_FLAG_INIT;

static int by_name(const void *a, const void *b) {
  return strcmp((*(const op_def *const *)a)->name, (*(const op_def *const *)b)->name);
}

static void fill_table(void) {
  for (size_t f = 0; f < sizeof families / sizeof *families; f++)
    for (int i = 0; i < *families[f].count && table_size < MAX_OPS; i++)
      table[table_size++] = &families[f].ops[i];
  qsort(table, (size_t)table_size, sizeof *table, by_name);
}

const op_def *op_def_find(const char *name) {
  call_once(&table_once, fill_table);
  int low = 0, high = table_size;
  while (low < high) {
    int mid = low + (high - low) / 2, order = strcmp(name, table[mid]->name);
    if (order == 0)
      return table[mid];
    if (order < 0)
      high = mid;
    else
      low = mid + 1;
  }
  return NULL;
}

const op_def *op_def_at(int i) {
  call_once(&table_once, fill_table);
  return i >= 0 && i < table_size ? table[i] : NULL;
}
