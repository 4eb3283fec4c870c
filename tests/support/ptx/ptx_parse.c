/* ptx_parse.c -- the text of a module: directives, names and their scopes, functions, statements cut into operands. */
#include "tests/support/ptx/ptx_parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ptx_refuse(PtxParser *p, const char *fmt, ...) {
    char text[200];
    va_list args;
    if (p->failed) return false;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    snprintf(p->why, p->nwhy, "line %u: %s", p->token.line, text);
    p->failed = true;
    return false;
}

void *ptx_grow(void *list, uint32_t n, uint32_t *room, size_t size) {
    if (n < *room) return list;
    *room = *room ? 2 * *room : 64;
    return realloc(list, *room * size);
}

/* -- tokens -------------------------------------------------------------------------------------------------------- */
static void skip_blanks(PtxParser *p) {
    for (;; p->at++) {
        if (*p->at == '\n') p->line++;
        if (p->at[0] == '/' && p->at[1] == '/') p->at += strcspn(p->at, "\n") - 1;
        else if (p->at[0] == '/' && p->at[1] == '*') {
            for (p->at += 2; *p->at && !(p->at[0] == '*' && p->at[1] == '/'); p->at++) p->line += *p->at == '\n';
            p->at += *p->at != 0;
        } else if (!isspace((unsigned char)*p->at)) return;
    }
}

static bool in_word(char c) { return isalnum((unsigned char)c) || (c && strchr("_$%.:", c)); }

/* `a:b` is not a word, but `.L1::no_allocate` is. */
static int word_length(const char *s) {
    int n = 0;
    while (in_word(s[n])) {
        if (s[n] == ':' && s[n + 1] != ':') break;
        n += s[n] == ':' ? 2 : 1;
    }
    return n;
}

static void next(PtxParser *p) {
    skip_blanks(p);
    Token t = {.s = p->at, .n = 1, .line = p->line, .kind = SIGN};
    if (!*p->at) t.kind = END_OF_TEXT, t.n = 0;
    else if (*p->at == '"') t.kind = STRING, t.n = (int)strcspn(p->at + 1, "\"") + 2;
    else if (in_word(*p->at) && *p->at != ':')
        t.kind = isdigit((unsigned char)*p->at) ? NUMBER : WORD, t.n = word_length(p->at);
    p->at += t.n;
    p->token = t;
}

static bool is(const PtxParser *p, const char *word) {
    return (size_t)p->token.n == strlen(word) && !memcmp(p->token.s, word, (size_t)p->token.n);
}

static bool take(PtxParser *p, const char *word) {
    if (!is(p, word)) return false;
    next(p);
    return true;
}

static bool expect(PtxParser *p, const char *word) {
    if (take(p, word)) return true;
    return ptx_refuse(p, "`%s` expected before `%.*s`", word, p->token.n, p->token.s);
}

static int64_t take_number(PtxParser *p) {
    bool minus = take(p, "-");
    if (p->token.kind != NUMBER) ptx_refuse(p, "a number expected before `%.*s`", p->token.n, p->token.s);
    int64_t v = (int64_t)strtoull(p->token.s, NULL, 0);
    next(p);
    return minus ? -v : v;
}

static void skip_to(PtxParser *p, const char *sign) {
    while (p->token.kind != END_OF_TEXT && !is(p, sign)) next(p);
    take(p, sign);
}

/* -- names --------------------------------------------------------------------------------------------------------- */
static bool same(const char *a, int n, const char *b, int m) { return n == m && !memcmp(a, b, (size_t)n); }

/* x12 of a row x<20>; -1: not one of it */
static int index_in(const Symbol *s, Token name) {
    int index = 0;
    if (name.n <= s->length || memcmp(s->name, name.s, (size_t)s->length) != 0) return -1;
    for (int i = s->length; i < name.n; i++) {
        if (!isdigit((unsigned char)name.s[i])) return -1;
        index = 10 * index + (name.s[i] - '0');
    }
    return index < s->count ? index : -1;
}

const Symbol *ptx_lookup(const PtxParser *p, Token name, int *index) {
    for (uint32_t i = p->nsymbols; i-- > 0;) {
        const Symbol *s = &p->symbol[i];
        if (!s->count && same(s->name, s->length, name.s, name.n)) return *index = 0, s;
        if (s->count && (*index = index_in(s, name)) >= 0) return s;
    }
    return NULL;
}

static Symbol *declare(PtxParser *p, Token name, SymbolKind kind, int64_t at) {
    PTX_GROW(p->symbol, p->nsymbols, p->symbols_room);
    Symbol *s = &p->symbol[p->nsymbols++];
    *s = (Symbol){.name = name.s, .length = name.n, .kind = kind, .at = at};
    return s;
}

int32_t ptx_room(PtxParser *p, size_t bytes) {
    int32_t at = (int32_t)p->m->file_bytes;
    p->m->file_bytes += (bytes + 63) & ~(size_t)63;
    return at;
}

int32_t ptx_const(PtxParser *p, unsigned type, uint64_t bits) {
    PtxModule *m = p->m;
    for (uint32_t i = 0; i < m->nconsts; i++)
        if (m->consts[i].bits == bits && ptx_type_bytes(m->consts[i].type) == ptx_type_bytes(type))
            return m->consts[i].at;
    m->consts = realloc(m->consts, (m->nconsts + 1) * sizeof *m->consts);
    m->consts[m->nconsts] =
        (PtxConst){.at = ptx_room(p, LANES * ptx_type_bytes(type)), .type = (uint8_t)type, .bits = bits};
    return m->consts[m->nconsts++].at;
}

int32_t ptx_special(PtxParser *p, Token name) {
    static const char *const names[S_COUNT] = {
        "%tid.x",   "%tid.y",       "%tid.z",       "%ntid.x",      "%ntid.y",      "%ntid.z",     "%ctaid.x",
        "%ctaid.y", "%ctaid.z",     "%nctaid.x",    "%nctaid.y",    "%nctaid.z",    "%laneid",     "%warpid",
        "%nwarpid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"};
    for (int i = 0; i < S_COUNT; i++)
        if (same(names[i], (int)strlen(names[i]), name.s, name.n)) {
            if (p->m->special[i] < 0) p->m->special[i] = ptx_room(p, LANES * 4);
            return p->m->special[i];
        }
    return -1;
}

/* -- declarations -------------------------------------------------------------------------------------------------- */
static size_t width_of(PtxParser *p, Token type) {
    static const struct {
        const char *name;
        size_t n;
    } types[] = {{".b8", 1},  {".u8", 1},  {".s8", 1},  {".b16", 2}, {".u16", 2}, {".s16", 2},
                 {".f16", 2}, {".b32", 4}, {".u32", 4}, {".s32", 4}, {".f32", 4}, {".b64", 8},
                 {".u64", 8}, {".s64", 8}, {".f64", 8}, {".pred", 0}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (same(types[i].name, (int)strlen(types[i].name), type.s, type.n)) return types[i].n;
    ptx_refuse(p, "%.*s is a type that is not known here", type.n, type.s);
    return 1;
}

/* .reg .b32 %r<20>, %x; */
static void read_registers(PtxParser *p) {
    size_t width = width_of(p, p->token);
    do {
        next(p);
        Token name = p->token;
        next(p);
        int count = 0;
        if (take(p, "<")) count = (int)take_number(p), expect(p, ">");
        size_t lane = width ? LANES * width : 4, each = (lane + 63) & ~(size_t)63;
        if (!width) each = 4;
        Symbol *s = declare(p, name, SYM_REGISTER, ptx_room(p, each * (size_t)(count ? count : 1)));
        s->count = count, s->width = (uint8_t)width;
        if (p->f) p->f->registers += (unsigned)(count ? count : 1);
    } while (is(p, ",") && !p->failed);
    expect(p, ";");
}

typedef struct {
    Token name;
    size_t bytes, align, width;
    bool unsized;
} Declared;

/* .align 8 .b8 name[24], as far as `=` or the end */
static Declared read_variable(PtxParser *p) {
    Declared d = {.align = 0};
    for (;; next(p)) {
        if (is(p, ".align")) next(p), d.align = (size_t)strtoull(p->token.s, NULL, 0);
        else if (is(p, ".ptr") || is(p, ".global") || is(p, ".shared") || is(p, ".local") || is(p, ".const")) continue;
        else break;
    }
    if (p->token.kind == WORD && *p->token.s == '.') d.width = width_of(p, p->token), next(p);
    while (is(p, ".ptr") || is(p, ".global") || is(p, ".align"))
        if (is(p, ".align")) next(p), next(p);
        else next(p);
    d.name = p->token, d.bytes = d.width;
    next(p);
    while (take(p, "[")) {
        if (is(p, "]")) d.unsized = true, d.bytes = 0;
        else d.bytes *= (size_t)take_number(p);
        expect(p, "]");
    }
    if (!d.align) d.align = d.width ? d.width : 1;
    return d;
}

static uint64_t align_up(uint64_t at, size_t align) { return (at + align - 1) / align * align; }

/* {1, 2, 0f3F800000} */
static void read_values(PtxParser *p, char *to, const Declared *d) {
    size_t at = 0;
    bool list = take(p, "{");
    do {
        uint64_t bits;
        if (p->token.kind == NUMBER && p->token.n > 2 && (p->token.s[1] == 'f' || p->token.s[1] == 'd'))
            bits = strtoull(p->token.s + 2, NULL, 16), next(p);
        else bits = (uint64_t)take_number(p);
        if (at + d->width <= d->bytes) memcpy(to + at, &bits, d->width);
        at += d->width;
    } while (take(p, ",") && !p->failed);
    if (list) expect(p, "}");
}

static void read_global(PtxParser *p, bool shared, bool is_extern) {
    Declared d = read_variable(p);
    PtxModule *m = p->m;
    m->variable = realloc(m->variable, (m->nvariables + 1) * sizeof *m->variable);
    PtxVariable *v = &m->variable[m->nvariables++];
    *v = (PtxVariable){.shared = shared, .is_extern = is_extern, .bytes = d.bytes};
    snprintf(v->name, sizeof v->name, "%.*s", d.name.n, d.name.s);
    if (shared) {
        v->at = is_extern ? DYNAMIC_SHARED : align_up(m->static_shared, d.align);
        if (!is_extern) m->static_shared = v->at + d.bytes;
    } else {
        void *memory = NULL;
        if (posix_memalign(&memory, 64, d.bytes + 64) == 0) memset(memory, 0, d.bytes + 64);
        v->at = (uintptr_t)memory;
    }
    Symbol *s = declare(p, d.name, shared ? SYM_SHARED : SYM_GLOBAL, (int64_t)v->at);
    s->bytes = d.bytes;
    if (take(p, "=")) read_values(p, (char *)(uintptr_t)v->at, &d);
    expect(p, ";");
}

static void read_local(PtxParser *p) {
    Declared d = read_variable(p);
    int64_t at = (int64_t)align_up((uint64_t)p->m->local_bytes, d.align < 16 ? 16 : d.align);
    p->m->local_bytes = (size_t)at + d.bytes;
    if (p->f) p->f->local_bytes += (int64_t)d.bytes;
    declare(p, d.name, SYM_LOCAL, at)->bytes = d.bytes;
    expect(p, ";");
}

static int units_of(size_t bytes) { return (int)((bytes + 7) / 8); }

/* A parameter of a call, in the file: units of 8 bytes for each lane. */
static Symbol *declare_arg(PtxParser *p, const Declared *d) {
    Symbol *s = declare(p, d->name, SYM_ARG, ptx_room(p, (size_t)units_of(d->bytes) * 8 * LANES));
    s->bytes = d->bytes;
    return s;
}

/* -- functions ----------------------------------------------------------------------------------------------------- */
static PtxFunction *function_named(PtxParser *p, Token name, bool entry) {
    PtxModule *m = p->m;
    char text[sizeof m->function->name];
    snprintf(text, sizeof text, "%.*s", name.n, name.s);
    for (uint32_t i = 0; i < m->nfunctions; i++)
        if (!strcmp(m->function[i].name, text)) return &m->function[i];
    m->function = realloc(m->function, (m->nfunctions + 1) * sizeof *m->function);
    p->codes = realloc(p->codes, (m->nfunctions + 1) * sizeof *p->codes);
    p->codes[m->nfunctions] = NULL;
    PtxFunction *f = &m->function[m->nfunctions++];
    *f = (PtxFunction){.entry = entry};
    memcpy(f->name, text, sizeof text);
    declare(p, name, SYM_FUNCTION, f - m->function);
    return f;
}

/* Parameters follow each other, each at a multiple of its alignment. */
static void read_params(PtxParser *p, PtxParam *list, int *n, int most, bool entry) {
    size_t offset = 0;
    while (!is(p, ")") && !p->failed) {
        if (!take(p, ".param") && !take(p, ".reg")) ptx_refuse(p, "`.param` expected");
        Declared d = read_variable(p);
        if (*n == most) ptx_refuse(p, "more than %d parameters", most);
        if (p->failed) return;
        offset = align_up(offset, d.align);
        Symbol *s = entry ? declare(p, d.name, SYM_PARAM, (int64_t)offset) : declare_arg(p, &d);
        s->bytes = d.bytes;
        list[(*n)++] = (PtxParam){
            .at = (int32_t)s->at, .units = units_of(d.bytes), .bytes = d.bytes, .align = d.align, .offset = offset};
        offset += d.bytes;
        take(p, ",");
    }
    expect(p, ")");
}

static void open_scope(PtxParser *p) {
    if (p->depth == sizeof p->mark / sizeof *p->mark) ptx_refuse(p, "blocks within blocks within blocks");
    else p->mark[p->depth++] = p->nsymbols;
}

static void close_scope(PtxParser *p) {
    if (p->depth) p->nsymbols = p->mark[--p->depth];
}

/* An operand with brackets, braces or lists, for instructions. */
static void read_list(PtxParser *p, Operand *o, const char *end) {
    while (!is(p, end) && !p->failed && p->token.kind != END_OF_TEXT) {
        if (o->nlist == MOST_ARGS) ptx_refuse(p, "a list of more than %d", MOST_ARGS);
        else o->list[o->nlist++] = p->token;
        next(p);
        take(p, ",");
    }
    expect(p, end);
}

static void read_address(PtxParser *p, Operand *o) {
    o->kind = OPERAND_ADDRESS, o->token = p->token;
    if (p->token.kind == NUMBER) o->token.n = 0, o->offset = take_number(p);
    else next(p);
    if (take(p, "+")) o->offset += take_number(p);
    else if (is(p, "-")) o->offset += take_number(p);
    expect(p, "]");
}

static void read_operand(PtxParser *p) {
    Operand *o = &p->operand[p->noperands];
    *o = (Operand){.kind = OPERAND_NAME};
    if (++p->noperands == OPERANDS) {
        ptx_refuse(p, "more than %d operands", OPERANDS - 1);
        return;
    }
    if (take(p, "[")) {
        read_address(p, o);
        return;
    }
    if (is(p, "{") || is(p, "(")) {
        o->kind = is(p, "{") ? OPERAND_VECTOR : OPERAND_LIST;
        const char *end = is(p, "{") ? "}" : ")";
        next(p);
        read_list(p, o, end);
        return;
    }
    o->inverted = take(p, "!"), o->minus = take(p, "-");
    o->kind = p->token.kind == NUMBER ? OPERAND_NUMBER : OPERAND_NAME, o->token = p->token;
    next(p);
    if (take(p, "|")) o->second = p->token, next(p);
}

static void read_label(PtxParser *p, Token name) {
    next(p); /* : */
    if (is(p, ".branchtargets")) {
        PtxModule *m = p->m;
        m->branches = realloc(m->branches, (m->nbranches + 1) * sizeof *m->branches);
        uint32_t *list = calloc(257, sizeof *list);
        next(p);
        while (!is(p, ";") && !p->failed && *list < 256) {
            PTX_GROW(p->jump, p->njumps, p->jumps_room);
            p->jump[p->njumps++] = (Jump){.at = UINT32_MAX - (m->nbranches * 256 + *list), .name = p->token};
            ++*list;
            next(p);
            take(p, ",");
        }
        p->list_label[p->nlist_labels++] = (Label){.name = name.s, .length = name.n, .at = m->nbranches};
        m->branches[m->nbranches++] = list;
        expect(p, ";");
        return;
    }
    if (is(p, ".callprototype")) {
        skip_to(p, ";");
        return;
    }
    PTX_GROW(p->label, p->nlabels, p->labels_room);
    p->label[p->nlabels++] = (Label){.name = name.s, .length = name.n, .at = p->ncode};
}

static void read_instruction(PtxParser *p) {
    p->guard = (Token){.n = 0}, p->guard_not = false, p->noperands = 0;
    if (take(p, "@")) {
        p->guard_not = take(p, "!"), p->guard = p->token;
        next(p);
    }
    Token name = p->token;
    next(p);
    if (is(p, ":") && !p->guard.n) {
        read_label(p, name);
        return;
    }
    snprintf(p->opcode, sizeof p->opcode, "%.*s", name.n, name.s);
    while (!is(p, ";") && !p->failed) {
        read_operand(p);
        if (!take(p, ",")) break;
    }
    if (!is(p, ";")) ptx_refuse(p, "`;` expected before `%.*s`", p->token.n, p->token.s);
    if (!p->failed) ptx_decode(p);
    take(p, ";");
}

static void read_statement(PtxParser *p) {
    if (take(p, "{")) open_scope(p);
    else if (take(p, ".reg")) read_registers(p);
    else if (take(p, ".local")) read_local(p);
    else if (take(p, ".shared")) read_global(p, true, false);
    else if (take(p, ".param")) {
        Declared d = read_variable(p);
        declare_arg(p, &d);
        expect(p, ";");
    } else if (take(p, ".loc")) {
        for (uint32_t line = p->token.line; p->token.line == line && p->token.kind != END_OF_TEXT;) next(p);
    } else if (is(p, ".pragma") || is(p, ".branchtargets") || is(p, ".callprototype")) skip_to(p, ";");
    else read_instruction(p);
}

static void finish_jumps(PtxParser *p) {
    for (uint32_t i = 0; i < p->njumps; i++) {
        Token name = p->jump[i].name;
        uint32_t at = p->jump[i].at, k = 0;
        while (k < p->nlabels && !same(p->label[k].name, p->label[k].length, name.s, name.n)) k++;
        if (k == p->nlabels) {
            ptx_refuse(p, "there is no label %.*s", name.n, name.s);
            return;
        }
        if (at < p->ncode) p->code[at].target = (int32_t)p->label[k].at;
        else p->m->branches[(UINT32_MAX - at) / 256][1 + (UINT32_MAX - at) % 256] = p->label[k].at;
    }
    p->njumps = p->nlabels = p->nlist_labels = 0;
}

/* An update of less than a word is made of a load of the word, which is masked and filled up, and a swap: so many
 * instructions lie between, whatever way the address is written. */
enum { BEFORE_SWAP = 5 };

/* A value that is loaded before a compare-and-swap may change meanwhile: the swap detects it. */
static void mark_loads_of_swaps(PtxIns *code, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; code[i].op == P_atom && code[i].what == W_CAS && k < n; k++) {
            bool near = k < i && i - k <= BEFORE_SWAP && code[k].space == code[i].space;
            bool same = code[k].a == code[i].a && code[k].imm == code[i].imm;
            if (code[k].op == P_ld && (near || same)) code[k].what = W_SYNC;
        }
}

static void read_body(PtxParser *p) {
    uint32_t outer = p->depth;
    open_scope(p);
    for (next(p); p->depth > outer && !p->failed;) {
        if (p->token.kind == END_OF_TEXT) ptx_refuse(p, "the text ends within a function");
        else if (take(p, "}")) close_scope(p);
        else read_statement(p);
    }
    snprintf(p->opcode, sizeof p->opcode, "ret");
    p->guard.n = 0, p->noperands = 0;
    if (!p->failed) ptx_decode(p); /* so that no function runs into the next one */
    finish_jumps(p);
    mark_loads_of_swaps(p->code, p->ncode);
    p->codes[p->f - p->m->function] = p->code;
    p->f->count = (int32_t)p->ncode;
    p->code = NULL, p->ncode = p->code_room = 0;
}

static void read_limits(PtxParser *p, PtxFunction *f) {
    while (p->token.kind == WORD && *p->token.s == '.') {
        bool most = is(p, ".maxntid") || is(p, ".reqntid");
        unsigned n = 1;
        next(p);
        while (p->token.kind == NUMBER) {
            n *= (unsigned)take_number(p);
            if (!take(p, ",")) break;
        }
        if (most) f->max_threads = n;
    }
}

/* .func (results) name (parameters) {…} or ; */
static void read_function(PtxParser *p, bool entry) {
    uint32_t before = p->nsymbols;
    PtxParam ret[1];
    int nrets = 0;
    if (!entry && take(p, "(")) read_params(p, ret, &nrets, 1, false);
    uint32_t results = p->nsymbols - before;
    Symbol result = results ? p->symbol[before] : (Symbol){.length = 0};
    p->nsymbols = before;
    PtxFunction *f = function_named(p, p->token, entry);
    next(p);
    before = p->nsymbols;
    f->nparams = 0, f->nrets = nrets, f->ret[0] = ret[0];
    if (results) PTX_GROW(p->symbol, p->nsymbols, p->symbols_room), p->symbol[p->nsymbols++] = result;
    if (take(p, "(")) read_params(p, f->param, &f->nparams, MOST_ARGS * 8, entry);
    const PtxParam *last = f->nparams ? &f->param[f->nparams - 1] : NULL;
    f->param_bytes = last ? last->offset + last->bytes : 0;
    read_limits(p, f);
    if (is(p, "{")) {
        size_t shared = p->m->static_shared;
        p->f = f, f->defined = true;
        read_body(p);
        f->shared = p->m->static_shared;
        if (entry) p->m->static_shared = shared; /* what entries declare within is theirs alone */
        p->f = NULL;
    } else expect(p, ";");
    p->nsymbols = before;
}

static void read_directive(PtxParser *p) {
    bool is_extern = false;
    while (is(p, ".visible") || is(p, ".extern") || is(p, ".weak") || is(p, ".common"))
        is_extern |= is(p, ".extern"), next(p);
    if (take(p, ".version") || take(p, ".address_size")) next(p);
    else if (take(p, ".target"))
        for (next(p); take(p, ",");) next(p);
    else if (take(p, ".file")) {
        while (p->token.kind == NUMBER || p->token.kind == STRING || is(p, ",")) next(p);
    } else if (take(p, ".section")) skip_to(p, "}");
    else if (take(p, ".func")) read_function(p, false);
    else if (take(p, ".entry")) read_function(p, true);
    else if (take(p, ".global") || take(p, ".const")) read_global(p, false, is_extern);
    else if (take(p, ".shared")) read_global(p, true, is_extern);
    else if (!take(p, ";")) ptx_refuse(p, "`%.*s` is not known here", p->token.n, p->token.s);
}

/* -- all together -------------------------------------------------------------------------------------------------- */
/* Callees go first: where threads part, those with the lowest number go first, and so return before others go on. */
static void place(PtxParser *p, uint32_t f, uint32_t depth, bool *placed) {
    PtxModule *m = p->m;
    PtxFunction *fn = &m->function[f];
    if (placed[f] || p->failed) return;
    if (depth > DEPTH) {
        ptx_refuse(p, "%s calls itself, or calls go deeper than %d", fn->name, DEPTH);
        return;
    }
    for (int32_t i = 0; i < fn->count; i++)
        if (p->codes[f][i].op == P_call) place(p, (uint32_t)m->call[p->codes[f][i].target].function, depth + 1, placed);
    if (p->failed) return;
    placed[f] = true, fn->first = (int32_t)m->ncode;
    m->code = realloc(m->code, (m->ncode + (uint32_t)fn->count + 1) * sizeof *m->code);
    for (int32_t i = 0; i < fn->count; i++) {
        PtxIns *x = &m->code[m->ncode++];
        *x = p->codes[f][i];
        if (x->op == P_bra) x->target += fn->first;
        if (x->op == P_brx)
            for (uint32_t k = 1; k <= m->branches[x->target][0]; k++) m->branches[x->target][k] += (uint32_t)fn->first;
    }
}

static void link_all(PtxParser *p) {
    PtxModule *m = p->m;
    bool *placed = calloc(m->nfunctions + 1, sizeof *placed);
    for (uint32_t i = 0; i < m->ncalls; i++) {
        const PtxFunction *f = &m->function[m->call[i].function];
        if (!f->defined) ptx_refuse(p, "%s is called and is not here", f->name);
        else if (f->nparams != m->call[i].nargs)
            ptx_refuse(p, "%s is called with %d arguments", f->name, m->call[i].nargs);
    }
    for (uint32_t f = 0; f < m->nfunctions; f++)
        if (m->function[f].defined) place(p, f, 0, placed);
    free(placed);
}

static void free_parser(PtxParser *p) {
    for (uint32_t i = 0; i < p->m->nfunctions; i++) free(p->codes[i]);
    free(p->codes), free(p->symbol), free(p->label), free(p->jump), free(p->code);
}

PtxModule *ptx_load(const char *text, const PtxHost *host, char *why, size_t n) {
    PtxModule *m = calloc(1, sizeof *m);
    m->text = strdup(text);
    m->host = *host, m->random = host->seed * 2 + 1, m->epoch = 1;
    for (int i = 0; i < S_COUNT; i++) m->special[i] = -1;
    PtxParser p = {.m = m, .at = text, .line = 1, .why = why, .nwhy = n};
    m->carry = ptx_room(&p, 4);
    for (next(&p); p.token.kind != END_OF_TEXT && !p.failed;) read_directive(&p);
    if (!p.failed) link_all(&p);
    free_parser(&p);
    if (!p.failed) return m;
    ptx_unload(m);
    return NULL;
}

void ptx_unload(PtxModule *m) {
    for (unsigned i = 0; i < WARPS; i++) free(m->warp[i].file);
    for (uint32_t i = 0; i < m->nbranches; i++) free(m->branches[i]);
    for (uint32_t i = 0; i < m->nvariables; i++)
        if (!m->variable[i].shared) free((void *)(uintptr_t)m->variable[i].at);
    free(m->text), free(m->branches), free(m->variable), free(m->consts), free(m->call), free(m->function);
    free(m->code);
    free(m->shared), free(m->local), free(m->shadow), free(m->shared_set);
    free(m);
}

int ptx_entry(const PtxModule *m, const char *name) {
    for (uint32_t i = 0; i < m->nfunctions; i++)
        if (m->function[i].entry && !strcmp(m->function[i].name, name)) return (int)i;
    return -1;
}

PtxFacts ptx_facts(const PtxModule *m, int entry) {
    const PtxFunction *f = &m->function[entry];
    return (PtxFacts){.registers = f->registers,
                      .instructions = m->ncode,
                      .shared = (unsigned)f->shared,
                      .local = (unsigned)m->local_bytes,
                      .params = (unsigned)f->param_bytes,
                      .max_threads = f->max_threads ? f->max_threads : 1024};
}

bool ptx_param(const PtxModule *m, int entry, int i, size_t *at, size_t *n) {
    const PtxFunction *f = &m->function[entry];
    if (i >= f->nparams) return false;
    return *at = f->param[i].offset, *n = f->param[i].bytes, true;
}

uint64_t ptx_variable(const PtxModule *m, const char *name, size_t *bytes) {
    for (uint32_t i = 0; i < m->nvariables; i++)
        if (!m->variable[i].shared && !strcmp(m->variable[i].name, name))
            return *bytes = m->variable[i].bytes, m->variable[i].at;
    return 0;
}
