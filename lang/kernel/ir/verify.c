/* verify.c -- checks that KIR is well-formed.
 *
 * Checks that regions nest and close, that every operand is a value in scope, that dtypes and immediates fit the
 * op, and that sizes are within limits.  The evaluator and the backends rely on it.  It cannot detect errors that
 * depend on values:  an index out of range, or a barrier in divergent control flow. */
#include "lang/kernel/ir/kir.h"

#include <stdio.h>

enum { MAX_ARRAY = 1 << 20 /* elements of all LARRAYs, and of all SHAREDs */ };

typedef struct {
    uint8_t op;
    bool has_else;
    uint32_t start;
} Region; /* values from `start` on go out of scope at its end */

typedef struct {
    Ctx *ctx;
    const KFunc *f;
    uint32_t at; /* the current instruction */
    Region region[KIR_MAX_NESTING];
    int depth, loops;
    uint64_t larray, shared; /* number of elements so far */
    uint32_t *until;         /* by instruction: where its value went out of scope; 0: it is in scope */
} Verifier;

static qs_status QS_PRINTF(2, 3) fault(const Verifier *v, const char *fmt, ...) {
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const KIns *i = &v->f->ins[v->at];
    Where w = {v->f->src, i->pos};
    if (!v->at) return qerr_at(v->ctx, QS_EINTERNAL, w, "kernel %s: %s", v->f->name->s, text);
    return qerr_at(v->ctx, QS_EINTERNAL, w, "kernel %s, instruction %%%u (%s): %s", v->f->name->s, v->at,
                   i->op < K__COUNT ? kir_ops[i->op].name : "?", text);
}

/* -- header -------------------------------------------------------------------------------------------------------- */
static qs_status check_header(Verifier *v) {
    const KFunc *f = v->f;
    if (f->rank < 1 || f->rank > QS_MAX_RANK) return fault(v, "launch rank %d", f->rank);
    if (f->nregions != f->nins) return fault(v, "its regions are not matched");
    for (int i = 0; f->fixed_block && i < f->rank; i++)
        if (f->block[i] < 1) return fault(v, "block extent %d", f->block[i]);
    for (int i = 0; i < f->nparams; i++) {
        const KParam *p = &f->params[i];
        if (p->kind == KP_NUM && kir_is_value_dtype(p->dtype)) continue;
        if (p->kind == KP_ARRAY && p->dtype < QS_NDTYPES && p->rank >= 1 && p->rank <= QS_MAX_RANK) continue;
        return fault(v, "parameter %d is malformed", i);
    }
    return QS_OK;
}

/* -- immediates and flags ------------------------------------------------------------------------------------------ */
static const KParam *array_param(const Verifier *v, uint64_t n) {
    return n < (uint64_t)v->f->nparams && v->f->params[n].kind == KP_ARRAY ? &v->f->params[n] : NULL;
}

static bool canonical_bits(qs_dtype d, uint64_t imm) {
    KSlot s = {imm};
    switch (d) {
    case QS_B1: return imm <= 1;
    case QS_I32: return s.I64 == s.I32;
    case QS_U32:
    case QS_F32: return imm <= UINT32_MAX;
    default: return true;
    }
}

static qs_status check_param(const Verifier *v, const KIns *i) {
    if (i->imm >= (uint64_t)v->f->nparams) return fault(v, "there is no parameter %llu", (unsigned long long)i->imm);
    const KParam *p = &v->f->params[i->imm];
    if ((p->kind == KP_NUM) != (i->op == K_PARAM)) return fault(v, "parameter %s is of the wrong kind", p->name->s);
    if (i->op == K_PARAM && i->dtype != p->dtype) return fault(v, "parameter %s has another dtype", p->name->s);
    return QS_OK;
}

static qs_status check_imm(const Verifier *v, const KIns *i) {
    const KParam *p;
    switch ((KImmUse)kir_ops[i->op].imm) {
    case KI_none: return i->imm ? fault(v, "takes no immediate") : QS_OK;
    case KI_bits: return canonical_bits((qs_dtype)i->dtype, i->imm) ? QS_OK : fault(v, "bits beyond the dtype");
    case KI_param: return check_param(v, i);
    case KI_axis: return i->imm < (uint64_t)v->f->rank ? QS_OK : fault(v, "the launch has %d axes", v->f->rank);
    case KI_dim:
        p = array_param(v, i->imm >> 8);
        if (!p || (i->imm & 255) >= p->rank) return fault(v, "there is no such array axis");
        return i->op == K_STRIDE && p->contiguous
                   ? fault(v, "%s is contiguous: its strides follow from its extents", p->name->s)
                   : QS_OK;
    case KI_count:
        return i->imm >= 1 && i->imm <= MAX_ARRAY ? QS_OK
                                                  : fault(v, "an array of %llu elements", (unsigned long long)i->imm);
    case KI_depth: return i->imm < (uint64_t)v->loops ? QS_OK : fault(v, "there are %d loops around it", v->loops);
    case KI_slot: return i->imm < KIR_SLOTS ? QS_OK : fault(v, "there are at most %d arguments", KIR_SLOTS);
    case KI_callee:
        return !v->f->ncallees || i->imm < (uint64_t)v->f->ncallees ? QS_OK : fault(v, "there is no such function");
    case KI_message: return i->imm < (uint64_t)v->f->nmessages ? QS_OK : fault(v, "there is no such message");
    }
    return QS_OK;
}

static qs_status check_flag(const Verifier *v, const KIns *i) {
    bool ok = false;
    switch ((KFlagUse)kir_ops[i->op].flag) {
    case KF_none: ok = i->flag == 0; break;
    case KF_zeroed: ok = i->flag <= 1; break;
    case KF_order:
        ok = i->flag <= KFLAG_REASSOC || (i->flag == KFLAG_ZEROS && (i->op == K_MIN || i->op == K_MAX)) ||
             (i->flag >= KFLAG_FIXED && i->flag <= KFLAG_AHEAD && i->op == K_FOR);
        break;
    case KF_atomic: ok = i->flag < KA__COUNT; break;
    case KF_access: ok = i->flag < ACC__COUNT && qaccess_is_mapped((AccessMode)i->flag); break;
    case KF_math: ok = i->flag < MF__COUNT && (kir_math[i->flag].nargs == 2) == (i->b != 0); break;
    }
    return ok ? QS_OK : fault(v, "flag %u", i->flag);
}

/* -- operands ------------------------------------------------------------------------------------------------------ */
static qs_status check_operand(const Verifier *v, KArgUse use, KRef r) {
    if (use == KARG__) return r ? fault(v, "takes no operand there") : QS_OK;
    if (!r) return use == KARG_o ? QS_OK : fault(v, "an operand is absent");
    if (r >= v->at) return fault(v, "operand %%%u comes later", r);
    if (!kir_has_result(&v->f->ins[r]))
        return fault(v, "operand %%%u (%s) has no value", r, kir_ops[v->f->ins[r].op].name);
    return v->until[r] ? fault(v, "operand %%%u went out of sight at %%%u", r, v->until[r]) : QS_OK;
}

static bool is_container(uint8_t op) { return op == K_LOCAL || op == K_LARRAY || op == K_SHARED; }

/* Checks that only instructions for memory take LOCAL, LARRAY and SHARED, and only as operand a. */
static qs_status check_containers(const Verifier *v, const KIns *i) {
    const KIns *ins = v->f->ins;
    bool local = i->op == K_GET || i->op == K_SET, array = i->op == K_ALOAD || i->op == K_ASTORE;
    uint8_t a = ins[i->a].op;
    if (local && a != K_LOCAL) return fault(v, "%%%u is no LOCAL", i->a);
    if (array && a != K_LARRAY && a != K_SHARED) return fault(v, "%%%u is no LARRAY or SHARED", i->a);
    bool shared = i->op == K_AATOMIC || i->op == K_AFETCH;
    if (shared && a != K_SHARED) return fault(v, "%%%u is not SHARED", i->a);
    bool a_ok = local || array || shared || !i->a || !is_container(a);
    bool bc_ok = (!i->b || !is_container(ins[i->b].op)) && (!i->c || !is_container(ins[i->c].op));
    return a_ok && bc_ok ? QS_OK : fault(v, "takes a value, not the memory itself: use GET or ALOAD");
}

static qs_status want(const Verifier *v, bool ok, const char *what) { return ok ? QS_OK : fault(v, "%s", what); }

static bool is_num(qs_dtype d) { return d != QS_B1 && kir_is_value_dtype(d); }
static bool is_float(qs_dtype d) { return d == QS_F32 || d == QS_F64; }
static bool is_index(qs_dtype d) { return d == QS_I32 || d == QS_I64; }
static bool is_bits(qs_dtype d) { return d == QS_B1 || qdtype_is_int(d); }

static qs_status check_atomic(const Verifier *v, KAtomic op, qs_dtype d) {
    if (op == KA_AND || op == KA_OR || op == KA_XOR)
        return want(v, is_bits(d), "a bitwise atomic wants integers or bool");
    if (op == KA_POW) return want(v, is_float(d), "an atomic power wants floats");
    if (op > KA_POW) return fault(v, "%s wants a FETCH", kir_atomic_name(op));
    return want(v, is_num(d), "an arithmetic atomic wants numbers");
}

/* Checks the operator and the value of a FETCH or AFETCH of an element of dtype d. */
static qs_status check_fetch(const Verifier *v, const KIns *i, qs_dtype d, KRef value) {
    bool bitwise = i->flag == KA_AND || i->flag == KA_OR || i->flag == KA_XOR || i->flag == KA_CAS;
    bool expects = v->f->ins[value].op == K_EXPECT;
    TRY(want(v, i->flag != KA_MUL && i->flag != KA_DIV && i->flag != KA_POW, "this operator has no FETCH"));
    TRY(want(v, is_num(d) && !(bitwise && is_float(d)), "the operator does not take the dtype"));
    return want(v, expects == (i->flag == KA_CAS), "cas, and nothing else, wants an EXPECT");
}

static qs_status check_memory(const Verifier *v, const KIns *i) {
    const KIns *ins = v->f->ins;
    KRef guard = i->op == K_LOAD ? i->b : i->c;
    qs_dtype d = kir_value_dtype(v->f->params[i->imm].dtype), value = i->op == K_LOAD ? i->dtype : ins[i->b].dtype;
    TRY(want(v, ins[i->a].dtype == QS_I64, "the index must be int64"));
    TRY(want(v, !guard || ins[guard].dtype == QS_B1, "the guard must be bool"));
    TRY(want(v, value == d, "the value must have the array's value dtype"));
    if (i->op == K_FETCH) {
        qs_dtype elem = qdtype_real_of((qs_dtype)v->f->params[i->imm].dtype);
        TRY(want(v, i->dtype == d && elem == d, "wants elements of 32 or 64 bits, and gives their dtype"));
        return check_fetch(v, i, d, i->b);
    }
    return i->op == K_ATOMIC ? check_atomic(v, (KAtomic)i->flag, d) : QS_OK;
}

static qs_status check_dtypes(const Verifier *v, const KIns *i) {
    const KIns *ins = v->f->ins;
    qs_dtype d = (qs_dtype)i->dtype, a = (qs_dtype)ins[i->a].dtype, b = (qs_dtype)ins[i->b].dtype,
             c = (qs_dtype)ins[i->c].dtype;
    switch ((KOp)i->op) {
    case K_POS: return want(v, is_index(d), "must be int or int64");
    case K_BLKPOS:
    case K_BLKDIM:
    case K_BLKIDX:
    case K_BLKCNT: return want(v, d == QS_I32, "must be int");
    case K_SET: return want(v, a == b, "the value has another dtype than the LOCAL");
    case K_ALOAD: return want(v, is_index(b), "the index must be int or int64");
    case K_ASTORE: return want(v, is_index(b) && a == c, "wants an int index and a value of the array's dtype");
    case K_AATOMIC:
        TRY(want(v, is_index(b) && a == c, "wants an int index and a value of the array's dtype"));
        return check_atomic(v, (KAtomic)i->flag, a);
    case K_AFETCH:
        TRY(want(v, is_index(b) && a == c, "wants an int index and a value of the array's dtype"));
        return check_fetch(v, i, a, i->c);
    case K_EXPECT: return want(v, is_num(a) && a == b && !is_float(a), "wants two integers of one dtype");
    case K_LOAD:
    case K_STORE:
    case K_FETCH:
    case K_ATOMIC: return check_memory(v, i);
    case K_BOUND:
    case K_INB: return want(v, a == QS_I64 && b == QS_I64, "wants int64");
    case K_ADD:
    case K_SUB:
    case K_MUL:
    case K_DIV:
    case K_MOD:
    case K_MIN:
    case K_MAX:
    case K_LT:
    case K_LE: return want(v, is_num(a) && a == b, "wants two numbers of one dtype");
    case K_NEG:
    case K_ABS: return want(v, is_num(a), "wants a number");
    case K_AND:
    case K_OR:
    case K_XOR: return want(v, is_bits(a) && a == b, "wants two integers or bools of one dtype");
    case K_NOT: return want(v, is_bits(a), "wants an integer or bool");
    case K_ANY: return want(v, a == QS_B1, "wants a bool");
    case K_SHL:
    case K_SHR: return want(v, qdtype_is_int(a) && a == b, "wants two integers of one dtype");
    case K_EQ:
    case K_NE: return want(v, a == b, "wants two values of one dtype");
    case K_SELECT: return want(v, a == QS_B1 && b == c, "wants a bool and two values of one dtype");
    case K_ANALYTIC: return want(v, is_float(a) && a == b && a == c, "wants floats of one dtype");
    case K_MATH: return want(v, is_float(a) && (!i->b || a == b), "wants floats of one dtype");
    case K_RESULT: return want(v, ins[i->a].op == K_CALL, "wants a CALL");
    case K_INPUT: return want(v, i->imm < v->f->ninputs && d == v->f->inputs[i->imm], "there is no such argument");
    case K_OUTPUT: return want(v, i->imm < v->f->noutputs && a == v->f->outputs[i->imm], "there is no such result");
    case K_IF:
    case K_CHECK: return want(v, a == QS_B1, "the condition must be bool");
    case K_FOR: return want(v, is_index(d) && a == d && b == d && c == d, "wants int or int64 of one dtype");
    default: return QS_OK;
    }
}

static qs_status check_totals(Verifier *v, const KIns *i) {
    if (i->op == K_LARRAY) v->larray += i->imm;
    if (i->op == K_SHARED) v->shared += i->imm;
    TRY(want(v, v->larray <= MAX_ARRAY && v->shared <= MAX_ARRAY, "the kernel's arrays are too large"));
    return want(v, (i->op != K_SHARED || v->f->shared) && (i->op != K_BARRIER || v->f->barrier),
                "the kernel was not sealed");
}

/* Checks that the dtype of the result is the one that kir.def gives; `own` may be any value dtype. */
static qs_status check_result(const Verifier *v, const KIns *i) {
    const KIns *ins = v->f->ins;
    bool ok = false;
    switch ((KResultUse)kir_ops[i->op].result) {
    case KR_own: ok = kir_is_value_dtype((qs_dtype)i->dtype); break;
    case KR_same: ok = i->dtype == ins[i->a].dtype; break;
    case KR_of_b: ok = i->dtype == ins[i->b].dtype; break;
    case KR_i64: ok = i->dtype == QS_I64; break;
    case KR_bool:
    case KR_none: ok = i->dtype == QS_B1; break;
    }
    return want(v, ok, "the dtype of the result is wrong");
}

/* -- regions ------------------------------------------------------------------------------------------------------- */
static void hide_from(Verifier *v, uint32_t start) {
    for (uint32_t r = start; r < v->at; r++)
        if (!v->until[r]) v->until[r] = v->at;
}

static qs_status open_region(Verifier *v, const KIns *i) {
    if (v->depth == KIR_MAX_NESTING) return fault(v, "nested more than %d deep", KIR_MAX_NESTING);
    /* the value of FOR is in scope in its body only */
    v->region[v->depth++] = (Region){i->op, false, i->op == K_FOR ? v->at : v->at + 1};
    if (i->op != K_IF) v->loops++;
    return QS_OK;
}

static qs_status close_region(Verifier *v, const KIns *i) {
    Region *r = v->depth ? &v->region[v->depth - 1] : NULL;
    if (!r || (i->op == K_ELSE && (r->op != K_IF || r->has_else)))
        return fault(v, "nothing is open that it belongs to");
    hide_from(v, r->start);
    if (i->op == K_ELSE) {
        r->has_else = true, r->start = v->at + 1;
        return QS_OK;
    }
    if (r->op != K_IF) v->loops--;
    v->depth--;
    return QS_OK;
}

static qs_status check_ins(Verifier *v) {
    const KIns *i = &v->f->ins[v->at];
    if (i->op >= K__COUNT) return fault(v, "there is no op %u", i->op);
    const KOpInfo *info = &kir_ops[i->op];
    TRY(check_operand(v, (KArgUse)info->a, i->a));
    TRY(check_operand(v, (KArgUse)info->b, i->b));
    TRY(check_operand(v, (KArgUse)info->c, i->c));
    TRY(check_imm(v, i));
    TRY(check_flag(v, i));
    TRY(check_result(v, i));
    TRY(check_containers(v, i));
    TRY(check_dtypes(v, i));
    TRY(check_totals(v, i));
    if (i->op == K_IF || i->op == K_LOOP || i->op == K_FOR) return open_region(v, i);
    return i->op == K_ELSE || i->op == K_END ? close_region(v, i) : QS_OK;
}

qs_status kir_verify(Ctx *c, const KFunc *f) {
    Verifier v = {.ctx = c, .f = f};
    TRY(check_header(&v));
    v.until = qmem_alloc(c, qmem_size(f->nins, sizeof *v.until, 0));
    qs_status s = QS_OK;
    for (v.at = 1; v.at < f->nins && s == QS_OK; v.at++) s = check_ins(&v);
    if (s == QS_OK && v.depth) v.at = f->nins - 1, s = fault(&v, "a region is not closed");
    qmem_free(c, v.until, f->nins * sizeof *v.until);
    return s;
}
