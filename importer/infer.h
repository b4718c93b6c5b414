// Element types of results, from the schema's type constraints. Shapes are left to the passes.
#ifndef ONYX_IMPORTER_INFER_H
#define ONYX_IMPORTER_INFER_H

#include "importer/ir.h"

// Gives each result of a node a type. Operands of constraint T decide results of constraint T; a
// constraint of one type decides itself; a short table decides the rest (Cast's `to` and the like).
// Ends the import when an operand's type is not allowed or a result's cannot be known.
void infer_types(import *im, node *n);

// A type without its shapes.
const type *type_unshaped(import *im, const type *t);

#endif
