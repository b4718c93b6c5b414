//===- Dialect.cpp - A dialect from C tables -----------------------------------------===//
//
// Needless once mlir-c can define dialects.
//
//===----------------------------------------------------------------------===//

#include "Seam.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace {

class TableDialect final : public ExtensibleDialect {
public:
  TableDialect(MLIRContext *context, const MlirxDialect *descriptor)
      : ExtensibleDialect(descriptor->name, context, onyx::idOf(descriptor)),
        descriptor(descriptor) {
    for (const char *const *name = descriptor->dependentDialects; name && *name; ++name)
      context->getOrLoadDialect(*name);
    for (const MlirxType *const *type = descriptor->types; type && *type; ++type) {
      addType(onyx::idOf(*type), onyx::abstractType(*this, *type));
      onyx::registerStorage(context, *type);
    }
    for (const MlirxAttr *const *attr = descriptor->attrs; attr && *attr; ++attr) {
      addAttribute(onyx::idOf(*attr), onyx::abstractAttribute(*this, *attr));
      onyx::registerStorage(context, *attr);
    }
    for (size_t i = 0; i < descriptor->numOps; ++i)
      onyx::registerOp(this, descriptor->ops[i]);
    onyx::addDialectInterfaces(this, descriptor);
  }

  Type parseType(DialectAsmParser &parser) const override {
    return onyx::parseType(parser, descriptor);
  }
  void printType(Type type, DialectAsmPrinter &printer) const override {
    onyx::printType(type, printer);
  }
  Attribute parseAttribute(DialectAsmParser &parser, Type type) const override {
    return onyx::parseAttribute(parser, type, descriptor);
  }
  void printAttribute(Attribute attr, DialectAsmPrinter &printer) const override {
    onyx::printAttribute(attr, printer);
  }

  Operation *materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                 Location loc) override {
    if (!descriptor->materializeConstant)
      return nullptr;
    Operation *op = unwrap(descriptor->materializeConstant(wrap(builder.getContext()), wrap(value),
                                                           wrap(type), wrap(loc)));
    return op ? builder.insert(op) : nullptr;
  }

  LogicalResult verifyOperationAttribute(Operation *op, NamedAttribute attr) override {
    return verifyAttribute(op, -1, attr);
  }
  LogicalResult verifyRegionArgAttribute(Operation *op, unsigned, unsigned arg,
                                         NamedAttribute attr) override {
    return verifyAttribute(op, arg, attr);
  }
  LogicalResult verifyRegionResultAttribute(Operation *, unsigned, unsigned,
                                            NamedAttribute) override {
    return success();
  }

private:
  LogicalResult verifyAttribute(Operation *op, intptr_t arg, NamedAttribute attr) {
    if (!descriptor->verifyAttribute)
      return success();
    return unwrap(descriptor->verifyAttribute(
        wrap(op), arg, MlirNamedAttribute{wrap(attr.getName()), wrap(attr.getValue())}));
  }

  const MlirxDialect *descriptor;
};

} // namespace

void onyx::registerDialect(DialectRegistry &registry, MlirxDialect *descriptor) {
  prepare(descriptor);
  registry.insert(idOf(descriptor), descriptor->name, [descriptor](MLIRContext *context) {
    return context->getOrLoadDialect(descriptor->name, idOf(descriptor), [&] {
      return std::make_unique<TableDialect>(context, descriptor);
    });
  });
}
