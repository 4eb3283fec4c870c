/* bindings.c -- generates C, C++ and Python bindings (see bindings.h).
 *
 * One table gives the type of each signature letter in every language; all generators traverse functions the same
 * way. */
#include "vm/api/bindings.h"
#include "vm/value/machine.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    char kind;
    const char *c_in, *c_out, *cpp_in, *cpp_out, *python;
} Row;
static const Row rows[] = {
    {'d', "double ", "double *", "double ", "double", "_b.float"},
    {'i', "int64_t ", "int64_t *", "int64_t ", "int64_t", "_b.int"},
    {'b', "bool ", "bool *", "bool ", "bool", "_b.bool"},
    {'s', "const char *", NULL, "const std::string &", NULL, "_b.str"},
    {'a', "const qs_view *", "qs_view *", "const qs_view &", "quasar::View", "_t.Any"},
};

static const Row *row_of(char kind) {
    int i = 0;
    while (rows[i].kind != kind) i++;
    return &rows[i];
}

const char *const qbindings_services[NATIVE_SERVICES] = {"error", "release", "device"};

/* -- names --------------------------------------------------------------------------------------------------------- */
static bool is_one_of(const char *word, const char *list) {
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

/* Names that cannot be used: reserved words of C, C++ and Python, names in our headers, and macros of gcc. */
static const char words[] =
    "alignas alignof and and_eq as asm assert async atomic_cancel atomic_commit atomic_noexcept auto await bitand "
    "bitor bool break case catch char char16_t char32_t char8_t class co_await co_return co_yield compl concept "
    "const const_cast consteval constexpr constinit continue decltype def default del delete do double "
    "dynamic_cast elif else enum except explicit export extern false False finally float for friend from global "
    "goto i386 if import in inline int int64_t is lambda linux long mutable namespace new noexcept None nonlocal "
    "not not_eq NULL nullptr operator or or_eq pass private protected public qs_status qs_view raise register "
    "reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true True try typedef typeid typename typeof typeof_unqual union unix "
    "unsigned using virtual void volatile wchar_t while with xor xor_eq yield";

/* Returns whether C accepts the name: letters, digits and _.  Names that begin with _ are private by convention. */
static bool is_plain(const char *name) {
    if (!isalpha((unsigned char)*name)) return false;
    while (*name && (isalnum((unsigned char)*name) || *name == '_')) name++;
    return !*name;
}

static bool is_service(const char *name) {
    for (int i = 0; i < NATIVE_SERVICES; i++)
        if (!strcmp(name, qbindings_services[i])) return true;
    return false;
}

static int count_results(const Func *f) { return f->is_lambda ? f->expr != NULL : f->nouts; }
static int count_values(const Func *f) { return f->nparams + count_results(f); }

/* Appends the preferred name of argument i, or of a result (numbered after the arguments), before it is made unique. */
static void wanted_name(const Func *f, int i, Text *out) {
    int result = i - f->nparams;
    const char *name = result < 0 ? f->params[i].name->s : f->is_lambda ? "result" : f->outs[result].name->s;
    if (!is_plain(name)) qtext_printf(out, result < 0 ? "argument%d" : "result%d", result < 0 ? i : result);
    else qtext_puts(out, name);
    if (out->s && is_one_of(out->s, words)) qtext_putc(out, '_');
    for (int k = 0; k < f->nparams && result >= 0; k++) /* a result may have the same name as an argument */
        if (!strcmp(f->params[k].name->s, name)) return qtext_puts(out, "_out");
}

/* Makes the names unique; `int` and `int_` would both become `int_`. */
static void name_values(Face *face, Shown *s) {
    Text name;
    qtext_init(&name, qvm_ctx(face->vm));
    for (int i = 0; i < count_values(s->f); i++) {
        name.len = 0;
        wanted_name(s->f, i, &name);
        for (int k = 0; k < i && name.s; k++)
            if (!strcmp(name.s, s->values[k])) qtext_putc(&name, '_'), k = -1;
        s->values[i] = qstr_cname(qvm_ctx(face->vm), name.s ? name.s : "")->s;
    }
    qtext_free(&name);
}

static bool is_taken(const Face *face, const char *symbol) {
    for (int i = 0; i < face->n; i++)
        if (!strcmp(face->at[i].symbol, symbol)) return true;
    return is_one_of(symbol, words) || is_service(symbol);
}

static const char *symbol_of(const Face *face, const char *name) {
    Text t;
    qtext_init(&t, qvm_ctx(face->vm));
    qtext_puts(&t, name);
    while (t.s && is_taken(face, t.s)) qtext_putc(&t, '_');
    const char *symbol = qstr_cname(qvm_ctx(face->vm), t.s ? t.s : name)->s;
    qtext_free(&t);
    return symbol;
}

/* -- selection of functions ---------------------------------------------------------------------------------------- */
/* Returns the signature letter of a type; 0: C has no equivalent. */
static char type_letter(const Type *t) {
    if (!t || t->kind == TY_ANY || t->kind == TY_UNION || qtype_is_numeric_array(t)) return 'a';
    if (t->kind == TY_STRING) return 's';
    if (t->kind != TY_NUM) return 0;
    return t->dtype == QS_B1 ? 'b' : t->dtype < QS_F16 ? 'i' : t->dtype <= QS_F64 ? 'd' : 'a';
}

/* Returns the signature letter of a result; only its declaration is known. */
static char result_letter(const Func *f, int i) {
    static const struct {
        const char *name;
        char kind;
    } kinds[] = {{"scalar", 'd'}, {"int", 'i'}, {"bool", 'b'}};
    const TypeExpr *t = f->is_lambda ? NULL : f->outs[i].type;
    for (size_t k = 0; t && t->kind == TE_NAME && k < 3; k++)
        if (!strcmp(t->name->s, kinds[k].name)) return kinds[k].kind;
    return 'a';
}

static const char *intern_text(Face *face, const char *fmt, ...) QS_PRINTF(2, 3);
static const char *intern_text(Face *face, const char *fmt, ...) {
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return qstr_cname(qvm_ctx(face->vm), text)->s;
}

/* Writes the signature and returns NULL, or returns the reason why C cannot call the function. */
static const char *write_signature(Face *face, const char *name, const Func *f, char out[64]) {
    int n = 0;
    if (!is_plain(name)) return "C has no such names";
    if (count_values(f) > 31) return "it has more than 31 arguments and results";
    for (int i = 0; i < f->nparams; i++) {
        const Type *t = f->params[i].type ? qvm_param_type(face->vm, f, i) : NULL;
        const char *argument = f->params[i].name->s;
        if (f->params[i].variadic) return intern_text(face, "its argument %s is any number of arguments", argument);
        if (!(out[n++] = type_letter(t)))
            return intern_text(face, "its argument %s is of type %s", argument, qtype_name(t));
    }
    out[n++] = '>';
    for (int i = 0; i < count_results(f); i++) out[n++] = result_letter(f, i);
    out[n] = 0;
    return NULL;
}

static bool is_seen(const char *name, const Func *f) {
    return f->qual != Q_KERNEL && name[0] != '_' && strcmp(name, "main") != 0;
}

static void hide_function(Face *face, const Shown *s, const char *why) {
    face->hidden[face->nhidden] = *s;
    face->hidden[face->nhidden++].why = why;
}

/* Merges overloads, which a call selects by its values: where they differ, the C function takes any array or number.
 * false: they differ in other ways. */
static bool merge_signature(Shown *s, const char *other) {
    if (strlen(s->signature) != strlen(other)) return false;
    for (int i = 0; other[i]; i++)
        if (s->signature[i] != other[i] && (strchr("s>", other[i]) || strchr("s>", s->signature[i]))) return false;
    for (int i = 0; other[i]; i++)
        if (s->signature[i] != other[i]) s->signature[i] = 'a';
    return true;
}

static void gather_function(Face *face, const char *name, const Func *f) {
    Shown s = {.f = f, .name = name};
    int i = 0;
    const char *why = write_signature(face, name, f, s.signature);
    while (i < face->n && strcmp(face->at[i].name, name) != 0) i++;
    if (why) return hide_function(face, &s, why);
    if (i == face->n) {
        s.symbol = symbol_of(face, name), name_values(face, &s);
        face->at[face->n++] = s;
    } else if (merge_signature(&s, face->at[i].signature)) {
        s.symbol = face->at[i].symbol, name_values(face, &s);
        face->at[i] = s;
    } else hide_function(face, &s, "C sees another function of this name, whose arguments are others");
}

void qbindings_gather(Face *face, const Module *m) {
    const Unit *u = m->units[0];
    Ctx *c = qvm_ctx(face->vm);
    face->room = u->nfuncs + (int)m->names.n + 1;
    face->at = qmem_alloc(c, qmem_size((size_t)face->room, sizeof *face->at, 0));
    face->hidden = qmem_alloc(c, qmem_size((size_t)face->room, sizeof *face->at, 0));
    for (int i = 0; i < u->nfuncs; i++) {
        const Func *f = u->funcs[i]->u.func;
        if (is_seen(f->name->s, f)) gather_function(face, f->name->s, f);
    }
    for (uint32_t i = 0; i < m->names.n; i++) {
        const qs_value *v = qvm_global(face->vm, m->names.entries[i].val);
        const Function *f = v->kind == QS_FUNCTION ? v->u.p : NULL;
        const char *name = m->names.entries[i].key->s;
        if (qast_is_initial_name(m->names.entries[i].key)) continue;
        if (f && f->fkind == FN_SCRIPT && f->ast->is_lambda && is_seen(name, f->ast))
            gather_function(face, name, f->ast);
    }
}

void qbindings_free(Face *f) {
    qmem_free(qvm_ctx(f->vm), f->at, (size_t)f->room * sizeof *f->at);
    qmem_free(qvm_ctx(f->vm), f->hidden, (size_t)f->room * sizeof *f->at);
}

static const char *result_letters(const Shown *s) { return strchr(s->signature, '>') + 1; }

/* Appends the function's documentation comment. */
static void add_doc(Text *out, const Func *f) {
    if (!f->doc || !f->doc->len) return;
    qtext_puts(out, "/* ");
    for (const char *p = f->doc->s; *p; p++) {
        if (*p == '\n' && p[1]) qtext_puts(out, "\n * ");
        else if (*p != '\n') qtext_putc(out, *p);
        if (p[0] == '*' && p[1] == '/') qtext_putc(out, ' '); /* splits the end of a comment */
    }
    qtext_puts(out, " */\n");
}

static void add_guard(Text *out, const char *name, const char *end) {
    for (; *name; name++) qtext_putc(out, isalnum((unsigned char)*name) ? (char)toupper((unsigned char)*name) : '_');
    qtext_puts(out, end);
}

/* -- C ------------------------------------------------------------------------------------------------------------- */
static void add_c_function(const Face *face, const Shown *s, Text *out) {
    const char *separator = "";
    add_doc(out, s->f);
    qtext_printf(out, "qs_status %s_%s(", face->name, s->symbol);
    for (int i = 0; i < count_values(s->f); i++, separator = ", ") {
        int result = i - s->f->nparams;
        qtext_puts(out, separator);
        qtext_puts(out, result < 0 ? row_of(s->signature[i])->c_in : row_of(result_letters(s)[result])->c_out);
        qtext_puts(out, s->values[i]);
    }
    qtext_puts(out, *separator ? ");\n" : "void);\n");
}

static void add_hidden(const Face *f, Text *out) {
    if (f->nhidden) qtext_puts(out, "/* Not here:\n");
    for (int i = 0; i < f->nhidden; i++) qtext_printf(out, " *   %s: %s\n", f->hidden[i].name, f->hidden[i].why);
    if (f->nhidden)
        qtext_printf(out,
                     " * A program that is linked with -lquasar, too, calls them with any values: in a machine "
                     "of its own (qs_open)\n * qs_load of the text import \"%s\" makes them functions for "
                     "qs_global and qs_call; qs_cell makes cells,\n * qs_define functions of C. */\n",
                     f->object);
}

void qbindings_c(const Face *f, Text *out) {
    qtext_printf(out,
                 "/* %s.h -- the functions of %s in %s, made by qrun --make-lib of Quasar %s.\n *\n"
                 " * Each gives QS_OK, or a status whose text is %s_error().  Arguments are memory of yours; a "
                 "result that is\n"
                 " * a qs_view goes by %s_release.  Link with -l%s; quasar.h says the rest. */\n",
                 f->name, f->source, f->object, qs_version(), f->name, f->name, f->name);
    qtext_puts(out, "#ifndef "), add_guard(out, f->name, "_LIBRARY_H\n");
    qtext_puts(out, "#define "), add_guard(out, f->name, "_LIBRARY_H\n");
    qtext_puts(out, "#include <quasar.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (int i = 0; i < f->n; i++) add_c_function(f, &f->at[i], out);
    add_hidden(f, out);
    qtext_printf(out,
                 "/* What failed last in this thread, with its place in the program. */\n"
                 "const char *%s_error(void);\n"
                 "/* Gives a result back; it is empty then, and may be given back again. */\n"
                 "void %s_release(qs_view *result);\n"
                 "/* Where kernels run from now on: \"cpu\", \"cuda:1\", \"auto\" … */\n"
                 "qs_status %s_device(const char *wanted);\n",
                 f->name, f->name, f->name);
    qtext_puts(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

/* -- C++ ----------------------------------------------------------------------------------------------------------- */
static void add_cpp_result(const Shown *s, Text *out) {
    const char *kinds = result_letters(s);
    int n = count_results(s->f);
    if (n != 1) qtext_puts(out, n ? "std::tuple<" : "void");
    for (int i = 0; i < n; i++) qtext_printf(out, "%s%s", i ? ", " : "", row_of(kinds[i])->cpp_out);
    if (n > 1) qtext_puts(out, ">");
}

static void add_cpp_call(const Face *face, const Shown *s, Text *out) {
    qtext_printf(out, "    quasar::check_native(::%s_%s(", face->name, s->symbol);
    for (int i = 0; i < count_values(s->f); i++) {
        qtext_printf(out, "%s%s", i ? ", " : "", i >= s->f->nparams || s->signature[i] == 'a' ? "&" : "");
        qtext_puts(out, s->values[i]);
        if (i < s->f->nparams && s->signature[i] == 's') qtext_puts(out, ".c_str()");
    }
    qtext_puts(out, "));\n");
}

static void add_cpp_function(const Face *face, const Shown *s, Text *out) {
    int first = s->f->nparams, n = count_results(s->f);
    qtext_puts(out, "inline "), add_cpp_result(s, out);
    qtext_printf(out, " %s(", s->symbol);
    for (int i = 0; i < first; i++) {
        qtext_printf(out, "%s%s", i ? ", " : "", row_of(s->signature[i])->cpp_in);
        qtext_puts(out, s->values[i]);
    }
    qtext_puts(out, ") {\n");
    for (int i = 0; i < n; i++) {
        qtext_printf(out, "    %s ", row_of(result_letters(s)[i])->cpp_out);
        qtext_puts(out, s->values[first + i]), qtext_puts(out, "{};\n");
    }
    add_cpp_call(face, s, out);
    if (n) qtext_puts(out, n > 1 ? "    return {" : "    return ");
    for (int i = 0; i < n; i++) {
        qtext_puts(out, i ? ", " : "");
        if (n > 1) qtext_puts(out, "std::move(");
        qtext_puts(out, s->values[first + i]), qtext_puts(out, n > 1 ? ")" : "");
    }
    qtext_puts(out, n > 1 ? "};\n}\n\n" : n ? ";\n}\n\n" : "}\n\n");
}

void qbindings_cpp(const Face *f, Text *out) {
    const char *suffix = is_one_of(f->name, words) || !strcmp(f->name, "std") ? "_" : "";
    qtext_printf(out,
                 "/* %s.hpp -- the functions of %s.h in C++17: failures are exceptions, results release "
                 "themselves. */\n",
                 f->name, f->name);
    qtext_puts(out, "#ifndef "), add_guard(out, f->name, "_LIBRARY_HPP\n");
    qtext_puts(out, "#define "), add_guard(out, f->name, "_LIBRARY_HPP\n");
    qtext_printf(out, "#include \"%s.h\"\n#include <quasar.hpp>\n#include <tuple>\n\nnamespace %s%s {\n\n", f->name,
                 f->name, suffix);
    for (int i = 0; i < f->n; i++) add_cpp_function(f, &f->at[i], out);
    qtext_printf(out,
                 "inline void device(const char *wanted) { quasar::check_native(::%s_device(wanted)); }\n\n"
                 "} // namespace %s%s\n#endif\n",
                 f->name, f->name, suffix);
}

/* -- Python -------------------------------------------------------------------------------------------------------- */
static void add_renamed(const Face *f, Text *out) {
    const char *separator = "";
    for (int i = 0; i < f->n; i++) {
        if (!strcmp(f->at[i].name, f->at[i].symbol)) continue;
        qtext_printf(out, "%s\"%s\": \"%s\"", separator, f->at[i].symbol, f->at[i].name);
        separator = ", ";
    }
}

void qbindings_python(const Face *f, Text *out) {
    qtext_printf(out,
                 "\"\"\"The functions of %s, compiled by qrun --make-lib; %s.pyi has their types.\"\"\"\n"
                 "import os as _os\nimport pyquasar as _q\n\n"
                 "_library = _q.import_native(\n"
                 "    _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), \"%s\"))\n_renamed = {",
                 f->source, f->name, f->object);
    add_renamed(f, out);
    qtext_puts(out, "}\n\n\ndef __getattr__(name):\n    return getattr(_library, _renamed.get(name, name))\n\n\n"
                    "def __dir__():\n    return dir(_library) + list(_renamed)\n");
}

/* Returns whether one of the first n hidden functions has this name; Python then has more overloads than C. */
static bool is_hidden(const Face *f, const char *name, int n) {
    for (int i = 0; i < n; i++)
        if (!strcmp(f->hidden[i].name, name)) return true;
    return false;
}

static void add_stub(const Shown *s, Text *out) {
    int n = count_results(s->f);
    qtext_printf(out, "def %s(", s->symbol);
    for (int k = 0; k < s->f->nparams; k++)
        qtext_printf(out, "%s%s: %s%s", k ? ", " : "", s->values[k], row_of(s->signature[k])->python,
                     s->f->params[k].init ? " = ..." : "");
    qtext_puts(out, ") -> ");
    if (n != 1) qtext_puts(out, n ? "_t.Tuple[" : "None");
    for (int k = 0; k < n; k++) qtext_printf(out, "%s%s", k ? ", " : "", row_of(result_letters(s)[k])->python);
    qtext_puts(out, n > 1 ? "]: ...\n" : ": ...\n");
}

/* The imported types get names with _, which no function can have. */
void qbindings_stub(const Face *f, Text *out) {
    qtext_printf(out, "\"\"\"The functions of %s.\"\"\"\nimport builtins as _b\nimport typing as _t\n\n", f->source);
    for (int i = 0; i < f->n; i++)
        if (!is_hidden(f, f->at[i].name, f->nhidden)) add_stub(&f->at[i], out);
    for (int i = 0; i < f->nhidden; i++)
        if (is_plain(f->hidden[i].name) && !is_one_of(f->hidden[i].name, words) && !is_hidden(f, f->hidden[i].name, i))
            qtext_printf(out, "def %s(*arguments: _t.Any, **named: _t.Any) -> _t.Any: ...\n", f->hidden[i].name);
}
