// Walks that may remove what they visit.
#include "passes/onnx/rewrite.h"

#include <stdlib.h>

struct op_list {
  MlirOperation *ops;
  size_t count, capacity;
};

static void append(struct op_list *list, MlirOperation op) {
  if (list->count == list->capacity) {
    list->capacity = list->capacity ? list->capacity * 2 : 256;
    list->ops = realloc(list->ops, list->capacity * sizeof *list->ops);
    if (!list->ops)
      abort();
  }
  list->ops[list->count++] = op;
}

static MlirWalkResult collect(MlirOperation op, void *user) {
  append(user, op);
  return MlirWalkResultAdvance;
}

// Users come after operands and inner ops after the op around them: backwards, each op is seen when
// all that could use it is gone.
void erase_dead_ops(MlirOperation root) {
  struct op_list list = {0};
  mlirOperationWalk(root, collect, &list, MlirWalkPreOrder);
  for (size_t i = list.count; i-- > 1;)
    if (mlirxIsTriviallyDead(list.ops[i]))
      mlirOperationDestroy(list.ops[i]);
  free(list.ops);
}

struct visitor {
  MlirLogicalResult (*visit)(MlirOperation, void *);
  void *user;
  MlirLogicalResult result;
};

static MlirWalkResult call_visitor(MlirOperation op, void *user) {
  struct visitor *v = user;
  v->result = v->visit(op, v->user);
  return mlirLogicalResultIsFailure(v->result) ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

MlirLogicalResult walk_ops(MlirOperation root, MlirLogicalResult (*visit)(MlirOperation, void *),
                           void *user) {
  struct visitor v = {visit, user, mlirLogicalResultSuccess()};
  mlirOperationWalk(root, call_visitor, &v, MlirWalkPreOrder);
  return v.result;
}
