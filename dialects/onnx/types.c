// Types and attributes of the dialect, and their relation to the facts of the schema table.
#include "dialects/onnx/onnx.h"

#include <string.h>

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

// Built-in float types by TypeID; integers are read by width and signedness.
static const struct float_fact {
  onyx_elem elem;
  MlirTypeID (*id)(void);
  MlirType (*get)(MlirContext);
} float_facts[] = {
    {ONYX_F32, mlirFloat32TypeGetTypeID, mlirF32TypeGet},
    {ONYX_F16, mlirFloat16TypeGetTypeID, mlirF16TypeGet},
    {ONYX_F64, mlirFloat64TypeGetTypeID, mlirF64TypeGet},
    {ONYX_BF16, mlirBFloat16TypeGetTypeID, mlirBF16TypeGet},
    {ONYX_F8E4M3FN, mlirFloat8E4M3FNTypeGetTypeID, mlirFloat8E4M3FNTypeGet},
    {ONYX_F8E4M3FNUZ, mlirFloat8E4M3FNUZTypeGetTypeID, mlirFloat8E4M3FNUZTypeGet},
    {ONYX_F8E5M2, mlirFloat8E5M2TypeGetTypeID, mlirFloat8E5M2TypeGet},
    {ONYX_F8E5M2FNUZ, mlirFloat8E5M2FNUZTypeGetTypeID, mlirFloat8E5M2FNUZTypeGet},
    {ONYX_F4E2M1, mlirFloat4E2M1FNTypeGetTypeID, mlirFloat4E2M1FNTypeGet},
    {ONYX_F8E8M0, mlirFloat8E8M0FNUTypeGetTypeID, mlirFloat8E8M0FNUTypeGet},
};
enum { num_float_facts = sizeof float_facts / sizeof *float_facts };

// Integers by log2 of the width: 1, 2, 4, ... 64. Bool is i1; ui1 does not exist in the standard.
static const onyx_elem signed_elems[] = {ONYX_BOOL, ONYX_I2,  ONYX_I4, ONYX_I8,
                                         ONYX_I16,  ONYX_I32, ONYX_I64};
static const onyx_elem unsigned_elems[] = {
    ONYX_ELEM_UNDEFINED, ONYX_U2, ONYX_U4, ONYX_U8, ONYX_U16, ONYX_U32, ONYX_U64};

static onyx_elem integer_elem(MlirType type) {
  unsigned width = mlirIntegerTypeGetWidth(type);
  if (width == 0 || width > 64 || (width & (width - 1)) != 0 || mlirIntegerTypeIsSigned(type))
    return ONYX_ELEM_UNDEFINED;
  int log = __builtin_ctz(width);
  return mlirIntegerTypeIsUnsigned(type) ? unsigned_elems[log] : signed_elems[log];
}

onyx_elem onnx_elem_from_mlir(MlirType type) {
  if (mlirTypeIsNull(type))
    return ONYX_ELEM_UNDEFINED;
  if (mlirTypeIsAInteger(type))
    return integer_elem(type);
  MlirTypeID id = mlirTypeGetTypeID(type);
  for (int i = 0; i < num_float_facts; i++)
    if (mlirTypeIDEqual(id, float_facts[i].id()))
      return float_facts[i].elem;
  if (mlirxTypeIsA(type, &onnx_string_type))
    return ONYX_STRING;
  if (mlirTypeIsAComplex(type)) {
    onyx_elem of = onnx_elem_from_mlir(mlirComplexTypeGetElementType(type));
    return of == ONYX_F32 ? ONYX_C64 : of == ONYX_F64 ? ONYX_C128 : ONYX_ELEM_UNDEFINED;
  }
  return ONYX_ELEM_UNDEFINED;
}

MlirType onnx_elem_to_mlir(MlirContext ctx, onyx_elem elem) {
  for (int i = 0; i < num_float_facts; i++)
    if (float_facts[i].elem == elem)
      return float_facts[i].get(ctx);
  for (int log = 0; log < 7; log++) {
    if (signed_elems[log] == elem)
      return mlirIntegerTypeGet(ctx, 1u << log);
    if (unsigned_elems[log] == elem && elem != ONYX_ELEM_UNDEFINED)
      return mlirIntegerTypeUnsignedGet(ctx, 1u << log);
  }
  if (elem == ONYX_C64 || elem == ONYX_C128)
    return mlirComplexTypeGet(elem == ONYX_C64 ? mlirF32TypeGet(ctx) : mlirF64TypeGet(ctx));
  if (elem == ONYX_STRING)
    return onnx_string_get(ctx);
  return (MlirType){0};
}

//===----------------------------------------------------------------------===//
// Types of the dialect: !onnx.Seq<T>, !onnx.Opt<T>, !onnx.Map<K, V>, !onnx.String
//===----------------------------------------------------------------------===//

static MlirType type_param(MlirType type, intptr_t i) {
  return mlirTypeAttrGetValue(mlirxTypeGetParam(type, i));
}

static MlirLogicalResult verify_type_params(MlirLocation loc, intptr_t n,
                                            const MlirAttribute *params, intptr_t want,
                                            const char *what) {
  if (n != want)
    return mlirxEmitErrorAt(loc, "%s: expected %d parameter(s), found %d", what, (int)want, (int)n);
  for (intptr_t i = 0; i < n; i++)
    if (!mlirAttributeIsAType(params[i]))
      return mlirxEmitErrorAt(loc, "%s: parameter %d: expected a type", what, (int)i);
  return mlirLogicalResultSuccess();
}

// Sequences hold tensors or maps, optionals tensors or sequences. An element of unknown shape is
// tensor<*xT>.
static bool is_value_type(MlirType type) {
  return mlirTypeIsATensor(type) || mlirxTypeIsA(type, &onnx_seq_type) ||
         mlirxTypeIsA(type, &onnx_opt_type) || mlirxTypeIsA(type, &onnx_map_type);
}

static MlirLogicalResult verify_container(MlirLocation loc, intptr_t n, const MlirAttribute *params,
                                          const char *what) {
  if (mlirLogicalResultIsFailure(verify_type_params(loc, n, params, 1, what)))
    return mlirLogicalResultFailure();
  if (!is_value_type(mlirTypeAttrGetValue(params[0])))
    return mlirxEmitErrorAt(loc, "%s: expected a tensor, sequence, optional or map type inside",
                            what);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult verify_seq(MlirLocation loc, intptr_t n, const MlirAttribute *params) {
  return verify_container(loc, n, params, "!onnx.Seq");
}

static MlirLogicalResult verify_opt(MlirLocation loc, intptr_t n, const MlirAttribute *params) {
  return verify_container(loc, n, params, "!onnx.Opt");
}

static MlirLogicalResult verify_map(MlirLocation loc, intptr_t n, const MlirAttribute *params) {
  if (mlirLogicalResultIsFailure(verify_type_params(loc, n, params, 2, "!onnx.Map")))
    return mlirLogicalResultFailure();
  onyx_elem key = onnx_elem_from_mlir(mlirTypeAttrGetValue(params[0]));
  if (!onyx_elem_is_int(key) && key != ONYX_STRING)
    return mlirxEmitErrorAt(loc, "!onnx.Map: expected an integer or string key type");
  MlirType value = mlirTypeAttrGetValue(params[1]);
  if (!is_value_type(value) && onnx_elem_from_mlir(value) == ONYX_ELEM_UNDEFINED)
    return mlirxEmitErrorAt(loc, "!onnx.Map: expected an element or value type as value");
  return mlirLogicalResultSuccess();
}

static MlirType parse_params(MlirxAsmParser p, const MlirxType *descriptor, int n) {
  const MlirType null = {0};
  MlirxLoc where = mlirxParserGetCurrentLoc(p);
  MlirAttribute params[2];
  if (mlirLogicalResultIsFailure(mlirxParse(p, MLIRX_LESS)))
    return null;
  for (int i = 0; i < n; i++) {
    if (i > 0 && mlirLogicalResultIsFailure(mlirxParse(p, MLIRX_COMMA)))
      return null;
    MlirType type = mlirxParseType(p);
    if (mlirTypeIsNull(type))
      return null;
    params[i] = mlirTypeAttrGet(type);
  }
  if (mlirLogicalResultIsFailure(mlirxParse(p, MLIRX_GREATER)))
    return null;
  MlirLocation loc = mlirxParserGetLocation(p, where);
  if (mlirLogicalResultIsFailure(descriptor->verify(loc, n, params)))
    return null;
  return mlirxTypeGet(mlirxParserGetContext(p), descriptor, n, params);
}

static MlirType parse_seq(MlirxAsmParser p) {
  return parse_params(p, &onnx_seq_type, 1);
}
static MlirType parse_opt(MlirxAsmParser p) {
  return parse_params(p, &onnx_opt_type, 1);
}
static MlirType parse_map(MlirxAsmParser p) {
  return parse_params(p, &onnx_map_type, 2);
}

static void print_params(MlirType type, MlirxAsmPrinter p) {
  mlirxPrint(p, "<");
  for (intptr_t i = 0; i < mlirxTypeGetNumParams(type); i++) {
    if (i > 0)
      mlirxPrint(p, ", ");
    mlirxPrintType(p, type_param(type, i));
  }
  mlirxPrint(p, ">");
}

const MlirxType onnx_seq_type = {"Seq", true, verify_seq, parse_seq, print_params};
const MlirxType onnx_opt_type = {"Opt", true, verify_opt, parse_opt, print_params};
const MlirxType onnx_map_type = {"Map", true, verify_map, parse_map, print_params};
const MlirxType onnx_string_type = {"String", true, NULL, NULL, NULL};

MlirType onnx_seq_get(MlirContext ctx, MlirType of) {
  MlirAttribute param = mlirTypeAttrGet(of);
  return mlirxTypeGet(ctx, &onnx_seq_type, 1, &param);
}

MlirType onnx_opt_get(MlirContext ctx, MlirType of) {
  MlirAttribute param = mlirTypeAttrGet(of);
  return mlirxTypeGet(ctx, &onnx_opt_type, 1, &param);
}

MlirType onnx_map_get(MlirContext ctx, MlirType key, MlirType value) {
  MlirAttribute params[] = {mlirTypeAttrGet(key), mlirTypeAttrGet(value)};
  return mlirxTypeGet(ctx, &onnx_map_type, 2, params);
}

MlirType onnx_string_get(MlirContext ctx) {
  return mlirxTypeGet(ctx, &onnx_string_type, 0, NULL);
}

//===----------------------------------------------------------------------===//
// onnx_type <-> MlirType
//===----------------------------------------------------------------------===//

static const dim *dynamic_dim(dim_context *dims, onnx_dynamic_dim dynamic, void *user,
                              int64_t axis) {
  return dynamic ? dynamic(user, axis) : dim_unknown(dims);
}

static bool tensor_from_mlir(onyx_arena *arena, dim_context *dims, MlirType type,
                             onnx_dynamic_dim dynamic, void *user, onnx_type *out) {
  out->kind = ONYX_TYPE_TENSOR;
  out->elem = onnx_elem_from_mlir(mlirShapedTypeGetElementType(type));
  out->rank = -1;
  if (out->elem == ONYX_ELEM_UNDEFINED)
    return false;
  if (!mlirShapedTypeHasRank(type))
    return true;
  out->rank = (int)mlirShapedTypeGetRank(type);
  out->dims = ONYX_NEW_ARRAY(arena, const dim *, out->rank ? out->rank : 1);
  for (int i = 0; i < out->rank; i++)
    out->dims[i] = mlirShapedTypeIsDynamicDim(type, i)
                       ? dynamic_dim(dims, dynamic, user, i)
                       : dim_const(dims, mlirShapedTypeGetDimSize(type, i));
  return true;
}

// A map's value is an element type, or a scalar tensor of one.
static onyx_elem map_value_elem(MlirType value) {
  return onnx_elem_from_mlir(mlirTypeIsATensor(value) ? mlirShapedTypeGetElementType(value)
                                                      : value);
}

bool onnx_type_from_mlir(onyx_arena *arena, dim_context *dims, MlirType type,
                         onnx_dynamic_dim dynamic, void *user, onnx_type *out) {
  *out = (onnx_type){.kind = ONYX_TYPE_NONE, .rank = -1};
  if (mlirTypeIsATensor(type))
    return tensor_from_mlir(arena, dims, type, dynamic, user, out);
  if (mlirTypeIsANone(type))
    return true;
  bool seq = mlirxTypeIsA(type, &onnx_seq_type), opt = mlirxTypeIsA(type, &onnx_opt_type);
  if (seq || opt) {
    onnx_type *of = ONYX_NEW(arena, onnx_type);
    out->kind = seq ? ONYX_TYPE_SEQ : ONYX_TYPE_OPT;
    out->of = of;
    return onnx_type_from_mlir(arena, dims, type_param(type, 0), NULL, NULL, of);
  }
  if (!mlirxTypeIsA(type, &onnx_map_type))
    return false;
  out->kind = ONYX_TYPE_MAP;
  out->key = onnx_elem_from_mlir(type_param(type, 0));
  out->elem = map_value_elem(type_param(type, 1));
  return out->elem != ONYX_ELEM_UNDEFINED;
}

static MlirType tensor_to_mlir(MlirContext ctx, const onnx_type *type, MlirAttribute encoding) {
  MlirType elem = onnx_elem_to_mlir(ctx, type->elem);
  if (mlirTypeIsNull(elem))
    return elem;
  if (type->rank < 0 || type->rank > ONYX_MAX_RANK)
    return mlirUnrankedTensorTypeGet(elem);
  int64_t shape[ONYX_MAX_RANK];
  for (int i = 0; i < type->rank; i++) {
    int64_t size;
    bool known = type->dims[i] && dim_is_const(type->dims[i], &size) && size >= 0;
    shape[i] = known ? size : mlirShapedTypeGetDynamicSize();
  }
  return mlirRankedTensorTypeGet(type->rank, shape, elem, encoding);
}

MlirType onnx_type_to_mlir(MlirContext ctx, const onnx_type *type, MlirAttribute encoding) {
  switch (type->kind) {
  case ONYX_TYPE_NONE:
    return mlirNoneTypeGet(ctx);
  case ONYX_TYPE_TENSOR:
    return tensor_to_mlir(ctx, type, encoding);
  case ONYX_TYPE_MAP: {
    MlirType key = onnx_elem_to_mlir(ctx, type->key), value = onnx_elem_to_mlir(ctx, type->elem);
    if (mlirTypeIsNull(key) || mlirTypeIsNull(value))
      return (MlirType){0};
    return onnx_map_get(ctx, key, value);
  }
  case ONYX_TYPE_SEQ:
  case ONYX_TYPE_OPT: {
    MlirType of = type->of ? onnx_type_to_mlir(ctx, type->of, (MlirAttribute){0}) : (MlirType){0};
    if (mlirTypeIsNull(of))
      return of;
    return type->kind == ONYX_TYPE_SEQ ? onnx_seq_get(ctx, of) : onnx_opt_get(ctx, of);
  }
  }
  return (MlirType){0};
}

static int find_schema_type(onyx_type_kind kind, onyx_elem elem, onyx_elem key, int of) {
  for (int i = 0; i < onyx_schema_num_types; i++) {
    const onyx_schema_type *t = &onyx_schema_types[i];
    if (t->kind == kind && t->of == of && (of >= 0 || (t->elem == elem && t->key == key)))
      return i;
  }
  return -1;
}

int onnx_schema_type_index(MlirType type) {
  if (mlirTypeIsATensor(type))
    return find_schema_type(ONYX_TYPE_TENSOR,
                            onnx_elem_from_mlir(mlirShapedTypeGetElementType(type)), 0, -1);
  bool seq = mlirxTypeIsA(type, &onnx_seq_type), opt = mlirxTypeIsA(type, &onnx_opt_type);
  if (seq || opt) {
    int of = onnx_schema_type_index(type_param(type, 0));
    return of < 0 ? -1 : find_schema_type(seq ? ONYX_TYPE_SEQ : ONYX_TYPE_OPT, 0, 0, of);
  }
  if (mlirxTypeIsA(type, &onnx_map_type))
    return find_schema_type(ONYX_TYPE_MAP, map_value_elem(type_param(type, 1)),
                            onnx_elem_from_mlir(type_param(type, 0)), -1);
  return -1;
}

//===----------------------------------------------------------------------===//
// #onnx.file<"name", offset, bytes> : type
//===----------------------------------------------------------------------===//

static MlirLogicalResult verify_file(MlirLocation loc, intptr_t n, const MlirAttribute *params) {
  if (n != 4 || !mlirAttributeIsAString(params[0]) || !mlirAttributeIsAInteger(params[1]) ||
      !mlirAttributeIsAInteger(params[2]) || !mlirAttributeIsAType(params[3]))
    return mlirxEmitErrorAt(loc, "#onnx.file: expected a name, an offset, a size and a type");
  int64_t offset = mlirIntegerAttrGetValueInt(params[1]),
          bytes = mlirIntegerAttrGetValueInt(params[2]);
  MlirType type = mlirTypeAttrGetValue(params[3]);
  if (mlirStringAttrGetValue(params[0]).length == 0)
    return mlirxEmitErrorAt(loc, "#onnx.file: expected the name of a file, found \"\"");
  if (offset < 0 || bytes < 0 || offset > INT64_MAX - bytes)
    return mlirxEmitErrorAt(loc, "#onnx.file: offset %lld and size %lld are no range of a file",
                            (long long)offset, (long long)bytes);
  if (!mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type))
    return mlirxEmitErrorAt(loc, "#onnx.file: expected a tensor type of static shape");
  int bits = onyx_elem_bits(onnx_elem_from_mlir(mlirShapedTypeGetElementType(type)));
  if (bits == 0)
    return mlirxEmitErrorAt(loc, "#onnx.file: elements of this type have no fixed size");
  int64_t need = bits;
  bool overflow = false;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); i++)
    overflow |= __builtin_mul_overflow(need, mlirShapedTypeGetDimSize(type, i), &need);
  if (overflow || need > INT64_MAX - 7 || (need + 7) / 8 != bytes)
    return mlirxEmitErrorAt(loc, "#onnx.file: expected %lld bytes for this type, found %lld",
                            (long long)(overflow ? -1 : (need + 7) / 8), (long long)bytes);
  return mlirLogicalResultSuccess();
}

static MlirAttribute parse_file(MlirxAsmParser p, MlirType type) {
  const MlirAttribute null = {0};
  MlirContext ctx = mlirxParserGetContext(p);
  MlirxLoc where = mlirxParserGetCurrentLoc(p);
  int64_t offset, bytes;
  if (mlirLogicalResultIsFailure(mlirxParse(p, MLIRX_LESS)))
    return null;
  MlirAttribute name = mlirxParseAttribute(p, (MlirType){0});
  if (mlirAttributeIsNull(name))
    return null;
  if (!mlirAttributeIsAString(name)) {
    mlirxParserError(p, where, "#onnx.file: expected the name of a file as a string");
    return null;
  }
  if (mlirLogicalResultIsFailure(mlirxParse(p, MLIRX_COMMA)) ||
      mlirLogicalResultIsFailure(mlirxParseInteger(p, &offset)) ||
      mlirLogicalResultIsFailure(mlirxParse(p, MLIRX_COMMA)) ||
      mlirLogicalResultIsFailure(mlirxParseInteger(p, &bytes)) ||
      mlirLogicalResultIsFailure(mlirxParse(p, MLIRX_GREATER)))
    return null;
  if (mlirTypeIsNull(type)) {
    mlirxParserError(p, where, "#onnx.file: expected a type after it");
    return null;
  }
  MlirType i64 = mlirIntegerTypeGet(ctx, 64);
  MlirAttribute params[] = {mlirStringAttrGet(ctx, mlirStringAttrGetValue(name)),
                            mlirIntegerAttrGet(i64, offset), mlirIntegerAttrGet(i64, bytes),
                            mlirTypeAttrGet(type)};
  if (mlirLogicalResultIsFailure(verify_file(mlirxParserGetLocation(p, where), 4, params)))
    return null;
  return mlirxAttrGet(ctx, &onnx_file_attr, 4, params);
}

static void print_file(MlirAttribute attr, MlirxAsmPrinter p) {
  mlirxPrint(p, "<");
  mlirxPrintQuoted(p, mlirStringAttrGetValue(mlirxAttrGetParam(attr, 0)));
  mlirxPrint(p, ", %lld, %lld>", (long long)mlirIntegerAttrGetValueInt(mlirxAttrGetParam(attr, 1)),
             (long long)mlirIntegerAttrGetValueInt(mlirxAttrGetParam(attr, 2)));
}

const MlirxAttr onnx_file_attr = {"file", true, verify_file, parse_file, print_file};

MlirAttribute onnx_file_get(MlirContext ctx, struct onnx_file file) {
  MlirType i64 = mlirIntegerTypeGet(ctx, 64);
  MlirAttribute params[] = {
      mlirStringAttrGet(ctx, file.name), mlirIntegerAttrGet(i64, (int64_t)file.offset),
      mlirIntegerAttrGet(i64, (int64_t)file.bytes), mlirTypeAttrGet(file.type)};
  return mlirxAttrGet(ctx, &onnx_file_attr, 4, params);
}

bool onnx_file_read(MlirAttribute attr, struct onnx_file *out) {
  if (mlirAttributeIsNull(attr) || !mlirxAttrIsA(attr, &onnx_file_attr))
    return false;
  *out = (struct onnx_file){mlirStringAttrGetValue(mlirxAttrGetParam(attr, 0)),
                            (uint64_t)mlirIntegerAttrGetValueInt(mlirxAttrGetParam(attr, 1)),
                            (uint64_t)mlirIntegerAttrGetValueInt(mlirxAttrGetParam(attr, 2)),
                            mlirTypeAttrGetValue(mlirxAttrGetParam(attr, 3))};
  return true;
}

//===----------------------------------------------------------------------===//
// #onnx.layout<{dataLayout = "NCHW16C"}>
//===----------------------------------------------------------------------===//

static MlirStringRef layout_name(MlirAttribute dict) {
  MlirAttribute name =
      mlirDictionaryAttrGetElementByName(dict, mlirStringRefCreateFromCString("dataLayout"));
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name))
    return mlirStringRefCreate("", 0);
  return mlirStringAttrGetValue(name);
}

static MlirLogicalResult verify_layout(MlirLocation loc, intptr_t n, const MlirAttribute *params) {
  if (n != 1 || !mlirAttributeIsADictionary(params[0]) || layout_name(params[0]).length == 0)
    return mlirxEmitErrorAt(loc, "#onnx.layout: expected {dataLayout = \"...\"}");
  return mlirLogicalResultSuccess();
}

static MlirAttribute parse_layout(MlirxAsmParser p, MlirType type) {
  (void)type;
  const MlirAttribute null = {0};
  MlirxLoc where = mlirxParserGetCurrentLoc(p);
  if (mlirLogicalResultIsFailure(mlirxParse(p, MLIRX_LESS)))
    return null;
  MlirAttribute dict = mlirxParseAttribute(p, (MlirType){0});
  if (mlirAttributeIsNull(dict) || mlirLogicalResultIsFailure(mlirxParse(p, MLIRX_GREATER)) ||
      mlirLogicalResultIsFailure(verify_layout(mlirxParserGetLocation(p, where), 1, &dict)))
    return null;
  return mlirxAttrGet(mlirxParserGetContext(p), &onnx_layout_attr, 1, &dict);
}

static void print_layout(MlirAttribute attr, MlirxAsmPrinter p) {
  mlirxPrint(p, "<");
  mlirxPrintAttribute(p, mlirxAttrGetParam(attr, 0));
  mlirxPrint(p, ">");
}

const MlirxAttr onnx_layout_attr = {"layout", false, verify_layout, parse_layout, print_layout};

MlirStringRef onnx_layout_of(MlirType type) {
  if (mlirTypeIsARankedTensor(type)) {
    MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(type);
    if (!mlirAttributeIsNull(encoding) && mlirxAttrIsA(encoding, &onnx_layout_attr))
      return layout_name(mlirxAttrGetParam(encoding, 0));
  }
  return mlirStringRefCreate("", 0);
}
