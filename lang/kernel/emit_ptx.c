#include "lang/kernel/emit_llvm.h"
qs_status emit_ptx(Emit *e, Text *out) { (void)out; return qerr_set(e->c, QS_EDEVICE, "kernels for NVIDIA devices cannot be made yet"); }
