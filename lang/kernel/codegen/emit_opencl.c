/* emit_opencl.c -- prints a kernel in OpenCL C 1.2, a dialect of emit_clike.c.
 *
 * The first line lists properties of the kernel for the device: quasar: exact fault fp64 atom64 serial fast
 * (devices/opencl.c).  Atomic updates are native if OpenCL 1.2 has them, otherwise loops with compare and exchange. */
#include "lang/kernel/codegen/emit_clike.h"

static void head(const Clike *e, Text *out) {
    const KFunc *f = e->f;
    qtext_printf(out, "/* quasar:%s%s%s%s%s%s */\n", e->exact ? " exact" : "", e->fault ? " fault" : "",
                 e->fp64 ? " fp64" : "", e->atom64 ? " atom64" : "", f->serial ? " serial" : "",
                 f->fast ? " fast" : "");
    if (e->fp64) qtext_puts(out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    if (!kir_contracts(f)) qtext_puts(out, "#pragma OPENCL FP_CONTRACT OFF\n");
    if (e->atom64) qtext_puts(out, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n");
}

static const Dialect opencl = {
    .words = {"long", "ulong", "uint", "ushort", "uchar", "__global ", "__local ", "__kernel void"},
    .types =
        {
#define DTYPE(id, name, c, bytes, class, opencl, ...) [QS_##id] = opencl,
#include "vm/base/dtypes.def"
        },
    .suffix = "L",
    .pipeline = PIPELINE_OPENCL,
    .groups = true,
    .head = head};

qs_status kemit_opencl(Ctx *c, const KFunc *f, Text *out, Text *lines) {
    kclike_print(c, &opencl, f, KEMIT_OPENCL_ENTRY, out, lines);
    return QS_OK;
}
