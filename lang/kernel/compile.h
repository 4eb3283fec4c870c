/* compile.h -- from KIR to the bytes that a device loads.
 *
 *     TRY(kcompile(k, func, device, &code));
 *     TRY(device->ops->load(device, &code, &program));
 *     kcompile_free(k, &code);                      a device keeps what it needs
 *
 * CODE_KIR    the KFunc itself, untouched; it must outlive the program
 * CODE_NATIVE an ELF object for this machine, which describes itself (devices/native.h)
 * CODE_PTX    PTX text for device->arch
 * CODE_OPENCL OpenCL C text
 *
 * Each kind is a row in compile.c.  For another language like C see emit_clike.h.
 *
 * Native code and PTX come from the cache on disk when they have been made before: then LLVM is never opened.  The
 * key is the text of the LLVM IR together with target and passes.  To print it takes 0.1 ms, and no change of kernel,
 * compiler or machine goes by it unnoticed.  LLVM's own version is not in the key, because code from one machine shall
 * run on another that has a different LLVM, or none. */
#ifndef LANG_KERNEL_COMPILE_H
#define LANG_KERNEL_COMPILE_H
#include "devices/device.h"
#include "lang/kernel/ir/kfunc.h"

typedef struct KCompiler KCompiler; /* one per machine: the cache on disk, LLVM once it is needed */

/* cache_dir: NULL the usual place ($QUASAR_CACHE_DIR, $XDG_CACHE_HOME/quasar, ~/.cache/quasar), "" no cache on
 * disk. */
KCompiler *kcompile_open(Ctx *c, const char *cache_dir);
void kcompile_close(KCompiler *k);

/* What f, which promises the bits of the host (KFunc.strict), computes by a function that such a device has otherwise
 * than the C library; NULL: nothing. */
const char *kcompile_differs(const KFunc *f, CodeKind kind);
/* The code of f for d.  Errors: QS_EDEVICE when LLVM is needed and absent (the sentence says what to install), and when
 * a function differs. */
qs_status kcompile(KCompiler *k, const KFunc *f, const Device *d, Code *out);
void kcompile_free(KCompiler *k, Code *code);
/* The code of f for a machine that need not be here: "sm_90" or what else target.h lists. */
qs_status kcompile_ahead(KCompiler *k, const KFunc *f, const char *target, Code *out);
struct Cache *kcompile_cache(KCompiler *k); /* who has bundles shows them to it (cache.h) */
/* Code that a driver reads, and may refuse, can be made with `lines`, for the place of what it refuses.  In the cache
 * it has no positions, for its key would change with every line above a kernel.  So LLVM makes the text again with
 * `.loc`, past the cache, and the driver refuses that as well: its log then speaks of the text whose lines are known.
 * A position in the source stands there as the number of a line.  Only of kinds that kcompile_locates. */
bool kcompile_locates(CodeKind kind);
qs_status kcompile_located(KCompiler *k, const KFunc *f, const Device *d, Code *out);

/* What --dump shows: "llvm" the IR as emitted, "opt" after LLVM's passes, "asm" machine code or PTX as text, "cl"
 * OpenCL C, "c" a program in C99 (emit_c.c). */
qs_status kcompile_text(KCompiler *k, const KFunc *f, const Device *d, const char *stage, Text *out);
#endif
