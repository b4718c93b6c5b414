// One operator as text: a view made from it, its results as text.
//
//   operands  f32[2,N]  i64[2]={3,k}  f32[1]={0.5}  f32[*]  -  seq(f32[2])  opt(i64[])
//             an identifier in a shape is an extent, in braces a value known at run time
//   attributes  axis=1 perm=[0,2] alpha=0.5 mode=edge
//   results   the same; sizes as dim_text prints them, ? for unknown ones
#ifndef ONYX_TEST_HARNESS_H
#define ONYX_TEST_HARNESS_H

#include "dialects/onnx/ops/op.h"

#define MAX_NAMES 64

typedef struct names {
  int n;
  char text[MAX_NAMES][16];
} names;

typedef struct fixture {
  onyx_arena *arena;
  names names;
  op_view view;
} fixture;

// Aborts with a message on text it cannot read: the test's author is wrong.
void fixture_make(fixture *f, const char *op, const char *operands, const char *attrs,
                  int num_results);
void fixture_free(fixture *f);
char *dim_name(fixture *f, const dim *d);
// "f32[2,3] i64[1]={7}" of inferred results.
char *results_text(fixture *f, const shape_result *results);
// The same of computed data: every element.
char *data_text(fixture *f, const shape_result *results, void *const *data);

#endif
