/* lower_builtin.c -- finds and calls the built-ins of kbuiltins.def, and lowers assert, error and launches. */
#include "lang/kernel/elem/elem.h"
#include "lang/kernel/lower/kernel/lower_builtin_table.h"
#include "vm/base/reduction.h"

#include <string.h>

qs_status klbuiltin_refuse(Lower *L, const BuiltinCall *c, const char *why) {
    return klower_error(L, QS_ETYPE, L->pos, "%s %s", c->name, why);
}

Num klbuiltin_binary(Lower *L, Op op, Num a, Num b) {
    Num r = a;
    if (klnum_binary(L, op, a, b, &r) != QS_OK) qerr_clear(L->c);
    return r;
}

/* -- checks and launches ------------------------------------------------------------------------------------------- */
/* Adds a message to the KFunc. %0 and %1 in messages stand for values, so the % of a user's text is doubled. */
static int user_message(Lower *L, qs_status s, const char *text) {
    char safe[QERR_TEXT / 4];
    size_t k = 0;
    for (; *text && k + 2 < sizeof safe; text++) {
        if (*text == '%') safe[k++] = '%';
        safe[k++] = *text;
    }
    safe[k] = '\0';
    return kir_message(L->f, s, safe);
}

static qs_status message_text(Lower *L, const BuiltinCall *c, int i, const char *otherwise, const char **out) {
    *out = otherwise;
    if (i >= c->nargs) return QS_OK;
    if (c->args[i].kind != V_STRING)
        return klower_error(L, QS_ETYPE, L->pos, "%s: the message must be a string", c->name);
    return *out = c->args[i].u.str->s, QS_OK;
}

qs_status klbuiltin_assert(Lower *L, const BuiltinCall *c, Val *out) {
    KRef holds;
    int known;
    const char *text;
    *out = (Val){.kind = V_VOID};
    TRY(klval_truth(L, &c->args[0], &holds, &known));
    TRY(message_text(L, c, 1, "the assertion does not hold", &text));
    if (known != 1) klnum_emit(L, (KMake){K_CHECK, .a = holds, .imm = (uint64_t)user_message(L, QS_EASSERT, text)});
    return QS_OK;
}

qs_status klbuiltin_error(Lower *L, const BuiltinCall *c, Val *out) {
    const char *text;
    *out = (Val){.kind = V_VOID};
    if (c->nargs > 1)
        return klower_error(L, QS_EVALUE, L->pos,
                            "error: in a kernel the message is one string, without values for a format");
    TRY(message_text(L, c, 0, "", &text));
    klnum_emit(L, (KMake){K_CHECK, .a = klnum_int(L, QS_B1, 0), .imm = (uint64_t)user_message(L, QS_EUSER, text)});
    return QS_OK;
}

qs_status klbuiltin_launch(Lower *L, const BuiltinCall *c, Val *out) {
    *out = (Val){.kind = V_VOID};
    return klcall_launch(L, c->site, c->args, c->nargs);
}

qs_status klbuiltin_forbidden(Lower *L, const BuiltinCall *c, Val *out) {
    (void)out;
    return klbuiltin_refuse(L, c, "cannot be used in a kernel");
}

/* A call with an element as its first argument is lowered by klidx_fetch; this one is a method, or passed on. */
qs_status klbuiltin_atomic(Lower *L, const BuiltinCall *c, Val *out) {
    (void)out;
    return klbuiltin_refuse(L, c, "is called by its name, with the element that it updates: as in atomic_add(x[i], 1)");
}

/* -- the table ----------------------------------------------------------------------------------------------------- */
static const struct {
    const char *name;
    int8_t min, max;
    BuiltinHandler *handler;
    int imm;
} table[] = {
#define KBUILTIN(name, min, max, handler, imm) {#name, min, max, handler, imm},
#include "lang/kernel/lower/kernel/kbuiltins.def"
};

bool klbuiltin_find(const char *name, int *which) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].name, name)) return *which = (int)i, true;
    return false;
}

bool klbuiltin_updates(const char *name, KAtomic *k) {
    int which;
    bool found = klbuiltin_find(name, &which) && table[which].handler == klbuiltin_atomic;
    if (found) *k = (KAtomic)table[which].imm;
    return found;
}

const char *klbuiltin_atomic_name(KAtomic k) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].handler == klbuiltin_atomic && table[i].imm == (int)k) return table[i].name;
    return NULL;
}

const Node *klbuiltin_updated(const Node *n) {
    KAtomic k;
    const Node *callee = n->kind == N_CALL ? n->u.call.callee : NULL;
    bool named = callee && callee->kind == N_IDENT && n->u.call.args.n;
    return named && klbuiltin_updates(callee->u.ident.name->s, &k) ? n->u.call.args.at[0].value : NULL;
}

static qs_status wrong_count(Lower *L, int which, int nargs) {
    int min = table[which].min, max = table[which].max;
    const char *plural = max == 1 || (max < 0 && min == 1) ? "" : "s";
    if (max < 0)
        return klower_error(L, QS_ETYPE, L->pos, "%s takes at least %d argument%s in a kernel, got %d",
                            table[which].name, min, plural, nargs);
    if (min < max)
        return klower_error(L, QS_ETYPE, L->pos, "%s takes %d to %d argument%s in a kernel, got %d", table[which].name,
                            min, max, plural, nargs);
    return klower_error(L, QS_ETYPE, L->pos, "%s takes %d argument%s in a kernel, got %d", table[which].name, min,
                        plural, nargs);
}

qs_status klbuiltin_call(Lower *L, int which, Node *site, const Val *args, int nargs, Val *out) {
    BuiltinCall c = {table[which].name, site, args, nargs, table[which].imm};
    if (nargs < table[which].min || (table[which].max >= 0 && nargs > table[which].max))
        return wrong_count(L, which, nargs);
    bool unknown = false;
    for (int i = 0; i < nargs; i++) unknown |= args[i].kind == V_UNKNOWN;
    if (unknown) return *out = (Val){0}, QS_OK;
    return table[which].handler(L, &c, out);
}
