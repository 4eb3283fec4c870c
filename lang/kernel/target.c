/* target.c -- see target.h. */
#include "lang/kernel/target.h"
#include "devices/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

/* -- the machine we run on ----------------------------------------------------------------------------------------- */
#if defined(__x86_64__)
/* Family, model and features, as LLVM will see them: two processors with equal words run the same code. */
CacheKey ktarget_machine(void) {
    CacheKey k = {{0, 0}};
    static const unsigned leaves[][2] = {{0, 0},    {1, 0},    {7, 0},          {7, 1},         {0xd, 1},
                                         {0x14, 0}, {0x19, 0}, {0x80000001, 0}, {0x80000008, 0}};
    unsigned most[2] = {__get_cpuid_max(0, NULL), __get_cpuid_max(0x80000000, NULL)};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        unsigned w[4] = {0}, leaf = leaves[i][0];
        if (leaf <= most[leaf >> 31]) __cpuid_count(leaf, leaves[i][1], w[0], w[1], w[2], w[3]);
        if (leaves[i][0] == 1) w[1] = 0, w[2] &= ~(1u << 27); /* number of this core; a bit the kernel sets */
        if (leaves[i][0] == 0xd) w[1] = w[2] = w[3] = 0;
        k = qcache_key(k, w, sizeof w);
    }
    bool avx = __builtin_cpu_supports("avx2"), wide = __builtin_cpu_supports("avx512f"); /* these ask the kernel, too */
    return qcache_key(k, (bool[]){avx, wide}, 2);
}

/* Bits of a leaf that every processor has, for which __builtin_cpu_supports of clang 14 has no name.  Where a
 * hypervisor answers, a question takes 5 µs. */
static bool has_bits(unsigned leaf, unsigned bits) {
    unsigned w[4];
    __cpuid(leaf, w[0], w[1], w[2], w[3]);
    return (w[2] & bits) == bits;
}

enum { MOVBE = 1 << 22, F16C = 1 << 29, LZCNT = 1 << 5 };

static void describe(KTarget *t) {
    char *isa = t->mvec;
    t->half = __builtin_cpu_supports("avx") && has_bits(1, F16C), t->fma = __builtin_cpu_supports("fma");
    *isa++ = 'b';
    if (__builtin_cpu_supports("avx2")) *isa++ = 'd';
    if (__builtin_cpu_supports("avx512f")) *isa++ = 'e';
}
#else
CacheKey ktarget_machine(void) {
    unsigned long w[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    return qcache_key((CacheKey){{0, 0}}, w, sizeof w);
}

static void describe(KTarget *t) { t->half = t->fma = true; }
#endif

int ktarget_libc(void) {
    const char *dot = strchr(gnu_get_libc_version(), '.');
    return dot ? atoi(dot + 1) : 0;
}

KTarget ktarget_host(void) {
    KTarget t = {.libc = ktarget_libc()};
    describe(&t);
    return t;
}

/* -- levels of x86-64 ---------------------------------------------------------------------------------------------- */
typedef struct {
    const char *name;
    KTarget has;
    bool (*runs)(void);
} Level;

#if defined(__x86_64__)
static bool runs_v2(void) { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"); }

static bool runs_v3(void) {
    return runs_v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && has_bits(1, MOVBE | F16C) &&
           has_bits(0x80000001, LZCNT);
}

static bool runs_v4(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && runs_v3();
}
#else
static bool runs_v2(void) { return false; }
#define runs_v3 runs_v2
#define runs_v4 runs_v2
#endif

/* From the least on. */
static const Level levels[] = {
    {"x86-64-v2", {.mvec = "b"}, runs_v2},
    {"x86-64-v3", {.mvec = "bd", .half = true, .fma = true}, runs_v3},
    {"x86-64-v4", {.mvec = "bde", .half = true, .fma = true}, runs_v4},
};
enum { LEVELS = sizeof levels / sizeof *levels, NATIVE_RANK = LEVELS + 1 };

static const Level *level_named(const char *name) {
    for (int i = 0; i < LEVELS; i++)
        if (!strcmp(name, levels[i].name) || !strcmp(name, levels[i].name + strlen("x86-64-"))) return &levels[i];
    return NULL;
}

bool ktarget_level(const char *name, int libc, KTarget *out) {
    const Level *l = level_named(name);
    if (!l) return false;
    *out = l->has;
    out->libc = libc;
    return true;
}

int ktarget_rank(const char *name, int libc) {
    const Level *l = level_named(name);
    if (!strcmp(name, "native")) return NATIVE_RANK; /* its key names the processor */
    return l && libc <= ktarget_libc() && l->runs() ? (int)(l - levels) + 1 : 0;
}

/* -- lists --------------------------------------------------------------------------------------------------------- */
static bool is_sm(const char *word) {
    int n = 0, end = 0;
    return sscanf(word, "sm_%d%n", &n, &end) == 1 && !word[end] && n > 0 && qptx_target(n) == n;
}

static bool find(const char *word, TargetName *out) {
    const Level *l = level_named(word);
    bool sm = is_sm(word), opencl = !strcmp(word, "opencl");
    if (!l && !sm && !opencl && strcmp(word, "native")) return false;
    out->kind = sm ? CODE_PTX : opencl ? CODE_OPENCL : CODE_NATIVE;
    snprintf(out->name, sizeof out->name, "%s", l ? l->name : word);
    return true;
}

bool ktarget_next(const char **list, TargetName *out) {
    char word[TARGET_NAME];
    size_t n = strcspn(*list, ",");
    if (!n || n >= sizeof word) return false;
    memcpy(word, *list, n);
    word[n] = 0;
    if (!find(strncmp(word, "ptx:sm_", 7) ? word : word + 4, out)) return false;
    *list += n + ((*list)[n] == ',' && (*list)[n + 1]);
    return true;
}
