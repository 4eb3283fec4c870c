/* ir_workarounds.h -- the text of a module for NVIDIA or AMD devices, or aarch64, after all passes, before code is
 * made of it.
 *
 * Three things that LLVM gets wrong are said in other words here, where no pass turns them back.  It is done on the
 * text, because that is what every LLVM has in common that we open (llvm.h, llvmlite.h).
 *
 *   sitofp i1          is -1 or 0; of a truth value that is no plain comparison the code would make 1 or 0.  It becomes
 *                      a select.
 *   x < 0 ? x : 0      would become min.f32, or v_min_f32, which takes -0 for less than 0.  A comparison does not tell
 *                      the zeros apart, so that it can be with the other one, which is not taken for a minimum.
 *   n < 64 ? x << n : 0  would become shl.b64, whose count has 32 bits, by the low half of n (LLVM 22).  With n & 63 it
 *                      stays the choice that it is; an n that was extended from 32 bits is left alone.
 *
 * And what is said of the kernel (its name, the threads of a block) gets its name in LLVM here.  Until 19, LLVM keeps
 * what it has read of that under the address of the module until code was made of it: of a module that is given up
 * before, because this text takes its place, the next one at that address would inherit it. */
#ifndef DEVICES_IR_WORKAROUNDS_H
#define DEVICES_IR_WORKAROUNDS_H
#include "vm/base/ctx.h"

enum { IRMEND_EDITION = 1 }; /* goes up with what is mended: code that is kept on disk was made by one of them */
#define IRMEND_ANNOTATIONS "quasar.annotations" /* in the text that comes in, for nvvm.annotations */

/* The lines of ir are taken apart in place. */
void qirfix_gpu(char *ir, Text *out);

/* On aarch64 x < 0 ? x : 0 would become fminnm, of numbers and of vectors.  There the choice is by a frozen test, which
 * LLVM does not take for that of a minimum, and which costs nothing. */
void qirfix_aarch64(char *ir, Text *out);
#endif
