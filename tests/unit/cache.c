/* The cache on disk: hits, damage, foreign directories, processes that write at once or are killed, the size limit. */
#include "devices/cache.h"
#include "tests/unit/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static Ctx ctx;
static char dir[] = "/tmp/quasar-test-XXXXXX";

static CacheKey key_of(const char *s) { return qcache_key((CacheKey){{0, 0}}, s, strlen(s)); }

static bool holds(Cache *k, const char *name, const char *value) {
    Text t;
    qtext_init(&t, &ctx);
    bool ok = qcache_get(k, key_of(name), &t) && t.len == strlen(value) && !memcmp(t.s, value, t.len);
    qtext_free(&t);
    return ok;
}

static void test_basics(void) {
    Cache *k = qcache_open(&ctx, dir, 0);
    CHECK_TEXT(qcache_why(k), "");
    CHECK(!holds(k, "a", "alpha"));
    qcache_put(k, key_of("a"), "alpha", 5);
    CHECK(holds(k, "a", "alpha") && !holds(k, "b", "alpha"));
    qcache_put(k, key_of("a"), "gamma", 5);
    CHECK(holds(k, "a", "gamma"));
    qcache_close(&ctx, k);
    k = qcache_open(&ctx, dir, 0);
    CHECK(holds(k, "a", "gamma"));
    qcache_close(&ctx, k);
    k = qcache_open(&ctx, "", 0);
    qcache_put(k, key_of("a"), "alpha", 5);
    CHECK(!holds(k, "a", "alpha") && *qcache_why(k));
    qcache_close(&ctx, k);
}

static void path_of(char *out, size_t n, const char *name) {
    CacheKey k = key_of(name);
    snprintf(out, n, "%s/kernels/%016llx%016llx", dir, (unsigned long long)k.w[0], (unsigned long long)k.w[1]);
}

/* Every byte of an entry matters; a damaged entry counts as absent and is removed. */
static void test_damage(void) {
    char path[200];
    Cache *k = qcache_open(&ctx, dir, 0);
    path_of(path, sizeof path, "d");
    for (int at = 0; at < 60; at++) {
        qcache_put(k, key_of("d"), "0123456789", 10);
        int fd = open(path, O_RDWR);
        char c;
        if (fd < 0 || pread(fd, &c, 1, at) != 1) {
            CHECK(at >= 58);
            close(fd);
            break;
        }
        c ^= 1;
        CHECK(pwrite(fd, &c, 1, at) == 1);
        close(fd);
        CHECK(!holds(k, "d", "0123456789") && access(path, F_OK) != 0);
    }
    qcache_put(k, key_of("d"), "0123456789", 10);
    CHECK(truncate(path, 50) == 0 && !holds(k, "d", "0123456789"));
    qcache_close(&ctx, k);
}

static void test_private(void) {
    char sub[100], other[100];
    struct stat st;
    snprintf(sub, sizeof sub, "%s/kernels", dir);
    CHECK(stat(sub, &st) == 0 && (st.st_mode & 0777) == 0700);
    chmod(sub, 0755);
    Cache *k = qcache_open(&ctx, dir, 0);
    CHECK(*qcache_why(k) && !holds(k, "a", "gamma"));
    qcache_close(&ctx, k);
    chmod(sub, 0700);
    snprintf(other, sizeof other, "%s/moved", dir);
    CHECK(rename(sub, other) == 0 && symlink(other, sub) == 0);
    k = qcache_open(&ctx, dir, 0);
    CHECK(*qcache_why(k));
    qcache_close(&ctx, k);
    unlink(sub);
    CHECK(rename(other, sub) == 0);
}

static void write_forever(void) {
    static char big[200000];
    Cache *k = qcache_open(&ctx, dir, 0);
    for (unsigned i = 0;; i++) {
        memset(big, (int)(i % 7), sizeof big);
        qcache_put(k, key_of("shared"), big, sizeof big);
    }
}

/* Every read returns one writer's complete entry, also when writers are killed in the middle. */
static void test_processes(void) {
    pid_t child[3];
    Text t;
    int hits = 0;
    for (int i = 0; i < 3; i++)
        if (!(child[i] = fork())) write_forever();
    Cache *k = qcache_open(&ctx, dir, 0);
    qtext_init(&t, &ctx);
    for (int round = 0; round < 400; round++) {
        if (round % 100 == 99) {
            kill(child[round / 100 % 3], SIGKILL);
            waitpid(child[round / 100 % 3], NULL, 0);
            if (!(child[round / 100 % 3] = fork())) write_forever();
        }
        if (!qcache_get(k, key_of("shared"), &t)) {
            usleep(200);
            continue;
        }
        hits++;
        bool whole = t.len == 200000;
        for (size_t i = 1; whole && i < t.len; i++) whole = t.s[i] == t.s[0];
        if (!whole) CHECK(!"a torn entry was read");
    }
    for (int i = 0; i < 3; i++) kill(child[i], SIGKILL), waitpid(child[i], NULL, 0);
    CHECK(hits > 20);
    qtext_free(&t);
    qcache_close(&ctx, k);
}

static size_t total_bytes(void) {
    char path[400];
    size_t sum = 0;
    struct stat st;
    snprintf(path, sizeof path, "%s/kernels", dir);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/kernels/%s", dir, e->d_name);
        if (e->d_name[0] != '.' && !stat(path, &st)) sum += (size_t)st.st_size;
    }
    if (d) closedir(d);
    return sum;
}

static void test_bound(void) {
    static char bytes[5000];
    char name[20];
    Cache *k = qcache_open(&ctx, dir, 100000);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "e%d", i);
        qcache_put(k, key_of(name), bytes, sizeof bytes);
    }
    CHECK(total_bytes() < 100000 + 33 * 5100);
    qcache_close(&ctx, k);
    k = qcache_open(&ctx, dir, 100000);
    qcache_put(k, key_of("last"), bytes, sizeof bytes);
    CHECK(total_bytes() <= 100000);
    qcache_clear(k);
    static char large[100000];
    qcache_put(k, key_of("too large"), large, sizeof large);
    CHECK(total_bytes() == 0);
    qcache_close(&ctx, k);
}

/* The least recently used entries are removed. */
static void test_oldest_go(void) {
    static char bytes[5000];
    char name[20], path[400];
    Text t;
    qtext_init(&t, &ctx);
    Cache *k = qcache_open(&ctx, dir, 100000);
    for (int i = 0; i < 25; i++) {
        snprintf(name, sizeof name, "e%d", i * 7 % 25); /* not in the order of their ages */
        qcache_put(k, key_of(name), bytes, sizeof bytes);
    }
    for (int i = 0; i < 25; i++) {
        snprintf(name, sizeof name, "e%d", i);
        path_of(path, sizeof path, name);
        struct timespec used = {time(NULL) - 1000 * i, 0}, both[2] = {used, used};
        CHECK(utimensat(AT_FDCWD, path, both, 0) == 0);
    }
    qcache_close(&ctx, k);
    k = qcache_open(&ctx, dir, 100000);
    qcache_put(k, key_of("last"), bytes, sizeof bytes); /* the first one checks the limit */
    int kept = 0;
    for (int i = 0; i < 25; i++) {
        snprintf(name, sizeof name, "e%d", i);
        bool here = qcache_get(k, key_of(name), &t);
        CHECK(!here || i == kept);
        kept += here;
    }
    CHECK(kept >= 12 && kept < 20 && qcache_get(k, key_of("last"), &t));
    qtext_free(&t);
    qcache_close(&ctx, k);
}

int main(void) {
    char command[100];
    qctx_init(&ctx, 32);
    if (!mkdtemp(dir)) return 1;
    test_basics();
    test_damage();
    test_private();
    test_processes();
    test_bound();
    test_oldest_go();
    snprintf(command, sizeof command, "rm -rf %s", dir);
    CHECK(system(command) == 0);
    qctx_close(&ctx);
    return check_done();
}
