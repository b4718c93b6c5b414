// Operators that pick elements: TopK, Scatter, sampling of images.
#include "importer/upgrade/upgrade.h"

static void top_k(upgrader *u, node *n) {
  up_set_operand(u, n, 1, up_int(u, n, attr_int(n, "k", 0)));
  attr_remove(n, "k");
}

// Scatter-9 is ScatterElements; Scatter-11 only says so.
static void scatter(upgrader *u, node *n) {
  int64_t axis = attr_int(n, "axis", 0);
  up_become(u, n, "ScatterElements", n->num_in, n->in);
  attr_set_int(u->im, n, "axis", axis);
}

// GridSample-16 has two-dimensional names for its modes.
static void grid_sample(upgrader *u, node *n) {
  str mode = attr_str(n, "mode", "bilinear");
  attr_set_str(u->im, n, "mode",
               str_is(mode, "bilinear")  ? "linear"
               : str_is(mode, "bicubic") ? "cubic"
                                         : mode.p);
}

// RoiAlign-10 has no shift of half a pixel, 16 has one by default.
static void roi_align(upgrader *u, node *n) {
  attr_set_str(u->im, n, "coordinate_transformation_mode", "output_half_pixel");
}

static const upgrade_step steps[] = {
    {"GridSample", 16, grid_sample},
    {"RoiAlign", 10, roi_align},
    {"Scatter", 11, scatter},
    {"TopK", 1, top_k},
};
const upgrade_family upgrade_index = {steps, sizeof steps / sizeof *steps};
