/* emit_c.c -- prints a kernel as a C99 program, which runs it on small inputs and prints the results.
 *
 *     first line       C: the kernel's name
 *     prelude          functions of OpenCL C, defined in C
 *     the kernel       a function that loops over all positions
 *     main             inputs as bits, one launch, the memory of each array that was written
 *
 * C99 is a dialect of emit_clike.c.  The program is meant for reading, for compiler warnings and sanitizers, for
 * debugging, and for machines that have only a C compiler.  Compiled without contraction of a*b + c
 * (gcc -std=c99 -ffp-contract=off k.c -lm), its results are bitwise equal to those of the reference device.  Kernels
 * whose positions wait for each other (syncthreads, shared) cannot be printed. */
#include "lang/kernel/codegen/emit_clike.h"

#include <stdio.h>
#include <string.h>

static const char prelude[] =
    "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"
    "#include <tgmath.h>\n\n"
    "static inline uint32_t as_uint(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }\n"
    "static inline uint64_t as_ulong(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }\n"
    "static inline float as_float(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }\n"
    "static inline double as_double(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }\n"
    "static inline uint32_t atomic_cmpxchg(uint32_t *p, uint32_t old, uint32_t new) {\n"
    "    uint32_t seen = *p;\n    if (seen == old) *p = new;\n    return seen;\n}\n"
    "static inline float vload_half(size_t i, const uint16_t *p) {\n"
    "    uint32_t h = p[i], e = h >> 10 & 31, m = h & 1023;\n"
    "    float x = e == 31 ? (m ? NAN : INFINITY) : ldexpf((float)(e ? m | 1024 : m), (int)(e ? e : 1) - 25);\n"
    "    return h >> 15 ? -x : x;\n}\n"
    "static inline void vstore_half_rte(float x, size_t i, uint16_t *p) {\n"
    "    uint32_t u = as_uint(x), s = u >> 16 & 0x8000, m = u & 0x7fffffff;\n"
    "    if (m > 0x7f800000) p[i] = (uint16_t)(s | 0x7e00);\n"
    "    else if (m >= 0x477ff000) p[i] = (uint16_t)(s | 0x7c00);\n"
    "    else if (m < 0x38800000) p[i] = (uint16_t)(s | (as_uint(as_float(m) + 0.5f) - 0x3f000000));\n"
    "    else p[i] = (uint16_t)(s | (m - 0x38000000 + 0xfff + (m >> 13 & 1)) >> 13);\n}\n\n";

static void head(const Clike *e, Text *out) { qtext_printf(out, "/* C: %s */\n%s", e->f->name->s, prelude); }

static const Dialect plain_c = {
    .words = {"int64_t", "uint64_t", "uint32_t", "uint16_t", "uint8_t", "", "", "static void"},
    .types =
        {
#define DTYPE(id, name, c, ...) [QS_##id] = #c,
#include "vm/base/dtypes.def"
        },
    .suffix = "LL",
    .pipeline = PIPELINE_C,
    .head = head};

/* -- small inputs -------------------------------------------------------------------------------------------------- */
enum { BEYOND = 3 /* extent of array axes beyond the rank of the launch */ };
static const int extents[QS_MAX_RANK + 1] = {0, 12, 5, 4, 3, 2, 2, 2, 2};

/* Returns a sample value: an integer near 0, sometimes plus a half.  The period of the pattern is not a multiple of an
 * extent. */
static double sample_value(int param, int64_t k, qs_dtype d) {
    int64_t n = (7 * k + 3 * param) % 11 - 3;
    if (d == QS_B1) return n > 0;
    return qdtype_is_int(d) ? (double)(n < 0 ? -n : n) : (double)n + (k % 4 == 1) * 0.5;
}

static void sample_array(Arena *a, const KFunc *f, int param, KSampleArg *out) {
    const KParam *p = &f->params[param];
    qs_dtype real = qdtype_real_of((qs_dtype)p->dtype);
    int64_t n = 1, parts = qdtype_is_complex((qs_dtype)p->dtype) ? 2 : 1;
    for (int d = p->rank - 1; d >= 0; d--) {
        out->dims[d] = d < f->rank ? extents[f->rank] - (d > 0 && d == f->rank - 1) : BEYOND;
        out->strides[d] = n, n *= out->dims[d];
    }
    out->nbytes = qmem_size((size_t)n, qmem_size((size_t)parts, qdtype_size(real), 0), 0);
    char *block = qarena_alloc(a, out->nbytes);
    for (int64_t k = 0; k < n * parts; k++)
        qdtype_put(real, block + (size_t)k * qdtype_size(real), sample_value(param, k, real));
    out->block = block;
}

void kemit_c_sample(Arena *a, const KFunc *f, KSample *out) {
    *out =
        (KSample){.launch.rank = f->rank, .args = qarena_alloc(a, qmem_size((size_t)f->nparams, sizeof *out->args, 0))};
    for (int d = 0; d < f->rank; d++) {
        out->launch.domain[d] = extents[f->rank] - (d > 0 && d == f->rank - 1);
        out->launch.block[d] = f->fixed_block ? f->block[d] : (int32_t)out->launch.domain[d];
    }
    for (int i = 0; i < f->nparams; i++) {
        qs_dtype d = (qs_dtype)f->params[i].dtype;
        if (f->params[i].kind == KP_ARRAY) sample_array(a, f, i, &out->args[i]);
        else qdtype_put(d, &out->args[i].bits, d == QS_B1 ? 1 : qdtype_is_int(d) ? 2 : 1.5);
    }
}

/* -- main ---------------------------------------------------------------------------------------------------------- */
static const char *type_of(qs_dtype d) { return plain_c.types[qdtype_real_of(d)]; }

/* Prints the elements of an array as bits, so that every value is exact. */
static void print_memory(Text *out, const KFunc *f, int param, const KSampleArg *a) {
    qs_dtype d = qdtype_real_of((qs_dtype)f->params[param].dtype);
    size_t size = qdtype_size(d), n = a->nbytes / size;
    const char *word = size == 1 ? "uint8_t" : size == 2 ? "uint16_t" : size == 4 ? "uint32_t" : "uint64_t";
    qtext_printf(out, "static union { %s bits[%zu]; %s value[%zu]; } m%d = {{", word, n ? n : 1, type_of(d), n ? n : 1,
                 param);
    for (size_t k = 0; k < n; k++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)a->block + k * size, size);
        qtext_printf(out, "%s0x%llx", k ? k % 12 ? ", " : ",\n    " : "", (unsigned long long)bits);
    }
    qtext_puts(out, n ? "}};\n" : "0}};\n");
}

static void print_view(Text *out, const KParam *p, int param, const KSampleArg *a) {
    qtext_printf(out, "    const q_view%d d%d = {{%lld", p->rank, param, (long long)a->offset);
    for (int d = 0; d < p->rank; d++) qtext_printf(out, ", %lld", (long long)a->dims[d]);
    for (int d = 0; d < p->rank; d++) qtext_printf(out, ", %lld", (long long)a->strides[d]);
    qtext_puts(out, "}};\n");
}

static void print_argument(Text *out, const KParam *p, int param, const KSampleArg *a) {
    unsigned long long bits = a->bits;
    if (p->kind == KP_ARRAY) qtext_printf(out, ", (uint8_t *)m%d.value, d%d", param, param);
    else if (p->dtype == QS_F32) qtext_printf(out, ", as_float(0x%llxu)", bits & UINT32_MAX);
    else if (p->dtype == QS_F64) qtext_printf(out, ", as_double(0x%llxu)", bits);
    else qtext_printf(out, ", (%s)0x%llxu", type_of((qs_dtype)p->dtype), bits);
}

/* Prints code that prints one line for an array: its name, then its elements in memory order. */
static void print_result(Text *out, const KFunc *f, int param, const KSampleArg *a) {
    const KParam *p = &f->params[param];
    qs_dtype d = qdtype_real_of((qs_dtype)p->dtype);
    const char *how = d == QS_F64 ? "%.17g" : qdtype_is_real(d) ? "%.9g" : d == QS_U64 ? "%llu" : "%lld";
    const char *to = qdtype_is_real(d) ? "double" : d == QS_U64 ? "unsigned long long" : "long long";
    char name[24];
    snprintf(name, sizeof name, qdtype_is_short(d) ? "m%d.bits" : "m%d.value", param);
    qtext_printf(out, "    printf(\"%s:\");\n", p->name->s);
    size_t n = a->nbytes / qdtype_size(d);
    qtext_printf(out, "    for (size_t i = 0; i < %zu; i++) printf(\" %s\", (%s)(", n, how, to);
    kclike_element(out, &plain_c, d, name, "i");
    qtext_puts(out, "));\n    puts(\"\");\n");
}

static void print_list(Text *out, const char *name, int n, const int64_t *wide, const int32_t *narrow) {
    qtext_printf(out, ".%s = {", name);
    for (int i = 0; i < n; i++)
        qtext_printf(out, "%s%lld", i ? ", " : "", (long long)(wide ? wide[i] : narrow ? narrow[i] : 0));
    qtext_puts(out, "}");
}

static void print_launch(Text *out, const KLaunch *l) {
    int32_t count[QS_MAX_RANK];
    for (int d = 0; d < l->rank; d++) count[d] = (int32_t)((l->domain[d] + l->block[d] - 1) / l->block[d]);
    qtext_puts(out, "    const q_launch q = {");
    print_list(out, "domain", l->rank, l->domain, NULL), qtext_puts(out, ", ");
    print_list(out, "block", l->rank, NULL, l->block), qtext_puts(out, ", ");
    print_list(out, "count", l->rank, NULL, count), qtext_puts(out, "};\n");
}

/* Prints code that prints the message of a failed CHECK, with its placeholders. */
static void print_fault(Text *out, const KFunc *f) {
    qtext_puts(out, "    static const char *const messages[] = {");
    for (int i = 0; i < f->nmessages; i++) {
        qtext_puts(out, i ? ", \"" : "\"");
        for (const char *p = f->messages[i].text->s; *p; p++)
            qtext_printf(out, *p == '"' || *p == '\\' ? "\\%c" : *p == '\n' ? " " : "%c", *p);
        qtext_puts(out, "\"");
    }
    qtext_puts(out, "};\n    if (fault.message) printf(\"message %u: %s\\n\", fault.message, "
                    "messages[fault.message - 1]);\n");
}

static void print_main(Text *out, const KFunc *f, const KSample *s) {
    bool checks = kir_has(f, K_CHECK);
    qtext_puts(out, "\n");
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].kind == KP_ARRAY) print_memory(out, f, i, &s->args[i]);
    qtext_puts(out, "\nint main(void) {\n");
    print_launch(out, &s->launch);
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].kind == KP_ARRAY) print_view(out, &f->params[i], i, &s->args[i]);
    if (checks) qtext_puts(out, "    static q_fault fault;\n");
    qtext_puts(out, "    " KEMIT_C_ENTRY "(q");
    for (int i = 0; i < f->nparams; i++) print_argument(out, &f->params[i], i, &s->args[i]);
    qtext_puts(out, checks ? ", &fault);\n" : ");\n");
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].written) print_result(out, f, i, &s->args[i]);
    if (checks) print_fault(out, f);
    qtext_puts(out, "    return 0;\n}\n");
}

bool kemit_c(Ctx *c, const KFunc *f, const KSample *sample, Text *out) {
    Arena a;
    KSample own;
    if (f->barrier || f->shared) {
        qtext_printf(out, "/* C: %s cannot be said: its positions wait for each other */\n", f->name->s);
        return false;
    }
    qarena_init(&a, c);
    bool called = sample || !f->strict;
    if (!sample) kemit_c_sample(&a, f, &own), sample = &own;
    kclike_print(c, &plain_c, f, KEMIT_C_ENTRY, out, NULL);
    if (called) print_main(out, f, sample);
    else /* only the program knows which counters and extents of arrays are valid together */
        qtext_puts(out, "\n/* a loop of the program: call it with the counters and arrays that the program has */\n"
                        "int main(void) { return 0; }\n");
    qarena_free(&a);
    return true;
}
