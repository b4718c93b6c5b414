#include "dialects/onnx/ops/op.h"
const op_def ops_elementwise[] = {{0}};
const int num_ops_elementwise = 0;
