// Upsample and Resize: one operator since 10, with the coordinate rules written out since 11.
#include "importer/upgrade/upgrade.h"

#include <string.h>

// Names of the modes: Upsample-1 to 9 and Resize-10 say bilinear for what is linear.
static void interpolate(upgrader *u, node *n, str mode, value *scales) {
  const char *newer = str_is(mode, "bilinear") ? "linear" : mode.p;
  if (!str_is(mode, "nearest") && !str_is(mode, "linear") && !str_is(mode, "bilinear"))
    node_fail(u->im, n, "has unknown mode '%s'", str_show(u->im, mode));
  // A smaller result takes the element above, a larger one the element below; scales of 1 do both.
  bool shrinks = false, grows = scales->data == NULL;
  if (scales->data && scales->data->elem == ONYX_F32)
    for (uint64_t i = 0; i < scales->data->count; i++) {
      float scale;
      memcpy(&scale, scales->data->bytes + i * sizeof scale, sizeof scale);
      shrinks |= scale < 1;
      grows |= scale > 1;
    }
  bool nearest = str_is(mode, "nearest");
  if (nearest && shrinks && grows)
    up_fail(u, n, "nearest neighbours of a result that grows and shrinks at once");
  value *in[] = {n->in[0], NULL, scales};
  up_become(u, n, "Resize", 3, in);
  attr_set_str(u->im, n, "mode", newer);
  attr_set_str(u->im, n, "coordinate_transformation_mode", "asymmetric");
  if (nearest)
    attr_set_str(u->im, n, "nearest_mode", shrinks ? "ceil" : "floor");
}

// Upsample-1 scales height and width of NCHW.
static void upsample_first(upgrader *u, node *n) {
  float scales[] = {1, 1, attr_float(n, "height_scale", 1), attr_float(n, "width_scale", 1)};
  interpolate(u, n, attr_str(n, "mode", "nearest"), up_floats(u, n, 4, scales));
}

static void upsample_attr(upgrader *u, node *n) {
  const attr *scales = attr_find(n, "scales");
  if (!scales)
    up_fail(u, n, "has no scales");
  interpolate(u, n, attr_str(n, "mode", "nearest"), up_floats(u, n, scales->count, scales->floats));
}

static void upsample_operand(upgrader *u, node *n) {
  if (!node_in(n, 1))
    up_fail(u, n, "has no scales");
  interpolate(u, n, attr_str(n, "mode", "nearest"), n->in[1]);
}

static bool is_empty(const value *v) {
  if (v && v->data)
    return v->data->count == 0;
  return v && v->type && v->type->ranked && v->type->rank == 1 && v->type->dims[0].size == 0;
}

// tf_half_pixel_for_nn (11 only) is half_pixel without its shift: (x + 0.5) / scale. With nearest
// neighbours, the floor of that is half_pixel rounded with halves up, and round_prefer_floor of it,
// which is ceil(x - 0.5), is half_pixel's ceil.
static void tf_half_pixel(upgrader *u, node *n) {
  str nearest = attr_str(n, "nearest_mode", "round_prefer_floor");
  if (!str_is(attr_str(n, "mode", "nearest"), "nearest") ||
      (!str_is(nearest, "floor") && !str_is(nearest, "round_prefer_floor")))
    up_fail(u, n, "tf_half_pixel_for_nn with this mode has no counterpart since version 13");
  bool down = str_is(nearest, "floor");
  attr_set_str(u->im, n, "coordinate_transformation_mode", "half_pixel");
  attr_set_str(u->im, n, "nearest_mode", down ? "round_prefer_ceil" : "ceil");
}

// Resize-11 says "absent" by an empty tensor; since 13 the operands are optional.
static void resize_empty(upgrader *u, node *n) {
  for (int i = 1; i < n->num_in; i++)
    if (is_empty(n->in[i]))
      n->in[i] = NULL;
  node_set_inputs(u->im, n, n->num_in, n->in);
  if (str_is(attr_str(n, "coordinate_transformation_mode", ""), "tf_half_pixel_for_nn"))
    tf_half_pixel(u, n);
}

// Steps of one operator stand together, oldest first.
static const upgrade_step steps[] = {
    {"Resize", 10, upsample_operand},
    {"Resize", 18, resize_empty}, // files of 13 to 18 still carry empty tensors
    {"Upsample", 1, upsample_first},
    {"Upsample", 7, upsample_attr},
    {"Upsample", 10, upsample_operand},
};
const upgrade_family upgrade_resize = {steps, sizeof steps / sizeof *steps};
