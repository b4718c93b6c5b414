// Statistics over slices of a tensor: what Softmax and the normalizations share.
#ifndef ONYX_SLICES_H
#define ONYX_SLICES_H

#include "dialects/onnx/ops/comprehension.h"

// A tensor cut into slices: axes marked `along` run within a slice, the kept ones number the
// slices.
typedef struct slices {
  int buffer, rank; // of the tensor
  bool along[ONYX_MAX_RANK];
  int num_kept;
  const dim *kept[ONYX_MAX_RANK]; // extents
  const dim *count;               // elements of a slice
} slices;

// Fills rank, kept and count from the shape of operand `buffer` and `along`.
void slices_init(comprehension *c, slices *s, int buffer);

// A stage that reduces each slice. in: index of the tensor at the element, out: of the slice (the
// index of a temporary of shape `kept`).
comp_stage *slices_reduce(comprehension *c, const slices *s, const expr **in, const expr **out);
// In a stage over all elements (loops 0 .. rank-1): the index of the slice that holds the element.
void slices_index(comprehension *c, const slices *s, const expr **out);
// A temporary with one element a slice.
int slices_temp(comprehension *c, const slices *s, int type);
// Reads a temporary of slices_temp in a stage over all elements.
const expr *slices_read(comprehension *c, const slices *s, int temp);

// Temporaries of the mean, and of the variance about it (population: divided by the count).
int slices_mean(comprehension *c, const slices *s, int type);
int slices_variance(comprehension *c, const slices *s, int mean, int type);

#endif
