/* cache.c -- implements cache.h with one file per entry.  The file name is the key; the file is  header | bytes. */
#include "devices/bundle.h"
#include "vm/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { USUAL_BOUND = 256 << 20, NAME = 32, PUTS_PER_SWEEP = 32, STALE = 3600 /* s */, TOUCH = 86400 /* s */ };

typedef struct {
    char magic[8];
    uint64_t n;
    CacheKey key, sum;
} Header;
static const char magic[8] = "QUASARK1";

struct Cache {
    Ctx *ctx;
    int dir; /* descriptor of our directory; -1: none.  All accesses use it, so that swapping the path has no effect */
    size_t bound;
    unsigned puts; /* entries stored since the last sweep */
    bool swept;
    const char *why;
    struct Bundle *const *bundles; /* list of open bundles; NULL: none */
    CacheListener *listener;
    void *ud;
    char path[4096]; /* path of the cache directory for messages */
};

/* -- keys ---------------------------------------------------------------------------------------------------------- */

static uint64_t rotl(uint64_t x, int r) { return x << r | x >> (64 - r); }

static uint64_t
mix_bits(uint64_t x) { /* the finaliser of splitmix64: a bijection in which every bit reaches every bit */
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

CacheKey qcache_key(CacheKey h, const void *p, size_t n) {
    const uint8_t *s = p;
    uint64_t a = h.w[0] ^ 0x9e3779b97f4a7c15u, b = h.w[1] + n * 0xff51afd7ed558ccdu;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t w = 0;
        memcpy(&w, s + i, n - i < 8 ? n - i : 8);
        a = mix_bits(a ^ w), b = rotl(b + w * 0x9fb21c651e98df25u, 29) * 0xd6e8feb86659fd93u + a;
    }
    return (CacheKey){{mix_bits(a + b), mix_bits(b ^ rotl(a, 32))}};
}

static bool is_same_key(CacheKey a, CacheKey b) { return a.w[0] == b.w[0] && a.w[1] == b.w[1]; }

static void name_of(CacheKey k, char out[NAME + 1]) {
    snprintf(out, NAME + 1, "%016llx%016llx", (unsigned long long)k.w[0], (unsigned long long)k.w[1]);
}

/* -- the directory ------------------------------------------------------------------------------------------------- */

static bool usual_place(char *path, size_t n) {
    const char *dir;
    if ((dir = getenv("QUASAR_CACHE_DIR")) && *dir) return snprintf(path, n, "%s", dir) < (int)n;
    if ((dir = getenv("XDG_CACHE_HOME")) && *dir == '/') return snprintf(path, n, "%s/quasar", dir) < (int)n;
    if ((dir = getenv("HOME")) && *dir == '/') return snprintf(path, n, "%s/.cache/quasar", dir) < (int)n;
    return false;
}

static void make_parents(char *path) {
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            mkdir(path, 0700);
            *p = '/';
        }
    mkdir(path, 0700);
}

/* Opens the directory `kernels` in the cache directory.  The cache directory may belong to another user, but `kernels`
 * must belong to us alone, because its contents are trusted. */
static int open_private(char *path, const char **why) {
    make_parents(path);
    int parent = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0) return *why = "the cache directory cannot be made or opened", -1;
    mkdirat(parent, "kernels", 0700);
    int dir = openat(parent, "kernels", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(parent);
    struct stat st;
    if (dir < 0 || fstat(dir, &st)) {
        if (dir >= 0) close(dir);
        return *why = "the directory `kernels` in the cache directory cannot be made or opened", -1;
    }
    if (st.st_uid == geteuid() && !(st.st_mode & 077)) return dir;
    close(dir);
    return *why = "the directory `kernels` in the cache directory is open to others (its mode must be 0700, its owner "
                  "you)",
           -1;
}

Cache *qcache_open(Ctx *c, const char *dir, size_t bound) {
    Cache *k = qmem_alloc(c, sizeof *k);
    *k = (Cache){.ctx = c, .dir = -1, .bound = bound ? bound : USUAL_BOUND, .why = ""};
    char *path = k->path;
    if (dir && !*dir) k->why = "it is turned off";
    else if (dir ? snprintf(path, sizeof k->path, "%s", dir) >= (int)sizeof k->path
                 : !usual_place(path, sizeof k->path))
        k->why = "there is no place for it (set QUASAR_CACHE_DIR)";
    else k->dir = open_private(path, &k->why);
    return k;
}

void qcache_close(Ctx *c, Cache *k) {
    if (!k) return;
    if (k->dir >= 0) close(k->dir);
    qmem_free(c, k, sizeof *k);
}

const char *qcache_why(const Cache *k) { return k->why; }
const char *qcache_path(const Cache *k) { return k->path; }

/* -- entries ------------------------------------------------------------------------------------------------------- */

static bool read_all(int fd, void *p, size_t n) {
    for (char *at = p; n;) {
        ssize_t r = read(fd, at, n);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) return false;
        at += r, n -= (size_t)r;
    }
    return true;
}

static bool write_all(int fd, const void *p, size_t n) {
    for (const char *at = p; n;) {
        ssize_t r = write(fd, at, n);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) return false;
        at += r, n -= (size_t)r;
    }
    return true;
}

static bool read_text(int fd, size_t n, Text *out) {
    char piece[16384];
    for (out->len = 0; n;) {
        size_t k = n < sizeof piece ? n : sizeof piece;
        if (!read_all(fd, piece, k)) return false;
        qtext_add(out, piece, k);
        n -= k;
    }
    return out->len > 0;
}

static bool read_entry(int fd, CacheKey key, Text *out) {
    Header h;
    struct stat st;
    if (fstat(fd, &st) || st.st_uid != geteuid() || !S_ISREG(st.st_mode)) return false;
    if (!read_all(fd, &h, sizeof h) || memcmp(h.magic, magic, sizeof magic) || !is_same_key(h.key, key)) return false;
    if (h.n != (uint64_t)st.st_size - sizeof h) return false;
    bool ok = read_text(fd, h.n, out) && is_same_key(qcache_key(key, out->s, out->len), h.sum);
    /* Entries are removed by the time of their last use.  A resolution of one day avoids a write at every start. */
    if (ok && time(NULL) - st.st_mtime > TOUCH) futimens(fd, NULL);
    return ok;
}

void qcache_consult(Cache *k, struct Bundle *const *list) { k->bundles = list; }
const Bundle *qcache_bundles(const Cache *k) { return k->bundles ? *k->bundles : NULL; }
void qcache_listen(Cache *k, CacheListener *f, void *ud) { k->listener = f, k->ud = ud; }

static bool get_from_disk(Cache *k, CacheKey key, Text *out) {
    char name[NAME + 1];
    if (k->dir < 0) return false;
    name_of(key, name);
    int fd = qfile_open(k->dir, name, O_NOFOLLOW);
    if (fd < 0) {
        if (errno == ENOTSUP) unlinkat(k->dir, name, 0); /* a pipe, which would block this key for ever */
        return false;
    }
    bool ok = read_entry(fd, key, out);
    close(fd);
    if (!ok) unlinkat(k->dir, name, 0);
    return ok;
}

bool qcache_get(Cache *k, CacheKey key, Text *out) {
    bool found = (k->bundles && qbundle_code(*k->bundles, key, out)) || get_from_disk(k, key, out);
    if (found && k->listener) k->listener(k->ud, key, out->s, out->len);
    return found;
}

typedef struct {
    char name[NAME + 1];
    time_t used;
    size_t bytes;
} Entry;
typedef struct {
    Entry *all;
    uint32_t n, cap;
    size_t total;
} EntryList;

static int older_first(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

/* Lists the entries and removes the temporary files of processes that were killed. */
static void list_entries(Cache *k, EntryList *l) {
    int fd = openat(k->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0) close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        if (e->d_name[0] == '.' && e->d_name[1] != 't') continue;
        if (fstatat(k->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode)) continue;
        if (strlen(e->d_name) != NAME) {
            if (time(NULL) - st.st_mtime > STALE) unlinkat(k->dir, e->d_name, 0);
            continue;
        }
        qmem_grow(k->ctx, &l->all, &l->cap, l->n, sizeof *l->all);
        Entry *x = &l->all[l->n++];
        memcpy(x->name, e->d_name, NAME + 1);
        x->used = st.st_mtime, x->bytes = (size_t)st.st_size, l->total += x->bytes;
    }
    closedir(d);
}

/* If the total size exceeds the bound, removes the oldest entries until at most three quarters of it are used. */
static void sweep(Cache *k) {
    EntryList l = {0};
    list_entries(k, &l);
    if (l.total > k->bound) {
        qsort(l.all, l.n, sizeof *l.all, older_first);
        for (uint32_t i = 0; i < l.n && l.total > k->bound / 4 * 3; i++)
            if (!unlinkat(k->dir, l.all[i].name, 0)) l.total -= l.all[i].bytes;
    }
    qmem_free(k->ctx, l.all, l.cap * sizeof *l.all);
    k->swept = true, k->puts = 0;
}

bool qcache_put(Cache *k, CacheKey key, const void *p, size_t n) {
    char name[NAME + 1], tmp[64];
    if (k->listener) k->listener(k->ud, key, p, n);
    if (k->dir < 0 || n + sizeof(Header) > k->bound) return false;
    Header h = {.n = n, .key = key, .sum = qcache_key(key, p, n)};
    memcpy(h.magic, magic, sizeof magic);
    name_of(key, name);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(tmp, sizeof tmp, ".tmp-%ld-%lld%09ld", (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
    int fd = openat(k->dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool ok = write_all(fd, &h, sizeof h) && write_all(fd, p, n);
    ok = !close(fd) && ok;
    ok = ok && !renameat(k->dir, tmp, k->dir, name);
    if (!ok) unlinkat(k->dir, tmp, 0);
    if (!k->swept || ++k->puts >= PUTS_PER_SWEEP) sweep(k);
    return ok;
}

CacheSize qcache_size(Cache *k) {
    EntryList l = {0};
    if (k->dir >= 0) list_entries(k, &l);
    qmem_free(k->ctx, l.all, l.cap * sizeof *l.all);
    return (CacheSize){l.n, l.total, k->bound};
}

size_t qcache_clear(Cache *k) {
    EntryList l = {0};
    size_t gone = 0;
    if (k->dir >= 0) list_entries(k, &l);
    for (uint32_t i = 0; i < l.n; i++) gone += !unlinkat(k->dir, l.all[i].name, 0);
    qmem_free(k->ctx, l.all, l.cap * sizeof *l.all);
    return gone;
}
