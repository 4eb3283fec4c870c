/* type.c -- interns types, tests their compatibility, and converts between types and names. */
#include "vm/base/type.h"

#include <stdlib.h>
#include <string.h>

/* -- intern table: every Type is in one bucket; a class is hashed by its address, because each one is distinct ----- */

enum { TYPE_BUCKETS = 256 };

typedef struct TypeTable {
    Type *buckets[TYPE_BUCKETS];
    const Type *simple[TY_FOREIGN + 1], *num[QS_NDTYPES]; /* cache of frequently used types */
    const Type *arrays[QS_NDTYPES][QS_MAX_RANK + 2];
} TypeTable;

void qtype_table_init(Ctx *c) { c->types = qmem_alloc(c, sizeof *c->types); }

static const Type *no_args[1]; /* args of a signature without parameters; NULL means a function without signature */

static void free_type(Ctx *c, Type *t) {
    if (t->args && t->args != no_args) qmem_free(c, t->args, t->nargs * sizeof *t->args);
    qmem_free(c, t, sizeof *t);
}

void qtype_table_close(Ctx *c) {
    for (int i = 0; i < TYPE_BUCKETS; i++)
        for (Type *t = c->types->buckets[i], *next; t; t = next) {
            next = t->chain;
            free_type(c, t);
        }
    qmem_free(c, c->types, sizeof *c->types);
    c->types = NULL;
}

static uint32_t mix_hash(uint32_t h, uint64_t x) { return (uint32_t)(((h ^ x) * 0x9e3779b97f4a7c15u) >> 29); }

static uint32_t hash_type(const Type *t) {
    uint32_t h = mix_hash(t->kind, t->dtype);
    h = mix_hash(h, (uint64_t)(uint8_t)t->rank << 16 | (uint64_t)t->nfixed << 8 | t->nargs);
    for (int i = 0; i < t->nfixed; i++) h = mix_hash(h, (uint32_t)t->dims[i]);
    for (int i = 0; i < t->nargs; i++) h = mix_hash(h, (uintptr_t)t->args[i]);
    h = mix_hash(h, (uintptr_t)t->inner);
    return h;
}

static bool same_type(const Type *a, const Type *b) {
    if (a->hash != b->hash || a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank || a->inner != b->inner)
        return false;
    if (a->nfixed != b->nfixed || memcmp(a->dims, b->dims, a->nfixed * sizeof *a->dims) != 0) return false;
    if (a->nargs != b->nargs || !a->args != !b->args ||
        memcmp(a->args ? a->args : no_args, b->args ? b->args : no_args, a->nargs * sizeof *a->args) != 0)
        return false;
    return a->kind != TY_CLASS;
}

static void link_type(Ctx *c, Type *t) {
    Type **head = &c->types->buckets[t->hash % TYPE_BUCKETS];
    t->chain = *head;
    *head = t;
}

static void write_name(const Ctx *c, const Type *t, Text *out);

/* Returns the unique descriptor equal to *wanted, created on first request; copies its args. */
static const Type *intern(Ctx *c, Type *wanted) {
    wanted->hash = hash_type(wanted);
    for (Type *t = c->types->buckets[wanted->hash % TYPE_BUCKETS]; t; t = t->chain)
        if (same_type(t, wanted)) return t;
    Type *t = qmem_alloc(c, sizeof *t);
    *t = *wanted;
    if (t->nargs) {
        t->args = qmem_alloc(c, qmem_size(t->nargs, sizeof *t->args, 0));
        memcpy(t->args, wanted->args, t->nargs * sizeof *t->args);
    }
    if (!t->name) {
        Text name;
        qtext_init(&name, c);
        write_name(c, t, &name);
        t->name = qstr_name(c, name.s, name.len);
        qtext_free(&name);
    }
    link_type(c, t);
    return t;
}

/* -- making types -------------------------------------------------------------------------------------------------- */

const Type *qtype_simple(Ctx *c, TypeKind k) {
    const Type **known = &c->types->simple[k];
    return *known ? *known : (*known = intern(c, &(Type){.kind = k}));
}

const Type *qtype_any(Ctx *c) { return qtype_simple(c, TY_ANY); }

const Type *qtype_num(Ctx *c, qs_dtype d) {
    const Type **known = &c->types->num[d];
    return *known ? *known : (*known = intern(c, &(Type){.kind = TY_NUM, .dtype = d}));
}

const Type *qtype_scalar(Ctx *c) { return qtype_num(c, c->scalar_dtype); }
const Type *qtype_ptr(Ctx *c, const Type *inner) { return intern(c, &(Type){.kind = TY_PTR, .inner = inner}); }

const Type *qtype_array(Ctx *c, const Type *elem, int rank) {
    const Type *none = NULL, **known = elem->kind == TY_NUM ? &c->types->arrays[elem->dtype][rank + 1] : &none;
    return *known ? *known : (*known = intern(c, &(Type){.kind = TY_ARRAY, .inner = elem, .rank = (int8_t)rank}));
}

const Type *qtype_fixed(Ctx *c, const Type *elem, int rank, const int32_t *dims) {
    Type t = {.kind = TY_ARRAY, .inner = elem, .rank = (int8_t)rank, .nfixed = (uint8_t)rank};
    memcpy(t.dims, dims, (size_t)rank * sizeof *dims);
    return intern(c, &t);
}

const Type *qtype_fn(Ctx *c, TypeKind k, const Type **args, int nargs) {
    return intern(c, &(Type){.kind = k, .args = nargs ? args : no_args, .nargs = (uint8_t)nargs});
}

static bool in_list(const Type *const *list, int n, const Type *t) {
    for (int i = 0; i < n; i++)
        if (list[i] == t) return true;
    return false;
}

enum { UNION_MAX = 64 };

static int add_member(const Type **members, int n, const Type *t) {
    if (t->kind == TY_UNION) {
        for (int i = 0; i < t->nargs; i++) n = add_member(members, n, t->args[i]);
        return n;
    }
    if (n == UNION_MAX || in_list(members, n, t)) return n;
    members[n] = t;
    return n + 1;
}

/* Unions are flat and without duplicates.  A union of one type is that type; a union with ?? is ??. */
const Type *qtype_union(Ctx *c, const Type **args, int nargs) {
    const Type *members[UNION_MAX];
    int n = 0;
    for (int i = 0; i < nargs; i++) n = add_member(members, n, args[i]);
    if (n == 0 || in_list(members, n, qtype_any(c))) return qtype_any(c);
    return n == 1 ? members[0] : intern(c, &(Type){.kind = TY_UNION, .args = members, .nargs = (uint8_t)n});
}

Type *qtype_class(Ctx *c, Str *name) {
    Type *t = qmem_alloc(c, sizeof *t);
    *t = (Type){.kind = TY_CLASS, .name = name};
    t->hash = mix_hash(TY_CLASS, (uintptr_t)t);
    link_type(c, t);
    return t;
}

/* -- compatibility of types ---------------------------------------------------------------------------------------- */

static bool accepts_all(const Ctx *c, const Type *t, const Type *given) {
    for (int i = 0; i < given->nargs; i++)
        if (!qtype_accepts(c, t, given->args[i])) return false;
    return true;
}

static bool accepts_any(const Ctx *c, const Type *t, const Type *given) {
    for (int i = 0; i < t->nargs; i++)
        if (qtype_accepts(c, t->args[i], given)) return true;
    return false;
}

static bool num_accepts(qs_dtype d, qs_dtype given) {
    return d == given || (qdtype_is_real(d) && !qdtype_is_complex(given)) || qdtype_is_complex(d);
}

static bool elem_accepts(const Ctx *c, const Type *elem, const Type *given) {
    if (elem->kind != TY_NUM || given->kind != TY_NUM)
        return elem->kind != TY_NUM && given->kind != TY_NUM && qtype_accepts(c, elem, given);
    return elem == given || (elem->dtype == c->scalar_dtype && qdtype_is_real(given->dtype));
}

static bool array_accepts(const Ctx *c, const Type *t, const Type *given) {
    if (t->rank != RANK_ANY && (given->rank == RANK_ANY || given->rank > t->rank)) return false;
    if (t->nfixed && (given->nfixed != t->nfixed || memcmp(t->dims, given->dims, t->nfixed * sizeof *t->dims) != 0))
        return false;
    return elem_accepts(c, t->inner, given->inner);
}

bool qtype_accepts(const Ctx *c, const Type *t, const Type *given) {
    if (t == given || t->kind == TY_ANY) return true;
    if (given->kind == TY_UNION) return accepts_all(c, t, given);
    switch (t->kind) {
    case TY_UNION: return accepts_any(c, t, given);
    case TY_PTR: return qtype_accepts(c, t->inner, given);
    case TY_NUM: return given->kind == TY_NUM && num_accepts(t->dtype, given->dtype);
    case TY_ARRAY: return given->kind == TY_ARRAY && array_accepts(c, t, given);
    case TY_FN:
    case TY_KERNEL: return given->kind == t->kind && (!t->args || !given->args || t->nargs == given->nargs);
    default: return false;
    }
}

/* -- names --------------------------------------------------------------------------------------------------------- */

static const char *const rank_names[] = {"vec", "mat", "cube"};

static qs_dtype cscalar_dtype(const Ctx *c) { return qdtype_complex_of(c->scalar_dtype); }

static const char *num_name(const Ctx *c, qs_dtype d) {
    return d == c->scalar_dtype ? "scalar" : d == cscalar_dtype(c) ? "cscalar" : qdtype_info[d].name;
}

/* Returns the prefix for an element type in the name of an array, "" "c" "i" (vec, cvec, ivec); NULL for others. */
static const char *elem_prefix(const Ctx *c, const Type *elem) {
    if (elem->kind != TY_NUM) return NULL;
    if (elem->dtype == c->scalar_dtype) return "";
    return elem->dtype == cscalar_dtype(c) ? "c" : elem->dtype == QS_I32 ? "i" : NULL;
}

enum { NAMED_DIM_MAX = 32 }; /* vec32 is a predefined name; larger vectors are written vec(33) */

static bool dims_in_name(const Type *t) {
    for (int i = 0; i < t->nfixed; i++)
        if (t->dims[i] < 1 || t->dims[i] > NAMED_DIM_MAX) return false;
    return t->nfixed <= 4;
}

/* Appends the extents: vec3, mat2x2, cube2x3x2x2; or vec[uint8](3) and vec(256) if there is no such name. */
static void write_dims(const Type *t, bool named, Text *out) {
    if (!t->nfixed) return;
    if (!named) qtext_putc(out, '(');
    for (int i = 0; i < t->nfixed; i++) qtext_printf(out, "%s%d", i == 0 ? "" : named ? "x" : ",", t->dims[i]);
    if (!named) qtext_putc(out, ')');
}

static void write_array(const Ctx *c, const Type *t, Text *out) {
    const char *prefix = elem_prefix(c, t->inner);
    bool named = prefix && dims_in_name(t);
    if (t->inner->kind == TY_ANY && t->rank == RANK_ANY) {
        qtext_puts(out, "cell");
        return;
    }
    qtext_puts(out, prefix ? prefix : "");
    qtext_puts(out, rank_names[t->rank == RANK_ANY || t->rank > 3 ? 2 : t->rank < 1 ? 0 : t->rank - 1]);
    if (t->rank == RANK_ANY) qtext_puts(out, "{:}");
    else if (t->rank > 3 && !t->nfixed) qtext_printf(out, "{%d}", t->rank);
    if (!prefix) qtext_printf(out, "[%s]", t->inner->name->s);
    write_dims(t, named, out);
}

static void write_list(const Type *t, const char *between, Text *out) {
    for (int i = 0; i < t->nargs; i++) qtext_printf(out, "%s%s", i ? between : "", t->args[i]->name->s);
}

static void write_fn(const Type *t, Text *out) {
    bool kernel = t->kind == TY_KERNEL, bare = t->nargs == 1 && !kernel;
    if (!t->args) {
        qtext_puts(out, kernel ? "kernel_function" : "function");
        return;
    }
    qtext_puts(out, kernel ? "[__kernel__ (" : bare ? "[" : "[(");
    write_list(t, ",", out);
    qtext_puts(out, kernel ? ") -> ()]" : bare ? " -> ??]" : ") -> ??]");
}

static void write_name(const Ctx *c, const Type *t, Text *out) {
    switch (t->kind) {
    case TY_ANY: qtext_puts(out, "??"); break;
    case TY_NUM: qtext_puts(out, num_name(c, t->dtype)); break;
    case TY_STRING: qtext_puts(out, "string"); break;
    case TY_ARRAY: write_array(c, t, out); break;
    case TY_FN:
    case TY_KERNEL: write_fn(t, out); break;
    case TY_OBJECT: qtext_puts(out, "object"); break;
    case TY_PTR: qtext_printf(out, "^%s", t->inner->name->s); break;
    case TY_UNION:
        qtext_putc(out, '[');
        write_list(t, "|", out);
        qtext_putc(out, ']');
        break;
    case TY_TYPE: qtext_puts(out, "type"); break;
    case TY_FOREIGN: qtext_puts(out, "pyvalue"); break;
    case TY_CLASS: break; /* its name is set on creation */
    }
}

const char *qtype_name(const Type *t) { return t->name->s; }

/* -- predefined names ---------------------------------------------------------------------------------------------- */

/* Reads a number from 1 to NAMED_DIM_MAX without leading zero; 0: there is none. */
static int read_dim(const char **s) {
    if (**s < '1' || **s > '9') return 0;
    char *end;
    long n = strtol(*s, &end, 10);
    *s = end;
    return n <= NAMED_DIM_MAX ? (int)n : 0;
}

/* Parses the extents in a name: vec3, mat2x2, cube2x3x2.  There are as many as the rank; a cube may also have four. */
static const Type *read_fixed(Ctx *c, const Type *elem, int rank, const char *s) {
    int32_t dims[4];
    int n = 0;
    for (;; s++) {
        if (n == 4 || (dims[n] = read_dim(&s)) == 0) return NULL;
        n++;
        if (*s != 'x') break;
    }
    return *s == 0 && (n == rank || (rank == 3 && n == 4)) ? qtype_fixed(c, elem, n, dims) : NULL;
}

static const Type *array_named(Ctx *c, const Type *elem, const char *s) {
    for (int r = 0; r < 3; r++) {
        size_t n = strlen(rank_names[r]);
        if (strncmp(s, rank_names[r], n) != 0) continue;
        if (s[n] == 0) return qtype_array(c, elem, r + 1);
        return elem->kind == TY_NUM ? read_fixed(c, elem, r + 1, s + n) : NULL;
    }
    return NULL;
}

static const Type *simple_named(Ctx *c, const char *name) {
    static const struct {
        const char *name;
        TypeKind kind;
    } simple[] = {{"??", TY_ANY},         {"string", TY_STRING},          {"object", TY_OBJECT},
                  {"function", TY_FN},    {"kernel_function", TY_KERNEL}, {"type", TY_TYPE},
                  {"pyvalue", TY_FOREIGN}};
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (!strcmp(name, simple[i].name)) return qtype_simple(c, simple[i].kind);
    return NULL;
}

const Type *qtype_builtin(Ctx *c, const char *name) {
    qs_dtype d;
    const Type *t = simple_named(c, name);
    if (t) return t;
    if (!strcmp(name, "scalar")) return qtype_scalar(c);
    if (!strcmp(name, "cscalar")) return qtype_num(c, cscalar_dtype(c));
    if (qdtype_from_name(name, &d)) return qtype_num(c, d);
    if (!strcmp(name, "cell")) return qtype_array(c, qtype_any(c), RANK_ANY);
    if (!strncmp(name, "cell", 4)) return array_named(c, qtype_any(c), name + 4);
    if (!strncmp(name, "cube", 4)) return array_named(c, qtype_scalar(c), name);
    if (name[0] == 'c') return array_named(c, qtype_num(c, cscalar_dtype(c)), name + 1);
    if (name[0] == 'i') return array_named(c, qtype_num(c, QS_I32), name + 1);
    return array_named(c, qtype_scalar(c), name);
}

/* -- access modifiers ---------------------------------------------------------------------------------------------- */

/* Entries without access mode and flag are hints of the original vendor's compiler that change no result. */
static const struct {
    const char *name;
    uint8_t access, flag;
    bool mapped;
} modifiers[] = {
#define ACCESS(name, spelling, mapped, ...) {spelling, ACC_##name, 0, mapped},
#include "vm/base/access.def"
    {"const", 0, MOD_CONST, false},
    {"nonconst", 0, MOD_NONCONST, false},
    {"hwtex_nearest", 0, MOD_HWTEX_NEAREST, false},
    {"hwtex_linear", 0, MOD_HWTEX_LINEAR, false},
    {"hwtex_const", 0, MOD_HWTEX_CONST, false},
    {"hwconst", 0, MOD_CONST, false},
    {"shared", 0, MOD_SHARED, false},
    {"unified", 0, 0, false},
    {"unit", 0, 0, false}};

/* The table begins with the rows of access.def, in the order of AccessMode. */
const char *qaccess_name(AccessMode m) { return m == ACC_DEFAULT ? "default" : modifiers[m - 1].name; }
bool qaccess_is_mapped(AccessMode m) { return m != ACC_DEFAULT && modifiers[m - 1].mapped; }

bool qaccess_from_name(const char *name, TypeMods *mods) {
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++) {
        if (strcmp(name, modifiers[i].name) != 0) continue;
        if (modifiers[i].access) mods->access = modifiers[i].access;
        mods->flags |= modifiers[i].flag;
        return true;
    }
    return false;
}
