// Values against expected ones.
#ifndef ONYX_RUN_COMPARE_H
#define ONYX_RUN_COMPARE_H

#include "onyx/model.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct tolerance {
  double rtol, atol; // |got - expected| <= atol + rtol * |expected|
} tolerance;

// Floats and complex numbers within the tolerance, NaN equal to NaN, infinities by sign; integers,
// bools and strings exactly. On a mismatch writes lines that begin with `what` to `report`: a
// difference of kind, type, shape or count, or the number of wrong elements and the worst of them
// with its index.
bool value_compare(const char *what, const onyx_value *got, const onyx_value *expected,
                   tolerance tol, FILE *report);

#endif
