/* philox.c -- lowers the generator Philox4x32-10 and the numbers made from its words, for kernels and loops.
 *
 * qrandom_block (vm/value/random_block.c) computes the same on the host and has the source. */
#include "lang/kernel/lower/common/common.h"

static KRef emit_cast(Walk *w, qs_dtype to, KRef x) {
    return w->f->ins[x].dtype == to ? x : kbuild_pure(w, (KMake){K_CAST, .own = to, .a = x});
}
static KRef word(Walk *w, uint32_t v) { return kbuild_int(w, QS_U32, v); }

/* Computes both halves of the product of a word and a constant. */
static KRef multiply(Walk *w, KRef x, uint32_t factor, KRef *high) {
    KRef wide = kbuild_op(w, K_MUL, emit_cast(w, QS_U64, x), kbuild_int(w, QS_U64, factor));
    *high = emit_cast(w, QS_U32, kbuild_op(w, K_SHR, wide, kbuild_int(w, QS_U64, 32)));
    return kbuild_op(w, K_MUL, x, word(w, factor));
}

void kphilox_mix(Walk *w, const KRef key[2], KRef x[KPHILOX_WORDS]) {
    KRef k[2] = {key[0], key[1]}, p, q;
    for (int round = 0; round < 10; round++) {
        KRef low_p = multiply(w, x[0], 0xD2511F53, &p), low_q = multiply(w, x[2], 0xCD9E8D57, &q);
        x[0] = kbuild_op(w, K_XOR, kbuild_op(w, K_XOR, q, x[1]), k[0]), x[1] = low_q;
        x[2] = kbuild_op(w, K_XOR, kbuild_op(w, K_XOR, p, x[3]), k[1]), x[3] = low_p;
        k[0] = kbuild_op(w, K_ADD, k[0], word(w, 0x9E3779B9)), k[1] = kbuild_op(w, K_ADD, k[1], word(w, 0xBB67AE85));
    }
}

KRef kphilox_unit(Walk *w, qs_dtype d, const KRef *words) {
    if (d == QS_F32) {
        KRef bits = kbuild_op(w, K_SHR, words[0], word(w, 8));
        return kbuild_op(w, K_MUL, emit_cast(w, d, bits), kbuild_const(w, d, 0x1p-24));
    }
    KRef high = kbuild_op(w, K_SHL, emit_cast(w, QS_I64, words[0]), kbuild_int(w, QS_I64, 21));
    KRef low = emit_cast(w, QS_I64, kbuild_op(w, K_SHR, words[1], word(w, 11)));
    return kbuild_op(w, K_MUL, emit_cast(w, d, kbuild_op(w, K_OR, high, low)), kbuild_const(w, d, 0x1p-53));
}

KRef kphilox_normal(Walk *w, qs_dtype d, KRef u, KRef v, KRef *second) {
    KRef least = kbuild_math(w, MF_log, kbuild_op(w, K_SUB, kbuild_const(w, d, 1), u));
    KRef r = kbuild_math(w, MF_sqrt, kbuild_op(w, K_MUL, kbuild_const(w, d, -2), least));
    KRef angle = kbuild_op(w, K_MUL, kbuild_const(w, d, 6.28318530717958647693), v);
    if (second) *second = kbuild_op(w, K_MUL, r, kbuild_math(w, MF_sin, angle));
    return kbuild_op(w, K_MUL, r, kbuild_math(w, MF_cos, angle));
}
