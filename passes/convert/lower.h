//===- lower.h - onnx functions on tensors become functions on memrefs --------------===//
//
// The conversion plans first: every op of every function gets its view, its result shapes and its
// comprehension, and what cannot be lowered is reported, all of it. Then each function is emitted
// anew beside the old one, which is erased at the end. Values that only constants make are emitted
// into the init function, whose results live in the constants block.
//
//===----------------------------------------------------------------------===//
#ifndef ONYX_PASSES_CONVERT_LOWER_H
#define ONYX_PASSES_CONVERT_LOWER_H

#include "dialects/onnx/ptr_map.h"
#include "dialects/onnx/view_mlir.h"
#include "passes/convert/emit.h"
#include "passes/krnl_build.h"

enum lower_kind {
  LOWER_NOTHING,       // makes no code of its own (constants, terminators)
  LOWER_COMPREHENSION, // loop nests, or an alias
  LOWER_DIRECT,        // by an entry of the table of direct lowerings
  LOWER_CALL           // func.call
};

struct op_plan {
  MlirOperation op;
  enum lower_kind kind;
  op_view *view; // COMPREHENSION, DIRECT
  shape_result *results;
  comprehension *c;
  const struct direct_lowering *direct;
  int64_t node;        // ID in onyx.nodes
  bool hoisted;        // emitted into the init function
  bool constant_alias; // renames a value of the constants: made where it is used
  int64_t *offsets;    // by result: place in the constants block; -1: none
};

// A constant that init copies or unpacks.
struct copied_constant {
  MlirOperation op;
  struct onnx_file file;
  onyx_elem elem;
  int64_t offset; // in the constants block
};

struct lower {
  MlirxPass pass;
  MlirOperation module;
  MlirContext ctx;
  view_scope *views;
  onyx_arena *arena;
  bool failed;
  ptr_map plans;         // MlirOperation -> struct op_plan
  struct op_plan **list; // in program order
  intptr_t num_plans, cap_plans;
  ptr_map copied; // MlirOperation of a constant -> struct copied_constant
  struct copied_constant **copies;
  intptr_t num_copies, cap_copies;
  int64_t constants_bytes;
  int num_weights;
  ptr_map functions; // old func.func -> struct lower_function
  int num_globals;
  const char *init_name;
};

// One allocation. Its buffer is freed after `last`, the place in the home block of the op that uses
// it, or an alias of it, for the last time.
struct storage {
  MlirValue memref; // as allocated
  struct lower_block *home;
  intptr_t last;
  bool gone; // freed, or given to the caller
};

// A value is one memref (a tensor) or several (docs/abi.md): a sequence is its elements' data and a
// table, an optional a flag and its value's parts, a map keys and values.
enum { LOWER_MAX_PARTS = 4, LOWER_TABLE_WIDTH = 10 };

// A value's memrefs. storage: NULL when it belongs to an argument, a constant or a weight.
struct lowered {
  int n;
  MlirValue memref; // part 0
  struct storage *storage;
  MlirValue part[LOWER_MAX_PARTS];
  struct storage *stores[LOWER_MAX_PARTS];
};

// Straight-line code being emitted: the function's block or a region's.
struct lower_block {
  struct lower_function *function;
  struct lower_block *parent;
  struct ir ir;
  struct emit_dims dims;
  ptr_map values;   // MlirValue -> struct lowered
  ptr_map last_use; // MlirValue -> place + 1
  intptr_t position;
  bool keep; // nothing is freed before the block's end
  struct storage **storages;
  intptr_t num_storages, cap_storages;
};

struct lower_function {
  struct lower *lower;
  MlirOperation old, func;
  bool is_init;
  struct lower_block *top;
  MlirOperation outermost; // the op of the top block inside of which code is being emitted, or null
  MlirValue status, *weights, constants;
  int num_inputs;        // of the old function
  intptr_t first_hidden; // argument of the new one
};

// --- lower_plan.c

// Plans all ops under `op`; failures are reported and noted in l->failed.
void lower_plan_function(struct lower *l, MlirOperation func);
struct op_plan *lower_plan_of(struct lower *l, MlirOperation op);
// Is v a constant, a result of a hoisted op or an alias of one?
bool lower_is_constant(struct lower *l, MlirValue v);
void *lower_alloc(struct lower *l, size_t size);
// memref type that a tensor type becomes; null for what has none.
MlirType lower_type(struct lower *l, MlirType tensor);
// memref types of the parts of a value of this type; returns their number, 0 for what has no
// lowering.
int lower_parts(struct lower *l, MlirType type, MlirType parts[LOWER_MAX_PARTS]);
// Error at op, with its node; notes the failure.
void lower_error(struct lower *l, MlirOperation op, const char *fmt, ...) MLIRX_PRINTF(3, 4);

// --- lower_block.c: values and storage

void lower_block_begin(struct lower_block *b, struct lower_function *f, struct lower_block *parent,
                       struct ir ir, MlirBlock old);
void lower_block_end(struct lower_block *b);
// memref of a tensor value; made now where it is a constant. Null memref after an error.
MlirValue lower_value(struct lower_block *b, MlirValue v);
// A comprehension's table of constants as a global.
MlirValue lower_table(struct lower_block *b, MlirOperation op, const comp_buffer *table);
struct lowered *lower_find(struct lower_block *b, MlirValue v);
// v is memref now. `storage` may be NULL.
void lower_define(struct lower_block *b, MlirValue v, MlirValue memref, struct storage *storage);
void lower_define_parts(struct lower_block *b, MlirValue v, int n, const MlirValue *parts,
                        struct storage *const *storages);
// Parts of a value; their number, 0 after an error.
int lower_value_parts(struct lower_block *b, MlirValue v, MlirValue parts[LOWER_MAX_PARTS]);
// v is these memrefs, which this block owns from now on.
void lower_define_owned(struct lower_block *b, MlirValue v, int n, const MlirValue *parts);
// A fresh buffer; sizes: one index a `?`.
MlirValue lower_alloc_buffer(struct lower_block *b, MlirType type, intptr_t n,
                             const MlirValue *sizes, struct storage **storage);
// The same with a shape in dims.
MlirValue lower_alloc_dims(struct lower_block *b, onyx_elem elem, int rank, const dim *const *dims,
                           struct storage **storage);
// Takes over a buffer that something else allocated.
struct storage *lower_adopt(struct lower_block *b, MlirValue memref);
void lower_free(struct lower_block *b, struct storage *s);
// Frees what the op at b->position used last.
void lower_free_dead(struct lower_block *b);
// The values at the end of a block, each a buffer of its own of the given type (copied where it
// belongs to something else or is given twice); then everything else is freed. `types` and `out`
// have an entry a part; returns the number of parts.
intptr_t lower_give(struct lower_block *b, intptr_t n, const MlirValue *values,
                    const MlirType *types, MlirValue *out);
// Index value of a dim; >= 0.
MlirValue lower_size(struct lower_block *b, const dim *d);
// Where constants are made: at the top of the function.
struct ir lower_top(struct lower_function *f);

// --- lower_guard.c

// i1: all loops of the stage stay within what they read and write (status 3 where not); null:
// nothing to ask.
MlirValue lower_guard(struct lower_block *b, struct op_plan *p, const comp_stage *s);

// --- lower_nest.c

// All of an op that has a comprehension.
bool lower_comprehension(struct lower_block *b, struct op_plan *p);

// --- lower_function.c

struct lower_function *lower_function_create(struct lower *l, MlirOperation old,
                                             const char *init_name);
bool lower_ops(struct lower_block *b, MlirBlock old);
// Results of `made` from `first` on become the parts of op's results, owned by the block; returns
// the next.
intptr_t lower_define_results(struct lower_block *b, MlirOperation op, MlirOperation made,
                              intptr_t first);
// Emits the ops of `old` up to its terminator.
void lower_function_emit(struct lower_function *f);
void lower_init_emit(struct lower *l, struct lower_function *f);

// --- lower_direct*.c

struct direct_lowering {
  const char *name; // operator
  // Can p be lowered? Emits the error. NULL: always.
  bool (*check)(struct lower *l, struct op_plan *p);
  bool (*emit)(struct lower_block *b, struct op_plan *p);
  // Is this one to be lowered so, and not by its comprehension? NULL: always.
  bool (*applies)(struct op_plan *p);
};
// A memref of the addresses of these strings, made at the top of the function (lower_string.c).
MlirValue lower_strings(struct lower_function *f, intptr_t n, const char *const *strings);
const struct direct_lowering *lower_direct_find(const char *name);

#endif // ONYX_PASSES_CONVERT_LOWER_H
