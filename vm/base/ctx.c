/* ctx.c -- implements memory, errors, arenas, growing text and sources. */
#include "vm/base/number.h"
#include "vm/base/type.h"
#include "vm/base/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void qctx_init(Ctx *c, int precision) {
    *c = (Ctx){.scalar_dtype = precision == 64 ? QS_F64 : QS_F32};
    qmem_reserve(c);
    qstr_table_init(c);
    qtype_table_init(c);
}

void qctx_close(Ctx *c) {
    if (c->threads_close) c->threads_close(c);
    if (c->pool_close) c->pool_close(c);
    qtype_table_close(c);
    qstr_table_close(c);
    while (c->sources) qsource_drop(c, c->sources);
    free(c->reserve);
    c->reserve = NULL;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

#define BLOCK_ALIGN ((size_t)64)
#define BLOCK_MAX   (((size_t)1 << 40) - ((size_t)1 << 20)) /* beyond any machine's memory; sanitizers abort there */

enum { SMALL = 1024 }; /* up to this size malloc and memset are faster than calloc, which skips glibc's thread cache */
enum { RESERVE = 1 << 20 }; /* bytes; enough to unwind a program and to run a handler; the pages are never touched */

void qmem_reserve(Ctx *c) {
    if (!c->reserve) c->reserve = malloc(RESERVE);
}

static _Noreturn void end_process(Ctx *c) {
    static const char sentence[] = "error: not enough memory to go on\n";
    if (c->cannot_go_on) c->cannot_go_on(c);
    else if (write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0) _exit(1);
    _exit(1);
}

/* Frees the pooled blocks, or else the reserve; false: there is nothing left to free. */
static bool free_some(Ctx *c) {
    size_t before = c->bytes;
    if (c->pool_drain) c->pool_drain(c);
    if (c->bytes < before) return true;
    if (!c->reserve) return false;
    free(c->reserve);
    c->reserve = NULL, c->short_of_memory = true;
    if (c->reserve_used) c->reserve_used(c);
    return true;
}

static void *resize_block(Ctx *c, void *p, size_t n) { /* p may be NULL; never returns NULL */
    void *q;
    while (!(q = n > BLOCK_MAX ? NULL : realloc(p, n ? n : 1)))
        if (n > BLOCK_MAX || !free_some(c)) end_process(c);
    return q;
}

void *qmem_alloc(Ctx *c, size_t n) {
    void *p = n > BLOCK_MAX ? NULL : n > SMALL ? calloc(1, n) : malloc(n ? n : 1);
    if (__builtin_expect(!p, 0)) p = memset(resize_block(c, NULL, n), 0, n);
    else if (n <= SMALL) memset(p, 0, n);
    c->bytes += n;
    return p;
}

void *qmem_resize(Ctx *c, void *p, size_t old_n, size_t new_n) {
    char *q = resize_block(c, p, new_n);
    if (new_n > old_n) memset(q + old_n, 0, new_n - old_n);
    c->bytes += new_n - old_n;
    return q;
}

/* Returns whether n more bytes may be allocated. */
static bool within_limit(const Ctx *c, size_t n) {
    return n <= BLOCK_MAX && (!c->limit || (n <= c->limit && c->bytes <= c->limit - n));
}

void *qmem_try_resize(Ctx *c, void *p, size_t old_n, size_t new_n) {
    bool grows = new_n > old_n;
    char *q = grows && !within_limit(c, new_n - old_n) ? NULL : realloc(p, new_n ? new_n : 1);
    if (q) c->bytes += new_n - old_n;
    return q;
}

void qmem_free(Ctx *c, void *p, size_t n) {
    if (!p) return;
    c->bytes -= n;
    free(p);
}

void *qmem_try(Ctx *c, size_t n) {
    if (c->fail_after > 0 && --c->fail_after == 0) return NULL;
    if (!within_limit(c, n)) return NULL;
    size_t rounded = (n + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
    void *p = aligned_alloc(BLOCK_ALIGN, rounded ? rounded : BLOCK_ALIGN);
    if (p) c->bytes += n;
    return p;
}

void qmem_try_free(Ctx *c, void *p, size_t n) { qmem_free(c, p, n); }

void qmem_grow(Ctx *c, void *p, uint32_t *cap, uint32_t need, size_t elem) {
    if (need < *cap) return;
    size_t wanted = *cap < 4 ? 8 : (size_t)*cap * 2;
    if (wanted <= need) wanted = (size_t)need + 1;
    if (wanted > UINT32_MAX) end_process(c);
    void *at;
    memcpy(&at, p, sizeof at); /* p may point to a pointer of any type */
    at = qmem_resize(c, at, *cap * elem, qmem_size(wanted, elem, 0));
    memcpy(p, &at, sizeof at);
    *cap = (uint32_t)wanted;
}

/* -- errors -------------------------------------------------------------------------------------------------------- */

/* Ends a truncated message with an ellipsis, placed at the boundary of a UTF-8 character. */
static void shorten_text(char *text, size_t size) {
    static const char dots[] = "…";
    size_t end = size - sizeof dots;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) end--;
    memcpy(text + end, dots, sizeof dots);
}

qs_status qerr_vset(Ctx *c, qs_status s, Where w, const char *fmt, va_list ap) {
    ErrorState *e = &c->err;
    if (e->status != QS_OK) return s;
    e->status = s;
    e->nframes = e->nlost = 0;
    e->late = false;
    e->placed = w.src != NULL;
    e->where = w;
    int n = qnum_vprint(e->text, sizeof e->text, fmt, ap);
    if (n >= (int)sizeof e->text) shorten_text(e->text, sizeof e->text);
    return s;
}

qs_status qerr_set(Ctx *c, qs_status s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    qerr_vset(c, s, (Where){NULL, 0}, fmt, ap);
    va_end(ap);
    return s;
}

qs_status qerr_at(Ctx *c, qs_status s, Where w, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    qerr_vset(c, s, w, fmt, ap);
    va_end(ap);
    return s;
}

void qerr_location(Ctx *c, Where w) {
    const Source *now = c->err.where.src;
    bool called = c->err.placed && now && now->library && w.src && !w.src->library;
    if (c->err.status == QS_OK || (c->err.placed && !called) || c->err.late || !w.src) return;
    c->err.placed = true;
    c->err.where = w;
}

void qerr_frame(Ctx *c, Where w, const Str *function) {
    ErrorState *e = &c->err;
    if (e->late) return;
    if (e->nframes == QERR_FRAMES) {
        e->nlost++;
        return;
    }
    e->frames[e->nframes].where = w;
    e->frames[e->nframes++].function = function;
}

void qerr_subject(Ctx *c, const char *name) {
    static const char subject[] = "the array";
    size_t n = strlen(name), was = sizeof subject - 1, rest = strlen(c->err.text);
    if (rest < was || memcmp(c->err.text, subject, was) != 0 || n + rest - was >= QERR_TEXT) return;
    memmove(c->err.text + n, c->err.text + was, rest - was + 1);
    memcpy(c->err.text, name, n);
}

void qerr_function(Ctx *c, const char *name) {
    static const char kernel[] = "kernel ";
    char *text = c->err.text, *at = text;
    if (!strncmp(at, kernel, sizeof kernel - 1)) at += sizeof kernel - 1;
    size_t was = 0, n = strlen(name);
    while (isalnum((unsigned char)at[was]) || at[was] == '_') was++;
    if (!was || at[was] != ':' || n + strlen(at + was) >= QERR_TEXT) return;
    memmove(text + n, at + was, strlen(at + was) + 1);
    memcpy(text, name, n);
}

void qerr_more(Ctx *c, const char *text) {
    if (strlen(c->err.text) + strlen(text) < QERR_TEXT) strcat(c->err.text, text);
}

void qerr_clear(Ctx *c) {
    ErrorState *e = &c->err;
    e->status = QS_OK;
    e->placed = e->late = false;
    e->where = (Where){NULL, 0};
    e->nframes = e->nlost = 0;
    e->text[0] = 0;
    e->payload = qs_nil();
    if (__builtin_expect(!c->reserve, 0)) qmem_reserve(c);
}

/* -- arena --------------------------------------------------------------------------------------------------------- */

enum { ARENA_FIRST = 1024, ARENA_BLOCK = 32 * 1024, ARENA_ALIGN = 16 }; /* each block is twice as large as the last */

struct ArenaBlock {
    ArenaBlock *next;
    size_t size; /* of data */
    _Alignas(ARENA_ALIGN) char data[];
};

void qarena_init(Arena *a, Ctx *c) { *a = (Arena){c, NULL, 0}; }

static ArenaBlock *new_block(Arena *a, size_t size) {
    ArenaBlock *b = qmem_alloc(a->ctx, qmem_size(size, 1, sizeof *b));
    b->size = size;
    return b;
}

void *qarena_alloc(Arena *a, size_t n) {
    n = qmem_size(n, 1, ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN; /* SIZE_MAX stays larger than any block */
    if (a->block && n <= a->block->size - a->used) {
        void *p = a->block->data + a->used;
        a->used += n;
        return p;
    }
    size_t size = !a->block ? ARENA_FIRST : a->block->size < ARENA_BLOCK / 2 ? a->block->size * 2 : ARENA_BLOCK;
    if (a->block && n > size / 4) { /* a large allocation gets its own block behind the current one */
        ArenaBlock *own = new_block(a, n);
        own->next = a->block->next;
        a->block->next = own;
        return own->data;
    }
    ArenaBlock *b = new_block(a, n > size ? n : size);
    b->next = a->block;
    a->block = b;
    a->used = n;
    return b->data;
}

void qarena_free(Arena *a) {
    while (a->block) {
        ArenaBlock *b = a->block;
        a->block = b->next;
        qmem_free(a->ctx, b, sizeof *b + b->size);
    }
    a->used = 0;
}

/* -- text ---------------------------------------------------------------------------------------------------------- */

void qtext_init(Text *t, Ctx *c) { *t = (Text){.ctx = c}; }

void qtext_clear(Text *t) {
    if (t->s) t->s[0] = 0;
    t->len = 0, t->lost = false;
}

bool qtext_reserve(Text *t, size_t n) {
    size_t need = qmem_size(n, 1, t->len);
    if (need < t->cap || t->lost) return !t->lost;
    size_t cap = t->cap ? qmem_size(t->cap, 2, 0) : 64;
    while (cap <= need && cap < BLOCK_MAX) cap *= 2;
    char *s = cap <= need ? NULL : qmem_try_resize(t->ctx, t->s, t->cap, cap);
    t->lost = !s;
    if (s) t->s = s, t->cap = cap;
    return s;
}

qs_status qtext_status(const Text *t) {
    return t->lost ? qerr_set(t->ctx, QS_ENOMEM, "out of memory for a text") : QS_OK;
}

void qtext_add(Text *t, const char *s, size_t n) {
    if (!qtext_reserve(t, n)) return;
    if (n) memcpy(t->s + t->len, s, n);
    t->len += n;
    t->s[t->len] = 0;
}

void qtext_puts(Text *t, const char *s) { qtext_add(t, s, strlen(s)); }

void qtext_putc(Text *t, char ch) { qtext_add(t, &ch, 1); }

void qtext_pad(Text *t, char ch, size_t n) {
    if (!qtext_reserve(t, n)) return;
    memset(t->s + t->len, ch, n);
    t->len += n;
    t->s[t->len] = 0;
}

void qtext_printf(Text *t, const char *fmt, ...) {
    if (!qtext_reserve(t, 32)) return;
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t room = t->cap - t->len;
    int n = qnum_vprint(t->s + t->len, room, fmt, ap);
    if (n >= 0 && (size_t)n >= room) {
        if (qtext_reserve(t, (size_t)n)) qnum_vprint(t->s + t->len, (size_t)n + 1, fmt, again);
        else n = 0;
    }
    if (n > 0) t->len += (size_t)n;
    t->s[t->len] = 0;
    va_end(again);
    va_end(ap);
}

void qtext_free(Text *t) {
    qmem_free(t->ctx, t->s, t->cap);
    qtext_init(t, t->ctx);
}

/* -- sources ------------------------------------------------------------------------------------------------------- */

static char *copy_bytes(Ctx *c, const char *s, size_t n) {
    char *p = qmem_alloc(c, qmem_size(n, 1, 1));
    if (n) memcpy(p, s, n);
    return p;
}

void qsource_drop(Ctx *c, Source *s) {
    Source **at = &c->sources;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    qmem_free(c, s->path, strlen(s->path) + 1);
    qmem_free(c, s->text, s->len + 1);
    qmem_free(c, s->switches, s->cap_switches * sizeof *s->switches);
    qmem_free(c, s->literal_dims, s->cap_literal_dims * sizeof *s->literal_dims);
    qmem_free(c, s->warned, s->cap_warned * sizeof *s->warned);
    qmem_free(c, s, sizeof *s);
}

Source *qsource_add(Ctx *c, const char *path, const char *text, size_t len) {
    Source *s = qmem_alloc(c, sizeof *s);
    s->path = copy_bytes(c, path, strlen(path));
    s->text = copy_bytes(c, text, len);
    s->len = len;
    s->next = c->sources;
    c->sources = s;
    return s;
}

static size_t line_start(const Source *s, size_t pos) {
    while (pos > 0 && s->text[pos - 1] != '\n') pos--;
    return pos;
}

void qsource_line_col(const Source *s, uint32_t pos, int *line, int *col) {
    size_t at = pos < s->len ? pos : s->len;
    int n = 1;
    for (const char *p = s->text; (p = memchr(p, '\n', at - (size_t)(p - s->text))) != NULL; p++) n++;
    *line = n;
    *col = (int)(at - line_start(s, at)) + 1;
}

/* Appends a source line so that a terminal can show it: malformed bytes become '?', control characters ' '. */
static void add_line(Text *t, const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        size_t len = qutf8_length(s + i, n - i);
        if (len == 0) qtext_putc(t, '?');
        else if (len == 1 && (unsigned char)s[i] < ' ' && s[i] != '\t') qtext_putc(t, ' ');
        else if (s[i] == 0x7F) qtext_putc(t, ' ');
        else qtext_add(t, s + i, len);
        i += len ? len : 1;
    }
}

/* Appends the blanks that put a caret under the character after s[0..n-1]: tabs for tabs, else one blank each. */
static void add_indent(Text *t, const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        size_t len = qutf8_length(s + i, n - i);
        qtext_putc(t, s[i] == '\t' ? '\t' : ' ');
        i += len ? len : 1;
    }
}

enum { LINE_SHOWN = 120, LINE_BEFORE = 60 }; /* bytes; a longer line is shortened to the part around the location */

static void add_excerpt(Text *t, const Source *s, size_t pos) {
    size_t begin = line_start(s, pos), end = pos;
    while (end < s->len && s->text[end] != '\n') end++;
    if (end > begin && s->text[end - 1] == '\r') end--;
    if (begin == end) return;
    if (pos > end) pos = end;
    size_t first = begin, last = end;
    if (end - begin > LINE_SHOWN) {
        if (pos - begin > LINE_BEFORE) first = pos - LINE_BEFORE;
        if (last - first > LINE_SHOWN) last = first + LINE_SHOWN;
        while (first < pos && qutf8_continues(s->text[first])) first++;
        while (last > pos && last < end && qutf8_continues(s->text[last])) last--;
    }
    if (first > begin) qtext_puts(t, "…");
    add_line(t, s->text + first, last - first);
    qtext_puts(t, last < end ? "…\n" : "\n");
    if (first > begin) qtext_putc(t, ' ');
    add_indent(t, s->text + first, pos - first);
    qtext_puts(t, "^\n");
}

void qsource_report(Text *t, Where w, const char *severity, const char *sentence) {
    if (!w.src) {
        qtext_printf(t, "%s: %s\n", severity, sentence);
        return;
    }
    int line, col;
    qsource_line_col(w.src, w.pos, &line, &col);
    qtext_printf(t, "%s:%d:%d: %s: %s\n", w.src->path, line, col, severity, sentence);
    add_excerpt(t, w.src, w.pos < w.src->len ? w.pos : w.src->len);
}
