//===- Types.cpp - Types and attributes from C descriptors --------------------------===//
//
// A type is its descriptor (the TypeID) and a list of attributes. Needless once mlir-c can
// register parametric types and attributes.
//
//===----------------------------------------------------------------------===//

#include "Seam.h"

#include "mlir/IR/AttributeSupport.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeSupport.h"

using namespace mlir;

namespace {

// Parameters in the uniquer's memory.
template <typename Base> struct Storage : Base {
  using KeyTy = ArrayRef<Attribute>;
  explicit Storage(KeyTy params) : params(params) {}
  bool operator==(const KeyTy &key) const { return key == params; }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine_range(key.begin(), key.end());
  }
  static Storage *construct(StorageUniquer::StorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<Storage>()) Storage(allocator.copyInto(key));
  }
  KeyTy params;
};

struct TableType : Type {
  using ImplType = Storage<TypeStorage>;
  using Type::Type;
  ArrayRef<Attribute> params() const { return static_cast<ImplType *>(impl)->params; }
};

struct TableAttr : Attribute {
  using ImplType = Storage<AttributeStorage>;
  using Attribute::Attribute;
  ArrayRef<Attribute> params() const { return static_cast<ImplType *>(impl)->params; }
};

ArrayRef<Attribute> paramsOf(Type type) {
  return TableType(type.getImpl()).params();
}
ArrayRef<Attribute> paramsOf(Attribute attr) {
  return TableAttr(attr.getImpl()).params();
}

Type getType(MLIRContext *context, TypeID id, ArrayRef<Attribute> params) {
  return detail::TypeUniquer::getWithTypeID<TableType>(context, id, params);
}
Attribute getAttr(MLIRContext *context, TypeID id, ArrayRef<Attribute> params) {
  return detail::AttributeUniquer::getWithTypeID<TableAttr>(context, id, params);
}

void walkType(Type type, function_ref<void(Attribute)> walkAttr, function_ref<void(Type)>) {
  for (Attribute param : paramsOf(type))
    walkAttr(param);
}
Type replaceType(Type type, ArrayRef<Attribute> params, ArrayRef<Type>) {
  return getType(type.getContext(), type.getTypeID(), params);
}
void walkAttribute(Attribute attr, function_ref<void(Attribute)> walkAttr,
                   function_ref<void(Type)>) {
  for (Attribute param : paramsOf(attr))
    walkAttr(param);
}
Attribute replaceAttribute(Attribute attr, ArrayRef<Attribute> params, ArrayRef<Type>) {
  return getAttr(attr.getContext(), attr.getTypeID(), params);
}

struct MemRefElementModel : MemRefElementTypeInterface::FallbackModel<MemRefElementModel> {};

struct TypedModel : TypedAttr::FallbackModel<TypedModel> {
  Type getType(Attribute attr) const {
    ArrayRef<Attribute> params = paramsOf(attr);
    auto type = params.empty() ? TypeAttr() : dyn_cast<TypeAttr>(params.back());
    return type ? type.getValue() : Type(NoneType::get(attr.getContext()));
  }
};

const MlirxType *descriptorOfType(Type type) {
  return static_cast<const MlirxType *>(type.getTypeID().getAsOpaquePointer());
}
const MlirxAttr *descriptorOfAttr(Attribute attr) {
  return static_cast<const MlirxAttr *>(attr.getTypeID().getAsOpaquePointer());
}

template <typename Descriptor>
const Descriptor *find(const Descriptor *const *table, StringRef name) {
  for (; table && *table; ++table)
    if (name == (*table)->name)
      return *table;
  return nullptr;
}

SmallVector<MlirAttribute> wrapAll(ArrayRef<Attribute> params) {
  SmallVector<MlirAttribute> wrapped;
  for (Attribute param : params)
    wrapped.push_back(wrap(param));
  return wrapped;
}

template <typename Descriptor>
LogicalResult verify(const Descriptor *descriptor, DialectAsmParser &parser, llvm::SMLoc loc,
                     ArrayRef<Attribute> params) {
  if (!descriptor->verify)
    return success();
  SmallVector<MlirAttribute> wrapped = wrapAll(params);
  return unwrap(
      descriptor->verify(wrap(parser.getEncodedSourceLoc(loc)), wrapped.size(), wrapped.data()));
}

} // namespace

AbstractType onyx::abstractType(Dialect &dialect, const MlirxType *descriptor) {
  detail::InterfaceMap interfaces;
  if (descriptor->memrefElement)
    interfaces.insertModels<MemRefElementModel>();
  return AbstractType::get(
      dialect, std::move(interfaces), [](TypeID) { return false; }, walkType, replaceType,
      idOf(descriptor), descriptor->name);
}

AbstractAttribute onyx::abstractAttribute(Dialect &dialect, const MlirxAttr *descriptor) {
  detail::InterfaceMap interfaces;
  if (descriptor->typed)
    interfaces.insertModels<TypedModel>();
  return AbstractAttribute::get(
      dialect, std::move(interfaces), [](TypeID) { return false; }, walkAttribute, replaceAttribute,
      idOf(descriptor), descriptor->name);
}

void onyx::registerStorage(MLIRContext *context, const MlirxType *descriptor) {
  detail::TypeUniquer::registerType<TableType>(context, idOf(descriptor));
}

void onyx::registerStorage(MLIRContext *context, const MlirxAttr *descriptor) {
  detail::AttributeUniquer::registerAttribute<TableAttr>(context, idOf(descriptor));
}

Type onyx::parseType(DialectAsmParser &parser, const MlirxDialect *dialect) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (failed(parser.parseKeyword(&name)))
    return {};
  const MlirxType *descriptor = find(dialect->types, name);
  if (!descriptor) {
    parser.emitError(loc) << "dialect '" << dialect->name << "' has no type '" << name << "'";
    return {};
  }
  if (!descriptor->parse)
    return getType(parser.getContext(), idOf(descriptor), {});
  ParserState state{parser};
  Type type = unwrap(descriptor->parse(MlirxAsmParser{&state}));
  if (!type || failed(verify(descriptor, parser, loc, paramsOf(type))))
    return {};
  return type;
}

void onyx::printType(Type type, DialectAsmPrinter &printer) {
  const MlirxType *descriptor = descriptorOfType(type);
  printer << descriptor->name;
  PrinterState state{printer};
  if (descriptor->print)
    descriptor->print(wrap(type), MlirxAsmPrinter{&state});
}

Attribute onyx::parseAttribute(DialectAsmParser &parser, Type type, const MlirxDialect *dialect) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (failed(parser.parseKeyword(&name)))
    return {};
  const MlirxAttr *descriptor = find(dialect->attrs, name);
  if (!descriptor) {
    parser.emitError(loc) << "dialect '" << dialect->name << "' has no attribute '" << name << "'";
    return {};
  }
  if (!descriptor->parse)
    return getAttr(parser.getContext(), idOf(descriptor), {});
  ParserState state{parser};
  Attribute attr = unwrap(descriptor->parse(MlirxAsmParser{&state}, wrap(type)));
  if (!attr || failed(verify(descriptor, parser, loc, paramsOf(attr))))
    return {};
  return attr;
}

void onyx::printAttribute(Attribute attr, DialectAsmPrinter &printer) {
  const MlirxAttr *descriptor = descriptorOfAttr(attr);
  printer << descriptor->name;
  PrinterState state{printer};
  if (descriptor->print)
    descriptor->print(wrap(attr), MlirxAsmPrinter{&state});
}

MlirType mlirxTypeGet(MlirContext context, const MlirxType *descriptor, intptr_t n,
                      const MlirAttribute *params) {
  SmallVector<Attribute> storage;
  return wrap(getType(unwrap(context), onyx::idOf(descriptor), unwrapList(n, params, storage)));
}
intptr_t mlirxTypeGetNumParams(MlirType type) {
  return paramsOf(unwrap(type)).size();
}
MlirAttribute mlirxTypeGetParam(MlirType type, intptr_t i) {
  return wrap(paramsOf(unwrap(type))[i]);
}

MlirAttribute mlirxAttrGet(MlirContext context, const MlirxAttr *descriptor, intptr_t n,
                           const MlirAttribute *params) {
  SmallVector<Attribute> storage;
  return wrap(getAttr(unwrap(context), onyx::idOf(descriptor), unwrapList(n, params, storage)));
}
intptr_t mlirxAttrGetNumParams(MlirAttribute attr) {
  return paramsOf(unwrap(attr)).size();
}
MlirAttribute mlirxAttrGetParam(MlirAttribute attr, intptr_t i) {
  return wrap(paramsOf(unwrap(attr))[i]);
}

MlirTypeID mlirxAttributeGetTypeID(MlirAttribute attr) {
  return wrap(unwrap(attr).getTypeID());
}
