/* each.cuh -- CUDA C functions of one position each.  nvcc makes kernels of them, and the C compiler of this machine makes
 * what they must compute (tests/cuda/cases.c).
 *
 * EACH(name, type of a and b, type of y, units in the last place that may differ, body that sets y from a and b) */
#ifndef EACH_HELPERS
#define EACH_HELPERS
#ifdef __CUDACC__
#define FN __device__ __noinline__
#else
#define FN static __attribute__((noinline))
#define __popc(x) __builtin_popcount(x)
#define __popcll(x) __builtin_popcountll(x)
#define __clz(x) ((x) ? __builtin_clz((unsigned)(x)) : 32)
#define __clzll(x) ((x) ? __builtin_clzll((unsigned long long)(x)) : 64)
#define __mulhi(x, y) ((int)((long long)(x) * (y) >> 32))
#define __umulhi(x, y) ((unsigned)((unsigned long long)(x) * (y) >> 32))
#define __mul64hi(x, y) ((long long)((__int128)(x) * (y) >> 64))
static unsigned __brev(unsigned x) {
    unsigned r = 0;
    for (int k = 0; k < 32; k++) r |= (x >> k & 1) << (31 - k);
    return r;
}
static unsigned __byte_perm(unsigned a, unsigned b, unsigned c) {
    unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned r = 0;
    for (int k = 0; k < 4; k++) r |= ((unsigned)(both >> 8 * (c >> 4 * k & 7)) & 255) << 8 * k;
    return r;
}
static unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
    return (unsigned)(((unsigned long long)hi << 32 | lo) << (s & 31) >> 32);
}
#endif

typedef struct { float x, y, z, w; } Four;
typedef struct { int n; double d[3]; } Mixed;
FN Mixed mixed_of(int a, double b) {
    Mixed m;
    m.n = a, m.d[0] = b, m.d[1] = b * a, m.d[2] = b - a;
    return m;
}
FN double mixed_sum(Mixed m) { return m.n + m.d[0] + m.d[1] + m.d[2]; }
FN float polynomial(float x, int n) {
    float s = 0;
    for (int k = 0; k < n; k++) s = s * x + (float)k;
    return s;
}
FN int chosen(int kind, int a, int b) {
    switch (kind) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a & b;
    case 4: return a | b;
    case 5: return a ^ b;
    case 6: return a < b ? a : b;
    case 7: return b ? a % b : 7;
    default: return -1;
    }
}
#endif

EACH(int_sums, int, int, 0, y = (int)((unsigned)a + (unsigned)b * 3u - 7u))
EACH(int_quotients, int, int, 0, y = b && !(a == INT_MIN && b == -1) ? a / b * 1000 + a % b : -5)
EACH(int_by_constants, int, int, 0, y = a / 7 + a % 7 * 10 + (a / 16) * 3 + a % 10)
EACH(int_shifts, int, int, 0, y = (a >> (b & 31)) ^ (int)((unsigned)a << (b & 15)))
EACH(int_order, int, int, 0, y = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a > b) + 16 * (a != b))
EACH(int_least, int, int, 0, y = (a < b ? a : b) ^ (a > 17 ? a : 17))
EACH(int_halves, short, int, 0, y = a * b + (short)(a + b) + (unsigned char)a)
EACH(int_bytes, signed char, int, 0, y = a * 3 - b + (signed char)(a * b))
EACH(int_abs, int, int, 0, y = (int)(a < 0 ? 0u - (unsigned)a : (unsigned)a))
EACH(unsigned_quotients, unsigned, unsigned, 0, y = b ? a / b + a % b * 3u : 9u)
EACH(unsigned_bits, unsigned, unsigned, 0, y = (unsigned)__popc(a) + 64u * (unsigned)__clz((int)b) + (__brev(a) ^ b))
EACH(unsigned_bytes, unsigned, unsigned, 0, y = __byte_perm(a, b, 0x3715))
EACH(unsigned_funnel, unsigned, unsigned, 0, y = __funnelshift_l(a, b, 11) ^ (a << 5 | a >> 27))
EACH(unsigned_fields, unsigned, unsigned, 0, y = (a >> 5 & 0x3ff) | (b & 0xfff) << 12)
EACH(high_products, int, int, 0, y = __mulhi(a, b) ^ (int)__umulhi((unsigned)a, (unsigned)b))
EACH(long_sums, long long, long long, 0, y = (long long)((unsigned long long)a * 3u + (unsigned long long)b))
EACH(long_quotients, long long, long long, 0, y = b && b != -1 ? a / b + a % b : 3)
EACH(long_high, long long, long long, 0, y = __mul64hi(a, b))
EACH(long_bits, unsigned long long, int, 0, y = __popcll(a) + 100 * __clzll((long long)b))
EACH(long_shifts, unsigned long long, unsigned long long, 0, y = a << (b & 63) | a >> (63 - (b & 63)))
EACH(float_sums, float, float, 0, y = a + b * 0.5f - 1.25f)
EACH(float_quotients, float, float, 0, y = a / b)
EACH(float_roots, float, float, 0, y = sqrtf(fabsf(a)) + 1 / sqrtf(1 + fabsf(b)))
EACH(float_fused, float, float, 0, y = fmaf(a, b, a))
EACH(float_least, float, float, 0, y = fminf(a, b) - fmaxf(a, 2.5f))
EACH(float_order, float, int, 0, y = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * !(a > b) + 16 * (a != b) + 32 * isnan(a))
EACH(float_to_int, float, int, 0, y = fabsf(a) < 1e9f ? (int)a + (int)floorf(a) * 2 + (int)rintf(a) * 4 : 0)
EACH(float_to_long, float, long long, 0, y = fabsf(a) < 1e9f ? (long long)(a * 1000.f) : 0)
EACH(float_rounded, float, float, 0, y = floorf(a) + 2 * ceilf(b) - 3 * truncf(a) + rintf(b))
EACH(float_of_int, int, float, 0, y = (float)a + (float)(unsigned)b)
EACH(float_of_long, long long, float, 0, y = (float)a)
EACH(float_from_bits, float, unsigned, 0, union { float f; unsigned u; } v; v.f = a + b; y = v.f == v.f ? v.u : 1u)
EACH(float_remainder, float, float, 0, y = fmodf(a, b))
EACH(float_parts, float, float, 0, int e; y = frexpf(a, &e); y = ldexpf(y, e & 15))
EACH(double_sums, double, double, 0, y = a * b - a / (1 + b * b))
EACH(double_roots, double, double, 0, y = sqrt(a * a + 2) - fma(a, b, b))
EACH(double_rounded, double, double, 0, y = floor(a) + rint(b) * 2 + trunc(a))
EACH(double_to_float, double, float, 0, y = (float)a - (float)(a * b))
EACH(double_to_long, double, long long, 0, y = fabs(a) < 1e15 ? (long long)a : 1)
EACH(double_of_long, long long, double, 0, y = (double)a + (double)(unsigned long long)b)
EACH(float_sin, float, float, 3, y = sinf(a))
EACH(float_cos_far, float, float, 3, y = cosf(a * 40000.f))
EACH(float_exp, float, float, 4, y = expf(a * 0.5f))
EACH(float_log, float, float, 4, y = logf(fabsf(a) + 0.125f))
EACH(float_pow, float, float, 8, y = powf(fabsf(a) + 0.5f, b * 0.25f))
EACH(float_tanh, float, float, 4, y = tanhf(a))
EACH(float_erf, float, float, 4, y = erff(a))
EACH(float_atan2, float, float, 4, y = atan2f(a, b))
EACH(float_cbrt, float, float, 3, y = cbrtf(a))
EACH(double_sin, double, double, 3, y = sin(a))
EACH(double_cos_far, double, double, 3, y = cos(a * 1e7))
EACH(double_exp, double, double, 3, y = exp(a))
EACH(double_log, double, double, 3, y = log(fabs(a) + 0.125))
EACH(double_pow, double, double, 4, y = pow(fabs(a) + 0.5, b))
EACH(double_gamma, double, double, 12, y = tgamma(fabs(a) * 0.25 + 0.5))
EACH(collatz, unsigned, int, 0, unsigned x = a % 5000u + 1u; y = 0; while (x != 1 && y < 200) { x = x % 2 ? 3 * x + 1 : x / 2; y++; })
EACH(chosen_by_switch, int, int, 0, y = chosen((int)((unsigned)a % 10u), a, b))
EACH(calls, float, float, 0, y = polynomial(a * 0.01f, 3 + (b > 0)))
EACH(structs, int, double, 0, y = mixed_sum(mixed_of(a % 1000, b * 0.5)))
EACH(local_array, int, int, 0, int t[16]; for (int k = 0; k < 16; k++) t[k] = a + k * b % 97; y = t[a & 15] - t[b & 15])
EACH(local_sorted, int, int, 0, int t[8]; for (int k = 0; k < 8; k++) t[k] = (int)((unsigned)a * (unsigned)(k + 3) >> (k + 1)) ^ b;
     for (int k = 1; k < 8; k++) for (int m = k; m > 0 && t[m - 1] > t[m]; m--) { int s = t[m]; t[m] = t[m - 1]; t[m - 1] = s; }
     y = t[3] - t[7])
EACH(vectors, float, float, 0, Four v; v.x = a; v.y = b; v.z = a * b; v.w = a - b; Four u = v; u.x += v.w; y = u.x * u.y + u.z - u.w)
EACH(nested_loops, int, int, 0, y = 0; for (int k = 0; k < (int)((unsigned)a % 7u); k++) { if (b >> k & 1) continue; for (int m = 0; m < k + 2; m++) { y += m * k; if (y > 40) break; } })
EACH(early_return, int, int, 0, y = -1; if (a > 0) { y = a; if (b > a) { y = b; if (b % 3 == 0) y = 0; } })
#undef EACH
