/* code.c -- emits instructions, jumps, registers and literals into a chunk, and prints chunks. */
#include "lang/bytecode/code.h"

#include <string.h>

void qcode_fail(Coder *e, uint32_t pos, const char *fmt, ...) {
    if (e->status) return;
    va_list ap;
    va_start(ap, fmt);
    e->status = qerr_vset(e->ctx, QS_ESYNTAX, qast_where(e->func->unit, pos), fmt, ap);
    va_end(ap);
}

void *qcode_alloc(Coder *e, size_t n) { return qarena_alloc(&e->chunk->arena, n); }

/* Grows an array of the chunk inside its arena.  The old copy stays allocated; it is small and freed with the chunk. */
void *qcode_grow(Coder *e, void *at, uint32_t n, uint32_t *cap, size_t elem) {
    if (n < *cap) return at;
    uint32_t bigger = *cap ? *cap * 2 : 4;
    void *fresh = qcode_alloc(e, qmem_size(bigger, elem, 0));
    if (n) memcpy(fresh, at, n * elem);
    *cap = bigger;
    return fresh;
}

/* -- instructions -------------------------------------------------------------------------------------------------- */

void qcode_at(Coder *e, uint32_t pos) { e->pos = pos; }

static void note_line(Coder *e) {
    Chunk *c = e->chunk;
    if (c->nlines && c->lines[c->nlines - 1].pos == e->pos) return;
    c->lines = qcode_grow(e, c->lines, c->nlines, &c->cap_lines, sizeof *c->lines);
    c->lines[c->nlines++] = (LineEntry){c->ncode, e->pos};
}

void qcode_word(Coder *e, uint32_t w) {
    Chunk *c = e->chunk;
    c->code = qcode_grow(e, c->code, c->ncode, &c->cap_code, sizeof *c->code);
    c->code[c->ncode++] = w;
}

void qcode_op(Coder *e, Opcode op, int a, int b, int c) {
    note_line(e);
    qcode_word(e, qbc_word(op, (uint32_t)a & 0xff, (uint32_t)b & 0xff, (uint32_t)c & 0xff));
}

void qcode_call_site(Coder *e, uint64_t integral) {
    Chunk *c = e->chunk;
    if (!integral) return;
    c->calls = qcode_grow(e, c->calls, c->ncalls, &c->cap_calls, sizeof *c->calls);
    c->calls[c->ncalls++] = (CallSite){c->ncode, integral};
}

void qcode_exit(Coder *e, const Node *n) {
    Chunk *c = e->chunk;
    if (!e->loop) return;
    c->exits = qcode_grow(e, c->exits, c->nexits, &c->cap_exits, sizeof *c->exits);
    c->exits[c->nexits++] = (LineEntry){c->ncode, n->pos};
}

void qcode_full(Coder *e) {
    qcode_fail(e, e->pos,
               "%s has more than 65536 different literals: make several functions of it, or read the data from a file",
               e->func->name->s);
}

void qcode_opx(Coder *e, Opcode op, int a, uint32_t bx) {
    if (bx > 0xffff) qcode_full(e);
    qcode_op(e, op, a, (int)(bx & 0xff), (int)(bx >> 8 & 0xff));
}

/* -- jumps --------------------------------------------------------------------------------------------------------- */

void qcode_jump(Coder *e, Opcode op, int a, int b, int c, int *list) {
    qcode_op(e, op, a, b, c);
    int at = (int)qcode_pc(e);
    qcode_word(e, (uint32_t)*list);
    *list = at;
}

void qcode_patch(Coder *e, int list, uint32_t target) {
    while (list) {
        int next = (int)e->chunk->code[list];
        e->chunk->code[list] = target - (uint32_t)(list + 1);
        list = next;
    }
}

void qcode_here(Coder *e, int list) { qcode_patch(e, list, qcode_pc(e)); }

void qcode_jump_to(Coder *e, Opcode op, int a, int b, int c, uint32_t target) {
    int list = 0;
    qcode_jump(e, op, a, b, c, &list);
    qcode_patch(e, list, target);
}

/* -- registers ----------------------------------------------------------------------------------------------------- */

int qcode_temps(Coder *e, int n) {
    int first = e->top;
    e->top += n;
    if (e->top > MAX_REGISTERS) {
        qcode_fail(e, e->pos,
                   "%s needs more than %d local variables and intermediate values: split it, or this statement",
                   e->func->name->s, MAX_REGISTERS);
        e->top = (int)e->chunk->ntemp + n;
        first = (int)e->chunk->ntemp;
    }
    if ((uint32_t)e->top > e->chunk->nregs) e->chunk->nregs = (uint32_t)e->top;
    return first;
}

int qcode_register(const Coder *e, const Sym *s) {
    if (s->kind == SYM_LOCAL) return s->index;
    for (uint32_t i = 0; s->kind == SYM_GLOBAL && i < e->chunk->naliases; i++)
        if (e->chunk->aliases[i] == (uint32_t)s->index) return (int)i;
    return -1;
}

/* -- variables that have a value ----------------------------------------------------------------------------------- */

bool *qcode_state(Coder *e) {
    bool *state = qcode_alloc(e, e->nset + 1);
    memcpy(state, e->set, e->nset);
    return state;
}

void qcode_restore(Coder *e, const bool *state) { memcpy(e->set, state, e->nset); }

void qcode_join(Coder *e, bool *into) {
    for (size_t i = 0; i < e->nset; i++) into[i] = into[i] && e->set[i];
}

/* -- literals ------------------------------------------------------------------------------------------------------ */

static bool same_literal(const Literal *a, const Literal *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case LIT_NUM: return memcmp(&a->u.num[0], &b->u.num[0], sizeof(double)) == 0;
    case LIT_INT: return a->u.whole == b->u.whole;
    case LIT_STR: return a->u.str == b->u.str;
    case LIT_TYPE: return a->u.type == b->u.type;
    case LIT_FUNC: return a->u.func == b->u.func;
    default: return false;
    }
}

uint32_t qcode_literal(Coder *e, Literal l) {
    Chunk *c = e->chunk;
    for (uint32_t i = c->nlits > 32 ? c->nlits - 32 : 0; i < c->nlits; i++)
        if (same_literal(&c->lits[i], &l)) return i;
    c->lits = qcode_grow(e, c->lits, c->nlits, &c->cap_lits, sizeof *c->lits);
    c->lits[c->nlits] = l;
    return c->nlits++;
}

uint32_t qcode_number(Coder *e, double x) { return qcode_literal(e, (Literal){.kind = LIT_NUM, .u.num = {x}}); }
uint32_t qcode_string(Coder *e, Str *s) { return qcode_literal(e, (Literal){.kind = LIT_STR, .u.str = s}); }
uint32_t qcode_type(Coder *e, TypeExpr *t) { return qcode_literal(e, (Literal){.kind = LIT_TYPE, .u.type = t}); }

/* -- reading and printing a chunk ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *words;
} opcode_info[] = {
#define OPCODE(id, words, doc) {#id, words},
#include "lang/bytecode/opcodes.def"
};

uint64_t qbytecode_integral(const Chunk *c, uint32_t pc) {
    uint32_t lo = 0, hi = c->ncalls;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (c->calls[mid].pc < pc) lo = mid + 1;
        else hi = mid;
    }
    return lo < c->ncalls && c->calls[lo].pc == pc ? c->calls[lo].integral : 0;
}

uint32_t qbytecode_pos(const Chunk *c, uint32_t pc) {
    uint32_t lo = 0, hi = c->nlines;
    while (lo < hi) { /* search the last entry that starts at or before pc */
        uint32_t mid = (lo + hi) / 2;
        if (c->lines[mid].pc <= pc) lo = mid + 1;
        else hi = mid;
    }
    return lo ? c->lines[lo - 1].pos : c->func->pos;
}

static int instruction_length(uint32_t word, const Chunk *c) {
    Opcode op = word & 0xff;
    int n = 1 + (int)strlen(opcode_info[op].words);
    if (op == BC_CLOSURE) n += c->lits[word >> 16].u.func->ncaptures;
    return n;
}

/* Replaces jumps to a RETURN by that RETURN; a second, unreachable RETURN replaces the word of the jump distance.  This
 * is not valid in functions with a `try`, where the RETURN would be in the range of a handler. */
void qcode_return_at_once(Chunk *c) {
    for (uint32_t pc = 0; pc < c->ncode; pc += (uint32_t)instruction_length(c->code[pc], c)) {
        if ((c->code[pc] & 0xff) != BC_JMP) continue;
        uint32_t target = c->code[pc + 2 + c->code[pc + 1]];
        if ((target & 0xff) == BC_RETURN) c->code[pc] = c->code[pc + 1] = target;
    }
}

static void print_literal(const Literal *l, Text *out) {
    switch (l->kind) {
    case LIT_NUM: qtext_printf(out, "%.17g", l->u.num[0]); break;
    case LIT_INT: qtext_printf(out, "int %lld", (long long)l->u.whole); break;
    case LIT_COMPLEX: qtext_printf(out, "%.17g%+.17gj", l->u.num[0], l->u.num[1]); break;
    case LIT_STR: qtext_printf(out, "\"%s\"", l->u.str->s); break;
    case LIT_TYPE: qtext_printf(out, "type %s", l->u.type->name ? l->u.type->name->s : "…"); break;
    case LIT_FUNC: qtext_printf(out, "function %s", l->u.func->name->s); break;
    case LIT_ARRAY: qtext_printf(out, "array of %zu numbers", l->u.table->n); break;
    case LIT_NAMES:
        for (int i = 0; i < l->u.names->n; i++) qtext_printf(out, "%s%s:=", i ? " " : "", l->u.names->at[i]->s);
        break;
    case LIT_UNIT: qtext_printf(out, "import \"%s\"", l->u.import->u.import.path->s); break;
    }
}

static void print_instruction(const Chunk *c, uint32_t pc, int length, Text *out) {
    uint32_t w = c->code[pc];
    const char *words = opcode_info[w & 0xff].words;
    qtext_printf(out, "  %4u  %-9s %3u %3u %3u", pc, opcode_info[w & 0xff].name, w >> 8 & 0xff, w >> 16 & 0xff,
                 w >> 24);
    for (int i = 1; i < length; i++) {
        uint32_t extra = c->code[pc + (uint32_t)i];
        if (words[i - 1] == 'J') qtext_printf(out, "  -> %u", pc + (uint32_t)length + extra);
        else qtext_printf(out, "  %x", extra);
    }
    qtext_puts(out, "\n");
}

void qbytecode_print(const Chunk *c, Text *out) {
    qtext_printf(out, "%s: %u registers, temporaries from %u\n", c->func->name->s, c->nregs, c->ntemp);
    for (uint32_t i = 0; i < c->nlits; i++) {
        qtext_printf(out, "  K%-3u  ", i);
        print_literal(&c->lits[i], out);
        qtext_puts(out, "\n");
    }
    for (uint32_t pc = 0; pc < c->ncode;) {
        int length = instruction_length(c->code[pc], c);
        print_instruction(c, pc, length, out);
        pc += (uint32_t)length;
    }
    for (uint32_t i = 0; i < c->nhandlers; i++)
        qtext_printf(out, "  errors in %u..%u go to %u\n", c->handlers[i].start, c->handlers[i].end,
                     c->handlers[i].handler);
}

void qbytecode_free(Chunk *c) { qarena_free(&c->arena); }
