/* bundle.c -- implements bundle.h: reads, checks and writes bundles. */
#include "devices/bundle.h"
#include "vm/base/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT = 2, TABLES = 5 };
typedef struct {
    uint64_t at;
    uint32_t n, pad;
} Table;
typedef struct {
    char magic[8];
    uint32_t format, pad;
    uint64_t size; /* bytes of the bundle, without the trailer */
    CacheKey sum;  /* checksum of the bundle except this member */
    char version[16], machine[16];
    BundleText settings;
    Table table[TABLES]; /* modules, imports, codes, targets, functions */
} Header;
static const char magic[8] = "QSBUNDLE", end_magic[8] = "QSBUNEND";
static const size_t row_size[TABLES] = {sizeof(BundleModule), sizeof(BundleImport), sizeof(BundleCode),
                                        sizeof(BundleTarget), sizeof(BundleFunction)};

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "other"
#endif

/* Computes the checksum.  Four independent sums hide the latency of each step.  Each step is a bijection, so a single
 * changed word always changes the sum. */
static CacheKey sum_of_words(CacheKey seed, const uint8_t *at, size_t n) {
    uint64_t sum[4] = {1, 2, 3, 4}, w[4];
    size_t i = 0;
    for (; i + sizeof w <= n; i += sizeof w) {
        memcpy(w, at + i, sizeof w);
        for (int k = 0; k < 4; k++) {
            sum[k] = (sum[k] ^ w[k]) * 0x9fb21c651e98df25u;
            sum[k] ^= sum[k] >> 29;
        }
    }
    return qcache_key(qcache_key(seed, sum, sizeof sum), at + i, n - i);
}

static CacheKey sum_of(const uint8_t *at, size_t n) {
    size_t before = offsetof(Header, sum), behind = before + sizeof(CacheKey);
    return sum_of_words(qcache_key((CacheKey){{5, 0}}, at, before), at + behind, n - behind);
}

/* -- opening ------------------------------------------------------------------------------------------------------- */
static qs_status refuse_file(Ctx *c, const char *path, const char *what) {
    return qerr_set(c, QS_EIO, "%s %s", path, what);
}

static bool within(size_t n, uint64_t at, uint64_t size) { return at <= n && size <= n - at; }
static bool is_inside(const Bundle *b, BundleText t) { /* including its terminating NUL */
    return within(b->n, t.at, (uint64_t)t.n + 1) && !b->at[t.at + t.n];
}

/* Returns whether all offsets in the tables are inside the bundle.  The checksum does not prove this, because anybody
 * can compute it. */
static bool is_whole(const Bundle *b, uint32_t nimports) {
    bool good = b->nmodules > 0 && is_inside(b, b->settings);
    for (uint32_t i = 0; i < b->nmodules && good; i++) {
        const BundleModule *m = &b->modules[i];
        good = is_inside(b, m->path) && is_inside(b, m->text) && within(nimports, m->import, m->nimports);
    }
    for (uint32_t i = 0; i < nimports && good; i++)
        good = is_inside(b, b->imports[i].name) && b->imports[i].module < b->nmodules;
    for (uint32_t i = 0; i < b->ncodes && good; i++) good = within(b->n, b->codes[i].at, b->codes[i].n);
    for (uint32_t i = 0; i < b->ntargets && good; i++) good = memchr(b->targets[i].name, 0, sizeof b->targets[i].name);
    for (uint32_t i = 0; i < b->nfunctions && good; i++)
        good = is_inside(b, b->functions[i].name) && is_inside(b, b->functions[i].signature);
    return good;
}

static bool has_tables(const Header *h) {
    for (int i = 0; i < TABLES; i++)
        if (h->table[i].at % 8 || !within(h->size, h->table[i].at, h->table[i].n * (uint64_t)row_size[i])) return false;
    return true;
}

static void find_tables(Bundle *b, const Header *h) {
    b->modules = (const void *)(b->at + h->table[0].at), b->nmodules = h->table[0].n;
    b->imports = (const void *)(b->at + h->table[1].at);
    b->codes = (const void *)(b->at + h->table[2].at), b->ncodes = h->table[2].n;
    b->targets = (const void *)(b->at + h->table[3].at), b->ntargets = h->table[3].n;
    b->functions = (const void *)(b->at + h->table[4].at), b->nfunctions = h->table[4].n;
    b->settings = h->settings;
}

/* Returns whether s is a nonempty, terminated word of harmless characters, which messages may show. */
static bool is_word(const char *s, size_t room) {
    size_t n = 0;
    while (n < room && (isalnum((unsigned char)s[n]) || (s[n] && strchr("._+-", s[n])))) n++;
    return n > 0 && n < room && !s[n];
}

static qs_status check_bundle(Ctx *c, Bundle *b, const char *version) {
    const Header *h = (const void *)b->at;
    if (b->n < sizeof *h || memcmp(h->magic, magic, sizeof magic))
        return refuse_file(c, b->path, "is damaged: no head");
    if (!is_word(h->version, sizeof h->version) || !is_word(h->machine, sizeof h->machine))
        return refuse_file(c, b->path, "is damaged: its head is not one");
    if (strcmp(h->machine, MACHINE)) /* checked before the sum, which another format may compute differently */
        return qerr_set(c, QS_EIO, "%s was made for another processor: %s, this is %s", b->path, h->machine, MACHINE);
    if (h->format != FORMAT && !strcmp(h->version, version))
        return qerr_set(c, QS_EIO, "%s was made by another build of Quasar %s: make it again", b->path, version);
    if (strcmp(h->version, version))
        return qerr_set(c, QS_EIO, "%s was made by Quasar %s, this is %s: make it again", b->path, h->version, version);
    CacheKey sum = sum_of(b->at, b->n);
    if (h->size != b->n || memcmp(&sum, &h->sum, sizeof sum))
        return refuse_file(c, b->path, "is damaged: its bytes are not those that were written");
    if (!has_tables(h)) return refuse_file(c, b->path, "is damaged: its tables are not in it");
    find_tables(b, h);
    return is_whole(b, h->table[1].n) ? QS_OK : refuse_file(c, b->path, "is damaged: its tables point outside");
}

qs_status qbundle_open(Ctx *c, const char *path, const char *version, const void *at, size_t n, Bundle **out) {
    Bundle *b = qmem_alloc(c, sizeof *b);
    b->path_size = strlen(path) + 1;
    b->path = qmem_alloc(c, b->path_size);
    memcpy(b->path, path, b->path_size);
    b->at = at, b->n = n;
    qs_status s =
        (uintptr_t)at % 8 ? refuse_file(c, path, "is damaged: it begins at an odd place") : check_bundle(c, b, version);
    if (s == QS_OK) *out = b;
    else qbundle_close(c, b);
    return s;
}

/* Opens the bundle at the end of a file.  The file is read instead of mapped, because truncating a mapped file would
 * crash the process. */
static qs_status read_end(Ctx *c, const char *path, const char *version, int fd, Bundle **out) {
    struct stat st;
    BundleTrailer t;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) return refuse_file(c, path, "is no file");
    size_t n = (size_t)st.st_size;
    if (n < sizeof t || pread(fd, &t, sizeof t, (off_t)(n - sizeof t)) != (ssize_t)sizeof t ||
        memcmp(t.magic, end_magic, sizeof t.magic))
        return refuse_file(c, path,
                           "holds no compiled program: it was not made by qrun --make-lib, or its end is missing");
    if (t.size > n - sizeof t) return refuse_file(c, path, "is damaged: its beginning is missing");
    void *own = qmem_try(c, t.size + 1);
    if (!own) return qerr_set(c, QS_ENOMEM, "%s: no memory for its %zu bytes", path, (size_t)t.size);
    bool got = pread(fd, own, t.size, (off_t)(n - sizeof t - t.size)) == (ssize_t)t.size;
    qs_status s = got ? qbundle_open(c, path, version, own, t.size, out) : refuse_file(c, path, "cannot be read");
    if (s == QS_OK) (*out)->own = own, (*out)->changed = st.st_mtim;
    else qmem_try_free(c, own, t.size + 1);
    return s;
}

qs_status qbundle_open_file(Ctx *c, const char *path, const char *version, Bundle **out) {
    int fd = qfile_open(AT_FDCWD, path, 0);
    if (fd < 0) return qerr_set(c, QS_EIO, "%s cannot be opened: %s", path, qfile_error(errno));
    qs_status s = read_end(c, path, version, fd, out);
    close(fd);
    return s;
}

void qbundle_close(Ctx *c, Bundle *b) {
    if (!b) return;
    if (b->own) qmem_try_free(c, b->own, b->n + 1);
    qmem_free(c, b->path, b->path_size);
    qmem_free(c, b, sizeof *b);
}

bool qbundle_is(const Bundle *b, BundleText t, const char *s, size_t n) {
    return t.n == n && !memcmp(qbundle_text(b, t), s, n);
}

void qbundle_settings(const void *at, size_t n, char *out, size_t room) {
    const Header *h = at;
    out[0] = 0;
    if (n < sizeof *h || !within(n, h->settings.at, h->settings.n) || h->settings.n >= room) return;
    memcpy(out, (const char *)at + h->settings.at, h->settings.n);
    out[h->settings.n] = 0;
}

static int by_key(const void *a, const void *b) {
    const CacheKey *x = a, *y = b;
    if (x->w[0] != y->w[0]) return x->w[0] < y->w[0] ? -1 : 1;
    return (x->w[1] > y->w[1]) - (x->w[1] < y->w[1]);
}

bool qbundle_code(const Bundle *list, CacheKey key, Text *out) {
    for (const Bundle *b = list; b; b = b->next) {
        const BundleCode *code = bsearch(&key, b->codes, b->ncodes, sizeof *code, by_key);
        if (!code) continue;
        out->len = 0;
        qtext_add(out, (const char *)b->at + code->at, code->n);
        return !out->lost;
    }
    return false;
}

/* -- making -------------------------------------------------------------------------------------------------------- */
typedef struct {
    void *rows;
    uint32_t n, cap;
} Rows;
struct BundleMaker {
    Ctx *ctx;
    Rows table[TABLES];
    Text bytes; /* texts and codes; until qbundle_write, offsets are relative to this */
};

BundleMaker *qbundle_maker(Ctx *c) {
    BundleMaker *m = qmem_alloc(c, sizeof *m);
    m->ctx = c;
    qtext_init(&m->bytes, c);
    return m;
}

static void *new_row(BundleMaker *m, int table) {
    Rows *t = &m->table[table];
    qmem_grow(m->ctx, &t->rows, &t->cap, t->n, row_size[table]);
    void *row = (char *)t->rows + t->n++ * row_size[table];
    memset(row, 0, row_size[table]);
    return row;
}

static uint64_t add_bytes(BundleMaker *m, const void *p, size_t n) {
    uint64_t at = m->bytes.len;
    qtext_add(&m->bytes, p, n);
    qtext_pad(&m->bytes, 0, 16 - m->bytes.len % 16); /* one NUL at least: texts end with one */
    return at;
}

static BundleText text(BundleMaker *m, const char *s, size_t n) {
    return (BundleText){add_bytes(m, s, n), (uint32_t)n, 0};
}

void qbundle_add_module(BundleMaker *m, const char *path, const char *s, size_t n, bool library) {
    BundleModule *row = new_row(m, 0);
    row->path = text(m, path, strlen(path)), row->text = text(m, s, n);
    row->import = m->table[1].n, row->library = library;
}

void qbundle_add_import(BundleMaker *m, const char *name, uint32_t module) {
    BundleImport *row = new_row(m, 1);
    row->name = text(m, name, strlen(name)), row->module = module;
    ((BundleModule *)m->table[0].rows)[m->table[0].n - 1].nimports++;
}

void qbundle_add_code(BundleMaker *m, CacheKey key, const void *p, size_t n) {
    const BundleCode *known = m->table[2].rows;
    for (uint32_t i = 0; i < m->table[2].n; i++)
        if (!by_key(&known[i].key, &key)) return;
    BundleCode *row = new_row(m, 2);
    *row = (BundleCode){key, add_bytes(m, p, n), n};
}

void qbundle_add_target(BundleMaker *m, const char *name, int libc) {
    BundleTarget *row = new_row(m, 3);
    size_t n = strlen(name);
    memcpy(row->name, name, n < sizeof row->name ? n : sizeof row->name - 1);
    row->libc = libc;
}

void qbundle_add_function(BundleMaker *m, const char *name, const char *signature) {
    BundleFunction *row = new_row(m, 4);
    row->name = text(m, name, strlen(name)), row->signature = text(m, signature, strlen(signature));
}

uint32_t qbundle_ncodes(const BundleMaker *m) { return m->table[2].n; }

/* Makes all offsets relative to the start of the bundle, and sorts the codes by key. */
static void settle(BundleMaker *m, uint64_t base) {
    BundleModule *modules = m->table[0].rows;
    BundleImport *imports = m->table[1].rows;
    BundleCode *codes = m->table[2].rows;
    BundleFunction *functions = m->table[4].rows;
    for (uint32_t i = 0; i < m->table[0].n; i++) modules[i].path.at += base, modules[i].text.at += base;
    for (uint32_t i = 0; i < m->table[1].n; i++) imports[i].name.at += base;
    for (uint32_t i = 0; i < m->table[2].n; i++) codes[i].at += base;
    for (uint32_t i = 0; i < m->table[4].n; i++) functions[i].name.at += base, functions[i].signature.at += base;
    if (m->table[2].n) qsort(codes, m->table[2].n, sizeof *codes, by_key);
}

static uint64_t rounded(uint64_t n) { return (n + 15) / 16 * 16; }

void qbundle_seal(void *at, size_t n) {
    CacheKey sum = sum_of(at, n);
    memcpy((char *)at + offsetof(Header, sum), &sum, sizeof sum);
}

void qbundle_write(BundleMaker *m, const char *version, const char *settings, Text *out) {
    Header h = {.format = FORMAT,
                .settings = text(m, settings, strlen(settings)),
                .machine = MACHINE,
                .size = rounded(sizeof h)};
    size_t start = out->len;
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.version, version, strlen(version) < 16 ? strlen(version) : 15);
    for (int i = 0; i < TABLES; i++) {
        h.table[i] = (Table){h.size, m->table[i].n, 0};
        h.size += rounded(m->table[i].n * row_size[i]);
    }
    settle(m, h.size);
    h.settings.at += h.size;
    h.size = rounded(h.size + m->bytes.len);
    qtext_add(out, (const char *)&h, sizeof h);
    for (int i = 0; i < TABLES; i++) {
        qtext_pad(out, 0, start + h.table[i].at - out->len);
        if (m->table[i].n) qtext_add(out, m->table[i].rows, m->table[i].n * row_size[i]);
    }
    qtext_pad(out, 0, rounded(out->len - start) - (out->len - start));
    qtext_add(out, m->bytes.s ? m->bytes.s : "", m->bytes.len);
    qtext_pad(out, 0, start + h.size - out->len);
    if (out->lost) return;
    qbundle_seal(out->s + start, h.size);
    BundleTrailer t = {.size = h.size};
    memcpy(t.magic, end_magic, sizeof t.magic);
    qtext_add(out, (const char *)&t, sizeof t);
}

void qbundle_maker_free(BundleMaker *m) {
    if (!m) return;
    for (int i = 0; i < TABLES; i++) qmem_free(m->ctx, m->table[i].rows, m->table[i].cap * row_size[i]);
    qtext_free(&m->bytes);
    qmem_free(m->ctx, m, sizeof *m);
}
