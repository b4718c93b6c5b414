// Result types of operators whose domain the schema table does not know.
#ifndef ONYX_IMPORTER_CUSTOM_H
#define ONYX_IMPORTER_CUSTOM_H

#include "importer/ir.h"

// As the model declares them; else as a short table of com.microsoft's operators says; else that of
// the first operand of floats, or of the first operand. Ends the import when nothing says it.
void custom_types(import *im, node *n);

#endif
