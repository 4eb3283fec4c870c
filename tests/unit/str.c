/* The intern table, near misses, and the map, compared with a plain list. */
#include "vm/base/str.h"
#include "tests/unit/check.h"

static void strings(Ctx *c) {
    size_t before = c->bytes;
    Str *a = qstr_new(c, "hello", 5), *b = qstr_new(c, "hello world", 5), *d = qstr_new(c, "a\0b", 3);
    CHECK(a == b && a->hdr.refs == 2 && a->hdr.kind == QS_STRING && a->len == 5 && a->s[5] == 0);
    CHECK(d->len == 3 && d != qstr_cname(c, "a"));
    qstr_release(c, a);
    CHECK(b->hdr.refs == 1);
    qstr_release(c, b);
    qstr_release(c, d);
    char text[200];
    memset(text, 'x', sizeof text);
    Str *l1 = qstr_new(c, text, 200), *l2 = qstr_new(c, text, 200);
    CHECK(l1 != l2 && qstr_equal(l1, l2) && !(l1->hdr.flags & STR_INTERNED));
    Str *n = qstr_name(c, text, 200);
    CHECK(n == qstr_name(c, text, 200) && qstr_equal(n, l1) && qstr_compare(n, l1) == 0);
    qstr_release(c, l1);
    qstr_release(c, l2);
    CHECK(c->bytes > before); /* two names are kept */
    Str *e = qstr_new(c, "", 0);
    CHECK(e->len == 0 && qstr_compare(e, n) < 0 && qstr_compare(n, e) > 0);
    qstr_release(c, e);
}

static void names(Ctx *c) {
    Str *n = qstr_cname(c, "size");
    for (int i = 0; i < 5; i++) qstr_release(c, n);
    CHECK(n == qstr_cname(c, "size") && n->hdr.refs >= 1);
    Str *v = qstr_new(c, "size", 4);
    CHECK(v == n);
    qstr_release(c, v);
    Str *w = qstr_new(c, "later", 5); /* a string may become a name */
    CHECK(qstr_cname(c, "later") == w);
    qstr_release(c, w);
    CHECK(qstr_cname(c, "later") == w);
}

static void many(Ctx *c) {
    enum { N = 5000 };
    static Str *kept[N];
    size_t before = c->bytes;
    char text[20];
    for (int i = 0; i < N; i++) kept[i] = qstr_new(c, text, (size_t)snprintf(text, sizeof text, "name%d", i));
    for (int i = 0; i < N; i++) {
        Str *again = qstr_new(c, text, (size_t)snprintf(text, sizeof text, "name%d", i));
        CHECK(again == kept[i]);
        qstr_release(c, again);
    }
    size_t full = c->bytes;
    for (int i = 0; i < N; i++) qstr_release(c, kept[i]);
    CHECK(c->bytes < full && c->bytes < before + 8 * 8192 * 2);
}

/* Strings that are not interned find the names with their contents, and keep a hash until they grow. */
static void made_names(Ctx *c) {
    static const char name[] = "temperature_in_kelvin", more[] = "temperature_in_kelvins";
    Map m;
    uint64_t at = 0;
    qmap_init(&m);
    qmap_set(&m, c, qstr_cname(c, "t"), 1);
    qmap_set(&m, c, qstr_cname(c, name), 2);
    qmap_set(&m, c, qstr_cname(c, more), 3);
    Str *s = qstr_new(c, name, sizeof name - 1);
    CHECK(!(s->hdr.flags & STR_INTERNED) && qmap_get(&m, s, &at) && at == 2);
    CHECK(qstr_hash(s) == qstr_cname(c, name)->hash && qstr_append(c, &s, "s", 1));
    CHECK(qstr_hash(s) == qstr_cname(c, more)->hash && qmap_get(&m, s, &at) && at == 3);
    CHECK(qstr_append(c, &s, "s", 1) && !qmap_get(&m, s, &at));
    qstr_release(c, s);
    qmap_free(&m, c);
}

static const char *nearest(const char *wanted, const char *const *list) {
    Nearest n = {.wanted = wanted};
    for (; *list; list++) qstr_offer(&n, *list);
    return n.best;
}

static void near_misses(void) {
    CHECK(qstr_distance("kitten", "sitting", 5) == 3);
    CHECK(qstr_distance("abcd", "abdc", 5) == 1);
    CHECK(qstr_distance("abcd", "wxyz", 2) == 3);
    CHECK(qstr_distance("", "abc", 3) == 3 && qstr_distance("same", "same", 0) == 0);
    static const char *const list[] = {"size", "zeros", "imread", "imwrite", "max", "parallel_do", NULL};
    CHECK_TEXT(nearest("zeroes", list), "zeros");
    CHECK_TEXT(nearest("imraed", list), "imread");
    CHECK_TEXT(nearest("paralel_do", list), "parallel_do");
    CHECK_TEXT(nearest("IMREAD", list), "imread");
    CHECK_TEXT(nearest("mx", list), "max");
    CHECK(!nearest("q", list) && !nearest("banana", list) && !nearest("", list));
}

static void maps(Ctx *c) {
    enum { KEYS = 64, STEPS = 20000 };
    Str *keys[KEYS];
    uint64_t want[KEYS];
    bool present[KEYS] = {0};
    char text[20];
    uint32_t n = 0, seed = 1;
    Map m;
    qmap_init(&m);
    CHECK(!qmap_at(&m, qstr_cname(c, "x")));
    for (int i = 0; i < KEYS; i++) keys[i] = qstr_name(c, text, (size_t)snprintf(text, sizeof text, "k%d", i));
    for (uint32_t step = 0; step < STEPS; step++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t k = (seed >> 8) % (step / (STEPS / KEYS) + 1), other = (seed >> 16) % KEYS;
        qmap_set(&m, c, keys[k], step);
        n += !present[k];
        present[k] = true;
        want[k] = step;
        uint64_t got = 0;
        CHECK(qmap_get(&m, keys[other], &got) == present[other] && (!present[other] || got == want[other]));
        CHECK(m.n == n);
    }
    qmap_free(&m, c);
    for (int i = 0; i < KEYS; i++) qmap_set(&m, c, keys[i], (uint64_t)i);
    for (uint32_t i = 0; i < KEYS; i++) CHECK(m.entries[i].val == i && m.entries[i].key == keys[i]); /* their order */
    CHECK(m.n == KEYS);
    qmap_free(&m, c);
}

int main(void) {
    Ctx c;
    qctx_init(&c, 64);
    strings(&c);
    names(&c);
    many(&c);
    made_names(&c);
    near_misses();
    maps(&c);
    qctx_close(&c);
    CHECK(c.bytes == 0);
    return check_done();
}
