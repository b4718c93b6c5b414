// Sliding windows over spatial dims: what Conv and the pools share.
#ifndef ONYX_WINDOW_H
#define ONYX_WINDOW_H

#include "dialects/onnx/ops/comprehension.h"

// One spatial axis of a window that slides over an input.
typedef struct window_axis {
  const dim *in;     // input extent
  const dim *out;    // number of positions
  const dim *kernel; // taps
  int64_t stride, dilation;
  const dim *pad_begin, *pad_end;
  bool inside; // every tap of every position is known to be inside the input
} window_axis;

typedef struct window {
  int spatial;
  window_axis axis[ONYX_MAX_RANK];
} window;

// Reads strides, dilations, pads, auto_pad, ceil_mode (where the schema has them) for operand 0 of
// known rank >= 2 whose spatial dims follow batch and channel. kernel[i]: extents of the window.
// Fails with a message on wrong counts, strides < 1, negative pads, a kernel larger than the padded
// input.
bool window_of(op_view *v, int spatial, const dim *const *kernel, window *w);

// kernel_shape as dims; fails when its count is not `spatial` or an entry is < 1.
bool window_kernel_attr(op_view *v, int spatial, const dim **kernel);

// Strides, dilations (1 by default) or pads (0 by default) as numbers; count entries.
bool window_ints(op_view *v, const char *name, int count, int64_t minimum, int64_t fallback,
                 int64_t *out);

// Where the tap of loop `tap` at the position of loop `position` reads: o * stride + k * dilation -
// pad.
const expr *window_tap(comprehension *c, const window_axis *a, int position, int tap);
// Whether any axis may read outside.
bool window_pads(const window *w);

#endif
