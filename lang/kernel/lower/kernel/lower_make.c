/* lower_make.c -- lowers the built-ins for sizes, new arrays, and positions. */
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/lower/kernel/lower_builtin_table.h"

#include <stdio.h>
#include <string.h>

/* -- sizes --------------------------------------------------------------------------------------------------------- */
static qs_status check_numeric(Lower *L, const BuiltinCall *c, const Val *v) {
    if (v->kind == V_NUM || v->kind == V_ARRAY || v->kind == V_MEMORY || (v->kind == V_OBJECT && v->rank)) return QS_OK;
    return klower_error(L, QS_ETYPE, L->pos, "%s: an array is wanted, got %s", c->name, klval_type_name(L, v));
}

static Num extent_of(Lower *L, const Val *v, int d) {
    double k;
    KRef r = klidx_dim(L, v, d);
    if (kir_is_const(L->f, r, &k)) return klbuiltin_integer(L, k);
    return klnum_strong(klnum_cast_ref(L, r, QS_I32), QS_I32);
}

qs_status klmake_size(Lower *L, const BuiltinCall *c, Val *out) {
    const Val *v = &c->args[0];
    int64_t which[QS_MAX_RANK];
    int n = klidx_ndims(v);
    bool single = false;
    TRY(check_numeric(L, c, v));
    for (int i = 0; i < n; i++) which[i] = i;
    if (c->nargs == 2) {
        TRY(klval_constants(L, &c->args[1], "the dimension given to size", which, QS_MAX_RANK, &n));
        single = c->args[1].rank == 0;
    }
    Num nums[QS_MAX_RANK];
    for (int i = 0; i < n; i++) nums[i] = extent_of(L, v, (int)(which[i] < QS_MAX_RANK ? which[i] : QS_MAX_RANK));
    if (single) klval_number(L, nums[0], out);
    else klval_vector(L, nums, n, out);
    return QS_OK;
}

qs_status klmake_numel(Lower *L, const BuiltinCall *c, Val *out) {
    const Val *v = &c->args[0];
    TRY(check_numeric(L, c, v));
    Num n = klbuiltin_integer(L, 1);
    for (int d = 0; d < klidx_ndims(v); d++) n = klbuiltin_binary(L, OP_MUL, n, extent_of(L, v, d));
    return klval_number(L, n, out), QS_OK;
}

qs_status klmake_ndims(Lower *L, const BuiltinCall *c, Val *out) {
    TRY(check_numeric(L, c, &c->args[0]));
    return klval_number(L, klbuiltin_integer(L, c->args[0].rank ? klidx_ndims(&c->args[0]) : 0), out), QS_OK;
}

qs_status klmake_isempty(Lower *L, const BuiltinCall *c, Val *out) {
    Val n, zero;
    TRY(klmake_numel(L, c, &n));
    klval_number(L, klbuiltin_integer(L, 0), &zero);
    return klval_binary(L, OP_EQ, &n, &zero, out);
}

qs_status klmake_type_test(Lower *L, const BuiltinCall *c, Val *out) {
    const Val *v = &c->args[0];
    bool number = v->kind == V_NUM && v->rank == 0, complex = qdtype_is_complex((qs_dtype)v->dtype);
    bool numbers = v->kind == V_NUM || v->kind == V_ARRAY || v->kind == V_MEMORY;
    const Weak *weak = number && !complex ? v->at[0].weak : NULL; /* isint(4) is false on the host, too */
    bool yes = c->imm == 0   ? number
               : c->imm == 3 ? numbers
               : c->imm == 4 ? v->kind == V_OBJECT
               : c->imm == 5 ? v->kind == V_STRING
               : c->imm == 6 ? v->kind == V_FUNC
               : c->imm == 7 ? numbers && (weak ? weak->declared : qdtype_is_int((qs_dtype)v->dtype))
                             : numbers && complex == (c->imm == 2);
    return klval_number(L, klnum_strong(klnum_int(L, QS_B1, yes), QS_B1), out), QS_OK;
}

/* -- construction -------------------------------------------------------------------------------------------------- */
qs_status klmake_shape(Lower *L, const BuiltinCall *c, int first, int64_t dims[QS_MAX_RANK], int *rank) {
    char what[64];
    snprintf(what, sizeof what, "the size given to %.20s", c->name);
    *rank = 0;
    for (int i = first; i < c->nargs; i++) {
        int n;
        TRY(klval_constants(L, &c->args[i], what, dims + *rank, QS_MAX_RANK - *rank, &n));
        *rank += n;
    }
    while (*rank > 2 && dims[*rank - 1] == 1) (*rank)--;
    if (*rank == 2 && dims[0] == 1) dims[0] = dims[1], *rank = 1; /* 1xN is a vec */
    return *rank ? QS_OK : klbuiltin_refuse(L, c, "wants a size");
}

static qs_status make_filled(Lower *L, const BuiltinCall *c, int first, qs_dtype d, Val *out) {
    enum { MOST = 1 << 16 };
    int64_t dims[QS_MAX_RANK];
    int rank;
    TRY(klmake_shape(L, c, first, dims, &rank));
    Val shape = {.rank = (uint8_t)rank};
    memcpy(shape.dims, dims, sizeof dims);
    if (klval_count(&shape) > MOST)
        return klbuiltin_refuse(L, c, "of more than 65536 elements is too big for a kernel");
    klval_zero(L, d, rank, dims, c->imm, out);
    return QS_OK;
}

qs_status klmake_real(Lower *L, const BuiltinCall *c, Val *out) {
    return make_filled(L, c, 0, L->c->scalar_dtype, out);
}
qs_status klmake_complex(Lower *L, const BuiltinCall *c, Val *out) {
    return make_filled(L, c, 0, qdtype_complex_of(L->c->scalar_dtype), out);
}

/* Returns the type in which a kernel computes with elements of the first argument. */
static qs_status type_like(Lower *L, const BuiltinCall *c, qs_dtype *d) {
    const Val *x = &c->args[0];
    if (x->kind != V_NUM && x->kind != V_ARRAY && x->kind != V_MEMORY)
        return klower_error(L, QS_ETYPE, L->pos, "%s: an array is wanted, got %s", c->name, klval_type_name(L, x));
    *d = (qs_dtype)x->dtype;
    if (x->kind == V_NUM && x->rank == 0 && klnum_is_weak(klval_num(x, 0)))
        *d = klnum_weak_dtype(L, klval_num(x, 0).re.weak);
    if (!qdtype_is_complex(*d)) *d = kir_value_dtype(*d);
    return QS_OK;
}

/* zeros_like(x, size …) and the like. */
qs_status klmake_like(Lower *L, const BuiltinCall *c, Val *out) {
    const Val *x = &c->args[0];
    qs_dtype d = QS_F32;
    TRY(type_like(L, c, &d));
    if (c->nargs > 1) return make_filled(L, c, 1, d, out);
    Val all;
    TRY(klval_components(L, x, &all));
    if (!all.rank) return klval_number(L, klnum_cast(L, klbuiltin_integer(L, c->imm), d), out), QS_OK;
    return klval_zero(L, d, all.rank, all.dims, c->imm, out), QS_OK;
}

qs_status klmake_eye(Lower *L, const BuiltinCall *c, Val *out) {
    int64_t dims[QS_MAX_RANK];
    int rank;
    TRY(klmake_shape(L, c, 0, dims, &rank));
    if (rank == 1) dims[1] = dims[0];
    double count = (double)dims[0] * (double)dims[1];
    if (rank > 2 || count > KLOWER_UNROLL) return klbuiltin_refuse(L, c, "is too big for a kernel");
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)count, sizeof *nums, sizeof *nums));
    for (int64_t i = 0; i < dims[0] * dims[1]; i++)
        nums[i] = klnum_strong(klnum_const(L, L->c->scalar_dtype, i / dims[1] == i % dims[1]), L->c->scalar_dtype);
    return klval_from_nums(L, nums, 2, dims, out), QS_OK;
}

qs_status klmake_linspace(Lower *L, const BuiltinCall *c, Val *out) {
    Num a, b, span, step;
    int64_t n;
    int one;
    TRY(klval_one(L, &c->args[0], "the start", &a));
    TRY(klval_one(L, &c->args[1], "the end", &b));
    TRY(klval_constants(L, &c->args[2], "the count given to linspace", &n, 1, &one));
    if (n < 1 || n > KLOWER_UNROLL) return klbuiltin_refuse(L, c, "wants 1 to 1024 points in a kernel");
    TRY(klnum_binary(L, OP_SUB, b, a, &span));
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)n, sizeof *nums, 0));
    for (int64_t i = 0; i < n; i++) {
        TRY(klnum_binary(L, OP_MUL, span, klnum_literal(L, n > 1 ? (double)i / (double)(n - 1) : 0, false), &step));
        TRY(klnum_binary(L, OP_ADD, a, step, &nums[i]));
    }
    return klval_vector(L, nums, n, out), QS_OK;
}

qs_status klmake_copy(Lower *L, const BuiltinCall *c, Val *out) { return klval_components(L, &c->args[0], out); }

qs_status klmake_reshape(Lower *L, const BuiltinCall *c, Val *out) {
    int64_t dims[QS_MAX_RANK];
    int rank;
    Val v, shape = {0};
    TRY(klval_components(L, &c->args[0], &v));
    TRY(klmake_shape(L, c, 1, dims, &rank));
    shape.rank = (uint8_t)rank;
    memcpy(shape.dims, dims, sizeof dims);
    if (klval_count(&shape) != klval_count(&v))
        return klower_error(L, QS_ESHAPE, L->pos, "reshape: %s does not have %lld elements", klval_type_name(L, &v),
                            (long long)klval_count(&shape));
    *out = v, out->rank = shape.rank, out->is_pos = false;
    memcpy(out->dims, dims, sizeof dims);
    return QS_OK;
}

qs_status klmake_transpose(Lower *L, const BuiltinCall *c, Val *out) {
    Val v;
    TRY(klval_components(L, &c->args[0], &v));
    if (v.rank == 0) return *out = v, QS_OK;
    if (v.rank > 2) return klbuiltin_refuse(L, c, "wants a vector or a matrix");
    SmallShape m = klval_shape(&v), transposed = ksmall_matrix(ksmall_extent(&m, 1), ksmall_extent(&m, 0));
    int64_t n = ksmall_count(&m);
    Num *nums = qarena_alloc(L->arena, qmem_size((size_t)n, sizeof *nums, sizeof *nums));
    for (int64_t i = 0; i < n; i++) {
        nums[i] = klval_num(&v, ksmall_transposed(&m, i));
        if (c->imm) nums[i] = klnum_apply(L, EL_conj, &nums[i]);
    }
    klval_from_nums(L, nums, transposed.rank, transposed.dims, out);
    return out->made = v.made, QS_OK;
}

/* shared(dims…); imm 1: zeros, 2: zeros with elements of the type of the first argument. */
qs_status klmake_shared(Lower *L, const BuiltinCall *c, Val *out) {
    int64_t dims[QS_MAX_RANK];
    int rank;
    bool like = c->imm == 2;
    qs_dtype d = L->c->scalar_dtype;
    const char *wants = "wants a size of 1 to 1048576 elements; shared_like(int(0), n) has integers";
    if (L->job->serial)
        return klbuiltin_refuse(L, c, "needs parallel_do: in serial_do positions run one after another");
    if (like) TRY(type_like(L, c, &d));
    if (d == QS_B1) d = QS_I32;
    if (c->nargs > like && klval_count(&c->args[like]) > QS_MAX_RANK) return klbuiltin_refuse(L, c, wants);
    TRY(klmake_shape(L, c, like, dims, &rank));
    *out = (Val){.kind = V_MEMORY, .dtype = (uint8_t)d, .rank = (uint8_t)rank, .made = klval_made(d)};
    memcpy(out->dims, dims, sizeof dims);
    int64_t n = klval_count(out);
    if (n < 1 || n > 1 << 20) return klbuiltin_refuse(L, c, wants);
    if (qdtype_is_complex(d)) n *= 2;
    out->u.mem = qarena_alloc(L->arena, sizeof(Memory));
    out->u.mem->shared = true;
    out->u.mem->ref =
        klnum_emit(L, (KMake){K_SHARED, .own = qdtype_real_of(d), .flag = c->imm != 0, .imm = (uint64_t)n});
    return QS_OK;
}

/* -- positions ----------------------------------------------------------------------------------------------------- */
static qs_status divide_whole(Lower *L, Num a, Num b, Num *out) {
    qs_dtype d = klnum_join(L, a, b);
    if (!qdtype_is_int(d)) d = QS_I32;
    return *out = klnum_strong(klnum_bin(L, K_DIV, klnum_ref(L, a, d), klnum_ref(L, b, d)), d), QS_OK;
}

qs_status klmake_ind2pos(Lower *L, const BuiltinCall *c, Val *out) {
    Val size;
    Num rest, nums[QS_MAX_RANK];
    TRY(klval_components(L, &c->args[0], &size));
    TRY(klval_one(L, &c->args[1], "the index given to ind2pos", &rest));
    int n = (int)klval_count(&size);
    if (n < 1 || n > QS_MAX_RANK) return klbuiltin_refuse(L, c, "wants a size of 1 to 8 numbers");
    for (int i = n - 1; i >= 0; i--) {
        Num extent_i = klval_num(&size, i);
        if (i == 0) {
            nums[0] = rest;
            break;
        }
        nums[i] = klnum_apply(L, EL_mod, (Num[]){rest, extent_i});
        TRY(divide_whole(L, rest, extent_i, &rest));
    }
    return klval_vector(L, nums, n, out), QS_OK;
}

qs_status klmake_pos2ind(Lower *L, const BuiltinCall *c, Val *out) {
    Val size, pos;
    TRY(klval_components(L, &c->args[0], &size));
    TRY(klval_components(L, &c->args[1], &pos));
    int64_t n = klval_count(&size);
    if (n < 1 || n != klval_count(&pos))
        return klbuiltin_refuse(L, c, "wants a size and a position of the same length");
    Num at = klval_num(&pos, 0);
    for (int64_t i = 1; i < n; i++)
        at = klbuiltin_binary(L, OP_ADD, klbuiltin_binary(L, OP_MUL, at, klval_num(&size, i)), klval_num(&pos, i));
    return klval_number(L, at, out), QS_OK;
}
