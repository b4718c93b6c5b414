//===- Seam.h - What the plugin's C++ files share --------------------------------===//
//
// C descriptors (mlirx.h) on one side, MLIR's C++ classes on the other. No state, no exceptions,
// no RTTI; each class forwards to a descriptor.
//
//===----------------------------------------------------------------------===//
#ifndef ONYX_PLUGIN_SEAM_H
#define ONYX_PLUGIN_SEAM_H

#include "mlirx/mlirx.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ExtensibleDialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/OperationSupport.h"

#include <cstdarg>
#include <string>

namespace onyx {

inline mlir::TypeID idOf(const void *descriptor) {
  return mlir::TypeID::getFromOpaquePointer(descriptor);
}

// Marks table ops in their interface map: any op with it has its descriptor's address as TypeID.
struct TableOpMarker {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TableOpMarker)
  struct Model {
    using Interface = TableOpMarker;
  };
  static mlir::TypeID getInterfaceID() { return mlir::TypeID::get<TableOpMarker>(); }
};

// The descriptor of an op that is known to be a table op.
inline const MlirxOp *descriptorOf(mlir::Operation *op) {
  return static_cast<const MlirxOp *>(op->getName().getTypeID().getAsOpaquePointer());
}

// Op.cpp
void registerOp(mlir::Dialect *dialect, const MlirxOp *descriptor);
// Interfaces.cpp
mlir::detail::InterfaceMap interfacesOf(const MlirxOp *descriptor);
mlir::LogicalResult verifyInterfaces(const MlirxOp *descriptor, mlir::Operation *op);
void addDialectInterfaces(mlir::Dialect *dialect, const MlirxDialect *descriptor);
// Types.cpp
mlir::detail::InterfaceMap interfacesOf(const MlirxType *descriptor);
mlir::AbstractType abstractType(mlir::Dialect &dialect, const MlirxType *descriptor);
mlir::AbstractAttribute abstractAttribute(mlir::Dialect &dialect, const MlirxAttr *descriptor);
void registerStorage(mlir::MLIRContext *context, const MlirxType *descriptor);
void registerStorage(mlir::MLIRContext *context, const MlirxAttr *descriptor);
mlir::Type parseType(mlir::DialectAsmParser &parser, const MlirxDialect *dialect);
void printType(mlir::Type type, mlir::DialectAsmPrinter &printer);
mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser, mlir::Type type,
                               const MlirxDialect *dialect);
void printAttribute(mlir::Attribute attribute, mlir::DialectAsmPrinter &printer);
// Dialect.cpp
void prepare(MlirxDialect *descriptor); // once a process
void registerDialect(mlir::DialectRegistry &registry, MlirxDialect *descriptor);
// Makes the dialect available under its name; false when this library knows none of that name.
bool registerByName(mlir::DialectRegistry &registry, llvm::StringRef name);
// Passes.cpp, Pipelines.cpp
void registerPass(const MlirxPassDescriptor *descriptor);
void registerPipeline(const MlirxPipeline *descriptor);

// Behind MlirxAsmParser: `op` and `state` are null while a type or an attribute is parsed.
struct ParserState {
  mlir::AsmParser &base;
  mlir::OpAsmParser *op = nullptr;
  mlir::OperationState *state = nullptr;
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands = {};
  llvm::SmallVector<mlir::OpAsmParser::Argument> arguments = {};
};

// Behind MlirxAsmPrinter: `op` is null while a type or an attribute is printed.
struct PrinterState {
  mlir::AsmPrinter &base;
  mlir::OpAsmPrinter *op = nullptr;
};

std::string format(const char *fmt, va_list args); // printf into a string

} // namespace onyx

#endif // ONYX_PLUGIN_SEAM_H
