/* core.c -- registers the built-ins; queries of values, calls of kernels, the process. */
#define NATIVES_OF_ELEM
#include "stdlib/builtins.h"
#include "stdlib/image.h"
#include "stdlib/npy.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vm/launch/launch.h"
#include "vm/program/python.h"
#include "vm/tape/tape.h"

/* -- the table ----------------------------------------------------------------------------------------------------- */
static const qs_native_def natives[] = {
#define GROUP(title)
#define CONSTANT(name, value, doc, matlab, numpy)
#define NATIVE(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint)                        \
    {name, function, min_in, max_in, max_out, signature "\n" doc},
#include "stdlib/builtins.def"
};

static const uint8_t takes[] = {
#define GROUP(title)
#define CONSTANT(name, value, doc, matlab, numpy)
#define NATIVE(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint) TAKES_ANY,
#define EACH(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint)   TAKES_EACH,
#define LAUNCH(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint) TAKES_LAUNCH,
#define EXACT(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint)  TAKES_EXACT,
#include "stdlib/builtins.def"
};

static const char *const adjoints[] = {
#define GROUP(title)
#define CONSTANT(name, value, doc, matlab, numpy)
#define NATIVE(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint) adjoint,
#include "stdlib/builtins.def"
};

static const char *find_adjoint(const qs_native_def *d) {
    size_t i = (size_t)((uintptr_t)d - (uintptr_t)natives) / sizeof *d;
    return i < sizeof natives / sizeof *natives ? adjoints[i] : NULL;
}

static const struct {
    const char *name;
    uint32_t traits;
} traits[] = {
#define GROUP(title)
#define CONSTANT(name, value, doc, matlab, numpy)
#define NATIVE(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint)
#define TRAIT(name, traits) {name, traits},
#include "stdlib/builtins.def"
};

static const LibDoc docs[] = {
#define GROUP(title)                              {NULL, NULL, title, NULL, NULL},
#define CONSTANT(name, value, doc, matlab, numpy) {name, name, doc, matlab, numpy},
#define NATIVE(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint)                        \
    {name, signature, doc, matlab, numpy},
#include "stdlib/builtins.def"
};

typedef struct {
    const char *name;
    qs_value value;
} Constant;

void qlib_register(qs_vm *vm) {
    const Constant constants[] = {
#define GROUP(title)
#define CONSTANT(name, value, doc, matlab, numpy) {name, value},
#define NATIVE(name, function, min_in, max_in, max_out, signature, doc, matlab, numpy, adjoint)
#include "stdlib/builtins.def"
    };
    Lib *lib = qmem_alloc(qvm_ctx(vm), sizeof *lib);
    lib->timer = -1;
    static const LibraryHooks hooks = {
        .called_elsewhere = qlib_called_elsewhere, .adjoint = find_adjoint, .write = qstring_put};
    qvm(vm)->lib = lib;
    qvm(vm)->library_hooks = &hooks;
    for (size_t i = 0; i < sizeof natives / sizeof *natives; i++) {
        Function *f = qfn_native(vm, &natives[i]);
        f->takes = takes[i];
        /* Has side effects (ACTS). */
        f->acts = !natives[i].max_out || adjoints[i][0] == ADJOINT_CALLS || !strcmp(adjoints[i], "0+");
        qvm_builtin(vm, natives[i].name, qval_object(QS_FUNCTION, f));
    }
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++) {
        uint64_t slot = *qmap_at(&qvm(vm)->builtins, qstr_cname(qvm_ctx(vm), traits[i].name));
        ((Function *)qvm_global(vm, slot)->u.p)->traits = traits[i].traits;
    }
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        qvm_builtin(vm, constants[i].name, constants[i].value);
    qprogress_open(vm);
}

Lib *qlib(qs_vm *vm) { return qvm(vm)->lib; }

void qlib_close(qs_vm *vm) {
    if (!qvm(vm)->lib) return;
    qlinalg_close(vm);
    qregex_close(vm);
    qfft_close(vm);
    qprogress_close(vm);
    qfigure_close(vm);
    qwindow_end(vm);
    qmem_free(qvm_ctx(vm), qvm(vm)->lib, sizeof(Lib));
    qvm(vm)->lib = NULL;
}

int qlib_has(const char *library) {
    static const struct {
        const char *name;
        bool (*is_here)(void);
    } all[] = {{"png", qimage_png_here}, {"jpeg", qimage_jpeg_here}, {"tiff", qimage_tiff_here},
               {"pcre2", qregex_here},   {"zlib", qzlib_here},       {"lapack", qlinalg_available},
               {"figures", qfigure_has}, {"video", qvideo_has},      {"cameras", qvideo_has_devices},
               {"hdf5", qhdf5_here}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(library, all[i].name)) return all[i].is_here();
    return -1;
}

const LibDoc *qlib_docs(int *n) { return *n = (int)(sizeof docs / sizeof *docs), docs; }

/* Returns whether a column such as "np.min, np.fmin(x)" lists a function called `name` or `….name`, with arguments or
 * without them. */
static bool mentions(const char *column, const char *name, bool arguments) {
    for (size_t n; *column; column += n + strspn(column + n, ", ")) {
        size_t whole = strspn(column, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
        const char *last = column + whole;
        while (last > column && last[-1] != '.') last--;
        bool function = arguments ? column[whole] == '(' : !column[whole] || column[whole] == ',';
        size_t len = (size_t)(column + whole - last);
        if (function && strlen(name) == len && !memcmp(name, last, len)) return true;
        for (n = whole; column[n] && strncmp(column + n, ", ", 2) != 0;) n++;
    }
    return false;
}

const LibDoc *qlib_called_elsewhere(const char *name) {
    if (strlen(name) < 2) return NULL; /* excludes properties such as x.T */
    /* np.clip stands for clamp, and np.clip(x,0,1) for a case of it, which has a name here, too. */
    for (int arguments = 0; arguments < 2; arguments++)
        for (size_t i = 0; i < sizeof docs / sizeof *docs; i++)
            if (docs[i].name && (mentions(docs[i].matlab, name, arguments) || mentions(docs[i].numpy, name, arguments)))
                return &docs[i];
    return NULL;
}

static const char introduction[] =
    "# Built-in functions\n\nGenerated from `stdlib/builtins.def`; `?name` at the prompt shows the same text, and "
    "`?word` looks for a word.\nA name of MATLAB or NumPy leads to the function here: `?argsort`.\n\n"
    "What holds for all of them:\n\n"
    "- Dimensions, positions and indices count from 0. A vec is a row: it has the dimensions [1,N].\n"
    "- A reduction without a dimension is over all elements and gives a number; along a dimension that one stays, with "
    "extent 1.\n"
    "- Arguments in brackets may be left out; `null` or `[]` leaves out one before others. Brackets around several "
    "without a comma in front, as in `axis([x0, x1, y0, y1])`, are a list.\n"
    "- The elements of a result have a type that follows from those of the arguments, not from their values: float64 "
    "gives "
    "float64, other real numbers `scalar`, unless another is said. Positions beyond 2^24 are float64.\n"
    "- Numbers stand for arrays of one element. Functions of two arrays broadcast: extents are equal or 1.\n"
    "- Several results are taken as `[y, i] = sort(x)`; those at the end may be left away.\n"
    "- What is not accepted is an error that names the argument; `try` … `catch e` receives it.\n\n";

static void add_link(Text *out, const char *title) { /* creates anchors as GitHub does */
    qtext_printf(out, "- [%s](#", title);
    for (const char *s = title; *s; s++)
        if (*s == ' ') qtext_putc(out, '-');
        else if (*s == '_' || isalnum((unsigned char)*s)) qtext_putc(out, (char)tolower((unsigned char)*s));
    qtext_puts(out, ")\n");
}

void qlib_manual(Text *out) {
    qtext_puts(out, introduction);
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++)
        if (!docs[i].name) add_link(out, docs[i].doc);
    add_link(out, "Library modules");
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        const LibDoc *d = &docs[i];
        if (!d->name) {
            qtext_printf(out, "\n## %s\n\n| function | what it does | MATLAB | NumPy |\n|---|---|---|---|\n", d->doc);
            continue;
        }
        qtext_printf(out, "| `%s` | ", d->signature);
        for (const char *s = d->doc; *s; s++)
            if (*s == '|') qtext_puts(out, "\\|");
            else qtext_add(out, s, 1);
        qtext_printf(out, " | %s%s%s | %s%s%s |\n", *d->matlab ? "`" : "", d->matlab, *d->matlab ? "`" : "",
                     *d->numpy ? "`" : "", d->numpy, *d->numpy ? "`" : "");
    }
}

/* -- types of values ----------------------------------------------------------------------------------------------- */
qs_status qcore_type(qs_vm *vm, qs_call_args *c) {
    const char *have = qs_type_name(vm, c->in[0]), *want;
    size_t n;
    if (c->nin == 1) return qs_string(vm, have, strlen(have), &c->out[0]);
    if (c->in[1].kind == QS_TYPE) {
        c->out[0] = qs_bool(qval_is_type(vm, c->in[0], ((TypeValue *)c->in[1].u.p)->type));
        return QS_OK;
    }
    TRY(qarg_string(vm, c->name, "name", c->in[1], &want, &n));
    const Type *t;
    TypeMods mods = {0, 0};
    if (qvm_type_named(vm, want, n, &t, &mods) != QS_OK) { /* the error message refers to a position inside the name */
        qerr_clear(qvm_ctx(vm));
        return qs_fail(vm, QS_EVALUE, "type: \"%s\" names no type", want);
    }
    c->out[0] = qs_bool(qval_is_type(vm, c->in[0], t));
    return QS_OK;
}

typedef struct {
    bool number, array, complex, integer;
    int64_t dims[QS_MAX_RANK];
    int rank;
} Facts;
static Facts facts(qs_value v) {
    Facts f = {.number = qval_is_scalar(v), .array = v.kind == QS_ARRAY, .rank = 0};
    f.complex = v.kind == QS_COMPLEX, f.integer = v.kind == QS_INT;
    if (!f.array) return f;
    f.complex = qdtype_is_complex((qs_dtype)qval_array(v)->dtype),
    f.integer = qdtype_is_int((qs_dtype)qval_array(v)->dtype);
    f.rank = qarr_size(qval_array(v), f.dims);
    return f;
}
#define QUESTION(name, expr)                                                                                           \
    qs_status qcore_##name(qs_vm *vm, qs_call_args *c) {                                                               \
        (void)vm;                                                                                                      \
        qs_value x = c->in[0];                                                                                         \
        Facts f = facts(x);                                                                                            \
        (void)x, (void)f;                                                                                              \
        c->out[0] = qs_bool(expr);                                                                                     \
        return QS_OK;                                                                                                  \
    }
QUESTION(isnumeric, f.number || f.array)
QUESTION(isscalar, f.number || (f.array && qval_array(x)->count == 1))
QUESTION(isreal, (f.number || f.array) && !f.complex)
QUESTION(iscomplex, f.complex)
QUESTION(isint, f.integer)
QUESTION(isvec, f.array &&f.rank == 2 && f.dims[0] == 1)
QUESTION(ismat, f.array &&f.rank == 2)
QUESTION(iscube, f.array &&f.rank == 3)
QUESTION(isbool, x.kind == QS_BOOL || (f.array && qval_array(x)->dtype == QS_B1))
QUESTION(isstring, x.kind == QS_STRING)
QUESTION(iscell, x.kind == QS_CELL)
QUESTION(isobject, x.kind == QS_OBJECT)
QUESTION(isfunction, x.kind == QS_FUNCTION)
QUESTION(isnull, x.kind == QS_NIL)

/* isequal(a, b): whether shape and contents are equal. */
qs_status qcore_isequal(qs_vm *vm, qs_call_args *c) {
    const void *p;
    Array *a;
    qs_dtype d = qarg_meet(vm, c, 0, 2);
    for (int i = 0; i < 2; i++) /* a number equals a 1-element array */
        if (c->in[1 - i].kind == QS_ARRAY && (qval_is_scalar(c->in[i])))
            TRY(qarg_packed(vm, c, i, i ? "b" : "a", d, &a, &p));
    c->out[0] = qs_bool(qval_equal(vm, c->in[0], c->in[1]));
    return QS_OK;
}

/* -- containers ---------------------------------------------------------------------------------------------------- */
qs_status qcore_cell(qs_vm *vm, qs_call_args *c) {
    int rank;
    int64_t dims[QS_MAX_RANK];
    TRY(qarr_shape_args(vm, c->name, c->nin, c->in, &rank, dims));
    if (rank == 2 && dims[0] == 1) dims[0] = dims[1], rank = 1;
    Cell *r;
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), rank, dims, &r));
    c->out[0] = qval_object(QS_CELL, r);
    return QS_OK;
}

qs_status qcore_object(qs_vm *vm, qs_call_args *c) {
    Object *o = NULL;
    TRY(qobj_new(vm, NULL, &o));
    c->out[0] = qval_object(QS_OBJECT, o);
    return QS_OK;
}

static qs_status new_dictionary(qs_vm *vm, qs_call_args *c) {
    Object *o = NULL;
    TRY(qobj_new_dictionary(vm, &o));
    return c->out[0] = qval_object(QS_OBJECT, o), QS_OK;
}

static qs_status set_pairs(qs_vm *vm, qs_call_args *c) {
    for (int i = 0; i < c->nin; i += 2) TRY(qobj_set_key(vm, c->out[0].u.p, c->in[i], c->in[i + 1]));
    return QS_OK;
}

/* Makes a dictionary of keys and values: {"a": 1}, which the parser writes as pairs. */
qs_status qcore_pairs(qs_vm *vm, qs_call_args *c) {
    TRY(new_dictionary(vm, c));
    return set_pairs(vm, c);
}

/* Makes an object of names and values: struct("a", 1, …), object(a := 1, …). */
qs_status qcore_struct(qs_vm *vm, qs_call_args *c) {
    if (c->nin % 2) return qs_fail(vm, QS_EVALUE, "struct: each name needs a value, got %d arguments", c->nin);
    for (int i = 0; i < c->nin; i += 2)
        if (c->in[i].kind != QS_STRING) return qarg_wrong(vm, "struct", "name", "a string", c->in[i]);
    TRY(qcore_object(vm, c));
    return set_pairs(vm, c);
}

static qs_status object_of(qs_vm *vm, const char *fn, qs_value v, Object **out) {
    if (v.kind != QS_OBJECT) return qarg_wrong(vm, fn, "x", "an object", v);
    *out = v.u.p;
    return QS_OK;
}

/* Reads the first two arguments: an object and the name of a field, or a key. */
static qs_status field_of(qs_vm *vm, qs_call_args *c, Object **o) {
    const char *name;
    TRY(object_of(vm, c->name, c->in[0], o));
    return qobj_has_keys(*o) ? QS_OK : qarg_string(vm, c->name, "name", c->in[1], &name, NULL);
}

/* isfield(x, name) and iskey(x, key) */
qs_status qcore_isfield(qs_vm *vm, qs_call_args *c) {
    Object *o = NULL;
    qs_value v = qs_nil();
    bool found;
    TRY(field_of(vm, c, &o));
    TRY(qobj_find(vm, o, c->in[1], &v, &found));
    qval_release(vm, v);
    return c->out[0] = qs_bool(found), QS_OK;
}

/* getfield(x, name [, otherwise]) */
qs_status qcore_getfield(qs_vm *vm, qs_call_args *c) {
    Object *o = NULL;
    bool found = false;
    TRY(field_of(vm, c, &o));
    if (c->nin == 2) return qobj_get_key(vm, o, c->in[1], &c->out[0]);
    TRY(qobj_find(vm, o, c->in[1], &c->out[0], &found));
    if (!found) c->out[0] = qval_retain(c->in[2]);
    return QS_OK;
}

/* setfield(x, name, value) */
qs_status qcore_setfield(qs_vm *vm, qs_call_args *c) {
    Object *o = NULL;
    TRY(field_of(vm, c, &o));
    return qobj_set_key(vm, o, c->in[1], c->in[2]);
}

qs_status qcore_fieldnames(qs_vm *vm, qs_call_args *c) {
    Object *o = NULL;
    TRY(object_of(vm, c->name, c->in[0], &o));
    TRY(qobj_check_names(vm, o, c->name));
    TRY(qobj_keys(vm, o, &c->out[0]));
    ((Cell *)c->out[0].u.p)->elem = qtype_simple(qvm_ctx(vm), TY_STRING);
    return QS_OK;
}

/* -- dictionaries: objects by key ---------------------------------------------------------------------------------- */
static qs_value item_at(qs_vm *vm, qs_value list, size_t i, qs_status *s) {
    qs_value v = qs_nil();
    if (list.kind == QS_CELL) return qval_retain(((Cell *)list.u.p)->items[i]);
    return *s = qarr_get(vm, qval_array(list), i, &v), v;
}

/* dict() or dict(keys, values) */
qs_status qcore_dict(qs_vm *vm, qs_call_args *c) {
    size_t n[2] = {0, 0};
    TRY(new_dictionary(vm, c));
    if (c->nin == 1) return qs_fail(vm, QS_ETYPE, "dict takes no arguments, or keys and values");
    for (int i = 0; i < c->nin; i++) {
        if (c->in[i].kind != QS_CELL && c->in[i].kind != QS_ARRAY)
            return qarg_wrong(vm, c->name, i ? "values" : "keys", "a cell or an array", c->in[i]);
        n[i] = c->in[i].kind == QS_CELL ? ((Cell *)c->in[i].u.p)->count : qval_array(c->in[i])->count;
    }
    if (n[0] != n[1]) return qs_fail(vm, QS_ESHAPE, "dict: there are %zu keys and %zu values", n[0], n[1]);
    qs_status s = QS_OK;
    for (size_t i = 0; i < n[0] && s == QS_OK; i++) {
        qs_value key = item_at(vm, c->in[0], i, &s), v = s == QS_OK ? item_at(vm, c->in[1], i, &s) : qs_nil();
        if (s == QS_OK) s = qobj_set_key(vm, c->out[0].u.p, key, v);
        qval_release(vm, key), qval_release(vm, v);
    }
    return s;
}

qs_status qcore_keys(qs_vm *vm, qs_call_args *c) {
    Object *o = NULL;
    TRY(object_of(vm, c->name, c->in[0], &o));
    return qobj_keys(vm, o, &c->out[0]);
}

qs_status qcore_values(qs_vm *vm, qs_call_args *c) {
    Object *o = NULL;
    Cell *r;
    qs_value key, v;
    TRY(object_of(vm, c->name, c->in[0], &o));
    int64_t n = qobj_count(o);
    TRY(qcell_new(vm, qtype_any(qvm_ctx(vm)), 1, &n, &r));
    for (uint32_t i = 0; i < r->count && qobj_entry(o, i, &key, &v); i++) r->items[i] = qval_retain(v);
    return c->out[0] = qval_object(QS_CELL, r), QS_OK;
}

/* -- lists: cells of one row, changed in place --------------------------------------------------------------------- */
static qs_status list_of(qs_vm *vm, qs_call_args *c, Cell **out) {
    if (c->in[0].kind == QS_ARRAY)
        return qs_fail(vm, QS_ETYPE,
                       "%s: list must be a cell, got %s; horzcat(x, [value]) is a longer array, and a loop is faster "
                       "with x = zeros(n) before it",
                       c->name, qval_type_name(vm, c->in[0]));
    if (c->in[0].kind == QS_OBJECT && qobj_has_keys(c->in[0].u.p))
        return qs_fail(vm, QS_ETYPE, "%s: list must be a cell, got %s; d[key] = value adds to a dictionary", c->name,
                       qval_type_name(vm, c->in[0]));
    if (c->in[0].kind == QS_STRING)
        return qs_fail(vm, QS_ETYPE, "%s: list must be a cell, got string; s + text is a longer string", c->name);
    if (c->in[0].kind != QS_CELL) return qarg_wrong(vm, c->name, "list", "a cell", c->in[0]);
    *out = c->in[0].u.p;
    if ((*out)->rank == 1) return QS_OK;
    return qs_fail(vm, QS_ESHAPE, "%s: list must be a cell of one row, got %lldx%lld%s", c->name,
                   (long long)(*out)->dims[0], (long long)(*out)->dims[1], (*out)->rank > 2 ? "x…" : "");
}

static qs_status position_in(qs_vm *vm, qs_call_args *c, size_t count, size_t *out) {
    int64_t i;
    TRY(qarg_int(vm, c->name, "position", c->in[1], &i));
    if (i < 0 || (uint64_t)i >= count)
        return qs_fail(vm, QS_EINDEX, "%s: position %lld is outside the list (%zu item%s)", c->name, (long long)i,
                       ((Cell *)c->in[0].u.p)->count, ((Cell *)c->in[0].u.p)->count == 1 ? "" : "s");
    return *out = (size_t)i, QS_OK;
}

qs_status qcore_append(qs_vm *vm, qs_call_args *c) {
    Cell *l = NULL;
    TRY(list_of(vm, c, &l));
    return qcell_insert(vm, l, l->count, c->in[1]);
}

qs_status qcore_insert(qs_vm *vm, qs_call_args *c) {
    Cell *l = NULL;
    size_t at = 0;
    TRY(list_of(vm, c, &l));
    TRY(position_in(vm, c, l->count + 1, &at));
    return qcell_insert(vm, l, at, c->in[2]);
}

/* pop(list [, position]) or pop(dictionary, key) */
qs_status qcore_pop(qs_vm *vm, qs_call_args *c) {
    Cell *l = NULL;
    if (c->in[0].kind == QS_OBJECT && c->nin == 2) {
        Object *o = NULL;
        TRY(field_of(vm, c, &o));
        return qobj_remove(vm, o, c->in[1], &c->out[0]);
    }
    TRY(list_of(vm, c, &l));
    if (!l->count) return qs_fail(vm, QS_EINDEX, "%s: the list is empty", c->name);
    size_t at = l->count - 1;
    if (c->nin == 2) TRY(position_in(vm, c, l->count, &at));
    return qcell_remove(vm, l, at, &c->out[0]);
}

/* -- calls whose arguments are in a container ---------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    qs_value *v;
    Str **names;
    uint32_t n, nnamed, cap, cap_names;
    const char *fn; /* for messages */
} Arguments;

static void add_argument(Arguments *a, qs_value owned) {
    qmem_grow(qvm_ctx(a->vm), &a->v, &a->cap, a->n, sizeof *a->v);
    a->v[a->n++] = owned;
}

/* Adds the values that an iterable foreign value yields. */
static qs_status add_iterated(Arguments *a, const Foreign *f) {
    qs_value iterator, item;
    bool more;
    TRY(f->ftype->iter(a->vm, f->p, &iterator));
    const Foreign *it = iterator.u.p;
    qs_status s;
    while ((s = it->ftype->next(a->vm, it->p, &more, &item)) == QS_OK && more) add_argument(a, item);
    qval_release(a->vm, iterator);
    return s;
}

static qs_status add_items(Arguments *a, qs_value from) {
    const Foreign *f = from.kind == QS_FOREIGN ? from.u.p : NULL;
    const Cell *cell = from.u.p;
    size_t n = from.kind == QS_CELL ? cell->count : from.kind == QS_ARRAY ? qval_array(from)->count : 0;
    bool recorded = qtape_is_recorded(a->vm, from);
    if (f && f->ftype->iter) return add_iterated(a, f);
    if (from.kind != QS_NIL && from.kind != QS_CELL && from.kind != QS_ARRAY)
        return qarg_wrong(a->vm, a->fn, "arguments", "a cell, a vec or a sequence of Python", from);
    for (size_t i = 0; i < n; i++) {
        qs_value item;
        if (from.kind == QS_CELL) item = qval_retain(cell->items[i]);
        else TRY((recorded ? qhook_element(a->vm, from, (int64_t)i, &item) : qarr_get(a->vm, from.u.p, i, &item)));
        add_argument(a, item);
    }
    return QS_OK;
}

static qs_status add_named(Arguments *a, qs_value from) {
    Str *name;
    qs_value v;
    if (from.kind == QS_NIL) return QS_OK;
    if (from.kind != QS_OBJECT) return qarg_wrong(a->vm, "apply", "names", "an object, or a dict of Python", from);
    TRY(qobj_check_names(a->vm, from.u.p, "apply"));
    for (uint32_t i = 0; qobj_field(from.u.p, i, &name, &v); i++) {
        add_argument(a, qval_retain(v));
        qmem_grow(qvm_ctx(a->vm), &a->names, &a->cap_names, a->nnamed, sizeof *a->names);
        a->names[a->nnamed++] = qstr_name(qvm_ctx(a->vm), name->s, name->len);
    }
    return QS_OK;
}

static qs_status apply_arguments(qs_vm *vm, qs_call_args *c, Arguments *a) {
    TRY(add_items(a, c->nin > 1 ? c->in[1] : qs_nil()));
    if (c->nin > 2 && c->in[2].kind == QS_FOREIGN) { /* a Python dict becomes an object */
        qs_value names = qs_nil();
        qs_call_args from = {1, 1, &c->in[2], &names, .name = c->name};
        TRY(qpython_from_py(vm, &from));
        qval_release(vm, c->in[2]);
        c->in[2] = names;
    }
    TRY(add_named(a, c->nin > 2 ? c->in[2] : qs_nil()));
    const CallArgs all = {(int)a->n, a->v, (int)a->nnamed, a->names, 0};
    return qvm_call_named(vm, c->in[0], &all, c->nout < 2 ? -1 : c->nout, c->out);
}

/* $spread(f, kinds, …): f called with the arguments, and with the items of those whose kind is '*'. */
static qs_status spread_arguments(qs_vm *vm, qs_call_args *c, Arguments *a) {
    const char *kinds;
    size_t n;
    TRY(qarg_string(vm, c->name, "kinds", c->in[1], &kinds, &n));
    if (n != (size_t)c->nin - 2) return qs_fail(vm, QS_EINTERNAL, "%s: %zu kinds", c->name, n);
    for (int i = 2; i < c->nin; i++) {
        if (kinds[i - 2] == '*') TRY(add_items(a, c->in[i]));
        else add_argument(a, qval_retain(c->in[i]));
    }
    const CallArgs all = {(int)a->n, a->v, 0, NULL, 0};
    return qvm_call_named(vm, c->in[0], &all, c->nout < 2 ? -1 : c->nout, c->out);
}

static qs_status call_with(qs_vm *vm, qs_call_args *c, qs_status (*collect)(qs_vm *, qs_call_args *, Arguments *)) {
    Arguments a = {.vm = vm, .fn = collect == apply_arguments ? "apply" : "...list"};
    qs_status s = collect(vm, c, &a);
    for (uint32_t i = 0; i < a.n; i++) qval_release(vm, a.v[i]);
    qmem_free(qvm_ctx(vm), a.v, a.cap * sizeof *a.v);
    qmem_free(qvm_ctx(vm), a.names, a.cap_names * sizeof *a.names);
    return s;
}

/* apply(f [, arguments [, names]]) */
qs_status qcore_apply(qs_vm *vm, qs_call_args *c) { return call_with(vm, c, apply_arguments); }
qs_status qcore_spread(qs_vm *vm, qs_call_args *c) { return call_with(vm, c, spread_arguments); }

/* -- kernels ------------------------------------------------------------------------------------------------------- */
qs_status qcore_parallel_do(qs_vm *vm, qs_call_args *c) { return qkernel_do(vm, false, c->nin, c->in); }
qs_status qcore_serial_do(qs_vm *vm, qs_call_args *c) { return qkernel_do(vm, true, c->nin, c->in); }
qs_status qcore_halo(qs_vm *vm, qs_call_args *c) { return qkernel_halo(vm, c->nin, c->in, c->nout, c->out); }

qs_status qcore_shared(qs_vm *vm, qs_call_args *c) {
    (void)c;
    return qs_fail(vm, QS_ETYPE, "shared arrays exist only in kernels");
}

qs_status qcore_atomic(qs_vm *vm, qs_call_args *c) {
    (void)c;
    return qs_fail(vm, QS_ETYPE,
                   "atomic functions update elements of arrays in kernels; outside, read x[i] and then assign it");
}

static int64_t largest_block(qs_vm *vm) {
    Device *d = qvm(vm)->device;
    return d && d->max_block > 0 ? d->max_block : 1024;
}

/* Reads the vector of extents, which is the last argument of (dims) and (kernel, dims). */
static qs_status block_arg(qs_vm *vm, qs_call_args *c, double x[QS_MAX_RANK], int64_t *n) {
    double *v;
    size_t count;
    TRY(qarr_doubles(vm, c->in[c->nin - 1], c->name, &v, &count));
    bool good = count >= 1 && count <= QS_MAX_RANK;
    for (size_t i = 0; good && i < count; i++) good = v[i] >= 0 && v[i] < INFINITY && v[i] == floor(v[i]), x[i] = v[i];
    qmem_free(qvm_ctx(vm), v, count * sizeof *v);
    if (!good) return qs_fail(vm, QS_EVALUE, "%s: dims must hold 1 to %d integers ≥ 0", c->name, QS_MAX_RANK);
    *n = (int64_t)count;
    return QS_OK;
}

/* Halves the longest extent until the block has at most `limit` work items. */
static void fit_block(double *x, int64_t n, double limit) {
    for (;;) {
        double product = 1;
        int64_t longest = 0;
        for (int64_t i = 0; i < n; i++) {
            if (x[i] < 1) x[i] = 1;
            product *= x[i];
            if (x[i] > x[longest]) longest = i;
        }
        if (product <= limit) return;
        x[longest] = floor(x[longest] / 2);
    }
}

qs_status qcore_max_block_size(qs_vm *vm, qs_call_args *c) {
    double x[QS_MAX_RANK];
    int64_t n;
    TRY(block_arg(vm, c, x, &n));
    fit_block(x, n, (double)largest_block(vm));
    return qarg_exact(vm, x, 1, &n, &c->out[0]);
}

/* Chooses at most 256 work items; the last dimension, which is contiguous in memory, gets the longest extent. */
qs_status qcore_opt_block_size(qs_vm *vm, qs_call_args *c) {
    double x[QS_MAX_RANK], left = fmin(256, (double)largest_block(vm));
    int64_t n;
    TRY(block_arg(vm, c, x, &n));
    for (int64_t i = n - 1; i >= 0; i--) {
        double most = i == n - 1 && n > 1 ? fmin(left, 32) : left, b = 1;
        while (2 * b <= most && b < x[i]) b *= 2;
        x[i] = b, left = floor(left / b);
    }
    return qarg_exact(vm, x, 1, &n, &c->out[0]);
}

/* -- the process --------------------------------------------------------------------------------------------------- */
qs_status qcore_args(qs_vm *vm, qs_call_args *c) {
    const qs_config *cfg = &qvm(vm)->config;
    int64_t n = cfg->argc;
    Cell *r;
    TRY(qcell_new(vm, qtype_simple(qvm_ctx(vm), TY_STRING), 1, &n, &r));
    c->out[0] = qval_object(QS_CELL, r);
    for (int64_t i = 0; i < n; i++) {
        qval_release(vm, r->items[i]);
        TRY(qs_string(vm, cfg->argv[i], strlen(cfg->argv[i]), &r->items[i]));
    }
    return QS_OK;
}

/* Ends the run: the status unwinds every call, no `catch` handles it, and the caller reads qs_exit_code. */
qs_status qcore_exit(qs_vm *vm, qs_call_args *c) {
    int64_t code = 0;
    if (c->nin) TRY(qarg_int(vm, c->name, "code", c->in[0], &code));
    if (code < 0 || code > 255) return qs_fail(vm, QS_EVALUE, "exit: code must be 0 to 255, got %lld", (long long)code);
    TRY(qasync_settle(vm));
    qvm(vm)->exiting = true, qvm(vm)->exit_code = (int)code;
    return qs_fail(vm, QS_EINTERRUPT, "exit(%d)", (int)code);
}

qs_status qcore_eval(qs_vm *vm, qs_call_args *c) {
    const char *src;
    size_t n;
    TRY(qarg_string(vm, c->name, "source", c->in[0], &src, &n));
    qs_status s = qs_eval(vm, src, &c->out[0]);
    if (s) qvm_report_calls(vm);
    return s;
}

qs_status qcore_collect(qs_vm *vm, qs_call_args *c) {
    if (qvm(vm)->python) qvm(vm)->python->collect(vm);
    c->out[0] = qs_num((double)qgc_collect(vm));
    return QS_OK;
}
