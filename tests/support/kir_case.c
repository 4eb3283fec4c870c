#include "tests/support/kir_gen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- building ------------------------------------------------------------------------------------------------------ */
KCase *kgen_case(Ctx *c, Arena *arena, const char *name, int rank) {
    KCase *k = qarena_alloc(arena, sizeof *k);
    k->ctx = c, k->arena = arena, k->what = name;
    k->func = kir_new(c, arena, qstr_cname(c, name), NULL);
    k->func->rank = k->launch.rank = rank;
    enum { MAX_PARAMS = 64 };
    k->args = qarena_alloc(arena, MAX_PARAMS * sizeof *k->args);
    k->blocks = qarena_alloc(arena, MAX_PARAMS * sizeof *k->blocks);
    return k;
}

static int add_param(KCase *k, KParam p) {
    char name[16];
    snprintf(name, sizeof name, "%c%d", p.kind == KP_NUM ? 'n' : 'x', k->func->nparams);
    p.name = qstr_cname(k->ctx, name);
    return kir_param(k->func, &p);
}

int kgen_number(KCase *k, qs_dtype d, KSlot value) {
    int n = add_param(k, (KParam){.kind = KP_NUM, .dtype = (uint8_t)d});
    k->args[n].bits = value.bits;
    return n;
}

int kgen_array(KCase *k, qs_dtype d, int rank, const int64_t *dims, const int64_t *strides, size_t first, size_t room) {
    KArg a = {0};
    int64_t packed = 1;
    bool same = true;
    for (int i = rank - 1; i >= 0; i--) {
        a.dims[i] = dims[i];
        a.strides[i] = strides ? strides[i] : packed;
        same = same && a.strides[i] == packed;
        packed *= dims[i];
    }
    int n = add_param(k, (KParam){.kind = KP_ARRAY,
                                  .dtype = (uint8_t)d,
                                  .rank = (uint8_t)rank,
                                  .contiguous = same,
                                  .unit_last = a.strides[rank - 1] == 1});
    KBlock *b = &k->blocks[n];
    b->nbytes = (strides ? room : (size_t)packed) * qdtype_size(d);
    b->block = qarena_alloc(k->arena, b->nbytes + 64);
    b->offset = first * qdtype_size(d);
    a.data = b->block + b->offset;
    k->args[n] = a;
    return n;
}

char *kgen_data(const KCase *k, int param) { return k->blocks[param].block; }

static qs_dtype value_dtype(const KCase *k, int param) {
    return kir_value_dtype((qs_dtype)k->func->params[param].dtype);
}

KRef kgen_load(KCase *k, int param, KRef index, KRef guard) {
    return kir_add(k->func,
                   (KMake){K_LOAD, .own = value_dtype(k, param), .a = index, .b = guard, .imm = (uint64_t)param});
}

KRef kgen_store(KCase *k, int param, KRef index, KRef value, KRef guard) {
    return kir_add(k->func, (KMake){K_STORE, .a = index, .b = value, .c = guard, .imm = (uint64_t)param});
}

KRef kgen_op(KCase *k, KOp op, KRef a, KRef b, KRef x) { return kir_add(k->func, (KMake){op, .a = a, .b = b, .c = x}); }
KRef kgen_cast(KCase *k, qs_dtype d, KRef a) { return kir_add(k->func, (KMake){K_CAST, .own = d, .a = a}); }
KRef kgen_i64(KCase *k, int64_t v) { return kir_const_int(k->func, QS_I64, v, 0); }

/* -- running ------------------------------------------------------------------------------------------------------- */
qs_status kgen_finish(KCase *k) {
    kir_seal(k->func);
    for (uint32_t i = 1; i < k->func->nins; i++)
        if (k->func->ins[i].dtype == QS_F64) k->fp64 = true;
    for (int i = 0; i < k->func->nparams; i++) {
        uint8_t d = k->func->params[i].dtype;
        if (d == QS_F64 || d == QS_C128) k->fp64 = true;
    }
    return kir_verify(k->ctx, k->func);
}

KCase *kgen_copy(const KCase *k) {
    KCase *copy = qarena_alloc(k->arena, sizeof *copy);
    *copy = *k;
    size_t n = (size_t)k->func->nparams;
    copy->args = qarena_alloc(k->arena, n * sizeof *copy->args);
    copy->blocks = qarena_alloc(k->arena, n * sizeof *copy->blocks);
    memcpy(copy->args, k->args, n * sizeof *copy->args);
    memcpy(copy->blocks, k->blocks, n * sizeof *copy->blocks);
    for (size_t i = 0; i < n; i++) {
        KBlock *b = &copy->blocks[i];
        if (!b->block) continue;
        b->block = qarena_alloc(k->arena, b->nbytes + 64);
        memcpy(b->block, k->blocks[i].block, b->nbytes);
        copy->args[i].data = b->block + b->offset;
    }
    return copy;
}

qs_status kgen_evaluate(KCase *k) { return keval_run(k->ctx, k->func, k->args, &k->launch, &k->fault, NULL); }

static DevArg device_arg(const KCase *k, int i, DevPtr block) {
    const KParam *p = &k->func->params[i];
    DevArg a = {.is_array = p->kind == KP_ARRAY,
                .block = block,
                .offset = k->blocks[i].offset,
                .rank = p->rank,
                .bits = k->args[i].bits,
                .size = qdtype_info[p->dtype].size};
    memcpy(a.dims, k->args[i].dims, sizeof a.dims);
    memcpy(a.strides, k->args[i].strides, sizeof a.strides);
    return a;
}

qs_status kgen_launch(Device *d, Program *p, KCase *k) {
    int n = k->func->nparams;
    DevArg args[64] = {0};
    DevPtr ptr[64] = {0};
    qs_status s = QS_OK;
    for (int i = 0; i < n && s == QS_OK; i++) {
        KBlock *b = &k->blocks[i];
        if (b->block) s = d->ops->alloc(d, b->nbytes, &ptr[i]);
        if (b->block && s == QS_OK) s = d->ops->upload(d, ptr[i], 0, b->block, b->nbytes);
        args[i] = device_arg(k, i, ptr[i]);
    }
    Launch l = {.rank = k->launch.rank};
    memcpy(l.domain, k->launch.domain, sizeof l.domain);
    memcpy(l.block, k->launch.block, sizeof l.block);
    DevFault fault = {0};
    if (s == QS_OK) s = d->ops->launch(d, p, &l, n, args, &fault);
    if (s == QS_OK) s = d->ops->sync(d);
    memcpy(&k->fault, &fault, sizeof fault);
    for (int i = 0; i < n; i++) {
        if (k->blocks[i].block && s == QS_OK)
            s = d->ops->download(d, k->blocks[i].block, ptr[i], 0, k->blocks[i].nbytes);
        if (ptr[i]) d->ops->free(d, ptr[i]);
    }
    return s;
}

/* -- comparing ----------------------------------------------------------------------------------------------------- */
static bool near_enough(qs_dtype d, double want, double got, const KBlock *b) {
    if (want == got || (isnan(want) && isnan(got))) return true;
    double tiny = d == QS_F32 ? 0x1p-126 : 0x1p-1022;
    if (fabs(want) < tiny && fabs(got) < tiny) return true; /* a device may have no subnormals */
    double ulp = d == QS_F32 ? (double)(nextafterf(fabsf((float)want), INFINITY) - fabsf((float)want))
                             : nextafter(fabs(want), INFINITY) - fabs(want);
    double allowed = b->ulps * ulp + b->slack * fmax(1, fabs(want));
    return fabs(want - got) <= allowed;
}

static bool same_element(qs_dtype d, const char *want, const char *got, const KBlock *b) {
    if (!memcmp(want, got, qdtype_size(d))) return true;
    if (!qdtype_is_real(d)) return false;
    return near_enough(d, qdtype_get(d, want), qdtype_get(d, got), b);
}

static bool same_block(const KCase *k, int i, const char *want, const char *got, Text *why) {
    qs_dtype d = qdtype_real_of((qs_dtype)k->func->params[i].dtype);
    const KBlock *b = &k->blocks[i];
    size_t size = qdtype_size(d);
    for (size_t e = 0; e < b->nbytes / size; e++) {
        const char *x = want + e * size, *y = got + e * size;
        if (same_element(d, x, y, b)) continue;
        qtext_printf(why, "%s: %s[%zu] should be %.17g, is %.17g", k->what, k->func->params[i].name->s, e,
                     qdtype_get(d, x), qdtype_get(d, y));
        return false;
    }
    return true;
}

bool kgen_same(const KCase *want, const KCase *got, Text *why) {
    if ((want->fault.message != 0) != (got->fault.message != 0)) { /* of several faults any may win */
        qtext_printf(why, "%s: fault %u, should be %u", want->what, got->fault.message, want->fault.message);
        return false;
    }
    if (want->fault.message) return true; /* the launch ends early: which positions still ran is open */
    for (int i = 0; i < want->func->nparams; i++)
        if (want->blocks[i].block && !same_block(want, i, want->blocks[i].block, got->blocks[i].block, why))
            return false;
    return true;
}
