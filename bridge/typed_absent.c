/* typed_absent.c -- defines what the bridge calls of pyquasar.array_api in a build without it (vm/base/parts.h). */
#include "bridge/bridge.h"

int qtyped_init(PyObject *Py_UNUSED(module)) { return 0; }
