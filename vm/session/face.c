/* face.c -- see face.h.
 *
 * One table says what a letter of a signature is in each language; a function is printed by the same walk in all. */
#include "vm/session/face.h"
#include "vm/value/machine.h"

#include <ctype.h>
#include <string.h>

typedef struct { char kind; const char *c_in, *c_out, *cpp_in, *cpp_out, *python; } Row;
static const Row rows[] = {
    {'d', "double ", "double *", "double ", "double", "float"},
    {'i', "int64_t ", "int64_t *", "int64_t ", "int64_t", "int"},
    {'b', "bool ", "bool *", "bool ", "bool", "bool"},
    {'s', "const char *", NULL, "const std::string &", NULL, "str"},
    {'a', "const qs_view *", "qs_view *", "const qs_view &", "quasar::View", "Any"},
};

static const Row *row_of(char kind) {
    int i = 0;
    while (rows[i].kind != kind) i++;
    return &rows[i];
}

const char *const qface_services[NATIVE_SERVICES] = {"error", "release", "device"};

/* -- which ones --------------------------------------------------------------------------------------------------- */
static char letter(qs_vm *vm, const Func *f, int i) {
    const Type *t = f->params[i].type ? qvm_param_type(vm, f, i) : NULL;
    if (f->params[i].variadic) return 0;
    if (!t || t->kind == TY_ANY || t->kind == TY_UNION || qtype_is_numeric_array(t)) return 'a';
    if (t->kind == TY_STRING) return 's';
    if (t->kind != TY_NUM) return 0;
    return t->dtype == QS_B1 ? 'b' : t->dtype < QS_F16 ? 'i' : t->dtype <= QS_F64 ? 'd' : 'a';
}

/* The type of a result is known by its declaration alone. */
static char result_letter(const Param *p) {
    static const struct { const char *name; char kind; } words[] = {{"scalar", 'd'}, {"int", 'i'}, {"bool", 'b'}};
    for (size_t i = 0; p->type && p->type->kind == TE_NAME && i < 3; i++)
        if (!strcmp(p->type->name->s, words[i].name)) return words[i].kind;
    return 'a';
}

static bool sign(qs_vm *vm, const Func *f, char out[64]) {
    int n = 0;
    if (f->nparams + f->nouts > 31) return false;
    for (int i = 0; i < f->nparams; i++)
        if (!(out[n++] = letter(vm, f, i))) return false;
    out[n++] = '>';
    for (int i = 0; i < f->nouts; i++) out[n++] = result_letter(&f->outs[i]);
    out[n] = 0;
    return true;
}

/* Letters, digits and _, and no beginning with _: what C takes, and what is not private by custom. */
static bool is_plain(const char *name) {
    if (!isalpha((unsigned char)*name)) return false;
    while (*name && (isalnum((unsigned char)*name) || *name == '_')) name++;
    return !*name;
}

static bool is_service(const char *name) {
    for (int i = 0; i < NATIVE_SERVICES; i++)
        if (!strcmp(name, qface_services[i])) return true;
    return false;
}

/* Of several with one name the last: the call chooses among them by the values. */
int qface_functions(qs_vm *vm, const Module *m, Shown out[SHOWN]) {
    const Unit *u = m->units[0];
    int n = 0;
    for (int i = 0; i < u->nfuncs && n < SHOWN; i++) {
        const Func *f = u->funcs[i]->u.func;
        const char *name = f->name->s;
        bool again = f->qual != Q_HOST || !is_plain(name) || !strcmp(name, "main") || is_service(name);
        for (int k = i + 1; k < u->nfuncs && !again; k++) again = u->funcs[k]->u.func->name == f->name;
        if (!again && sign(vm, f, out[n].signature)) out[n++].f = f;
    }
    return n;
}

/* -- names -------------------------------------------------------------------------------------------------------- */
static bool is_one_of(const char *word, const char *list) {
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

/* Words of C, C++ and Python cannot be names of parameters there. */
static const char words[] =
    "alignas alignof and and_eq as asm assert async auto await bitand bitor bool break case catch char char16_t "
    "char32_t class compl concept const consteval constexpr constinit const_cast continue decltype def default "
    "del delete do double dynamic_cast elif else enum except explicit export extern false False finally float "
    "for friend from global goto if import in inline int is lambda long mutable namespace new noexcept None "
    "nonlocal not not_eq nullptr operator or or_eq pass private protected public raise register reinterpret_cast "
    "requires restrict return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true True try typedef typeid typename union unsigned using virtual void volatile wchar_t "
    "while with xor xor_eq yield";

static void add_word(Text *out, const char *name) {
    if (is_plain(name)) qtext_printf(out, "%s%s", name, is_one_of(name, words) ? "_" : "");
    else qtext_puts(out, "_");
}

/* A result may be called as an argument is. */
static void add_result(Text *out, const Func *f, int i) {
    const Str *name = f->outs[i].name;
    bool taken = false;
    for (int k = 0; k < f->nparams; k++) taken = taken || f->params[k].name == name;
    if (!is_plain(name->s)) qtext_printf(out, "result%d", i);
    else add_word(out, name->s);
    if (taken) qtext_puts(out, "_out");
}

static void add_parameter(Text *out, const Func *f, int i) {
    if (is_plain(f->params[i].name->s)) add_word(out, f->params[i].name->s);
    else qtext_printf(out, "argument%d", i);
}

static const char *results(const Shown *s) { return strchr(s->signature, '>') + 1; }

/* What the program says above the function, as a comment. */
static void add_doc(Text *out, const Func *f) {
    if (!f->doc || !f->doc->len) return;
    qtext_puts(out, "/* ");
    for (const char *p = f->doc->s; *p; p++) {
        if (*p == '\n' && p[1]) qtext_puts(out, "\n * ");
        else if (*p != '\n') qtext_putc(out, *p);
        if (p[0] == '*' && p[1] == '/') qtext_putc(out, ' '); /* they would end the comment */
    }
    qtext_puts(out, " */\n");
}

static void add_guard(Text *out, const char *name, const char *end) {
    for (; *name; name++) qtext_putc(out, isalnum((unsigned char)*name) ? (char)toupper((unsigned char)*name) : '_');
    qtext_puts(out, end);
}

/* -- C ------------------------------------------------------------------------------------------------------------ */
static void add_c_function(const Face *face, const Shown *s, Text *out) {
    const char *separator = "";
    add_doc(out, s->f);
    qtext_printf(out, "qs_status %s_%s(", face->name, s->f->name->s);
    for (int i = 0; i < s->f->nparams; i++, separator = ", ") {
        qtext_printf(out, "%s%s", separator, row_of(s->signature[i])->c_in);
        add_parameter(out, s->f, i);
    }
    for (int i = 0; i < s->f->nouts; i++, separator = ", ") {
        qtext_printf(out, "%s%s", separator, row_of(results(s)[i])->c_out);
        add_result(out, s->f, i);
    }
    qtext_puts(out, *separator ? ");\n" : "void);\n");
}

void qface_c(const Face *f, Text *out) {
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
    qtext_printf(out,
                 "/* What failed last in this thread, with its place in the program. */\n"
                 "const char *%s_error(void);\n"
                 "/* Gives a result back; it is empty then, and may be given back again. */\n"
                 "void %s_release(qs_view *result);\n"
                 "/* Where kernels run from now on: \"cpu\", \"cuda:1\", \"auto\" … */\n"
                 "qs_status %s_device(const char *wanted);\n", f->name, f->name, f->name);
    qtext_puts(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

/* -- C++ ---------------------------------------------------------------------------------------------------------- */
static void add_cpp_result(const Shown *s, Text *out) {
    const char *kinds = results(s);
    int n = s->f->nouts;
    if (n != 1) qtext_puts(out, n ? "std::tuple<" : "void");
    for (int i = 0; i < n; i++) qtext_printf(out, "%s%s", i ? ", " : "", row_of(kinds[i])->cpp_out);
    if (n > 1) qtext_puts(out, ">");
}

static void add_cpp_call(const Face *face, const Shown *s, Text *out) {
    const char *separator = "";
    qtext_printf(out, "    quasar::check_native(::%s_%s(", face->name, s->f->name->s);
    for (int i = 0; i < s->f->nparams; i++, separator = ", ") {
        qtext_printf(out, "%s%s", separator, s->signature[i] == 'a' ? "&" : "");
        add_parameter(out, s->f, i);
        if (s->signature[i] == 's') qtext_puts(out, ".c_str()");
    }
    for (int i = 0; i < s->f->nouts; i++, separator = ", ") {
        qtext_printf(out, "%s&", separator);
        add_result(out, s->f, i);
    }
    qtext_puts(out, "));\n");
}

static void add_cpp_function(const Face *face, const Shown *s, Text *out) {
    int n = s->f->nouts;
    qtext_puts(out, "inline "), add_cpp_result(s, out);
    qtext_puts(out, " "), add_word(out, s->f->name->s), qtext_puts(out, "(");
    for (int i = 0; i < s->f->nparams; i++) {
        qtext_printf(out, "%s%s", i ? ", " : "", row_of(s->signature[i])->cpp_in);
        add_parameter(out, s->f, i);
    }
    qtext_puts(out, ") {\n");
    for (int i = 0; i < n; i++) {
        qtext_printf(out, "    %s ", row_of(results(s)[i])->cpp_out);
        add_result(out, s->f, i), qtext_puts(out, "{};\n");
    }
    add_cpp_call(face, s, out);
    if (n) qtext_puts(out, n > 1 ? "    return {" : "    return ");
    for (int i = 0; i < n; i++) {
        qtext_puts(out, i ? ", " : "");
        if (n > 1) qtext_puts(out, "std::move(");
        add_result(out, s->f, i), qtext_puts(out, n > 1 ? ")" : "");
    }
    qtext_puts(out, n > 1 ? "};\n}\n\n" : n ? ";\n}\n\n" : "}\n\n");
}

void qface_cpp(const Face *f, Text *out) {
    qtext_printf(out, "/* %s.hpp -- the functions of %s.h in C++17: failures are exceptions, results release "
                 "themselves. */\n", f->name, f->name);
    qtext_puts(out, "#ifndef "), add_guard(out, f->name, "_LIBRARY_HPP\n");
    qtext_puts(out, "#define "), add_guard(out, f->name, "_LIBRARY_HPP\n");
    qtext_printf(out, "#include \"%s.h\"\n#include <quasar.hpp>\n#include <tuple>\n\nnamespace %s {\n\n", f->name,
                 f->name);
    for (int i = 0; i < f->n; i++) add_cpp_function(f, &f->at[i], out);
    qtext_printf(out, "inline void device(const char *wanted) { quasar::check_native(::%s_device(wanted)); }\n\n"
                 "} // namespace %s\n#endif\n", f->name, f->name);
}

/* -- Python ------------------------------------------------------------------------------------------------------- */
void qface_python(const Face *f, Text *out) {
    qtext_printf(out, "\"\"\"The functions of %s, compiled by qrun --make-lib; %s.pyi has their types.\"\"\"\n"
                 "import os as _os\nimport pyquasar as _q\n\n"
                 "_library = _q.import_native(\n"
                 "    _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), \"%s\"))\n\n\n"
                 "def __getattr__(name):\n    return getattr(_library, name)\n\n\n"
                 "def __dir__():\n    return dir(_library)\n", f->source, f->name, f->object);
}

void qface_stub(const Face *f, Text *out) {
    qtext_printf(out, "\"\"\"The functions of %s.\"\"\"\nfrom typing import Any, Tuple\n\n", f->source);
    for (int i = 0; i < f->n; i++) {
        const Shown *s = &f->at[i];
        qtext_puts(out, "def "), add_word(out, s->f->name->s), qtext_puts(out, "(");
        for (int k = 0; k < s->f->nparams; k++) {
            qtext_puts(out, k ? ", " : "");
            add_parameter(out, s->f, k);
            qtext_printf(out, ": %s%s", row_of(s->signature[k])->python, s->f->params[k].init ? " = ..." : "");
        }
        qtext_puts(out, ") -> ");
        if (s->f->nouts != 1) qtext_puts(out, s->f->nouts ? "Tuple[" : "None");
        for (int k = 0; k < s->f->nouts; k++)
            qtext_printf(out, "%s%s", k ? ", " : "", row_of(results(s)[k])->python);
        qtext_puts(out, s->f->nouts > 1 ? "]: ...\n" : ": ...\n");
    }
}
