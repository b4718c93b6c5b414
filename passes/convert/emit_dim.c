//===- emit_dim.c - Dims as index values -------------------------------------------===//
#include "passes/convert/emit.h"

#include <stdlib.h>
#include <string.h>

void emit_dims_init(struct emit_dims *dims, struct ir *ir,
                    MlirValue (*symbol)(struct emit_dims *, int64_t), void *user) {
  *dims = (struct emit_dims){.ir = ir, .symbol = symbol, .user = user};
}

void emit_dims_free(struct emit_dims *dims) {
  free(dims->memo);
  dims->memo = NULL;
  dims->num_memo = 0;
}

static void dims_reserve(struct emit_dims *dims, unsigned id) {
  if (id < dims->num_memo)
    return;
  unsigned n = id + 64;
  dims->memo = realloc(dims->memo, sizeof(MlirValue) * n);
  memset(dims->memo + dims->num_memo, 0, sizeof(MlirValue) * (n - dims->num_memo));
  dims->num_memo = n;
}

static MlirValue dim_leaf(struct emit_dims *dims, const dim *d) {
  switch (d->op) {
  case DIM_CONST:
    return ir_index(dims->ir, d->value);
  case DIM_SYM:
    return dims->symbol(dims, d->value);
  default:
    return (MlirValue){NULL};
  }
}

// Integer arithmetic of the expression emitter has the dim algebra's rules (division by 0 gives 0).
static MlirValue dim_binary(struct ir *ir, dim_op op, MlirValue a, MlirValue b) {
  switch (op) {
  case DIM_ADD:
    return ir_binary(ir, "arith.addi", a, b);
  case DIM_SUB:
    return ir_binary(ir, "arith.subi", a, b);
  case DIM_MUL:
    return ir_binary(ir, "arith.muli", a, b);
  case DIM_FLOORDIV:
    return emit_binary(ir, EXPR_FLOORDIV, ONYX_INDEX, a, b);
  case DIM_CEILDIV: { // ceil(a / b) = -floor(-a / b)
    MlirValue zero = ir_index(ir, 0);
    MlirValue q =
        emit_binary(ir, EXPR_FLOORDIV, ONYX_INDEX, ir_binary(ir, "arith.subi", zero, a), b);
    return ir_binary(ir, "arith.subi", zero, q);
  }
  case DIM_MOD: { // a - b * floordiv(a, b)
    MlirValue q = emit_binary(ir, EXPR_FLOORDIV, ONYX_INDEX, a, b);
    return ir_binary(ir, "arith.subi", a, ir_binary(ir, "arith.muli", b, q));
  }
  case DIM_MIN:
    return ir_binary(ir, "arith.minsi", a, b);
  case DIM_MAX:
    return ir_binary(ir, "arith.maxsi", a, b);
  case DIM_EQ:
  case DIM_LT: {
    MlirValue c = ir_cmpi(ir, op == DIM_EQ ? IR_EQ : IR_SLT, a, b);
    return ir_select(ir, c, ir_index(ir, 1), ir_index(ir, 0));
  }
  default:
    return (MlirValue){NULL};
  }
}

static MlirValue dim_node(struct emit_dims *dims, const dim *d) {
  if (!d->a)
    return dim_leaf(dims, d);
  MlirValue a = emit_dim(dims, d->a), b = emit_dim(dims, d->b);
  if (mlirValueIsNull(a) || mlirValueIsNull(b))
    return (MlirValue){NULL};
  if (d->op != DIM_SELECT)
    return dim_binary(dims->ir, d->op, a, b);
  MlirValue c = emit_dim(dims, d->c);
  if (mlirValueIsNull(c))
    return c;
  return ir_select(dims->ir, ir_cmpi(dims->ir, IR_NE, a, ir_index(dims->ir, 0)), b, c);
}

MlirValue emit_dim(struct emit_dims *dims, const dim *d) {
  dims_reserve(dims, d->id);
  if (mlirValueIsNull(dims->memo[d->id])) {
    MlirValue v = dim_node(dims, d);
    dims_reserve(dims, d->id);
    dims->memo[d->id] = v;
  }
  return dims->memo[d->id];
}

void emit_dim_set(struct emit_dims *dims, const dim *symbol, MlirValue value) {
  dims_reserve(dims, symbol->id);
  dims->memo[symbol->id] = value;
}
