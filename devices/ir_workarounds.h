/* ir_workarounds.h -- rewrites optimized IR text around code generator bugs of LLVM, for NVIDIA and aarch64.
 *
 * The text is rewritten after all passes, so that no pass undoes the changes, and before code generation.  Text is the
 * only representation that all supported libraries share (llvm.h, llvmlite.h).  For GPUs three patterns are replaced:
 *
 *   sitofp i1           must be -1 or 0.  If the operand is not a comparison, the generated code would give 1 or 0.  It
 *                       becomes a select.
 *   x < 0 ? x : 0       would become min.f32, which treats -0 as less than +0.  The comparison does not distinguish
 *                       the zeros, so it is changed to the other zero, which is not matched as a minimum.
 *   n < 64 ? x << n : 0 would become shl.b64 by the low half of n, because its count has 32 bits (LLVM 22).  With the
 *                       count n & 63 the select remains.  An n that was extended from 32 bits is not changed.
 *
 * The kernel's annotations (its name, the threads of a block) also get their LLVM name here.  Until version 19, LLVM
 * caches annotations by the address of the module until code generation.  If a module with annotations were discarded
 * in favour of this text, the next module at the same address would inherit them. */
#ifndef DEVICES_IR_WORKAROUNDS_H
#define DEVICES_IR_WORKAROUNDS_H
#include "vm/base/ctx.h"

enum { IRMEND_EDITION = 1 }; /* version of the workarounds, part of the cache key; increment it with each change */
#define IRMEND_ANNOTATIONS "quasar.annotations" /* name of nvvm.annotations in the input */

/* Rewrites IR for a GPU.  ir is modified: its lines are separated in place. */
void qirfix_gpu(char *ir, Text *out);

/* Rewrites IR for aarch64, where x < 0 ? x : 0 would become fminnm, for scalars and vectors.  The condition of the
 * select is frozen, so that LLVM does not match it as a minimum; the freeze generates no code. */
void qirfix_aarch64(char *ir, Text *out);
#endif
