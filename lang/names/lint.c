/* lint.c -- warns about legal code that is probably a mistake; lint.h lists examples. */
#include "lang/names/lint.h"

#include "lang/names/first_read.h"
#include "lang/syntax/diag.h"
#include "lang/syntax/fold.h"
#include "lang/syntax/operators.h"
#include "vm/base/warning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An assignment to target of a value that is computed from source; source NULL: from a possible image. */
typedef struct {
    const Sym *target, *source;
    bool followed;
} Link;

/* An assignment to target; value NULL: it is not a plain assignment of an expression. */
typedef struct {
    const Sym *target;
    const Node *value;
} Assigned;

typedef struct {
    Unit *u;
    const ScopeHost *host;
    Func *f;
    bool strict, converted; /* converted: inside a type conversion such as float64([…]) */
    /* The assignments and the possible images, sorted by the address of the variable.  The first query collects them.
     * */
    bool assignments_known;
    const Sym **images;
    Link *links;
    Assigned *assigned;
    uint32_t nimages, cap_images, nlinks, cap_links, nassigned, cap_assigned;
    Map defined; /* names of the functions that have been checked */
} Slips;

static void look_func(Slips *s, Func *f);

/* -- looking up variables by name ---------------------------------------------------------------------------------- */
static bool has_local(const Func *f, const Str *name) {
    for (int i = 0; i < f->nlocals; i++)
        if (f->locals[i]->name == name) return true;
    return false;
}

/* Returns whether a variable of that name is visible in f.  f NULL: only in the module. */
static bool is_variable(const Slips *s, const Func *f, Str *name) {
    for (; f && !f->is_main_body; f = f->parent)
        if (has_local(f, name)) return true;
    Sym found = {.name = name};
    return s->host->lookup(s->host->ud, name, &found) && found.kind == SYM_GLOBAL && found.variable;
}

/* -- 7 % 2 --------------------------------------------------------------------------------------------------------- */
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word(char c) { return is_digit(c) || (unsigned)((c | 32) - 'a') < 26 || c == '_'; }
static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r"); }

/* Returns whether the word occurs on the line before `stop`.  Then the comment probably explains that variable. */
static bool is_named_before(const char *text, const char *stop, const char *word, size_t n) {
    const char *at = stop;
    while (at > text && at[-1] != '\n') at--;
    for (; at + n <= stop; at++)
        if (!strncmp(at, word, n) && !is_word(at[n]) && (at == text || !is_word(at[-1]))) return true;
    return false;
}

/* Returns the text after a number or visible variable at `at`; NULL: there is none. */
static const char *parse_operand(const Slips *s, const char *at, const char *comment) {
    const char *end = at = skip_blanks(at);
    if (is_digit(*at)) {
        end += strspn(end, "0123456789.");
        return is_word(*end) || end[-1] == '.' ? NULL : end;
    }
    while (is_word(*end)) end++;
    if (end == at || is_named_before(s->u->src->text, comment, at, (size_t)(end - at))) return NULL;
    return is_variable(s, s->f, qstr_name(s->u->ctx, at, (size_t)(end - at))) ? end : NULL;
}

/* Returns the text after an operator; NULL: there is none.  sums: also after + - * /, which are too frequent in prose
 * behind a name. */
static const char *operator(const char *at, bool sums) {
    size_t n = strspn(at = skip_blanks(at), sums ? "=!~<>?:&|+-*/" : "=!~<>?:&|");
    return n == 1 || n == 2 ? at + n : NULL;
}

/* Returns whether the comment at pos is only a divisor, perhaps with operators, as in if i % 2 == 0. */
static bool is_remainder(const Slips *s, uint32_t pos) {
    const char *comment = s->u->src->text + pos, *at = parse_operand(s, comment + 1, comment), *op;
    bool sums = is_digit(*skip_blanks(comment + 1));
    while (at && (op = operator(at, sums))) at = parse_operand(s, op, comment);
    return at && (*(at = skip_blanks(at)) == '\n' || *at == 0);
}

/* Checks the comments inside the current function.  Inner functions are visited first; a checked comment is marked. */
static void look_at_comments(const Slips *s) {
    for (int i = 0; i < s->u->npercents; i++) {
        uint32_t pos = s->u->percents[i];
        if (pos < s->f->pos || pos >= s->f->end) continue;
        if (is_remainder(s, pos)) qdiag_warning(s->u, pos, "%% begins a comment: the remainder is mod(a, b)");
        s->u->percents[i] = UINT32_MAX;
    }
}

/* -- 3..1 ---------------------------------------------------------------------------------------------------------- */
/* Warns about an empty range.  0..-1 is accepted as a deliberate empty range. */
static void check_range(const Slips *s, const Node *n) {
    double lo, hi, step;
    if (!qfold_number(n->u.range.lo, &lo) || !qfold_number(n->u.range.hi, &hi)) return;
    if (n->u.range.step) {
        bool empty = qfold_number(n->u.range.step, &step) && step != 0 && (step > 0 ? lo > hi : lo < hi);
        if (empty)
            qdiag_warning(s->u, n->pos, "this range is empty: from %g, steps of %g do not come to %g", lo, step, hi);
        return;
    }
    if (hi < lo - 1) qdiag_warning(s->u, n->pos, "this range is empty: downward it is written %g..-1..%g", lo, hi);
}

/* -- [1e300] ------------------------------------------------------------------------------------------------------- */
static void check_items(const Slips *s, const Node *n) {
    double x;
    for (int i = 0; i < n->u.items.n && s->u->ctx->scalar_dtype == QS_F32; i++) {
        const Node *item = n->u.items.at[i];
        if (!qfold_number(item, &x) || !isfinite(x) || x == 0 || (isfinite((float)x) && (float)x != 0)) continue;
        qdiag_warning(s->u, item->pos, "a list is of float32, where %g is %g: float64([...]) keeps it", x,
                      (double)(float)x);
    }
}

static bool is_conversion(const Node *n) {
    const Node *f = n->kind == N_CALL ? n->u.call.callee : NULL;
    return f && (f->kind == N_TYPE || qast_means(f, SYM_TYPE));
}

/* -- mean(x, 2) ---------------------------------------------------------------------------------------------------- */
static const char *callee(const Node *n) {
    const Node *f = n->kind == N_CALL ? n->u.call.callee : NULL;
    return qast_means(f, SYM_GLOBAL) ? f->u.ident.name->s : "";
}

/* Images come from files or cameras.  A variable is a possible image if it is declared as more than a matrix, or if a
 * value that is computed from an image is assigned to it anywhere. */
static bool is_declared_wider(const TypeExpr *t) {
    const TypeExpr *base = t && t->base ? t->base : t;
    return base && !(base->kind == TE_NAME && (!strcmp(base->name->s, "mat") || strstr(base->name->s, "vec") ||
                                               !strcmp(base->name->s, "cmat") || !strcmp(base->name->s, "imat")));
}

static bool is_image_source(const Node *n) {
    static const char *const readers[] = {"imread", "tiffread", "load", "exrread", NULL};
    const Sym *sym = qast_symbol(n);
    if (qstr_is_one_of(callee(n), readers)) return true;
    if (n->kind == N_FIELD && !strcmp(n->u.field.name->s, "rgb_data")) return true;
    return sym && sym->declared && is_declared_wider(sym->declared);
}

typedef struct {
    Slips *s;
    const Sym *target;
} Linking;

static void link_sources(void *ud, Node **child) {
    const Linking *x = ud;
    Slips *s = x->s;
    Node *n = *child;
    const Sym *source = qast_symbol(n);
    bool image = is_image_source(n);
    if (image || (source && source->kind <= SYM_GLOBAL && source != x->target)) {
        qmem_grow(s->u->ctx, &s->links, &s->cap_links, s->nlinks, sizeof *s->links);
        s->links[s->nlinks++] = (Link){.target = x->target, .source = image ? NULL : source};
    }
    qast_children(n, link_sources, ud);
}

static void link_func(Slips *s, Func *f);

static void link_assignments(void *ud, Node **child) {
    Slips *s = ud;
    Node *n = *child;
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++) {
        const Node *t = n->u.assign.targets[i];
        Linking x = {s, qast_symbol(t)};
        if (!x.target) continue;
        link_sources(&x, &n->u.assign.value);
        if (n->u.assign.in_place) continue; /* an array remains one */
        qmem_grow(s->u->ctx, &s->assigned, &s->cap_assigned, s->nassigned, sizeof *s->assigned);
        s->assigned[s->nassigned++] = (Assigned){x.target, n->u.assign.bracketed ? NULL : n->u.assign.value};
    }
    if (n->kind == N_LAMBDA) link_func(s, n->u.lambda.func);
    else if (n->kind == N_FUNC) link_func(s, n->u.func);
    else qast_children(n, link_assignments, s);
}

static void link_func(Slips *s, Func *f) {
    for (int i = 0; i < f->body.n; i++) link_assignments(s, &f->body.at[i]);
    if (f->expr) link_assignments(s, &f->expr);
}

static int compare_addresses(const void *a, const void *b) { return (a > b) - (a < b); }

static int compare_links(const void *a, const void *b) {
    return compare_addresses(((const Link *)a)->source, ((const Link *)b)->source);
}

static int compare_assigned(const void *a, const void *b) {
    return compare_addresses(((const Assigned *)a)->target, ((const Assigned *)b)->target);
}

static int compare_syms(const void *a, const void *b) {
    return compare_addresses(*(const Sym *const *)a, *(const Sym *const *)b);
}

/* Marks the targets of assignments from this source as images. */
static void follow_links(Slips *s, const Sym *source) {
    uint32_t lo = 0, hi = s->nlinks;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if ((uintptr_t)s->links[mid].source < (uintptr_t)source) lo = mid + 1;
        else hi = mid;
    }
    for (; lo < s->nlinks && s->links[lo].source == source && !s->links[lo].followed; lo++) {
        s->links[lo].followed = true;
        qmem_grow(s->u->ctx, &s->images, &s->cap_images, s->nimages, sizeof *s->images);
        s->images[s->nimages++] = s->links[lo].target;
    }
}

/* Collects the assignments.  Follows each one once, even if variables depend on each other in a cycle. */
static void find_assignments(Slips *s) {
    if (s->assignments_known) return;
    s->assignments_known = true;
    link_func(s, s->u->main);
    if (s->nassigned) qsort(s->assigned, s->nassigned, sizeof *s->assigned, compare_assigned);
    if (s->nlinks) qsort(s->links, s->nlinks, sizeof *s->links, compare_links);
    follow_links(s, NULL);
    for (uint32_t i = 0; i < s->nimages; i++) follow_links(s, s->images[i]);
    if (s->nimages) qsort(s->images, s->nimages, sizeof *s->images, compare_syms);
}

/* Returns the value of a variable that is assigned exactly once; NULL otherwise. */
static const Node *find_only_value(Slips *s, const Sym *sym) {
    find_assignments(s);
    const Assigned wanted = {.target = sym}, *end = s->assigned + s->nassigned;
    const Assigned *a =
        sym && s->nassigned ? bsearch(&wanted, s->assigned, s->nassigned, sizeof *s->assigned, compare_assigned) : NULL;
    bool once = a && (a == s->assigned || a[-1].target != sym) && (a + 1 == end || a[1].target != sym);
    return once ? a->value : NULL;
}

typedef struct {
    const Slips *s;
    bool found;
} ImageSearch;

static void look_for_image(void *ud, Node **child) {
    ImageSearch *x = ud;
    Node *n = *child;
    const Sym *sym = qast_symbol(n);
    if (x->found) return;
    x->found = is_image_source(n) ||
               (sym && x->s->nimages && bsearch(&sym, x->s->images, x->s->nimages, sizeof *x->s->images, compare_syms));
    qast_children(n, look_for_image, x);
}

static bool may_be_image(Slips *s, Node *n) {
    find_assignments(s);
    ImageSearch x = {s, false};
    look_for_image(&x, &n);
    return x.found;
}

/* Records a call such as f(x, 2), x.f(2) or f(x, [], 0).  The called function, which knows the dimensions of x, decides
 * at run time whether to warn. */
static void note_dimension(Slips *s, const Node *n) {
    Node *field = n->u.call.callee->kind == N_FIELD ? n->u.call.callee : NULL;
    const ArgList *args = &n->u.call.args;
    double dim = -1;
    for (int i = field ? 0 : 1; i < args->n; i++) {
        double x;
        if (qfold_number(args->at[i].value, &x) && (x == 0 || x == 2)) dim = x;
    }
    if (dim < 0 || s->u->src->library) return;
    Node *x = field ? field->u.field.base : args->at[0].value;
    if (dim == 0 || !may_be_image(s, x)) qwarn_note_dimension(s->u->ctx, s->u->src, n->pos);
}

/* Returns 2 for a matrix, 1 for another array, 0 for what is perhaps none.  depth: remaining number of variables to
 * follow. */
static int rank_of(Slips *s, const Node *n, int depth) {
    static const char *const makers[] = {"zeros", "ones", "rand", "randn", "uninit", NULL};
    static const char *const arrays[] = {"linspace", "imread", NULL}, *const types[] = {"vec", "cube", NULL};
    if (n->kind == N_RANGE || qstr_is_one_of(callee(n), arrays)) return 1;
    if (n->kind == N_MATRIX) return n->u.items.n && n->u.items.at[0]->kind == N_MATRIX ? 2 : 1;
    if (qstr_is_one_of(callee(n), makers)) return n->u.call.args.n == 2 ? 2 : n->u.call.args.n > 0;
    const Sym *sym = qast_symbol(n);
    if (!sym || depth == 0) return 0;
    if (sym->declared) {
        const char *type = sym->declared->kind == TE_NAME ? sym->declared->name->s : "";
        return strcmp(type, "mat") ? qstr_is_one_of(type, types) : 2;
    }
    const Node *value = find_only_value(s, sym);
    return value ? rank_of(s, value, depth - 1) : 0;
}

static void check_dimension(Slips *s, const Node *n) {
    static const char *const reducers[] = {"sum",    "prod",    "mean", "std", "var", "median",
                                           "cumsum", "cumprod", "any",  "all", NULL};
    static const char *const extremes[] = {"min", "max", NULL}; /* max(x, [], 2) */
    double dim;
    int last = n->u.call.args.n - 1;
    if (last != 1 + qstr_is_one_of(callee(n), extremes) || !(last == 2 || qstr_is_one_of(callee(n), reducers))) return;
    const Node *x = n->u.call.args.at[0].value, *at = n->u.call.args.at[last].value;
    if (qfold_number(at, &dim) && dim == 2 && rank_of(s, x, 4) == 2)
        qdiag_warning(s->u, at->pos, "a matrix has the dimensions 0 and 1: along 2 %s has nothing to do", callee(n));
}

/* -- numel(find(c)), if strfind(s, t) ------------------------------------------------------------------------------ */
/* Warns about calls such as numel(find(c)): in other languages find returns a list of indices. */
static void check_use_of_positions(const Slips *s, const Node *n) {
    static const char *const users[] = {"numel", "min", "max", "mean", "sum", "median", "sort", "diff", NULL};
    const char *name = callee(n);
    if (n->u.call.args.n != 1 || !qstr_is_one_of(name, users) || strcmp(callee(n->u.call.args.at[0].value), "find"))
        return;
    if (!strcmp(name, "numel"))
        qdiag_warning(s->u, n->pos,
                      "find gives a row of positions for each element, and numel counts all their "
                      "numbers: sum(c) counts the elements for which c holds");
    else
        qdiag_warning(s->u, n->pos,
                      "find gives a row of positions for each element, and %s takes rows and columns "
                      "together: write [row, column] = find(c), then %s(column)",
                      name, name);
}

/* Warns about strfind as a condition: its result -1 for "not found" is true, and position 0 is false. */
static void check_condition(const Slips *s, const Node *n) {
    if (n && !strcmp(callee(n), "strfind"))
        qdiag_warning(s->u, n->pos,
                      "strfind gives a position from 0, and -1 when there is none: write "
                      "strfind(…) >= 0");
}

static void check_conditions(const Slips *s, const Node *n) {
    if (n->kind == N_IF)
        for (int i = 0; i < n->u.ifs.n; i++) check_condition(s, n->u.ifs.conds[i]);
    else if (n->kind == N_WHILE || n->kind == N_REPEAT) check_condition(s, n->u.whiles.cond);
    else if (n->kind == N_TERNARY) check_condition(s, n->u.ternary.cond);
    else if (n->kind == N_UNARY && n->op == OP_NOT) check_condition(s, n->u.bin.a);
    else if (n->kind == N_BINARY && (n->op == OP_ANDAND || n->op == OP_OROR))
        check_condition(s, n->u.bin.a), check_condition(s, n->u.bin.b);
}

/* -- y = x; y[0] = 1 ----------------------------------------------------------------------------------------------- */
/* In MATLAB an assignment copies.  The check warns of y = x if one of the two is written after that, an element of it,
 * or all elements of an array by an operator as in y += 1, and the other one is read later.  y is assigned once.  x is
 * assigned once if y is written, and not assigned again if x is written.
 *
 * In a loop, the write may stand in front of y = x, because the next iteration makes it.  Then y is read by that
 * iteration in front of y = x; or also after the loop, if y = x depends on a condition, as in "if better  best = x".
 * y may be a field p.y.  [y, z] = {x, 1} and y = reshape(x, …) count as y = x. */
enum { MOST_ALIASES = 64 };
typedef struct {
    const Node *assignment;
    const Sym *x, *y;
    const Str *field; /* of y, or NULL */
    const char *view; /* the function in y = reshape(x, …), or NULL */
    int x_set, y_set;
    uint32_t x_written, y_written; /* positions of the first writes to their elements; UINT32_MAX: none */
    bool x_read, y_read;           /* after the other one was written */
    bool replaced;                 /* x is assigned after y = x */
    bool array;                    /* x is certainly one, which y += 1 changes */
    bool conditional;              /* it depends on a condition within the loop */
    const Node *loop;              /* the innermost loop around y = x, or NULL */
    struct InLoop {                /* what this loop does */
        bool x_written, x_set, y_written;
        bool branches, leaves; /* after y = x; leaves: in any case */
        int y_set;
    } in;
    bool inside; /* the walk is in this loop */
    bool y_kept; /* y is read by a later iteration, or after the loop */
} Alias;
typedef struct {
    Slips *s;
    const Node *loop;
    bool conditional;
    Alias at[MOST_ALIASES];
    int n;
} Aliases;

static bool is_loop(const Node *n) { return n->kind == N_FOR || n->kind == N_WHILE || n->kind == N_REPEAT; }

static void add_alias(Aliases *a, const Node *assignment, const Node *target, const Node *value) {
    static const char *const views[] = {"reshape", "squeeze", NULL};
    bool is_field = target->kind == N_FIELD, view = qstr_is_one_of(callee(value), views) && value->u.call.args.n;
    const Node *from = view ? value->u.call.args.at[0].value : value, *base = is_field ? target->u.field.base : target;
    if (base->kind != N_IDENT || from->kind != N_IDENT || a->n == MOST_ALIASES) return;
    const Sym *y = base->u.ident.sym, *x = from->u.ident.sym;
    if (!x || !y || x == y || x->kind == SYM_CAPTURE || x->kind > SYM_GLOBAL) return;
    a->at[a->n++] = (Alias){.assignment = assignment,
                            .x = x,
                            .y = y,
                            .field = is_field ? target->u.field.name : NULL,
                            .view = view ? callee(value) : NULL,
                            .x_written = UINT32_MAX,
                            .y_written = UINT32_MAX,
                            .array = rank_of(a->s, from, 4) > 0,
                            .loop = a->loop,
                            .conditional = a->conditional};
}

static void find_aliases(void *ud, Node **child) {
    Aliases *a = ud;
    Node *n = *child, *target = qast_target(n);
    const Node *loop = a->loop;
    bool conditional = a->conditional, plain = n->kind == N_ASSIGN && !n->u.assign.in_place && n->flag != ASSIGN_COPIES;
    if (plain && target) add_alias(a, n, target, n->u.assign.value);
    bool tuple = plain && n->u.assign.bracketed && n->u.assign.value->kind == N_CELL;
    for (int i = 0; tuple && i < n->u.assign.ntargets && i < n->u.assign.value->u.items.n; i++)
        add_alias(a, n, n->u.assign.targets[i], n->u.assign.value->u.items.at[i]);
    if (is_loop(n)) a->loop = n, a->conditional = false;
    a->conditional |= n->kind == N_IF || n->kind == N_MATCH || n->kind == N_TRY;
    qast_children(n, find_aliases, a);
    a->loop = loop, a->conditional = conditional;
}

static bool is_y(const Alias *at, const Node *n) {
    if (!at->field) return qast_is_name(n, at->y);
    const Node *base = n->kind == N_FIELD ? n->u.field.base : NULL;
    return base && n->u.field.name == at->field && qast_is_name(base, at->y);
}

static void follow_write(Alias *at, const Node *target, bool in_place) {
    const Node *base = target->kind == N_INDEX ? target->u.index.base : target;
    bool element = base != target || (at->array && in_place);
    bool x = qast_is_name(base, at->x), y = is_y(at, base), later = target->pos > at->assignment->pos;
    at->x_set += x, at->y_set += y && !element;
    at->replaced |= x && !element && later;
    if (x && element && later && target->pos < at->x_written) at->x_written = target->pos;
    if (y && element && later && target->pos < at->y_written) at->y_written = target->pos;
    if (!at->inside) return;
    at->in.x_written |= x && element, at->in.y_written |= y && element;
    at->in.x_set |= x && !element, at->in.y_set += y && !element;
}

static void follow_aliases(void *ud, Node **child) {
    Aliases *a = ud;
    Node *n = *child;
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++)
        for (int k = 0; k < a->n; k++) follow_write(&a->at[k], n->u.assign.targets[i], n->u.assign.in_place);
    for (int k = 0; k < a->n; k++) {
        Alias *at = &a->at[k];
        bool later = n->pos > at->assignment->pos;
        if (n == at->loop) at->inside = true;
        at->x_read |= qast_is_name(n, at->x) && n->pos > at->y_written;
        at->y_read |= is_y(at, n) && n->pos > at->x_written;
        at->y_kept |= is_y(at, n) && (at->inside ? n->pos < at->assignment->pos : later && at->conditional);
        at->in.leaves |= at->inside && later && !at->in.branches && (n->kind == N_BREAK || n->kind == N_RETURN);
        at->in.branches |= at->inside && later && n->kind == N_IF;
    }
    qast_children(n, follow_aliases, a);
    for (int k = 0; k < a->n; k++) a->at[k].inside &= n != a->at[k].loop;
}

static bool is_result(const Func *f, const Sym *sym) {
    int i = 0;
    while (i < f->nouts && f->outs[i].name != sym->name) i++;
    return i < f->nouts;
}

static void warn_alias(Slips *s, const Alias *at, bool y_is_written) {
    const char *x = at->x->name->s, *field = at->field ? at->field->s : "", *dot = at->field ? "." : "";
    char y[128], call[64] = "";
    snprintf(y, sizeof y, "%s%s%s", at->y->name->s, dot, field);
    if (at->view) snprintf(call, sizeof call, "%s(", at->view);
    qdiag_warning(s->u, at->assignment->pos,
                  "%s is another name of %s, no copy: elements that are written into "
                  "%s change %s, too, which is read later; write %s = %scopy(%s)%s",
                  y, x, y_is_written ? y : x, y_is_written ? x : y, y, call, x, at->view ? ", …)" : "");
}

static void check_aliases(Slips *s, Func *f) {
    Aliases a = {.s = s};
    if (f->qual != Q_HOST) return; /* in kernels local arrays are values */
    for (int i = 0; i < f->body.n; i++) find_aliases(&a, &f->body.at[i]);
    for (int i = 0; i < f->body.n && a.n; i++) follow_aliases(&a, &f->body.at[i]);
    for (int k = 0; k < a.n; k++) {
        const Alias *at = &a.at[k];
        bool written = at->x_set + qast_is_parameter(f, at->x) == 1 && at->x_read;
        bool changed = at->y_written == UINT32_MAX && !at->replaced && at->y_read; /* not through both names */
        bool kept = at->y_kept || (at->conditional && !at->field && is_result(f, at->y));
        bool repeats = at->in.x_written && !at->in.x_set && at->in.y_set == 1 && !at->in.y_written && !at->in.leaves;
        if (at->y_set == 1 && (written || changed)) warn_alias(s, at, written);
        else if (repeats && kept) warn_alias(s, at, false);
    }
}

/* -- x[1.9] -------------------------------------------------------------------------------------------------------- */
/* Returns whether an expression is find(c), or a variable whose only assignment is find(c). */
static bool is_found(Slips *s, const Node *n) {
    if (!strcmp(callee(n), "find")) return true;
    const Node *value = n->kind == N_IDENT ? find_only_value(s, n->u.ident.sym) : NULL;
    return value && !strcmp(callee(value), "find");
}

/* Returns whether an index is a list of true and false, which are the numbers 1 and 0. */
static bool is_list_of_truths(Slips *s, const Node *n) {
    const Node *value = n->kind == N_IDENT ? find_only_value(s, n->u.ident.sym) : n;
    if (!value || value->kind != N_MATRIX || value->u.items.n < 2) return false;
    for (int i = 0; i < value->u.items.n; i++) {
        const Node *item = value->u.items.at[i];
        if (!qast_is_builtin(item, "true") && !qast_is_builtin(item, "false")) return false;
    }
    return true;
}

static void check_index(Slips *s, const Node *n) {
    const Node *base = n->u.index.base;
    const Sym *sym = qast_symbol(base);
    bool has_mode = sym && (sym->mods.access || sym->mods.flags);
    if (n->u.index.at.n && is_found(s, n->u.index.at.at[0]))
        qdiag_warning(s->u, n->u.index.at.at[0]->pos,
                      "find gives a row of positions for each element, and they are no "
                      "list of places: the condition itself selects, as in x[x > 2], and find(c)[:,1] are places of a "
                      "vec");
    const Node *value = sym ? find_only_value(s, sym) : NULL;
    bool has_keys = value && !strcmp(callee(value), "dict");
    for (int i = 0; i < n->u.index.at.n && !has_mode && !has_keys; i++) {
        const Node *at = n->u.index.at.at[i];
        double x;
        if (is_list_of_truths(s, at))
            qdiag_warning(s->u, at->pos, "this list is the positions 1 and 0, not a mask: [true,false] != 0 is one");
        if (!qfold_number(at, &x)) continue;
        if (x != trunc(x))
            qdiag_warning(s->u, n->pos, "an index is an integer: %.15g is read as %.15g", x, trunc(x) + 0);
        else if (x < 0 && s->f->qual == Q_KERNEL)
            qdiag_warning(s->u, at->pos, "index %g is outside, where a kernel reads 0: the last is x[numel(x)-1]", x);
    }
}

/* -- x[1..2][0] = 3 ------------------------------------------------------------------------------------------------ */
static bool is_selection(const Node *n) {
    bool many = false;
    for (int i = 0; n->kind == N_INDEX && i < n->u.index.at.n; i++)
        many |= n->u.index.at.at[i]->kind == N_RANGE || n->u.index.at.at[i]->kind == N_COLON;
    return many;
}

/* Warns about assignments such as x[1..2][0] = 3, which write to a temporary copy. */
static void check_targets(const Slips *s, const Node *n) {
    for (int i = 0; i < n->u.assign.ntargets; i++) {
        const Node *t = n->u.assign.targets[i];
        if (t->kind == N_INDEX && is_selection(t->u.index.base))
            qdiag_warning(s->u, t->pos,
                          "x[a..b] of an array is a copy, in which what x[a..b][i] = v writes is lost; "
                          "write one index, x[a+i]");
    }
}

/* -- match x with | 1..5 ------------------------------------------------------------------------------------------- */
static bool is_single(const Node *n) {
    double number;
    return n->kind == N_STR || qfold_number(n, &number);
}

/* Returns whether a pattern is probably a list of alternatives, as in case {1,3} of MATLAB: a cell if the value is not
 * one, or a list if the value or another pattern is a single number or string. */
static bool are_alternatives(const Node *match, const Node *pattern) {
    if (pattern->kind == N_CELL) return match->u.match.value->kind != N_CELL;
    bool single = is_single(match->u.match.value);
    for (int i = 0; i < match->u.match.narms; i++)
        for (int k = 0; k < match->u.match.arms[i].npatterns; k++)
            single |= is_single(match->u.match.arms[i].patterns[k]);
    return pattern->kind == N_MATRIX && single;
}

static void check_pattern(const Slips *s, const Node *match, const Node *n) {
    if (n->kind == N_RANGE)
        qdiag_warning(s->u, n->pos,
                      "a pattern equals the value as a whole, and a range is a list: whether x lies "
                      "between is written if a <= x && x <= b");
    else if (n->kind == N_BINARY && n->op == OP_OROR)
        qdiag_warning(s->u, n->pos,
                      "a pattern equals the value, and a || b is true or false: alternatives are written "
                      "| 1 | 3 -> …");
    else if (are_alternatives(match, n))
        qdiag_warning(s->u, n->pos,
                      "a pattern equals the value as a whole, and this is a list: alternatives are "
                      "written | 1 | 3 -> …");
}

static void check_patterns(const Slips *s, const Node *match) {
    for (int i = 0; i < match->u.match.narms; i++)
        for (int k = 0; k < match->u.match.arms[i].npatterns; k++)
            check_pattern(s, match, match->u.match.arms[i].patterns[k]);
}

/* -- calls that certainly fail ------------------------------------------------------------------------------------- */
static void check_call(Slips *s, const Node *n) {
    Text why;
    qtext_init(&why, s->u->ctx);
    if (s->host->call_fails(s->host->ud, n, &why)) qdiag_error(s->u, n->pos, "%s", why.s);
    qtext_free(&why);
}

/* -- overloads that only the order of definitions decides ---------------------------------------------------------- */
static void check_tie(Slips *s, const Node *n) {
    Text why;
    qtext_init(&why, s->u->ctx);
    if (s->host->call_ties && s->host->call_ties(s->host->ud, n, &why)) qdiag_warning(s->u, n->pos, "%s", why.s);
    qtext_free(&why);
}

static void check_repeated(Slips *s, const Func *f) {
    Text why;
    uint64_t before;
    if (!qmap_get(&s->defined, f->name, &before)) { /* the usual case: compares no types */
        qmap_set(&s->defined, s->u->ctx, f->name, 1);
        return;
    }
    qtext_init(&why, s->u->ctx);
    if (s->host->repeats && s->host->repeats(s->host->ud, f, &why)) qdiag_warning(s->u, f->pos, "%s", why.s);
    qtext_free(&why);
}

static void check_type(Slips *s, TypeExpr *type) {
    Text why;
    if (!type) return;
    qtext_init(&why, s->u->ctx);
    if (s->host->type_fails(s->host->ud, type, s->f, &why)) qdiag_error(s->u, type->pos, "%s", why.s);
    qtext_free(&why);
}

static void check_params(Slips *s, const Param *at, int n) {
    for (int i = 0; i < n; i++) check_type(s, at[i].type);
}

static void check_strictly(Slips *s, const Node *n) {
    if (n->kind == N_DECL) check_type(s, n->u.decl.type);
    for (int i = 0; n->kind == N_ASSIGN && i < n->u.assign.ntargets; i++) check_type(s, n->u.assign.types[i]);
    if (n->kind != N_CALL) return;
    check_dimension(s, n);
    check_call(s, n);
    check_tie(s, n);
}

/* -- y = x in a kernel --------------------------------------------------------------------------------------------- */
static void check_arguments(const Slips *s, const Func *f) {
    for (int i = 0; i < f->nparams; i++) {
        const Sym *p = f->params[i].sym;
        const Node *lost = f->qual == Q_KERNEL && p ? qfirstread_useless(f, p) : NULL;
        if (!lost) continue;
        qdiag_warning(s->u, lost->pos,
                      "the argument %s stays as it is: a kernel changes elements of arrays, as in %s[pos] = … "
                      "and %s[0] += …",
                      p->name->s, p->name->s, p->name->s);
    }
}

/* -- the walk ------------------------------------------------------------------------------------------------------ */
static void look_at(void *ud, Node **child) {
    Slips *s = ud;
    Node *n = *child;
    if (n->kind == N_INDEX) check_index(s, n);
    if (n->kind == N_RANGE) check_range(s, n);
    if (n->kind == N_CALL) note_dimension(s, n), check_use_of_positions(s, n);
    check_conditions(s, n);
    if (n->kind == N_ASSIGN) check_targets(s, n);
    if (n->kind == N_MATCH) check_patterns(s, n);
    if (s->strict) check_strictly(s, n);
    if (n->kind == N_MATRIX && !s->converted) check_items(s, n);
    bool before = s->converted;
    s->converted = is_conversion(n) || (before && NODE_IS_EXPR(n) && n->kind != N_CALL && n->kind != N_LAMBDA);
    if (n->kind == N_LAMBDA) look_func(s, n->u.lambda.func);
    else if (n->kind == N_FUNC) look_func(s, n->u.func);
    else qast_children(n, look_at, s);
    s->converted = before;
}

static void look_func(Slips *s, Func *f) {
    Func *outer = s->f;
    s->f = f;
    if (s->strict) check_params(s, f->params, f->nparams), check_params(s, f->outs, f->nouts);
    if (outer && !f->is_lambda) check_repeated(s, f);
    for (int i = 0; i < f->body.n; i++) look_at(s, &f->body.at[i]);
    if (f->expr) look_at(s, &f->expr);
    check_aliases(s, f);
    check_arguments(s, f);
    look_at_comments(s);
    s->f = outer;
}

void qlint_look(Unit *u, const ScopeHost *host, bool strict) {
    Slips s = {.u = u, .host = host, .strict = strict};
    qmap_init(&s.defined);
    look_func(&s, u->main);
    qmap_free(&s.defined, u->ctx);
    qmem_free(u->ctx, s.links, s.cap_links * sizeof *s.links);
    qmem_free(u->ctx, s.images, s.cap_images * sizeof *s.images);
    qmem_free(u->ctx, s.assigned, s.cap_assigned * sizeof *s.assigned);
}
