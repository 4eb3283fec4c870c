/* kir_text.c -- prints KIR as text and parses it exactly, for people, golden tests and bug reports.
 *
 *     kernel "scale" rank 1 {                           (rank 2 serial strict apart rounds few small fast block 8 8)
 *       param a$0 float32
 *       param x$1 array uint8 rank 1 contiguous unit_last read
 *       message 0 EINDEX "index %0 is outside dimension 0 of x (size %1)"
 *       %1 = pos int64 0
 *       %2 = load int x$1 %1
 *       if %5
 *         store y$2 %1 %9
 *       end
 *     }
 *
 * A line has: %number =, op.flag, dtype, immediate, operands.  Only instructions with a value show number and dtype,
 * but all are counted.  Input may be numbered freely: a number refers to the last instruction that it was given to.
 * Only CHECK shows its source position (@byte), because that is part of the code. */
#include "lang/kernel/ir/kir.h"
#include "vm/base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const status_names[] = {[QS_OK] = "OK",
                                           [QS_ESYNTAX] = "ESYNTAX",
                                           [QS_ETYPE] = "ETYPE",
                                           [QS_ESHAPE] = "ESHAPE",
                                           [QS_EINDEX] = "EINDEX",
                                           [QS_ENAME] = "ENAME",
                                           [QS_EVALUE] = "EVALUE",
                                           [QS_ENOMEM] = "ENOMEM",
                                           [QS_EDEVICE] = "EDEVICE",
                                           [QS_ELOCK] = "ELOCK",
                                           [QS_EIO] = "EIO",
                                           [QS_EFOREIGN] = "EFOREIGN",
                                           [QS_EINTERRUPT] = "EINTERRUPT",
                                           [QS_EASSERT] = "EASSERT",
                                           [QS_EUSER] = "EUSER",
                                           [QS_EINTERNAL] = "EINTERNAL"};
_Static_assert(sizeof status_names / sizeof *status_names == QS_EINTERNAL + 1, "a name per status");

static const char *const atomic_names[KA__COUNT] = {"add", "sub", "mul", "div", "min",  "max",
                                                    "and", "or",  "xor", "pow", "xchg", "cas"};

const char *kir_atomic_name(KAtomic op) { return atomic_names[op]; }

static const char *flag_name(KFlagUse use, unsigned flag) {
    switch (use) {
    case KF_zeroed: return flag == 1 ? "zeroed" : NULL;
    case KF_order:
        return flag == KFLAG_REASSOC ? "reassoc"
               : flag == KFLAG_ZEROS ? "zeros"
               : flag == KFLAG_FIXED ? "fixed"
               : flag == KFLAG_APART ? "apart"
               : flag == KFLAG_AHEAD ? "ahead"
                                     : NULL;
    case KF_atomic: return flag < KA__COUNT ? atomic_names[flag] : NULL;
    case KF_access:
        return flag < ACC__COUNT && qaccess_is_mapped((AccessMode)flag) ? qaccess_name((AccessMode)flag) : NULL;
    case KF_math: return flag < MF__COUNT ? kir_math[flag].name : NULL;
    case KF_none: break;
    }
    return NULL;
}

/* -- printing ------------------------------------------------------------------------------------------------------ */
static void print_quoted(Text *t, const Str *s) {
    qtext_puts(t, "\"");
    for (uint32_t i = 0; i < s->len; i++) {
        unsigned char c = (unsigned char)s->s[i];
        if (c == '"' || c == '\\') qtext_printf(t, "\\%c", c);
        else if (c < ' ' || c == 127) qtext_printf(t, "\\x%02x", c);
        else qtext_add(t, &s->s[i], 1);
    }
    qtext_puts(t, "\"");
}

static void print_param_ref(const KFunc *f, uint64_t n, Text *t) {
    const Str *name = n < (uint64_t)f->nparams ? f->params[n].name : NULL;
    for (uint32_t i = 0; name && i < name->len; i++) {
        char c = name->s[i];
        qtext_add(t, isalnum((unsigned char)c) || c == '_' ? &c : "_", 1);
    }
    qtext_printf(t, "$%llu", (unsigned long long)n);
}

static void print_float(Text *t, double v, int digits, uint64_t bits) {
    if (isnan(v)) qtext_printf(t, "0x%llx", (unsigned long long)bits);
    else qtext_printf(t, "%.*g", digits, v);
}

static void print_const(Text *t, qs_dtype d, uint64_t bits) {
    KSlot s = {bits};
    switch (d) {
    case QS_B1: qtext_puts(t, bits ? "true" : "false"); break;
    case QS_F32: print_float(t, (double)s.F32, 9, bits); break;
    case QS_F64: print_float(t, s.F64, 17, bits); break;
    case QS_U32:
    case QS_U64: qtext_printf(t, "%llu", (unsigned long long)bits); break;
    default: qtext_printf(t, "%lld", (long long)s.I64); break;
    }
}

static void print_imm(const KFunc *f, const KIns *i, Text *t) {
    KImmUse use = (KImmUse)kir_ops[i->op].imm;
    if (use == KI_none) return;
    qtext_puts(t, " ");
    if (use == KI_bits) print_const(t, (qs_dtype)i->dtype, i->imm);
    else if (use == KI_param || use == KI_dim) print_param_ref(f, use == KI_dim ? i->imm >> 8 : i->imm, t);
    else qtext_printf(t, use == KI_message ? "#%llu" : "%llu", (unsigned long long)i->imm);
    if (use == KI_dim) qtext_printf(t, ".%u", (unsigned)(i->imm & 255));
}

static void print_operands(const KIns *i, Text *t) {
    const KRef r[3] = {i->a, i->b, i->c};
    int n = 3;
    while (n > 0 && !r[n - 1]) n--;
    for (int k = 0; k < n; k++)
        if (r[k]) qtext_printf(t, " %%%u", r[k]);
        else qtext_puts(t, " _");
}

static void print_ins(const KFunc *f, uint32_t at, int depth, Text *t) {
    const KIns *i = &f->ins[at];
    const KOpInfo *info = &kir_ops[i->op];
    qtext_printf(t, "%*s", 2 + 2 * depth, "");
    if (kir_has_result(i)) qtext_printf(t, "%%%u = ", at);
    for (const char *p = info->name; *p; p++) qtext_add(t, &(char){(char)tolower((unsigned char)*p)}, 1);
    const char *flag = flag_name((KFlagUse)info->flag, i->flag);
    if (flag) qtext_printf(t, ".%s", flag);
    else if (i->flag) qtext_printf(t, ".%u", i->flag);
    if (kir_has_result(i)) qtext_printf(t, " %s", qdtype_info[i->dtype].name);
    print_imm(f, i, t);
    print_operands(i, t);
    if (i->op == K_CHECK) qtext_printf(t, " @%u", i->pos);
    qtext_puts(t, "\n");
}

static void print_param(const KFunc *f, int n, Text *t) {
    const KParam *p = &f->params[n];
    qtext_puts(t, "  param ");
    print_quoted(t, p->name);
    qtext_printf(t, " %s%s", p->kind == KP_ARRAY ? "array " : "", qdtype_info[p->dtype].name);
    if (p->kind == KP_ARRAY)
        qtext_printf(t, " rank %d%s%s%s%s%s%s", p->rank, p->contiguous ? " contiguous" : "",
                     p->unit_last ? " unit_last" : "", p->read ? " read" : "", p->written ? " written" : "",
                     p->distinct ? " distinct" : "", p->log ? " log" : "");
    qtext_puts(t, "\n");
}

void kir_print(const KFunc *f, Text *t) {
    qtext_puts(t, "kernel ");
    print_quoted(t, f->name);
    qtext_printf(t, " rank %d%s", f->rank, f->serial ? " serial" : "");
    if (f->strict) qtext_puts(t, " strict");
    if (f->apart) qtext_puts(t, " apart");
    if (f->rounds) qtext_puts(t, " rounds");
    if (f->few) qtext_puts(t, " few");
    if (f->small) qtext_puts(t, " small");
    if (f->fast) qtext_puts(t, " fast");
    for (int i = 0; f->fixed_block && i < f->rank; i++) qtext_printf(t, "%s%d", i ? " " : " block ", f->block[i]);
    qtext_puts(t, " {\n");
    for (int i = 0; i < f->nparams; i++) print_param(f, i, t);
    for (int i = 0; i < f->nmessages; i++) {
        qtext_printf(t, "  message %s ", status_names[f->messages[i].status]);
        print_quoted(t, f->messages[i].text);
        qtext_puts(t, "\n");
    }
    int depth = 0;
    for (uint32_t i = 1; i < f->nins; i++) {
        uint8_t op = f->ins[i].op;
        if ((op == K_END || op == K_ELSE) && depth) depth--;
        print_ins(f, i, depth, t);
        if (op == K_IF || op == K_ELSE || op == K_LOOP || op == K_FOR) depth++;
    }
    qtext_puts(t, "}\n");
    for (int i = 0; i < f->ncallees; i++) { /* for people: they are not read back */
        qtext_printf(t, "; function %d\n", i);
        kir_print(f->callees[i], t);
    }
}

/* -- reading ------------------------------------------------------------------------------------------------------- */
enum { WORD = 80, MAX_LABEL = 1 << 20 };

typedef struct {
    Ctx *ctx;
    KFunc *f;
    const char *p, *end;
    int line;
    KRef *label; /* number in the text -> instruction */
    uint32_t nlabels;
    char word[WORD]; /* the last word read */
} Reader;

static qs_status bad(const Reader *r, const char *wanted) {
    int left = r->end - r->p < 20 ? (int)(r->end - r->p) : 20;
    return qerr_set(r->ctx, QS_ESYNTAX, "kernel text, line %d: %s wanted before '%.*s'", r->line, wanted, left, r->p);
}

static char peek(Reader *r) { /* next character after blanks; '\n': end of the line, 0: end of the text */
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r')) r->p++;
    return r->p < r->end ? *r->p : 0;
}

static bool take_char(Reader *r, char c) {
    if (peek(r) != c || !c) return false;
    r->p++;
    return true;
}

static bool end_line(Reader *r) {
    if (!take_char(r, '\n')) return peek(r) == 0;
    do r->line++;
    while (take_char(r, '\n'));
    return true;
}

static bool word_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '+' || c == '.'; }

static bool take_word(Reader *r) {
    int n = 0;
    for (peek(r); r->p < r->end && word_char(*r->p); r->p++)
        if (n < WORD - 1) r->word[n++] = *r->p;
    r->word[n] = 0;
    return n > 0;
}

static bool take_keyword(Reader *r, const char *keyword) {
    Reader before = *r;
    if (take_word(r) && !strcmp(r->word, keyword)) return true;
    r->p = before.p;
    return false;
}

static qs_status read_number(Reader *r, uint64_t limit, uint64_t *out) {
    char *end;
    if (!take_word(r) || !isdigit((unsigned char)r->word[0])) return bad(r, "a number");
    *out = strtoull(r->word, &end, 10);
    return *end || *out > limit ? bad(r, "a (smaller) number") : QS_OK;
}

static qs_status read_quoted(Reader *r, Str **out) {
    if (!take_char(r, '"')) return bad(r, "a quoted text");
    Text t;
    qtext_init(&t, r->ctx);
    for (; r->p < r->end && *r->p != '"' && (unsigned char)*r->p >= ' '; r->p++) {
        char c = *r->p, hex[3] = {0};
        if (c == '\\' && r->end - r->p > 1) c = *++r->p;
        if (c == 'x' && r->p[-1] == '\\' && r->end - r->p > 2) {
            memcpy(hex, r->p + 1, 2), r->p += 2;
            c = (char)strtoul(hex, NULL, 16);
        }
        qtext_add(&t, &c, 1);
    }
    *out = qstr_name(r->ctx, t.s ? t.s : "", t.len);
    qtext_free(&t);
    return r->p < r->end && *r->p++ == '"' ? QS_OK : bad(r, "a closing quote");
}

static qs_status read_dtype(Reader *r, qs_dtype *d) {
    return take_word(r) && qdtype_from_name(r->word, d) ? QS_OK : bad(r, "a dtype");
}

static qs_status read_param(Reader *r) {
    KParam p = {0};
    qs_dtype d;
    uint64_t rank = 0;
    TRY(read_quoted(r, &p.name));
    p.kind = take_keyword(r, "array") ? KP_ARRAY : KP_NUM;
    TRY(read_dtype(r, &d));
    p.dtype = (uint8_t)d;
    if (take_keyword(r, "rank")) TRY(read_number(r, QS_MAX_RANK, &rank));
    p.rank = (uint8_t)rank;
    p.contiguous = take_keyword(r, "contiguous");
    p.unit_last = take_keyword(r, "unit_last");
    p.read = take_keyword(r, "read");
    p.written = take_keyword(r, "written");
    p.distinct = take_keyword(r, "distinct");
    p.log = take_keyword(r, "log");
    kir_param(r->f, &p);
    return QS_OK;
}

static qs_status read_message(Reader *r) {
    Str *text;
    if (!take_word(r)) return bad(r, "a status");
    unsigned s = 0;
    while (s <= QS_EINTERNAL && strcmp(status_names[s], r->word)) s++;
    if (s > QS_EINTERNAL) return bad(r, "a status");
    TRY(read_quoted(r, &text));
    kir_message(r->f, (qs_status)s, text->s);
    return QS_OK;
}

static qs_status read_op(Reader *r, KIns *i) {
    if (!take_word(r)) return bad(r, "an op");
    char *dot = strchr(r->word, '.');
    if (dot) *dot = 0;
    unsigned op = 0;
    while (op < K__COUNT && strcasecmp(kir_ops[op].name, r->word)) op++;
    if (op == K__COUNT) return bad(r, "an op");
    i->op = (uint8_t)op;
    if (!dot) return QS_OK;
    if (isdigit((unsigned char)dot[1])) return i->flag = (uint16_t)strtoul(dot + 1, NULL, 10), QS_OK;
    for (unsigned flag = 0; flag < 256; flag++) {
        const char *name = flag_name((KFlagUse)kir_ops[op].flag, flag);
        if (name && !strcmp(name, dot + 1)) return i->flag = (uint16_t)flag, QS_OK;
    }
    return bad(r, "a flag of this op");
}

static qs_status read_const(Reader *r, qs_dtype d, uint64_t *bits) {
    KSlot s = {0};
    char *end = r->word;
    if (!take_word(r)) return bad(r, "a constant");
    if (!strncmp(r->word, "0x", 2)) s.bits = strtoull(r->word, &end, 16);
    else if (d == QS_B1) s.bits = !strcmp(r->word, "true"), end = strcmp(r->word, "false") && !s.bits ? r->word : "";
    else if (d == QS_F32) s.F32 = qnum_read_float(r->word, &end);
    else if (d == QS_F64) s.F64 = qnum_read(r->word, &end);
    else if (d == QS_I32 || d == QS_I64) s.I64 = strtoll(r->word, &end, 10);
    else s.bits = strtoull(r->word, &end, 10);
    *bits = s.bits;
    return end == r->word || *end ? bad(r, "a constant") : QS_OK;
}

static qs_status read_param_ref(Reader *r, uint64_t *n) {
    if (peek(r) != '$' && !take_word(r)) return bad(r, "a parameter");
    if (!take_char(r, '$')) return bad(r, "$");
    const char *digits = r->p;
    for (*n = 0; r->p < r->end && isdigit((unsigned char)*r->p) && r->p - digits < 9; r->p++)
        *n = *n * 10 + (uint64_t)(*r->p - '0');
    return r->p == digits ? bad(r, "the number of a parameter") : QS_OK;
}

static qs_status read_imm(Reader *r, KIns *i) {
    uint64_t axis;
    switch ((KImmUse)kir_ops[i->op].imm) {
    case KI_none: return QS_OK;
    case KI_bits: return read_const(r, (qs_dtype)i->dtype, &i->imm);
    case KI_param: return read_param_ref(r, &i->imm);
    case KI_dim:
        TRY(read_param_ref(r, &i->imm));
        if (!take_char(r, '.')) return bad(r, ".axis");
        TRY(read_number(r, 255, &axis));
        i->imm = i->imm << 8 | axis;
        return QS_OK;
    case KI_message:
        if (!take_char(r, '#')) return bad(r, "#message");
        return read_number(r, INT32_MAX, &i->imm);
    case KI_axis:
    case KI_slot:
    case KI_callee:
    case KI_count:
    case KI_depth: break;
    }
    return read_number(r, INT32_MAX, &i->imm);
}

static qs_status read_operands(Reader *r, KIns *i) {
    KRef *const ref[3] = {&i->a, &i->b, &i->c};
    for (int k = 0; k < 3; k++) {
        uint64_t n;
        if (take_keyword(r, "_")) continue;
        if (!take_char(r, '%')) return QS_OK;
        TRY(read_number(r, MAX_LABEL, &n));
        if (n >= r->nlabels || !r->label[n]) return bad(r, "an instruction that came before");
        *ref[k] = r->label[n];
    }
    return QS_OK;
}

static void set_label(Reader *r, uint64_t n) {
    if (n >= r->nlabels) {
        uint32_t more = (uint32_t)n + 1 > 2 * r->nlabels ? (uint32_t)n + 64 : 2 * r->nlabels;
        r->label = qmem_resize(r->ctx, r->label, r->nlabels * sizeof *r->label, qmem_size(more, sizeof *r->label, 0));
        r->nlabels = more;
    }
    r->label[n] = r->f->nins;
}

static qs_status read_ins(Reader *r) {
    KIns i = {0};
    qs_dtype d = QS_B1;
    uint64_t label = 0, pos = 0;
    bool named = take_char(r, '%');
    if (named) TRY(read_number(r, MAX_LABEL, &label));
    if (named && !take_char(r, '=')) return bad(r, "=");
    TRY(read_op(r, &i));
    if (named != kir_has_result(&i)) return bad(r, named ? "an op with a value" : "%number =");
    if (named) TRY(read_dtype(r, &d));
    i.dtype = (uint8_t)d;
    TRY(read_imm(r, &i));
    TRY(read_operands(r, &i));
    if (take_char(r, '@')) TRY(read_number(r, UINT32_MAX, &pos));
    i.pos = (uint32_t)pos;
    if (named) set_label(r, label);
    KRef at = kir_add(r->f, kir_like(&i, i.a, i.b, i.c));
    r->f->ins[at].dtype = i.dtype; /* the dtype from the text, which kir_verify checks */
    return QS_OK;
}

static qs_status read_head(Reader *r, Arena *arena) {
    Str *name;
    uint64_t n;
    end_line(r);
    if (!take_keyword(r, "kernel")) return bad(r, "kernel");
    TRY(read_quoted(r, &name));
    r->f = kir_new(r->ctx, arena, name, NULL);
    if (!take_keyword(r, "rank")) return bad(r, "rank");
    TRY(read_number(r, QS_MAX_RANK, &n));
    r->f->serial = take_keyword(r, "serial");
    r->f->strict = take_keyword(r, "strict");
    r->f->apart = take_keyword(r, "apart");
    r->f->rounds = take_keyword(r, "rounds");
    r->f->few = take_keyword(r, "few");
    r->f->small = take_keyword(r, "small");
    r->f->fast = take_keyword(r, "fast");
    r->f->rank = (int)n;
    r->f->fixed_block = take_keyword(r, "block");
    for (int i = 0; r->f->fixed_block && i < r->f->rank; i++) {
        TRY(read_number(r, INT32_MAX, &n));
        r->f->block[i] = (int32_t)n;
    }
    return take_char(r, '{') && end_line(r) ? QS_OK : bad(r, "{");
}

static qs_status read_func(Reader *r, Arena *arena) {
    TRY(read_head(r, arena));
    while (!take_char(r, '}')) {
        if (!peek(r)) return bad(r, "}");
        if (take_keyword(r, "param")) TRY(read_param(r));
        else if (take_keyword(r, "message")) TRY(read_message(r));
        else TRY(read_ins(r));
        if (!end_line(r)) return bad(r, "the end of the line");
    }
    kir_seal(r->f);
    return QS_OK;
}

qs_status kir_parse(Ctx *c, Arena *arena, const char *text, size_t n, KFunc **out) {
    Reader r = {.ctx = c, .p = text, .end = text + n, .line = 1};
    qs_status s = read_func(&r, arena);
    qmem_free(c, r.label, r.nlabels * sizeof *r.label);
    *out = r.f;
    return s;
}

/* -- faults -------------------------------------------------------------------------------------------------------- */
/* Prints a value: in loops of the host (strict), and if it is integral, as the interpreter does (vm/array/select.c);
 * in kernels with 6 digits. */
static void print_value(const KFunc *f, Text *t, double v) {
    char text[NUMBER_TEXT];
    bool whole = v == floor(v) && fabs(v) < 1e15;
    if (f->strict || whole || isnan(v)) qtext_puts(t, qnum_shown(v, text));
    else qtext_printf(t, "%.6g", v);
}

static void print_place(const KFunc *f, const KFault *fault, Text *t) {
    qtext_puts(t, "[");
    for (int i = 0; i < f->rank; i++) qtext_printf(t, i ? ",%lld" : "%lld", (long long)fault->at[i]);
    qtext_puts(t, "]");
}

void kir_fault_text(const KFunc *f, const KFault *fault, Text *t) {
    if (!fault->message || fault->message > (uint32_t)f->nmessages) return;
    for (const char *p = f->messages[fault->message - 1].text->s; *p; p++) {
        bool hole = p[0] == '%' && (p[1] == '0' || p[1] == '1' || p[1] == 'p');
        if (p[0] == '%' && p[1] == '%') qtext_add(t, p++, 1);
        else if (!hole) qtext_add(t, p, 1);
        else if (*++p == 'p') print_place(f, fault, t);
        else print_value(f, t, fault->value[*p - '0']);
    }
}
