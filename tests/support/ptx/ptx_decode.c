/* ptx_decode.c -- one statement (name and operands) becomes one PtxIns.  Names of ptx.def's rows are looked up in a
 * table made from it; the decoders of its ODD rows follow.  What does not fit is refused here, before anything runs:
 * names, modifiers, the number of operands, and the width of each register. */
#include "tests/support/ptx/ptx_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { NOTHING, SAME, WIDE, U32 } Class;
typedef struct {
    const char *name;
    PtxType type;
    uint16_t op, mods;
    uint8_t sources, result, source[3];
    bool compares;
} Row;

static const Row rows[] = {
#define ROW1(X, name, R, A)       {#name, T_##X, P_##name##_##X, 0, 1, R, {A, NOTHING, NOTHING}, false},
#define ROW2(X, name, R, A, B)    {#name, T_##X, P_##name##_##X, 0, 2, R, {A, B, NOTHING}, false},
#define ROW3(X, name, R, A, B, C) {#name, T_##X, P_##name##_##X, 0, 3, R, {A, B, C}, false},
#define REAL(X, name, mods, n)    {#name, T_##X, P_##name##_##X, mods, n, SAME, {SAME, SAME, SAME}, false},

#define TESTS(X, name) {#name, T_##X, P_##name##_##X, FTZ, 2, NOTHING, {SAME, SAME, NOTHING}, true},

#define INT1(name, types, R, A, value)       types(ROW1, name, R, A)
#define INT2(name, types, R, A, B, value)    types(ROW2, name, R, A, B)
#define INT3(name, types, R, A, B, C, value) types(ROW3, name, R, A, B, C)
#define REAL1(name, types, mods, value)      types(REAL, name, mods, 1)
#define REAL2(name, types, mods, value)      types(REAL, name, mods, 2)
#define REAL3(name, types, mods, value)      types(REAL, name, mods, 3)
#define TEST(name, types, value)             types(TESTS, setp_##name)
#define CARRY(name, types, out, value)       types(ROW3, name, SAME, SAME, SAME, SAME)
#define BOOL(name, value)                    {#name, T_pred, P_##name##_pred, 0, 2, SAME, {SAME, SAME, NOTHING}, false},
#include "tests/support/ptx/ptx.def"
};

static const char *const type_names[] = {
#define TYPE(T) #T,
    TYPES(TYPE)
#undef TYPE
        "pred"};
static const uint8_t type_bytes[] = {
#define TYPE(T) sizeof(T),
    TYPES(TYPE)
#undef TYPE
        0,
    0};

size_t ptx_type_bytes(unsigned type) { return type_bytes[type]; }

const char *ptx_op_name(unsigned op) {
    static const char *const names[] = {
#define NAME_(T, name)          #name "_" #T,
#define INT1(name, types, ...)  types(NAME_, name)
#define INT2(name, types, ...)  types(NAME_, name)
#define INT3(name, types, ...)  types(NAME_, name)
#define REAL1(name, types, ...) types(NAME_, name)
#define REAL2(name, types, ...) types(NAME_, name)
#define REAL3(name, types, ...) types(NAME_, name)
#define TEST(name, types, ...)  types(NAME_, setp_##name)
#define BOOL(name, ...)         #name "_pred",
#define CARRY(name, types, ...) types(NAME_, name)
#define ODD(name)               #name,
#include "tests/support/ptx/ptx.def"
    };
    return names[op];
}

/* -- the name ------------------------------------------------------------------------------------------------------ */
typedef struct {
    char text[96], *part[PARTS];
    int n;
    unsigned mods;
} Name;

static PtxType type_named(const char *s) {
    for (unsigned i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (!strcmp(type_names[i], s)) return (PtxType)i;
    return T_none;
}

static unsigned modifier(const char *s) {
    static const struct {
        const char *name;
        unsigned bit;
    } list[] = {{"rn", RN},   {"rz", RZ},   {"rm", RM},   {"rp", RP},   {"ftz", FTZ},
                {"sat", SAT}, {"rni", RNI}, {"rzi", RZI}, {"rmi", RMI}, {"rpi", RPI}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(list[i].name, s)) return list[i].bit;
    return 0;
}

static bool split(PtxParser *p, Name *name) {
    *name = (Name){.n = 0};
    memcpy(name->text, p->opcode, sizeof name->text);
    for (char *at = strtok(name->text, "."); at; at = strtok(NULL, ".")) {
        unsigned bit = modifier(at);
        if (bit && name->n) name->mods |= bit;
        else if (name->n == PARTS) return ptx_refuse(p, "%s: too many parts", p->opcode);
        else name->part[name->n++] = at;
    }
    return true;
}

/* Takes a part out of the name if it is one of the list (…, 0); its number from 1, or 0. */
static int take_part(Name *name, const char *const *list) {
    for (int k = 1; k < name->n; k++)
        for (int i = 0; list[i]; i++)
            if (!strcmp(name->part[k], list[i])) {
                memmove(&name->part[k], &name->part[k + 1], (size_t)(--name->n - k) * sizeof *name->part);
                return i + 1;
            }
    return 0;
}
#define TAKE_PART(name, ...) take_part(name, (const char *const[]){__VA_ARGS__, NULL})

static PtxType take_type(Name *name) {
    PtxType t = name->n > 1 ? type_named(name->part[name->n - 1]) : T_none;
    if (t != T_none) name->n--;
    return t;
}

static bool all_taken(PtxParser *p, const Name *name) {
    return name->n == 1 || ptx_refuse(p, "%s: `.%s` is not known here", p->opcode, name->part[1]);
}

/* -- operands ------------------------------------------------------------------------------------------------------ */
static int32_t of_register(const Symbol *s, int index) {
    size_t lane = s->width ? LANES * (size_t)s->width : 4, each = s->width ? (lane + 63) & ~(size_t)63 : 4;
    return (int32_t)(s->at + index * (int64_t)each);
}

static bool unknown(PtxParser *p, Token t) { return ptx_refuse(p, "%s: `%.*s` is not known", p->opcode, t.n, t.s); }

/* A register; width: of its lanes. */
static bool get_register(PtxParser *p, Token t, int32_t *at, uint8_t *width) {
    int index;
    const Symbol *s = ptx_lookup(p, t, &index);
    if (!s) return unknown(p, t);
    if (s->kind != SYM_REGISTER) return ptx_refuse(p, "%s: `%.*s` is no register", p->opcode, t.n, t.s);
    return *at = of_register(s, index), *width = s->width, true;
}

static bool get_dest(PtxParser *p, Token t, size_t bytes, int32_t *at) {
    uint8_t width = 0;
    if (t.n == 1 && *t.s == '_') return *at = ptx_room(p, LANES * 8), true;
    if (!get_register(p, t, at, &width)) return false;
    return width == bytes || ptx_refuse(p, "%s: `%.*s` has lanes of %d bytes", p->opcode, t.n, t.s, width);
}

static uint64_t number_of(const Operand *o, PtxType type) {
    const char *s = o->token.s;
    bool real = o->token.n > 2 && s[0] == '0' && strchr("fFdD", s[1]), wide = real && (s[1] | 32) == 'd';
    uint64_t bits = strtoull(s + 2 * real, NULL, real ? 16 : 0);
    double value = 0;
    float narrow;
    if (!real && memchr(s, '.', (size_t)o->token.n)) value = strtod(s, NULL), memcpy(&bits, &value, 8), wide = true;
    if (wide && type == T_f32) {
        memcpy(&value, &bits, 8), narrow = (float)value, bits = 0;
        memcpy(&bits, &narrow, 4);
    }
    return o->minus ? (uint64_t) - (int64_t)bits : bits;
}

/* The value of a name that is an address. */
static bool get_symbol(PtxParser *p, Token t, uint64_t *value) {
    int index;
    const Symbol *s = ptx_lookup(p, t, &index);
    if (!s) return unknown(p, t);
    if (s->kind == SYM_REGISTER || s->kind == SYM_ARG || s->kind == SYM_FUNCTION)
        return ptx_refuse(p, "%s: the address of `%.*s` is not taken here", p->opcode, t.n, t.s);
    return *value = (uint64_t)s->at, true;
}

static bool get_source(PtxParser *p, const Operand *o, PtxType type, int32_t *at) {
    uint8_t width = 0;
    int index;
    size_t bytes = type_bytes[type];
    if (o->kind == OPERAND_NUMBER) return *at = ptx_const(p, type, number_of(o, type)), true;
    if (o->kind != OPERAND_NAME) return ptx_refuse(p, "%s: a register or a number expected", p->opcode);
    if (o->token.n == 7 && !memcmp(o->token.s, "WARP_SZ", 7)) return *at = ptx_const(p, type, LANES), true;
    if (*o->token.s == '%' && (*at = ptx_special(p, o->token)) >= 0)
        return bytes == 4 || ptx_refuse(p, "%s: %.*s has 32 bits", p->opcode, o->token.n, o->token.s);
    const Symbol *s = ptx_lookup(p, o->token, &index);
    if (s && s->kind != SYM_REGISTER) {
        uint64_t value = 0;
        if (!get_symbol(p, o->token, &value)) return false;
        return *at = ptx_const(p, type, value), true;
    }
    if (!get_register(p, o->token, at, &width)) return false;
    return width == bytes ||
           ptx_refuse(p, "%s: `%.*s` has lanes of %d bytes", p->opcode, o->token.n, o->token.s, width);
}

static bool get_pred(PtxParser *p, Token t, int32_t *at) {
    uint8_t width = 0;
    if (t.n == 1 && *t.s == '_') return *at = ptx_room(p, 4), true;
    if (!get_register(p, t, at, &width)) return false;
    return width == 0 || ptx_refuse(p, "%s: `%.*s` is no predicate", p->opcode, t.n, t.s);
}

/* A predicate, or the number 0 or 1. */
static bool get_truth(PtxParser *p, const Operand *o, int32_t *at, bool *inverted) {
    *inverted = o->inverted;
    if (o->kind != OPERAND_NUMBER) return get_pred(p, o->token, at);
    *at = ptx_const(p, T_u32, number_of(o, T_u32) ? UINT32_MAX : 0);
    return true;
}

static bool has_operands(PtxParser *p, int least, int most) {
    return (p->noperands >= least && p->noperands <= most) || ptx_refuse(p, "%s: %d operands", p->opcode, p->noperands);
}

/* [%rd1+8], [name+8], [8] */
static bool get_address(PtxParser *p, const Operand *o, PtxIns *i) {
    int index;
    if (o->kind != OPERAND_ADDRESS) return ptx_refuse(p, "%s: an address in brackets expected", p->opcode);
    i->a = -1, i->imm = o->offset;
    if (!o->token.n) return true;
    const Symbol *s = ptx_lookup(p, o->token, &index);
    if (!s) return unknown(p, o->token);
    if (s->kind == SYM_REGISTER) return get_register(p, o->token, &i->a, &i->awide);
    if (s->kind == SYM_ARG) i->space = SPACE_ARG, i->a = (int32_t)s->at, i->e = (int32_t)s->bytes;
    else i->imm += s->at;
    return true;
}

/* -- ODD rows ------------------------------------------------------------------------------------------------------ */
#define SEM "volatile", "relaxed", "acquire", "release", "weak", "gpu", "cta", "sys", "acq_rel", "sc", "cluster"

static bool take_space(Name *name, PtxIns *i) {
    static const uint8_t spaces[] = {SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_SHARED,
                                     SPACE_LOCAL,   SPACE_PARAM,  SPACE_GLOBAL, SPACE_PARAM};
    i->space = spaces[TAKE_PART(name, "global", "shared", "shared::cta", "local", "param", "const", "param::entry")];
    return true;
}

static bool decode_memory(PtxParser *p, Name *name, PtxIns *i, bool store) {
    const Operand *value = &p->operand[store], *address = &p->operand[!store];
    take_space(name, i);
    i->what = TAKE_PART(name, "volatile", "relaxed", "acquire") ? W_SYNC : WHAT_NONE;
    while (TAKE_PART(name, SEM, "nc", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "L1::no_allocate", "L1::evict_last",
                     "L2::128B", "unified"))
        ;
    int vector = TAKE_PART(name, "v2", "v4");
    i->type = (uint8_t)take_type(name), i->n = vector ? (uint8_t)(2 * vector) : 1;
    if (i->type >= T_pred) return ptx_refuse(p, "%s: a type expected", p->opcode);
    if (!all_taken(p, name) || !has_operands(p, 2, 2) || !get_address(p, address, i)) return false;
    if ((value->kind == OPERAND_VECTOR ? value->nlist : 1) != i->n)
        return ptx_refuse(p, "%s: a vector of %d expected", p->opcode, i->n);
    p->m->meets |= i->space == SPACE_SHARED || i->space == SPACE_GENERIC || i->what == W_SYNC;
    for (int k = 0; k < i->n; k++) {
        Token t = value->kind == OPERAND_VECTOR ? value->list[k] : value->token;
        if (t.kind == NUMBER) {
            Operand number = {.kind = OPERAND_NUMBER, .token = t, .minus = value->minus};
            i->v[k] = ptx_const(p, i->type, number_of(&number, (PtxType)i->type)), i->dwide = type_bytes[i->type];
        } else if (t.n == 1 && *t.s == '_') i->v[k] = ptx_room(p, LANES * 8);
        else if (!get_register(p, t, &i->v[k], &i->dwide)) return false;
        if (t.kind != NUMBER && i->dwide < type_bytes[i->type])
            return ptx_refuse(p, "%s: `%.*s` is too narrow", p->opcode, t.n, t.s);
    }
    return true;
}

static bool decode_ld(PtxParser *p, Name *name, PtxIns *i) { return decode_memory(p, name, i, false); }
static bool decode_st(PtxParser *p, Name *name, PtxIns *i) { return decode_memory(p, name, i, true); }

static bool decode_pieces(PtxParser *p, PtxIns *i, const Operand *vector, const Operand *whole, bool join) {
    size_t bytes = type_bytes[i->type] / (size_t)vector->nlist;
    i->what = join ? W_JOIN : W_SPLIT, i->n = (uint8_t)vector->nlist, i->awide = (uint8_t)bytes;
    i->dwide = type_bytes[i->type];
    if (vector->nlist > VECTOR) return ptx_refuse(p, "%s: %d pieces", p->opcode, vector->nlist);
    PtxType piece = bytes == 4 ? T_b32 : bytes == 2 ? T_b16 : T_b8;
    for (int k = 0; k < vector->nlist; k++) {
        Operand o = {.kind = vector->list[k].kind == NUMBER ? OPERAND_NUMBER : OPERAND_NAME, .token = vector->list[k]};
        if (join ? !get_source(p, &o, piece, &i->v[k]) : !get_dest(p, o.token, bytes, &i->v[k])) return false;
    }
    return join ? get_dest(p, whole->token, i->dwide, &i->d) : get_source(p, whole, (PtxType)i->type, &i->a);
}

static bool decode_mov(PtxParser *p, Name *name, PtxIns *i) {
    const Operand *d = &p->operand[0], *a = &p->operand[1];
    i->type = (uint8_t)take_type(name), i->what = W_COPY;
    if (!all_taken(p, name) || !has_operands(p, 2, 2)) return false;
    if (d->kind == OPERAND_VECTOR) return decode_pieces(p, i, d, a, false);
    if (a->kind == OPERAND_VECTOR) return decode_pieces(p, i, a, d, true);
    i->dwide = type_bytes[i->type];
    return get_dest(p, d->token, i->dwide, &i->d) && get_source(p, a, (PtxType)i->type, &i->a);
}

static bool decode_selp(PtxParser *p, Name *name, PtxIns *i) {
    i->type = (uint8_t)take_type(name), i->dwide = type_bytes[i->type];
    return all_taken(p, name) && has_operands(p, 4, 4) && get_dest(p, p->operand[0].token, i->dwide, &i->d) &&
           get_source(p, &p->operand[1], (PtxType)i->type, &i->a) &&
           get_source(p, &p->operand[2], (PtxType)i->type, &i->b) && get_truth(p, &p->operand[3], &i->c, &i->not_c);
}

static bool decode_cvt(PtxParser *p, Name *name, PtxIns *i) {
    const Operand *a = &p->operand[1];
    i->from = (uint8_t)take_type(name), i->type = (uint8_t)take_type(name), i->mod = (uint16_t)name->mods;
    if (i->type >= T_pred) return ptx_refuse(p, "%s: two types expected", p->opcode);
    if (!all_taken(p, name) || !has_operands(p, 2, 2) || !get_register(p, p->operand[0].token, &i->d, &i->dwide))
        return false;
    i->awide = type_bytes[i->from];
    if (a->kind == OPERAND_NUMBER || ptx_special(p, a->token) >= 0) return get_source(p, a, (PtxType)i->from, &i->a);
    if (!get_register(p, a->token, &i->a, &i->awide)) return false;
    return (i->awide >= type_bytes[i->from] && i->dwide >= type_bytes[i->type]) ||
           ptx_refuse(p, "%s: a register is too narrow", p->opcode);
}

static const int64_t window[] = {0, 0, (int64_t)1 << 56, (int64_t)2 << 56, (int64_t)3 << 56, 0};

static bool decode_cvta(PtxParser *p, Name *name, PtxIns *i) {
    bool to = TAKE_PART(name, "to") != 0;
    take_space(name, i);
    i->type = (uint8_t)take_type(name);
    i->imm = to ? -window[i->space] : window[i->space];
    return all_taken(p, name) && has_operands(p, 2, 2) && get_dest(p, p->operand[0].token, 8, &i->d) &&
           get_source(p, &p->operand[1], T_u64, &i->a);
}

static bool decode_isspacep(PtxParser *p, Name *name, PtxIns *i) {
    take_space(name, i);
    i->imm = window[i->space] >> 56;
    return all_taken(p, name) && has_operands(p, 2, 2) && get_pred(p, p->operand[0].token, &i->d) &&
           get_source(p, &p->operand[1], T_u64, &i->a);
}

static bool decode_bra(PtxParser *p, Name *name, PtxIns *i) {
    (void)i;
    TAKE_PART(name, "uni");
    if (!all_taken(p, name) || !has_operands(p, 1, 1)) return false;
    PTX_GROW(p->jump, p->njumps, p->jumps_room);
    p->jump[p->njumps++] = (Jump){.at = p->ncode, .name = p->operand[0].token};
    return true;
}

static bool decode_brx(PtxParser *p, Name *name, PtxIns *i) {
    TAKE_PART(name, "idx"), TAKE_PART(name, "uni");
    if (!all_taken(p, name) || !has_operands(p, 2, 2) || !get_source(p, &p->operand[0], T_u32, &i->a)) return false;
    Token t = p->operand[1].token;
    for (uint32_t k = 0; k < p->nlist_labels; k++)
        if (p->list_label[k].length == t.n && !memcmp(p->list_label[k].name, t.s, (size_t)t.n))
            return i->target = (int32_t)p->list_label[k].at, true;
    return unknown(p, t);
}

static bool get_arg(PtxParser *p, Token t, int32_t *at, int32_t *units) {
    int index;
    const Symbol *s = ptx_lookup(p, t, &index);
    if (!s || s->kind != SYM_ARG) return ptx_refuse(p, "%s: `%.*s` is no .param", p->opcode, t.n, t.s);
    return *at = (int32_t)s->at, *units = (int32_t)((s->bytes + 7) / 8), true;
}

/* call (result), name, (arguments); */
static bool decode_call(PtxParser *p, Name *name, PtxIns *i) {
    PtxModule *m = p->m;
    PtxCall c = {.nargs = 0};
    int k = 0, index;
    TAKE_PART(name, "uni");
    if (!all_taken(p, name) || !has_operands(p, 1, 3)) return false;
    if (p->operand[k].kind == OPERAND_LIST) {
        if (p->operand[k].nlist && !get_arg(p, p->operand[k].list[0], &c.ret, &c.ret_units)) return false;
        c.nrets = p->operand[k++].nlist;
    }
    const Symbol *s = ptx_lookup(p, p->operand[k].token, &index);
    if (!s || s->kind != SYM_FUNCTION) return ptx_refuse(p, "call: only of functions by name");
    c.function = (int32_t)s->at;
    if (++k < p->noperands)
        for (c.nargs = 0; c.nargs < p->operand[k].nlist; c.nargs++)
            if (!get_arg(p, p->operand[k].list[c.nargs], &c.arg[c.nargs], &c.units[c.nargs])) return false;
    m->call = realloc(m->call, (m->ncalls + 1) * sizeof *m->call);
    m->call[m->ncalls] = c;
    return i->target = (int32_t)m->ncalls++, true;
}

static bool decode_ret(PtxParser *p, Name *name, PtxIns *i) {
    (void)i;
    TAKE_PART(name, "uni");
    return all_taken(p, name) && has_operands(p, 0, 0);
}

static bool decode_exit(PtxParser *p, Name *name, PtxIns *i) { return decode_ret(p, name, i); }
static bool decode_trap(PtxParser *p, Name *name, PtxIns *i) { return decode_ret(p, name, i); }

/* bar.sync a, b; bar.red.popc.u32 d, a, c; bar.warp.sync mask */
static bool decode_bar(PtxParser *p, Name *name, PtxIns *i) {
    static const uint8_t whats[] = {0, W_SYNC, W_ARRIVE, W_POPC};
    int k = 0;
    TAKE_PART(name, "cta"), TAKE_PART(name, "aligned");
    if (TAKE_PART(name, "warp")) {
        TAKE_PART(name, "sync"), i->what = W_WARP_SYNC;
        return all_taken(p, name) && has_operands(p, 1, 1) && get_source(p, &p->operand[0], T_b32, &i->e);
    }
    i->what = whats[TAKE_PART(name, "sync", "arrive", "red")], i->c = -1, i->b = -1, p->m->meets = true;
    if (i->what == W_POPC) {
        static const uint8_t reductions[] = {0, W_POPC, W_AND, W_OR};
        i->what = reductions[TAKE_PART(name, "popc", "and", "or")], i->type = (uint8_t)take_type(name);
        if (!(i->type == T_pred ? get_pred(p, p->operand[0].token, &i->d) : get_dest(p, p->operand[0].token, 4, &i->d)))
            return false;
        k = 1, p->noperands--;
        if (!get_truth(p, &p->operand[p->noperands], &i->c, &i->not_c)) return false;
    }
    if (!i->what || !all_taken(p, name) || !has_operands(p, k + 1, k + 2)) return false;
    if (p->noperands == k + 2 && !get_source(p, &p->operand[k + 1], T_u32, &i->b)) return false;
    return get_source(p, &p->operand[k], T_u32, &i->a);
}

static bool decode_fence(PtxParser *p, Name *name, PtxIns *i) {
    (void)i;
    while (TAKE_PART(name, SEM, "gl", "proxy", "async"))
        ;
    return all_taken(p, name);
}

static bool decode_activemask(PtxParser *p, Name *name, PtxIns *i) {
    TAKE_PART(name, "b32");
    return all_taken(p, name) && has_operands(p, 1, 1) && get_dest(p, p->operand[0].token, 4, &i->d);
}

static bool decode_shfl(PtxParser *p, Name *name, PtxIns *i) {
    static const uint8_t whats[] = {0, W_UP, W_DOWN, W_BFLY, W_IDX};
    const Operand *o = p->operand;
    if (!TAKE_PART(name, "sync")) return ptx_refuse(p, "%s: without .sync it was taken away", p->opcode);
    i->what = whats[TAKE_PART(name, "up", "down", "bfly", "idx")], i->d = i->v[0] = -1;
    TAKE_PART(name, "b32");
    if (!i->what || !all_taken(p, name) || !has_operands(p, 5, 5)) return false;
    if (o[0].second.n && !get_pred(p, o[0].second, &i->v[0])) return false;
    return get_dest(p, o[0].token, 4, &i->d) && get_source(p, &o[1], T_b32, &i->a) &&
           get_source(p, &o[2], T_b32, &i->b) && get_source(p, &o[3], T_b32, &i->c) &&
           get_source(p, &o[4], T_b32, &i->e);
}

static bool decode_vote(PtxParser *p, Name *name, PtxIns *i) {
    static const uint8_t whats[] = {0, W_ALL, W_ANY, W_UNI, W_BALLOT};
    if (!TAKE_PART(name, "sync")) return ptx_refuse(p, "%s: without .sync it was taken away", p->opcode);
    i->what = whats[TAKE_PART(name, "all", "any", "uni", "ballot")], i->type = (uint8_t)take_type(name);
    if (!i->what || !all_taken(p, name) || !has_operands(p, 3, 3)) return false;
    bool dest =
        i->what == W_BALLOT ? get_dest(p, p->operand[0].token, 4, &i->d) : get_pred(p, p->operand[0].token, &i->d);
    return dest && get_truth(p, &p->operand[1], &i->c, &i->not_c) && get_source(p, &p->operand[2], T_b32, &i->e);
}

static bool decode_match(PtxParser *p, Name *name, PtxIns *i) {
    i->what = TAKE_PART(name, "all") ? W_ALL : W_ANY, i->v[0] = -1;
    TAKE_PART(name, "any"), TAKE_PART(name, "sync");
    i->type = (uint8_t)take_type(name), i->awide = type_bytes[i->type];
    if (!all_taken(p, name) || !has_operands(p, 3, 3)) return false;
    if (p->operand[0].second.n && !get_pred(p, p->operand[0].second, &i->v[0])) return false;
    return get_dest(p, p->operand[0].token, 4, &i->d) && get_source(p, &p->operand[1], (PtxType)i->type, &i->a) &&
           get_source(p, &p->operand[2], T_b32, &i->e);
}

static bool decode_redux(PtxParser *p, Name *name, PtxIns *i) {
    static const uint8_t whats[] = {0, W_ADD, W_MIN, W_MAX, W_AND, W_OR, W_XOR};
    TAKE_PART(name, "sync");
    i->what = whats[TAKE_PART(name, "add", "min", "max", "and", "or", "xor")], i->type = (uint8_t)take_type(name);
    return i->what && all_taken(p, name) && has_operands(p, 3, 3) && get_dest(p, p->operand[0].token, 4, &i->d) &&
           get_source(p, &p->operand[1], T_b32, &i->a) && get_source(p, &p->operand[2], T_b32, &i->e);
}

/* red is atom without a result. */
static bool decode_atom(PtxParser *p, Name *name, PtxIns *i) {
    static const uint8_t whats[] = {0, W_ADD, W_MIN, W_MAX, W_AND, W_OR, W_XOR, W_INC, W_DEC, W_CAS, W_EXCH};
    bool reduces = !strcmp(name->part[0], "red");
    int k = !reduces;
    take_space(name, i);
    while (TAKE_PART(name, SEM))
        ;
    i->what = whats[TAKE_PART(name, "add", "min", "max", "and", "or", "xor", "inc", "dec", "cas", "exch")];
    i->type = (uint8_t)take_type(name), i->n = 1, i->d = i->c = -1;
    size_t bytes = type_bytes[i->type];
    int last = k + 2 + (i->what == W_CAS);
    if (!i->what || bytes < 4) return ptx_refuse(p, "%s is not known", p->opcode);
    if (!all_taken(p, name) || !has_operands(p, last, last) || !get_address(p, &p->operand[k], i)) return false;
    p->m->meets = true;
    if (!reduces && !get_dest(p, p->operand[0].token, bytes, &i->d)) return false;
    if (i->what == W_CAS && !get_source(p, &p->operand[k + 2], (PtxType)i->type, &i->c)) return false;
    return get_source(p, &p->operand[k + 1], (PtxType)i->type, &i->b);
}

static bool decode_lop3(PtxParser *p, Name *name, PtxIns *i) {
    TAKE_PART(name, "b32");
    if (!all_taken(p, name) || !has_operands(p, 5, 5)) return false;
    i->imm = (int64_t)number_of(&p->operand[4], T_u32);
    return get_dest(p, p->operand[0].token, 4, &i->d) && get_source(p, &p->operand[1], T_b32, &i->a) &&
           get_source(p, &p->operand[2], T_b32, &i->b) && get_source(p, &p->operand[3], T_b32, &i->c);
}

static bool decode_bfi(PtxParser *p, Name *name, PtxIns *i) {
    i->type = (uint8_t)take_type(name);
    return all_taken(p, name) && has_operands(p, 5, 5) &&
           get_dest(p, p->operand[0].token, type_bytes[i->type], &i->d) &&
           get_source(p, &p->operand[1], (PtxType)i->type, &i->a) &&
           get_source(p, &p->operand[2], (PtxType)i->type, &i->b) && get_source(p, &p->operand[3], T_u32, &i->c) &&
           get_source(p, &p->operand[4], T_u32, &i->e);
}

static bool decode_testp(PtxParser *p, Name *name, PtxIns *i) {
    i->what =
        (uint8_t)(W_FINITE - 1 + TAKE_PART(name, "finite", "infinite", "number", "notanumber", "normal", "subnormal"));
    i->type = (uint8_t)take_type(name);
    return i->what >= W_FINITE && all_taken(p, name) && has_operands(p, 2, 2) &&
           get_pred(p, p->operand[0].token, &i->d) && get_source(p, &p->operand[1], (PtxType)i->type, &i->a);
}

static const struct {
    const char *name;
    PtxOp op;
    bool (*decode)(PtxParser *, Name *, PtxIns *);
} odd[] = {
#define ODD(name) {#name, P_##name, decode_##name},
#include "tests/support/ptx/ptx.def"
    {"red", P_atom, decode_atom}, {"barrier", P_bar, decode_bar}, {"membar", P_fence, decode_fence}};

/* -- rows of one shape --------------------------------------------------------------------------------------------- */
static bool is_row(const Row *r, const Name *name) {
    const char *s = r->name;
    for (int k = 0; k < name->n - 1; k++) {
        size_t n = strlen(name->part[k]);
        if (strncmp(s, name->part[k], n) != 0 || s[n] != (k < name->n - 2 ? '_' : 0)) return false;
        s += n + (k < name->n - 2);
    }
    return !strcmp(type_names[r->type], name->part[name->n - 1]);
}

static PtxType of_class(PtxType t, unsigned class) {
    static const struct {
        PtxType narrow, wide;
    } wider[] = {{T_s16, T_s32}, {T_u16, T_u32}, {T_s32, T_s64}, {T_u32, T_u64}};
    if (class == U32) return T_u32;
    for (size_t i = 0; class == WIDE && i < sizeof wider / sizeof *wider; i++)
        if (wider[i].narrow == t) return wider[i].wide;
    return t;
}

static bool decode_test(PtxParser *p, PtxIns *i) {
    const Operand *d = &p->operand[0];
    i->e = i->c = -1;
    if (!has_operands(p, 3 + (i->what != 0), 3 + (i->what != 0)) || !get_pred(p, d->token, &i->d)) return false;
    if (d->second.n && !get_pred(p, d->second, &i->e)) return false;
    return !i->what || get_truth(p, &p->operand[3], &i->c, &i->not_c);
}

static bool decode_bool(PtxParser *p, PtxIns *i, int sources) {
    bool inverted = false;
    if (!has_operands(p, sources + 1, sources + 1) || !get_pred(p, p->operand[0].token, &i->d) ||
        !get_truth(p, &p->operand[1], &i->a, &inverted))
        return false;
    i->b = i->a;
    if (inverted) return ptx_refuse(p, "%s: ! is not for operands", p->opcode);
    return sources == 1 || get_truth(p, &p->operand[2], &i->b, &inverted);
}

static bool decode_row(PtxParser *p, const Row *r, const Name *name, PtxIns *i) {
    int32_t *const source[] = {&i->a, &i->b, &i->c};
    i->op = r->op, i->mod = (uint16_t)(name->mods & ~(unsigned)RN), i->type = (uint8_t)r->type;
    if (name->mods & ~(unsigned)r->mods) return ptx_refuse(p, "%s: a modifier that does not belong there", p->opcode);
    if (r->type == T_pred) return decode_bool(p, i, r->op == P_not_pred || r->op == P_mov_pred ? 1 : 2);
    int sources = r->sources - (!r->compares && r->sources == 3 && p->noperands == 3); /* add.cc has two */
    i->mod |= r->mods & BITWISE;
    if (r->compares ? !decode_test(p, i)
                    : !has_operands(p, sources + 1, sources + 1) ||
                          !get_dest(p, p->operand[0].token, type_bytes[of_class(r->type, r->result)], &i->d))
        return false;
    for (int k = 0; k < sources; k++)
        if (!get_source(p, &p->operand[k + 1], of_class(r->type, r->source[k]), source[k])) return false;
    if (sources < 3 && r->sources == 3) i->c = i->b;
    return true;
}

static bool decode_named(PtxParser *p, Name *name, PtxIns *i) {
    bool pred = !strcmp(name->part[name->n - 1], "pred");
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
        if (!strcmp(odd[k].name, name->part[0]) && !(pred && !strcmp(name->part[0], "mov")))
            return i->op = (uint16_t)odd[k].op,
                   odd[k].decode(p, name, i) || ptx_refuse(p, "%s is not known", p->opcode);
    if (!strcmp(name->part[0], "setp") && name->n == 4) {
        static const uint8_t whats[] = {0, W_AND, W_OR, W_XOR};
        i->what = whats[TAKE_PART(name, "and", "or", "xor")];
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (is_row(&rows[k], name)) return decode_row(p, &rows[k], name, i);
    return ptx_refuse(p, "%s is not known", p->opcode);
}

bool ptx_decode(PtxParser *p) {
    Name name;
    PtxIns i = {.guard = -1, .line = p->token.line, .guard_not = p->guard_not};
    if (!split(p, &name)) return false;
    if (p->guard.n && !get_pred(p, p->guard, &i.guard)) return false;
    if (!name.n || !decode_named(p, &name, &i)) return ptx_refuse(p, "%s is not known", p->opcode);
    PTX_GROW(p->code, p->ncode, p->code_room);
    p->code[p->ncode++] = i;
    return true;
}
