/* Derivatives of kernels, by name: each is compared with differences, and the two directions with each other. */
#include "tests/support/kir_grad.h"
#include "tests/support/lowered.h"

#include <math.h>

enum { N = 64 };

/* Arguments of a case: `x` and `y` are what kernels read and write, in float64. */
typedef struct {
    double x[N * N], y[N * N], w[N * N];
} Data;

static void fill(double *p, int n, double scale, uint64_t seed) {
    for (int i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        p[i] = scale * ((double)(seed >> 33) * 0x1p-30 - 1) + 0.01;
    }
}

typedef struct {
    const char *text;
    int rank;
    int64_t domain[3];
    TArg arg[6];
    int nargs;
    bool serial, again, gathers, reverse_only, own;
    int windows, block;
    int joins; /* upper bound of products left, out of 100, with fast math */
} Case;

/* Results: products and quotients of the backward pass. */
static int try_math(const Case *k, bool fast, const char *file, int line) {
    int n = 0;
    Lowered t;
    Arena arena;
    LowerResult r = {0};
    Text why;
    lowered_open(&t, k->text);
    t.c.scalar_dtype = QS_F64, t.serial = k->serial;
    if (k->block) t.block[0] = k->block, t.has_block = true;
    qarena_init(&arena, &t.c), qtext_init(&why, &t.c);
    qs_status s = lowered_lower(&t, &arena, "f", k->rank, (TArg *)k->arg, k->nargs, &r);
    check_report(s == QS_OK, file, line, "the kernel is lowered");
    if (s == QS_OK) {
        lowered_bind(r.func, r.binds, k->arg, t.kargs);
        r.func->fast |= fast;
        KGradCase g = {.ctx = &t.c,
                       .arena = &arena,
                       .func = r.func,
                       .args = t.kargs,
                       .seed = 1,
                       .again = k->again,
                       .reverse_only = k->reverse_only,
                       .launch = {.rank = k->rank}};
        for (int i = 0; i < k->rank; i++)
            g.launch.domain[i] = k->domain[i], g.launch.block[i] = k->block ? k->block : 1;
        if (r.func->fixed_block) memcpy(g.launch.block, r.func->block, sizeof g.launch.block);
        bool ok = kgradtest_check(&g, &why);
        n = g.nproducts;
        check_report(ok, file, line, "derivatives agree");
        if (ok && k->gathers) check_report(g.natomics == 0, file, line, "no atomic updates are left");
        if (ok && k->own) check_report(g.nzeros == 0, file, line, "nothing is written that nobody asks for");
        if (ok && k->windows) check_report(g.natomics == k->windows, file, line, "updates are summed up in windows");
        if (!ok) printf("  %s\n", why.s);
    } else printf("  %s\n", t.c.err.text);
    qtext_free(&why), qarena_free(&arena);
    lowered_close(&t);
    return n;
}

static void try(const Case *k, const char *file, int line) {
    int exact = try_math(k, false, file, line), fast = try_math(k, true, file, line);
    if (k->joins) check_report(fast <= exact * k->joins / 100, file, line, "products are joined");
}

#define KERNEL(params, body)   "function [] = __kernel__ f(" params ")\n" body "\nend\n"
#define XY(body)               KERNEL("x : vec, y : vec, pos : int", body)
#define XYN(body)              KERNEL("x : vec, y : vec, n : int, pos", body)
#define XYW(body)              KERNEL("x : vec, y : vec, w : vec, pos", body)
#define V(p, n)                ((TArg){T_ARRAY, QS_F64, 1, {n}, p, 0, 0})
#define C(p, n)                ((TArg){T_ARRAY, QS_C128, 1, {n}, p, 0, 0})
#define M(p, m, n)             ((TArg){T_ARRAY, QS_F64, 2, {m, n}, p, 0, 0})
#define ARGS(...)              {__VA_ARGS__}, (int)(sizeof((TArg[]){__VA_ARGS__}) / sizeof(TArg))
#define TRY_0(text, n, ...)    try(&(Case){text, 1, {n}, ARGS(__VA_ARGS__), .again = false}, __FILE__, __LINE__)
#define TRY_1(text, n, ...)    try(&(Case){text, 1, {n}, ARGS(__VA_ARGS__), .again = true}, __FILE__, __LINE__)
#define TRY_2(text, m, n, ...) try(&(Case){text, 2, {m, n}, ARGS(__VA_ARGS__), .again = true}, __FILE__, __LINE__)
#define GATHERS(text, n, ...)  try(&(Case){text, 1, {n}, ARGS(__VA_ARGS__), .gathers = true}, __FILE__, __LINE__)
#define SERIAL(text, n, ...)   try(&(Case){text, 1, {n}, ARGS(__VA_ARGS__), .serial = true}, __FILE__, __LINE__)

#define GROUPS(text, n, ...) try(&(Case){text, 1, {n}, ARGS(__VA_ARGS__), .reverse_only = true}, __FILE__, __LINE__)

static Data d;

static void straight(void) {
    TRY_1(XY("y[pos] = sin(x[pos])*x[pos]"), 12, V(d.x, 12), V(d.y, 12));
    TRY_1(KERNEL("x : vec, y : vec, a : scalar, pos", "y[pos] = a*x[pos] + a^2 + exp(a*x[3])"), 12, V(d.x, 12),
          V(d.y, 12), NUM(0.7));
    TRY_1(XY("y[pos] = x[pos] > 0.2 ? x[pos]^2 : 3*x[pos]"), 12, V(d.x, 12), V(d.y, 12));
    TRY_1(XY("{!kernel fast_math=true}\na = x[pos]^2 + 0.1\nb = a + x[mod(pos+1,12)]^2\n"
             "y[pos] = 1/(a*sqrt(a)) + x[pos]*sqrt(b)*b + sin(b)/sqrt(b)"),
          12, V(d.x, 12), V(d.y, 12));
    TRY_1(XY("if x[pos] > 0\n z = x[pos]*x[pos]\n y[pos] = z*exp(z)\nelse\n"
             "y[pos] = cos(x[pos])*x[mod(pos+1,12)]\nend"),
          12, V(d.x, 12), V(d.y, 12));
    TRY_1(XY("y[pos] = max(x[pos],0.1)*min(x[pos],x[11-pos]) + abs(x[pos])"), 12, V(d.x, 12), V(d.y, 12));
}

/* A set of known difficult cases. */
static void loops(void) {
    /* set before a loop with run-time bounds, used after it */
    TRY_1(XYN("a = x[pos]*x[pos]\ns = 0.0\nfor i=0..n-1\n s += x[i]\nend\n"
              "y[pos] = s*a + sin(s)"),
          8, V(d.x, 8), V(d.y, 8), INT(8));
    /* nested, with run-time bounds, and statements between */
    TRY_1(XYN("s = 0.0\nfor i=0..n-1\n t = x[i]\n for j=0..i\n  t = t*x[j] + x[pos]\n"
              " end\n s += t*t\n for k=1..n-1\n  s = s*0.9 + sin(t)*x[k]\n end\n s = s*x[i]\nend\ny[pos] = s"),
          5, V(d.x, 5), V(d.y, 5), INT(5));
    /* a product, by constant bounds and by others */
    TRY_1(XY("p = 1.0\nfor i=0..5\n p = p*(x[i] + x[pos])\nend\ny[pos] = p"), 6, V(d.x, 6), V(d.y, 6));
    TRY_1(XYN("p = 1.0\nfor i=0..3..n-1\n p = p*(x[i] + 0.5)\nend\ny[pos] = p"), 6, V(d.x, 6), V(d.y, 6), INT(6));
    TRY_1(XYN("p = 1.0\nfor i=n-1..-2..0\n p = p*(x[i] + 0.5)\nend\ny[pos] = p"), 6, V(d.x, 6), V(d.y, 6), INT(6));
    TRY_1(XYN("p = x[pos]\nfor i=n..n-3\n p = p*(x[i] + 0.5)\nend\ny[pos] = p"), 6, V(d.x, 6), V(d.y, 6), INT(6));
    /* a loop in a branch in a loop */
    TRY_1(XYN("s = x[pos]\nfor i=0..n-1\n if x[i] > 0\n  for j=0..n-1\n"
              "   s = s*x[j] + x[i]\n  end\n  s = sin(s)\n else\n  q = s*s\n  s = q*x[i]\n end\nend\ny[pos] = s"),
          6, V(d.x, 6), V(d.y, 6), INT(6));
}

static void jumps(void) {
    TRY_1(XYN("best = -1000.0\nfor i=0..n-1\n v = x[i]*x[mod(i+pos,n)]\n"
              " if v < best\n  continue\n end\n best = v\nend\ny[pos] = best*best"),
          7, V(d.x, 7), V(d.y, 7), INT(7));
    TRY_1(XYN("s = 1.0\nfor i=0..n-1\n if x[i] > 0.6\n  break\n end\n"
              " s = s*x[i] + x[pos]\nend\ny[pos] = s"),
          9, V(d.x, 9), V(d.y, 9), INT(9));
    TRY_0(XY("z = x[pos]\nn = 0\nwhile n < 9 && abs(z) < 4\n z = z*z + x[pos]\n n += 1\n"
             " if z > 2\n  continue\n end\n z += 0.1*x[0]\nend\ny[pos] = z"),
          9, V(d.x, 9), V(d.y, 9));
    TRY_1(XY("if x[pos] < 0\n y[pos] = x[pos]*x[0]\n return\nend\ny[pos] = sin(x[pos])"), 9, V(d.x, 9), V(d.y, 9));
    /* Newton's method, to convergence */
    TRY_0(XY("a = abs(x[pos]) + 0.5\nr = a\nwhile abs(r*r - a) > 1e-14\n r = 0.5*(r + a/r)\n"
             "end\ny[pos] = r"),
          9, V(d.x, 9), V(d.y, 9));
}

static void many_iterations(void) {
    const char *text = XYN("s = x[pos]\nfor i=0..n-1\n s = sin(s) + 0.9*x[0]\nend\n"
                           "y[pos] = s");
    const int turns[] = {0, 1, 2, 47, 48, 49, 50, 65, 100, 500, 10000};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) TRY_0(text, 2, V(d.x, 2), V(d.y, 2), INT(turns[i]));
}

/* Sums of integers that the backward pass subtracts again, and other sums that look similar. */
static void pointers(void) {
    static const char *const step[] = {"at += k",
                                       "at -= k*k - n",
                                       "at = 2*k + at",
                                       "at = at - (k + pos)",
                                       "at = k - at",
                                       "at += k\n at += 1",
                                       "if mod(k,2) == 0\n  at += k\n end",
                                       "step += k\n at += step",
                                       "at += mod(at,3)",
                                       "at *= 2"};
    char text[500];
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        snprintf(text, sizeof text,
                 XYN("s = x[pos]\nat = 3\nstep = 1\nfor k=0..n-1\n"
                     " s = sin(s)*x[mod(at,5)] + x[mod(at + k,5)]\n %s\nend\n"
                     "s *= x[mod(at,5)]\nat = 0\ny[pos] = s + at"),
                 step[i]);
        TRY_1(text, 5, V(d.x, 5), V(d.y, 5), INT(6));
        TRY_1(text, 5, V(d.x, 5), V(d.y, 5), INT(60));
    }
    /* sums of a copy: taken before the loop, in this iteration, or in the previous one */
    static const char *const copied[] = {"at = m + k",
                                         "at = k + m",
                                         "at = m - 1",
                                         "at = m + at",
                                         "at = k - at",
                                         "at = at + at",
                                         "at = m + k\n m = at",
                                         "m = at\n at = k\n at = m + k",
                                         "if mod(k,2) == 0\n  at = m + k\n end",
                                         "at += k\n at = m + k",
                                         "for j=0..2\n  at = m + j\n end",
                                         "if k == 50\n  break\n end\n at = m + k",
                                         "if mod(k,3) == 0\n  continue\n end\n at = m + k"};
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        snprintf(text, sizeof text,
                 XYN("s = x[pos]\nat = 3\nfor k=0..n\n if mod(k,2) == 0\n  at = k\n end\nend\n"
                     "m = at\nfor k=0..n-1\n s = sin(s)*x[mod(at,5)] + x[mod(at + k,5)]\n"
                     " %s\nend\ny[pos] = s*x[mod(at,5)]"),
                 copied[i]);
        TRY_1(text, 5, V(d.x, 5), V(d.y, 5), INT(6));
        TRY_1(text, 5, V(d.x, 5), V(d.y, 5), INT(60));
    }
    TRY_1(XYN("s = 0.0\nat = 0\nfor a=0..n-1\n t = x[a]\n for b=0..a-1\n  t += x[mod(at,5)]*x[b]\n  at += 1\n"
              " end\n s += t*t\nend\ny[pos] = s"),
          5, V(d.x, 5), V(d.y, 5), INT(5));
    TRY_1(XYN("s = x[pos]\nat = 40\nk = 0\nif n > 2\n while s*s > 1e-3 && k < n\n  s = 0.7*sin(s) + 0.1*x[mod(at,5)]\n"
              "  at -= 7\n  k += 1\n end\nend\ny[pos] = s*k"),
          5, V(d.x, 5), V(d.y, 5), INT(55));
}

static void overwritten(void) {
    TRY_1(KERNEL("x : vec, pos", "x[pos] = x[pos]*sin(x[pos])"), 9, V(d.x, 9));
    TRY_1(XY("y[pos] = x[pos]*x[pos]\ny[pos] = y[pos]*y[pos]\nx[pos] = y[pos]*x[pos]"), 9, V(d.x, 9), V(d.y, 9));
    TRY_1(XYN("for i=0..n-1\n y[pos] = y[pos]*x[i] + sin(y[pos])\nend"), 5, V(d.x, 5), V(d.y, 5), INT(5));
    TRY_2(KERNEL("x : mat, pos : ivec2", "if pos[1] == 0\n for i=1..4\n  x[pos[0],i] = x[pos[0],i]*x[pos[0],i-1]\n"
                                         " end\n x[pos] = x[pos]^3\nend"),
          4, 5, M(d.x, 4, 5));
    /* the same element twice */
    TRY_1(XY("y[pos] = x[pos]\ny[pos] = x[0]*x[pos]"), 9, V(d.x, 9), V(d.y, 9));
    TRY_1(XY("y[pos] += x[pos]*x[0]\ny[0] += x[pos]^2\ny[1] -= x[pos]^2"), 9, V(d.x, 9), V(d.y, 9));
}

/* Updates of elements that several positions share, other than sums. */
static void met(void) {
    static const char *const op[] = {"^^=", "__=", "*=", "/="};
    char text[300];
    for (size_t i = 0; i < sizeof op / sizeof *op; i++) {
        snprintf(text, sizeof text, XY("y[mod(pos,3)] %s x[pos]*x[0] + 0.2"), op[i]);
        GROUPS(text, 9, V(d.x, 9), V(d.y, 4));
        snprintf(text, sizeof text,
                 XYN("for i=0..mod(pos,n)\n if x[i] > -0.5\n  y[mod(i,2)] %s exp(x[i])*x[pos]\n"
                     " end\nend"),
                 op[i]);
        GROUPS(text, 9, V(d.x, 9), V(d.y, 3), INT(4));
        snprintf(text, sizeof text, KERNEL("x : vec, y : mat, pos", "y[mod(pos,2),1] %s x[pos]"), op[i]);
        GROUPS(text, 9, V(d.x, 9), M(d.y, 3, 4));
    }
}

static void in_order(void) {
    SERIAL(XY("y[pos] = x[pos] + 0.5*y[pos-1]"), 9, V(d.x, 9), V(d.y, 9));
    SERIAL(XY("y[pos] = x[pos]*sin(y[pos-1]) + y[pos-1]*y[pos]"), 9, V(d.x, 9), V(d.y, 9));
    SERIAL(XY("y[0] = y[0]*x[pos] + 1\nfor i=0..pos\n y[1] = sin(y[1])*x[i]\nend"), 9, V(d.x, 9), V(d.y, 9));
}

static void borders(void) {
    static const char *const mode[] = {"'mirror", "'reflect", "'clamped", "'circular", "'safe", ""};
    const int64_t sizes[][2] = {{7, 9}, {1, 1}, {2, 1}, {3, 2}};
    for (size_t m = 0; m < sizeof mode / sizeof *mode; m++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            char text[400];
            snprintf(text, sizeof text,
                     KERNEL("x : mat%s, y : mat, pos : ivec2",
                            "s = 0.0\nfor m=-2..2\n for n=-2..2\n"
                            "  s += (m+2*n+1)*x[pos+[m,n]]\n end\nend\ny[pos] = s*x[pos-[1,0]]"),
                     mode[m]);
            TRY_2(text, sizes[n][0], sizes[n][1], M(d.x, sizes[n][0], sizes[n][1]), M(d.y, sizes[n][0], sizes[n][1]));
            snprintf(text, sizeof text,
                     KERNEL("x : mat%s, y : mat, w : vec, pos : ivec2", "s = 0.0\nfor m=-2..2\n"
                                                                        " s += w[m+2]*x[pos+[m,0]]\nend\ny[pos] = s"),
                     mode[m]);
            TRY_2(text, sizes[n][0], sizes[n][1], M(d.x, sizes[n][0], sizes[n][1]), M(d.y, sizes[n][0], sizes[n][1]),
                  V(d.w, 5));
        }
}

static void indirect(void) {
    TRY_1(XYW("i = int(abs(w[pos])*7.3)\nj = int(abs(w[mod(i,9)])*5.1)\n"
              "y[pos] = x[mod(i,9)]*x[mod(j,9)]"),
          9, V(d.x, 9), V(d.y, 9), V(d.w, 9));
    TRY_1(XYW("i = int(abs(w[pos])*7.3)\ny[mod(i,3)] += x[pos]*x[pos]"), 9, V(d.x, 9), V(d.y, 9), V(d.w, 9));
}

static void private_arrays(void) {
    TRY_1(XY("t = zeros(5)\nfor i=0..4\n t[i] = x[mod(i+pos,9)]*x[i]\nend\ns = 0.0\n"
             "for i=0..4\n s += t[i]*t[4-i]\nend\ny[pos] = s"),
          9, V(d.x, 9), V(d.y, 9));
    TRY_1(XY("t = zeros(5)\nt[0] = x[pos]\nfor i=1..4\n t[i] = sin(t[i-1])*x[i]\nend\n"
             "for i=1..4\n t[i-1] = t[i]*t[i-1]\nend\ny[pos] = t[0]*t[3]"),
          9, V(d.x, 9), V(d.y, 9));
    /* a bubble sort: the backward pass applies the permutation */
    TRY_1(XY("t = zeros(5)\nfor i=0..4\n t[i] = x[mod(i*3+pos,9)]\nend\nfor i=0..3\n"
             " for j=0..3-i\n  if t[j] > t[j+1]\n   a = t[j]\n   t[j] = t[j+1]\n   t[j+1] = a\n  end\n end\nend\n"
             "y[pos] = t[2]*t[2]"),
          9, V(d.x, 9), V(d.y, 9));
}

static void vectors(void) {
    TRY_1(KERNEL("x : vec, y : vec, p : vec3, pos : int", "q = [x[pos],x[0],1.0]\nr = q.*p + p\n"
                                                          "y[pos] = norm(r)*sum(r.*q)"),
          6, V(d.x, 6), V(d.y, 6), V(d.w, 3));
}

/* The adjoint of a complex number contains the derivatives by its real part and by its imaginary part. */
static void complex_numbers(void) {
    static const char *const body[] = {"exp(x[pos])",
                                       "x[pos]*x[pos] + conj(x[pos])",
                                       "1/x[pos]",
                                       "sqrt(x[pos])",
                                       "log(x[pos])",
                                       "sin(x[pos])*x[0]",
                                       "tanh(x[pos])",
                                       "x[pos]^3",
                                       "complex(real(x[pos])^2,abs(x[pos]))"};
    for (size_t i = 0; i < sizeof body / sizeof *body; i++) {
        char text[200];
        snprintf(text, sizeof text, KERNEL("x : cvec, y : cvec, pos", "y[pos] = %s"), body[i]);
        TRY_1(text, 5, C(d.x, 5), C(d.y, 5));
    }
    TRY_1(KERNEL("x : cvec, y : vec, pos", "y[pos] = imag(exp(x[pos]))"), 5, C(d.x, 5), V(d.y, 5));
}

/* The column `derivative` of elem.def: functions of one number between 0 and 1 (of acosh: between 1 and 2), of two. */
static void functions(void) {
    static const char *const one[] = {"sin",   "cos",   "tan",      "asin",  "acos", "atan",    "sinh",   "cosh",
                                      "tanh",  "asinh", "atanh",    "exp",   "exp2", "expm1",   "log",    "log2",
                                      "log10", "log1p", "sqrt",     "cbrt",  "erf",  "erfc",    "lgamma", "tgamma",
                                      "abs",   "frac",  "softsign", "floor", "sign", "saturate"};
    static const char *const two[] = {"atan2(x[pos],y[pos])", "hypot(x[pos],y[pos])",
                                      "x[pos]^y[pos]",        "x[pos]/y[pos]",
                                      "mod(x[pos]*5,y[pos])", "min(x[pos],y[pos])",
                                      "max(x[pos],y[pos])",   "acosh(1+x[pos])*lgamma(-y[pos])*tgamma(-1-x[pos])"};
    char text[200];
    for (int i = 0; i < 8; i++) d.w[i] = 0.1 + 0.11 * i, d.w[i + 8] = 0.93 - 0.1 * i;
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        snprintf(text, sizeof text, XY("y[pos] = %s(x[pos])"), one[i]);
        TRY_1(text, 8, V(d.w, 8), V(d.y, 8));
    }
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        snprintf(text, sizeof text, XY("y[pos] = %s"), two[i]);
        TRY_1(text, 8, V(d.w, 8), V(d.w + 8, 8));
    }
    fill(d.w, N * N, 0.9, 3);
}

/* Sums that each element accumulates, whatever the names of the loops and the launch. */
static void gathered(void) {
    TRY_2(KERNEL("x : mat, w : mat, y : mat, n : int, pos : ivec2",
                 "s = 0.0\nfor k=0..n-1\n s += x[pos[0],k]*w[k,pos[1]]\nend\ny[pos] = s"),
          4, 6, M(d.x, 4, 5), M(d.w, 5, 6), M(d.y, 4, 6), INT(5));
    TRY_1(KERNEL("x : mat, y : mat, n : int, pos : int",
                 "for j=0..n-1\n for c=0..2\n  e = x[j,c] - x[pos,c]\n  y[pos,c] += e*exp(-e*e)\n end\nend"),
          6, M(d.x, 6, 3), M(d.y, 6, 3), INT(6));
    TRY_1(KERNEL("x : mat, y : mat, n : int, pos : int",
                 "a = 0.0\nb = 0.0\nfor j=n-1..-1..0\n e = x[0,j] - x[0,pos]\n f = x[1,j] - x[1,pos]\n"
                 " r = e*e + f*f + 1\n a += e/r\n b += f/r\nend\ny[0,pos] = a\ny[1,pos] = b"),
          6, M(d.x, 2, 6), M(d.y, 2, 6), INT(6));
    /* rows without bounds checks, which are distinguished by non-negative values */
    GATHERS(KERNEL("x : mat'unchecked, y : mat'unchecked, n : int, pos : int",
                   "a = 0.0\nb = 0.0\nfor j=0..n-1\n e = x[0,j] - x[0,pos]\n f = x[1,j] - x[1,pos]\n"
                   " r = 1/(e*e + f*f + 1)\n a += e*r\n b += f*r\nend\ny[0,pos] = a\ny[1,pos] = b"),
            6, M(d.x, 2, 6), M(d.y, 2, 6), INT(6));
    /* pairs of positions and iterations: equally many, more of one, more of the other, and none of one */
    for (int n = -2; n <= 8; n += 2)
        try(&(Case){KERNEL("x : mat'unchecked, y : mat'unchecked, w : vec'unchecked, n : int, pos : int",
                           "a = 0.0\nb = 0.0\nfor j=0..n-1\n e = x[0,j] - x[0,pos]\n f = x[1,pos] - x[1,j]\n"
                           " r = w[j]/(e*e + f*f + 1)\n a += e*r\n b += f*r*x[0,j]\nend\ny[0,pos] = a\ny[1,pos] = b"),
                    1,
                    {4},
                    ARGS(M(d.x, 2, 8), M(d.y, 2, 8), V(d.w, 8), INT(n)),
                    .gathers = true},
            __FILE__, __LINE__);
    /* sites of the same side outside of the loop, at another distance, and under a condition */
    TRY_1(KERNEL("x : vec, y : vec, n : int, pos : int",
                 "a = x[pos]^2\nfor j=0..n-1\n e = x[j] - x[pos]\n a += e*x[pos+1]\n if e > 0.1\n  a += sin(e)*x[j+1]\n"
                 " end\nend\ny[pos] = a"),
          6, V(d.x, 9), V(d.y, 6), INT(5));
    TRY_1(KERNEL("x : mat'unchecked, y : vec, n : int, pos : int",
                 "for j=1..n\n y[pos] += x[1,pos-j+n]*x[0,j]*x[1,j-n+pos+1]\nend"),
          3, M(d.x, 2, 8), V(d.y, 3), INT(4));
    TRY_2(KERNEL("x : mat, y : mat, w : vec, a : scalar, pos : ivec2",
                 "s = a*w[5]\nfor k=0..4\n s += w[k]*x[pos]^k\nend\ny[pos] = s*a"),
          4, 6, M(d.x, 4, 6), M(d.y, 4, 6), V(d.w, 6), NUM(0.7));
    /* a launch that is smaller than its arrays, and one that is larger */
    TRY_2(KERNEL("x : mat'mirror, y : mat, pos : ivec2", "y[pos] = x[pos+[1,-1]]*2 + x[pos[1],pos[0]]"), 3, 4,
          M(d.x, 7, 6), M(d.y, 5, 6));
    TRY_2(KERNEL("x : mat'safe, y : mat, pos : ivec2", "y[pos] = x[pos+[1,-1]]*2 + x[pos[0],2]"), 9, 8, M(d.x, 7, 6),
          M(d.y, 5, 6));
    TRY_1(XYN("if pos > 2\n for k=0..n-1\n  if x[k] > 0\n   y[pos] += x[k]*x[pos-2]\n  end\n end\nend"), 8, V(d.x, 8),
          V(d.y, 8), INT(8));
}

/* A position takes the adjoint of its own element, and need not reset it to zero for others. */
static void spent(void) {
    try(&(Case){KERNEL("x : mat'mirror, y : mat, pos : ivec2", "y[pos] = x[pos+[1,-1]]*x[pos]"),
                2,
                {5, 6},
                ARGS(M(d.x, 5, 6), M(d.y, 5, 6)),
                .own = true},
        __FILE__, __LINE__);
    try(&(Case){XY("y[pos] = sin(x[pos])*x[pos+1]"), 1, {8}, ARGS(V(d.x, 9), V(d.y, 8)), .own = true}, __FILE__,
        __LINE__);
    TRY_1(XY("y[pos] = x[pos]\nif x[pos] > 0\n y[pos] = y[pos]*x[pos+1]\nend"), 8, V(d.x, 9), V(d.y, 8));
}

/* Powers of a number and its root are combined; a common factor of two products is extracted. */
static void joined(void) {
    try(&(Case){KERNEL("x : mat'unchecked, y : mat'unchecked, n : int, pos : int",
                       "a = 0.0\nb = 0.0\nfor j=0..n-1\n e = x[0,j] - x[0,pos]\n f = x[1,j] - x[1,pos]\n"
                       " d = e*e + f*f + 1\n r = 1/(d*sqrt(d))\n a += e*r\n b += f*r\nend\ny[0,pos] = a\n"
                       "y[1,pos] = b"),
                1,
                {6},
                ARGS(M(d.x, 2, 6), M(d.y, 2, 6), INT(6)),
                .gathers = true,
                .joins = 72},
        __FILE__, __LINE__);
    try(&(Case){XY("a = x[pos]^2 + 0.1\ny[pos] = sqrt(a)*a*a/(a*sqrt(a)*a)*x[pos] + (a - x[pos])*(x[pos] - a)"),
                1,
                {9},
                ARGS(V(d.x, 9), V(d.y, 9)),
                .again = true,
                .joins = 60},
        __FILE__, __LINE__);
    /* terms come from sums that are used elsewhere, too, or are before the loop */
    TRY_1(XYN("a = x[pos]*x[0] + x[1]*x[2]\nb = x[3]*x[pos] - a\ns = 0.0\nfor k=0..n-1\n"
              " s += a + x[k]*x[0] - b*x[k]\nend\ny[pos] = s*b - a*x[0]"),
          9, V(d.x, 9), V(d.y, 9), INT(4));
    TRY_0(XY("a = 1/x[pos]\nb = a*a*a*a*a*a*a*a*a*a*a\ny[pos] = 0.01*b*b*x[pos]^20 - a/sqrt(x[pos]^2+1)*0*x[pos]"), 9,
          V(d.x, 9), V(d.y, 9));
}

/* Additions of many iterations, summed first; weights that loops compute, saved for each iteration. */
static void windows(void) {
    static const char *const mode[] = {"'mirror", "'reflect", "'clamped", "'circular", "'safe", ""};
    const int64_t sizes[][2] = {{7, 9}, {1, 1}, {2, 5}};
    for (size_t m = 0; m < sizeof mode / sizeof *mode; m++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            char text[600];
            int64_t h = sizes[n][0], w = sizes[n][1];
            snprintf(text, sizeof text,
                     KERNEL("x : mat%s, y : mat, pos : ivec2",
                            "a = 0.0\nb = 0.1\nfor m=-2..2\n for n=2..-2..-2\n"
                            "  d = 0.0\n  for k=0..1\n   for l=-1..1\n    e = x[pos+[k,l]] - x[pos+[m+k,n+l]]\n"
                            "    d += e*e\n   end\n  end\n  g = exp(-d)\n  a += g*x[pos+[m,n]]\n  b += g\n end\nend\n"
                            "y[pos] = a/b"),
                     mode[m]);
            try(&(Case){text, 2, {h, w}, ARGS(M(d.x, h, w), M(d.y, h, w)), .windows = 2}, __FILE__, __LINE__);
        }
    /* by a loop with an unknown iteration count, by two positions in a row, and under conditions: not all are
     * windows */
    TRY_1(XYN("s = 0.0\nfor i=0..n-1\n for k=-1..1\n  s += sin(x[pos+k]*(1+0.05*s)+i)\n end\nend\ny[pos] = s"), 9,
          V(d.x, 9), V(d.y, 9), INT(40));
    TRY_1(XY("s = 0.0\nfor i=0..9\n for k=0..3\n  s += sin(s*x[2*pos+k-i] + x[i-k])\n end\nend\ny[pos] = s"), 9,
          V(d.x, 18), V(d.y, 9));
    TRY_1(XY("s = 0.0\nfor i=0..9\n t = 0.0\n for k=0..3\n  if x[k] > 0\n   t += cos(s*x[pos+k-i])\n  end\n end\n"
             " if t > 0.5\n  s += t*t\n end\nend\ny[pos] = s"),
          9, V(d.x, 18), V(d.y, 9));
}

/* Values that are used twice, sixty levels deep: visiting each path would take exponential time. */
static void deep(void) {
    char body[4096] = "s = x[pos]*x[mod(pos+1,8)]\n", text[5000];
    for (int i = 0; i < 60; i++) strcat(body, "s = 0.4*s*s + 0.3*s + 0.1\n");
    snprintf(text, sizeof text, KERNEL("x : vec'safe, y : vec, a : scalar, pos : int", "%sy[pos] = s*a*x[pos+1]"),
             body);
    TRY_0(text, 8, V(d.x, 8), V(d.y, 8), NUM(0.3));
}

/* A sum over a block in shared memory: phases are reversed one by one. */
static void shared(void) {
    const char *text = KERNEL("x : vec, y : vec, pos : int, blkpos : int, blkdim : int",
                              "s = shared(blkdim)\ns[blkpos] = x[pos]*x[pos]\nsyncthreads\nn = 1\nwhile n < blkdim\n"
                              " if mod(blkpos,2*n) == 0 && blkpos + n < blkdim\n"
                              "  s[blkpos] = s[blkpos]*0.5 + sin(s[blkpos+n])\n end\n syncthreads\n n *= 2\nend\n"
                              "y[pos] = s[0]*x[pos]");
    try(&(Case){text, 1, {16}, ARGS(V(d.x, 16), V(d.y, 16)), .block = 8}, __FILE__, __LINE__);
}

int main(void) {
    fill(d.x, N * N, 0.9, 1), fill(d.y, N * N, 0.9, 2), fill(d.w, N * N, 0.9, 3);
    straight(), loops(), jumps(), many_iterations(), pointers(), overwritten(), met(), in_order(), borders(),
        indirect();
    private_arrays(), vectors(), complex_numbers(), functions(), gathered(), spent(), joined(), windows(), shared();
    deep();
    return check_done();
}
