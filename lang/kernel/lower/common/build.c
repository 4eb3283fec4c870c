/* build.c -- runs passes, appends instructions, and tracks the blocks that contain them.
 *
 * Pure instructions are reused (local value numbering): a new one is looked up in a hash table of the visible ones.
 * The chains are cut back at the end of a block, so the table has a value exactly as long as KIR allows its use. */
#include "lang/kernel/elem/elem_build.h"
#include "lang/kernel/ir/affine.h"
#include "lang/kernel/lower/common/common.h"
#include "vm/base/reduction.h"

#include <string.h>

void kbuild_begin(Walk *w, KFunc *f, Arena *arena, uint32_t pos) {
    w->f = f, w->arena = arena, w->pos = pos;
    w->temp = w->temp_begin = w->temp_end = NULL;
    w->block = qarena_alloc(arena, sizeof *w->block);
    w->block->open = true;
    w->depth = w->calls = 0;
    w->changed = w->left = w->foreign = w->indexing = w->wide_lists = false;
    w->nknown = 1; /* 0 ends a chain */
    memset(w->buckets, 0, sizeof w->buckets);
}

qs_status kbuild_passes(Walk *w, int most, PassFn *pass, KeepFn *keep, void *ud, bool *done) {
    *done = false;
    for (int i = 0; i < most && !*done; i++) {
        Arena scratch;
        qarena_init(&scratch, w->c);
        qs_status s = pass(w, &scratch);
        *done = s == QS_OK && !w->changed;
        if (*done) s = keep(w, ud);
        qarena_free(&scratch);
        TRY(s);
    }
    return QS_OK;
}

static void *copy_to_arena(Arena *a, const void *p, size_t n) { return n ? memcpy(qarena_alloc(a, n), p, n) : NULL; }

KFunc *kbuild_keep(const Walk *w, Arena *arena) {
    KFunc *f = copy_to_arena(arena, w->f, sizeof *f);
    f->arena = arena, f->cap = f->nins;
    f->ins = copy_to_arena(arena, f->ins, f->nins * sizeof *f->ins);
    f->params = copy_to_arena(arena, f->params, (size_t)f->nparams * sizeof *f->params);
    f->messages = copy_to_arena(arena, f->messages, (size_t)f->nmessages * sizeof *f->messages);
    return kir_seal(f), f;
}

void kbuild_free(Walk *w) { qmem_free(w->c, w->known, w->cap_known * sizeof *w->known); }

qs_status kbuild_seal(Walk *w, KFunc **out) {
    kbuild_free(w);
    kir_seal(w->f);
    TRY(kir_verify(w->c, w->f));
    return *out = w->f, QS_OK;
}

struct Val *kval_new(Walk *w, int n) {
    enum { CHUNK = 1 << 14 };
    size_t size = qmem_size((size_t)(n > 0 ? n : 1), w->rules->value_size, 0);
    if (size > (size_t)(w->temp_end - w->temp)) {
        size_t room = size > CHUNK ? size : CHUNK;
        w->temp = w->temp_begin = qarena_alloc(w->arena, room), w->temp_end = w->temp + room;
    }
    void *list = w->temp;
    w->temp += size;
    return memset(list, 0, size);
}

static uint32_t instruction_pos(const Walk *w) { return w->foreign ? w->site_pos : w->pos; }

int kbuild_array_param(Walk *w, const char *name, qs_dtype d, int rank, bool packed, bool written) {
    return kir_param(w->f, &(KParam){.name = qstr_cname(w->c, name),
                                     .kind = KP_ARRAY,
                                     .dtype = (uint8_t)d,
                                     .rank = (uint8_t)rank,
                                     .contiguous = packed,
                                     .unit_last = packed,
                                     .read = !written,
                                     .written = written});
}

/* -- value numbering ----------------------------------------------------------------------------------------------- */
static uint32_t bucket_of(const KIns *i) {
    uint64_t h = (uint64_t)i->op | (uint64_t)i->dtype << 8 | (uint64_t)i->flag << 16 | (uint64_t)i->a << 32;
    h = (h ^ ((uint64_t)i->b | (uint64_t)i->c << 32)) * 0x9e3779b97f4a7c15u;
    h = (h ^ i->imm) * 0xff51afd7ed558ccdu;
    return (uint32_t)(h >> 56);
}

/* Called right after r was appended: returns r, or removes it and returns an equal instruction that is visible here. */
static KRef number_value(Walk *w, KRef r) {
    const KIns *i = &w->f->ins[r];
    uint32_t b = bucket_of(i), *bucket = &w->buckets[b];
    for (uint32_t k = *bucket; k; k = w->known[k].next)
        if (kir_equal_ins(&w->f->ins[w->known[k].ref], i)) return w->f->nins--, w->known[k].ref;
    qmem_grow(w->c, &w->known, &w->cap_known, w->nknown, sizeof *w->known);
    w->known[w->nknown].ref = r, w->known[w->nknown].next = *bucket, w->known[w->nknown].bucket = b;
    *bucket = w->nknown++;
    return r;
}

/* Whether a - b is 1; both are int64 values of a loop, which do not wrap. */
static bool is_next(const KFunc *f, KRef a, KRef b) {
    Affine p, q;
    if (!f->strict || !kaffine_of(f, a, &p) || !kaffine_of(f, b, &q) || !kaffine_add(&p, &q, -1)) return false;
    return !p.n && p.constant == 1;
}

/* Makes a < b ? b : a of integers a maximum, and b < a ? b : a a minimum; the same for n <= a ? n-1 : a. */
static KMake as_extreme(const KFunc *f, KMake i) {
    const KIns *x = &f->ins[i.a];
    if (i.op != K_SELECT || (x->op != K_LT && x->op != K_LE) || kir_is_float((qs_dtype)f->ins[i.b].dtype)) return i;
    bool least = x->b == i.c && (x->a == i.b || (x->op == K_LE && is_next(f, x->a, i.b)));
    bool most = x->a == i.c && (x->b == i.b || (x->op == K_LE && is_next(f, i.b, x->b)));
    return least || most ? (KMake){most ? K_MAX : K_MIN, .a = i.b, .b = i.c} : i;
}

KRef kbuild_pure(Walk *w, KMake i) {
    uint32_t before = w->f->nins;
    i = as_extreme(w->f, i);
    i.pos = instruction_pos(w);
    KRef r = i.a ? kir_fold(w->f, i) : kir_add(w->f, i);
    return r == before && w->f->nins == before + 1 ? number_value(w, r) : r;
}

KRef kbuild_int(Walk *w, qs_dtype d, int64_t v) {
    return number_value(w, kir_const_int(w->f, d, v, instruction_pos(w)));
}
KRef kbuild_uint64(Walk *w, uint64_t v) { return number_value(w, kir_const_bits(w->f, QS_U64, v, instruction_pos(w))); }
KRef kbuild_const(Walk *w, qs_dtype d, double v) {
    return number_value(w, kir_const_num(w->f, d, v, instruction_pos(w)));
}

static KRef row_fold(void *ud, KMake i) { return kbuild_pure(ud, i); }
static KRef row_num(void *ud, qs_dtype d, double v) { return kbuild_const(ud, d, v); }
KBuild kbuild_rows(Walk *w) { return (KBuild){.ud = w, .fold = row_fold, .num = row_num}; }

static void forget_last(Walk *w) {
    w->nknown--;
    w->buckets[w->known[w->nknown].bucket] = w->known[w->nknown].next;
}

void kbuild_take_back(Walk *w, KRef from) {
    while (w->nknown > 1 && w->known[w->nknown - 1].ref >= from) forget_last(w);
    while (w->block->asked && w->block->asked->since > from) w->block->asked = w->block->asked->next;
    w->f->nins = from;
}

/* -- blocks -------------------------------------------------------------------------------------------------------- */
static void begin_block(Walk *w, bool loop, KRef head) {
    BlockScope *b = qarena_alloc(w->arena, sizeof *b);
    *b = (BlockScope){.up = w->block, .open = true, .loop = loop, .repeats = loop, .known = w->nknown, .head = head};
    w->depth += loop;
    w->block = b;
}

/* Closes the innermost block.  Values computed inside are not visible outside.  Table entries are removed in the
 * reverse order of their insertion, so each one is the head of its chain then. */
static void end_block(Walk *w) {
    BlockScope *b = w->block;
    while (w->nknown > b->known) forget_last(w);
    w->depth -= b->loop;
    b->open = false;
    w->block = b->up;
}

void kbuild_know(Walk *w, KRef cond, bool holds) {
    Asked *a = qarena_alloc(w->arena, sizeof *a);
    *a = (Asked){w->block->asked, cond, w->f->nins, holds};
    w->block->asked = a;
}

/* Whether the last instruction leaves the block. */
static bool is_left(const KFunc *f) {
    uint8_t op = f->ins[f->nins - 1].op;
    return op == K_BREAK || op == K_CONTINUE || op == K_RET;
}

KRef kbuild_emit(Walk *w, KMake i) {
    const BlockScope *ended = w->block;
    if (i.op == K_END || i.op == K_ELSE) end_block(w);
    if (i.op == K_END && ended->opens && is_left(w->f)) kbuild_know(w, ended->opens, false);
    i.pos = instruction_pos(w);
    KRef r = kir_add(w->f, i);
    if (i.op == K_IF || i.op == K_ELSE) {
        begin_block(w, false, r);
        kbuild_know(w, i.op == K_IF ? i.a : ended->opens, i.op == K_IF);
    }
    if (i.op == K_IF) w->block->opens = i.a;
    if (i.op == K_LOOP || i.op == K_FOR) begin_block(w, true, r);
    return r;
}

void kbuild_once(Walk *w) {
    kbuild_flow(w, K_LOOP, 0);
    w->block->repeats = false;
}

void kbuild_leave(Walk *w, KOp op, int depth) { kbuild_emit(w, (KMake){op, .imm = (uint64_t)(w->depth - depth)}); }

BlockScope *kbuild_outermost_loop(const Walk *w) {
    BlockScope *found = NULL;
    for (BlockScope *b = w->block; b; b = b->up)
        if (b->repeats) found = b;
    return found;
}

KOp kbuild_combine(Combine c) {
    static const uint8_t ops[COMBINE__COUNT] = {
#define REDUCTION(...)
#define COMBINE(id, ...) [COMBINE_##id] = K_##id,
#include "vm/base/reduce.def"
    };
    return (KOp)ops[c];
}
