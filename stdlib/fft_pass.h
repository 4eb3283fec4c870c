/* fft_pass.h -- implements the loops of fft.h for one element type; included twice, with REAL, N(name) and LANES, the
 * number of elements of a vector, defined.
 *
 * A pass maps m*radix*s vectors x[q + s*(p + m*j)] to y[q + s*(radix*p + k)] (Stockham's self-sorting order,
 * decimation in frequency).  The innermost index q runs over independent sequences.  Real and imaginary parts are in
 * separate arrays. */

typedef REAL N(V) __attribute__((vector_size(FFT_BYTES), may_alias));
typedef struct {
    N(V) * re, *im;
} N(Split);

#define LOAD(name, j) N(V) name##r = xr[(j)*ms + q], name##i = xi[(j)*ms + q]
/* Stores output k, times its twiddle factor unless this is the last pass. */
#define STORE(k, a, b)                                                                                                 \
    do {                                                                                                               \
        N(V) a_ = (a), b_ = (b);                                                                                       \
        if (last) yr[(k)*s + q] = a_, yi[(k)*s + q] = b_;                                                              \
        else yr[(k)*s + q] = a_ * wr[k] - b_ * wi[k], yi[(k)*s + q] = a_ * wi[k] + b_ * wr[k];                         \
    } while (0)
#define STORE_FIRST(a, b) yr[q] = (a), yi[q] = (b)

#define PASS(r, ...)                                                                                                   \
    static inline __attribute__((always_inline)) void N(radix##r)(N(Split) x, N(Split) y, size_t m, size_t s,          \
                                                                  const REAL *w, bool last) {                          \
        size_t ms = m * s;                                                                                             \
        for (size_t p = 0; p < m; p++, w += 2 * (r - 1)) {                                                             \
            const N(V) *xr = x.re + p * s, *xi = x.im + p * s;                                                         \
            N(V) *yr = y.re + p * r * s, *yi = y.im + p * r * s;                                                       \
            REAL wr[r], wi[r];                                                                                         \
            for (int k = 1; k < r && !last; k++) wr[k] = w[2 * k - 2], wi[k] = w[2 * k - 1];                           \
            for (size_t q = 0; q < s; q++) __VA_ARGS__                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    static void N(pass##r)(N(Split) x, N(Split) y, size_t m, size_t s, const REAL *w) {                                \
        if (m == 1) N(radix##r)(x, y, 1, s, w, true);                                                                  \
        else N(radix##r)(x, y, m, s, w, false);                                                                        \
    }

PASS(2, {
    LOAD(a, 0);
    LOAD(b, 1);
    STORE_FIRST(ar + br, ai + bi);
    STORE(1, ar - br, ai - bi);
})

PASS(3, {
    const REAL h = (REAL)0.86602540378443864676;
    LOAD(a, 0);
    LOAD(b, 1);
    LOAD(c, 2);
    N(V) tr = br + cr, ti = bi + ci, ur = (bi - ci) * h, ui = (cr - br) * h;
    N(V) vr = ar - tr * (REAL)0.5, vi = ai - ti * (REAL)0.5;
    STORE_FIRST(ar + tr, ai + ti);
    STORE(1, vr + ur, vi + ui);
    STORE(2, vr - ur, vi - ui);
})

PASS(4, {
    LOAD(a, 0);
    LOAD(b, 1);
    LOAD(c, 2);
    LOAD(d, 3);
    N(V) acr = ar + cr, aci = ai + ci, bdr = br + dr, bdi = bi + di;
    N(V) er = ar - cr, ei = ai - ci, fr = bi - di, fi = dr - br; /* f = -i (b - d) */
    STORE_FIRST(acr + bdr, aci + bdi);
    STORE(1, er + fr, ei + fi);
    STORE(2, acr - bdr, aci - bdi);
    STORE(3, er - fr, ei - fi);
})

PASS(5, {
    const REAL c1 = (REAL)0.30901699437494742410, c2 = (REAL)-0.80901699437494742410;
    const REAL s1 = (REAL)0.95105651629515357212, s2 = (REAL)0.58778525229247312917;
    LOAD(a, 0);
    LOAD(b, 1);
    LOAD(c, 2);
    LOAD(d, 3);
    LOAD(e, 4);
    N(V) pr = br + er, pi = bi + ei, ur = br - er, ui = bi - ei, qr = cr + dr, qi = ci + di, vr = cr - dr, vi = ci - di;
    N(V) fr = ar + c1 * pr + c2 * qr, fi = ai + c1 * pi + c2 * qi, gr = s1 * ur + s2 * vr, gi = s1 * ui + s2 * vi;
    N(V) hr = ar + c2 * pr + c1 * qr, hi = ai + c2 * pi + c1 * qi, kr = s2 * ur - s1 * vr, ki = s2 * ui - s1 * vi;
    STORE_FIRST(ar + pr + qr, ai + pi + qi);
    STORE(1, fr + gi, fi - gr);
    STORE(2, hr + ki, hi - kr);
    STORE(3, hr - ki, hi + kr);
    STORE(4, fr - gi, fi + gr);
})

/* Two transforms of length 4: of the sums, and of the differences rotated by multiples of 45 degrees. */
PASS(8, {
    const REAL h = (REAL)0.70710678118654752440;
    LOAD(a, 0);
    LOAD(b, 1);
    LOAD(c, 2);
    LOAD(d, 3);
    LOAD(e, 4);
    LOAD(f, 5);
    LOAD(g, 6);
    LOAD(k, 7);
    N(V)
    aer = ar + er, aei = ai + ei, cgr = cr + gr, cgi = ci + gi, bfr = br + fr, bfi = bi + fi, dkr = dr + kr,
    dki = di + ki;
    N(V) sr = aer + cgr, si = aei + cgi, tr = bfr + dkr, ti = bfi + dki;
    STORE_FIRST(sr + tr, si + ti);
    STORE(4, sr - tr, si - ti);
    N(V) ur = aer - cgr, ui = aei - cgi, vr = bfi - dki, vi = dkr - bfr;
    STORE(2, ur + vr, ui + vi);
    STORE(6, ur - vr, ui - vi);
    N(V) ger = ar - er, gei = ai - ei, hr = ci - gi, hi = gr - cr; /* h = -i (c - g) */
    N(V) lr = br - fr, li = bi - fi, or = dr - kr, oi = di - ki;
    N(V) mr = (lr + li) * h, mi = (li - lr) * h, nr = (oi - or) * h, ni = (or +oi) * -h;
    N(V) wer = ger + hr, wei = gei + hi, xer = mr + nr, xei = mi + ni;
    N(V) yer = ger - hr, yei = gei - hi, zer = mi - ni, zei = nr - mr;
    STORE(1, wer + xer, wei + xei);
    STORE(5, wer - xer, wei - xei);
    STORE(3, yer + zer, yei + zei);
    STORE(7, yer - zer, yei - zei);
})
#undef STORE
#undef STORE_FIRST
#undef LOAD
#undef PASS

/* Computes a pass of an odd radix by the definition, for outputs k and r-k together; c contains exp(-2 pi i k/r). */
static void N(pass_any)(N(Split) x, N(Split) y, int r, size_t m, size_t s, const REAL *w) {
    const REAL *c = w + 2 * (size_t)(r - 1) * m;
    int half = (r - 1) / 2;
    size_t ms = m * s;
    N(V) sr[FFT_RADIX / 2], si[FFT_RADIX / 2], dr[FFT_RADIX / 2], di[FFT_RADIX / 2];
    for (size_t p = 0; p < m; p++, w += 2 * (r - 1))
        for (size_t q = 0; q < s; q++) {
            const N(V) *xr = x.re + p * s + q, *xi = x.im + p * s + q;
            N(V) *yr = y.re + p * (size_t)r * s + q, *yi = y.im + p * (size_t)r * s + q, tr = *xr, ti = *xi;
            for (int j = 0; j < half; j++) {
                N(V) ar = xr[(size_t)(j + 1) * ms], ai = xi[(size_t)(j + 1) * ms];
                N(V) br = xr[(size_t)(r - 1 - j) * ms], bi = xi[(size_t)(r - 1 - j) * ms];
                sr[j] = ar + br, si[j] = ai + bi, dr[j] = ar - br, di[j] = ai - bi;
                tr += sr[j], ti += si[j];
            }
            *yr = tr, *yi = ti;
            for (int k = 1; k <= half; k++) {
                N(V) er = *xr, ei = *xi, fr = {0}, fi = {0};
                for (int j = 0, at = k; j < half; j++, at = at + k < r ? at + k : at + k - r) {
                    REAL re = c[2 * at], im = c[2 * at + 1];
                    er += sr[j] * re, ei += si[j] * re, fr -= di[j] * im, fi += dr[j] * im;
                }
                const REAL *u = w + 2 * (k - 1), *v = w + 2 * (r - k - 1);
                N(V) gr = er + fr, gi = ei + fi, hr = er - fr, hi = ei - fi;
                yr[(size_t)k * s] = gr * u[0] - gi * u[1], yi[(size_t)k * s] = gr * u[1] + gi * u[0];
                yr[(size_t)(r - k) * s] = hr * v[0] - hi * v[1], yi[(size_t)(r - k) * s] = hr * v[1] + hi * v[0];
            }
        }
}

/* Transforms the sequences of x, s vectors per element; returns the one of the two buffers that has the result. */
static N(Split) N(run_chain)(const FftChain *f, N(Split) x, N(Split) y, size_t s) {
    size_t n = f->n;
    for (int i = 0; i < f->passes; i++) {
        int r = f->radix[i];
        size_t m = n / (size_t)r;
        const REAL *w = f->twiddles[i];
        switch (r) {
        case 2: N(pass2)(x, y, m, s, w); break;
        case 3: N(pass3)(x, y, m, s, w); break;
        case 4: N(pass4)(x, y, m, s, w); break;
        case 5: N(pass5)(x, y, m, s, w); break;
        case 8: N(pass8)(x, y, m, s, w); break;
        default: N(pass_any)(x, y, r, m, s, w);
        }
        N(Split) t = x;
        x = y, y = t;
        n = m, s *= (size_t)r;
    }
    return x;
}

/* -- blocks of sequences ------------------------------------------------------------------------------------------- */
static size_t N(padded)(size_t n) { return (n + LANES - 1) / LANES * LANES; }

/* Returns the number of sequences of length n in a block. */
static size_t N(block)(size_t n, size_t lines) {
    size_t most = FFT_BLOCK / n / 16 * 16;
    if (most < 16) most = n <= FFT_BLOCK / 8 ? 16 : LANES;
    return N(padded)(lines < most ? lines : most);
}

/* Returns the number of elements of the largest block. */
static size_t N(largest)(const FftPlan *f) {
    if (f->n2 == 1) return f->n1 * N(block)(f->n1, SIZE_MAX);
    size_t a = f->n1 * N(block)(f->n1, f->n2), b = f->n2 * N(block)(f->n2, f->n1);
    return a > b ? a : b;
}

static size_t N(room)(const FftPlan *f) {
    size_t turned = f->n2 == 1 ? 0 : 2 * f->n2 * N(padded)(f->n1);
    return (turned + 4 * N(largest)(f)) * sizeof(REAL);
}

/* Takes two buffers for `size` complex numbers each from the work space. */
static void N(take_buffers)(REAL *room, size_t size, N(Split) * x, N(Split) * y) {
    *x = (N(Split)){(N(V) *)room, (N(V) *)(room + size)};
    *y = (N(Split)){(N(V) *)(room + 2 * size), (N(V) *)(room + 3 * size)};
}

/* Separates n numbers into real and imaginary parts; sets the elements up to `to` to 0. */
static void N(separate)(const REAL *from, int parts, size_t n, size_t to, REAL *restrict re, REAL *restrict im) {
    if (parts == 2)
        for (size_t l = 0; l < n; l++) re[l] = from[2 * l], im[l] = from[2 * l + 1];
    else memcpy(re, from, n * sizeof *re), memset(im, 0, n * sizeof *im);
    for (size_t l = n; l < to; l++) re[l] = im[l] = 0;
}

static void N(join)(const REAL *restrict re, const REAL *restrict im, size_t n, REAL scale, REAL *restrict to) {
    if (scale == 1)
        for (size_t l = 0; l < n; l++) to[2 * l] = re[l], to[2 * l + 1] = im[l];
    else
        for (size_t l = 0; l < n; l++) to[2 * l] = re[l] * scale, to[2 * l + 1] = im[l] * scale;
}

/* -- one long sequence --------------------------------------------------------------------------------------------- */
/* Returns exp(-2 pi i k/n). */
static inline void N(root)(const FftRoots *f, size_t k, REAL *re, REAL *im) {
    const double *a = f->high + 2 * (k >> f->bits), *b = f->low + 2 * (k & (((size_t)1 << f->bits) - 1));
    *re = (REAL)(a[0] * b[0] - a[1] * b[1]), *im = (REAL)(a[0] * b[1] + a[1] * b[0]);
}

/* Transposes a square of LANES vectors. */
#if LANES == 8
#define ZIP1(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define ZIP2(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define TWO1(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define TWO2(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define LOW(a, b)  __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
static inline __attribute__((always_inline)) void N(transpose)(N(V) v[LANES]) {
    N(V) a[8], b[8];
    for (int i = 0; i < 8; i += 2) a[i] = ZIP1(v[i], v[i + 1]), a[i + 1] = ZIP2(v[i], v[i + 1]);
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; j++)
            b[i + 2 * j] = TWO1(a[i + j], a[i + 2 + j]), b[i + 2 * j + 1] = TWO2(a[i + j], a[i + 2 + j]);
    for (int i = 0; i < 4; i++) v[i] = LOW(b[i], b[i + 4]), v[i + 4] = HIGH(b[i], b[i + 4]);
}
#undef ZIP1
#undef ZIP2
#undef TWO1
#undef TWO2
#undef LOW
#undef HIGH
#else
#define ZIP1(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define ZIP2(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define LOW(a, b)  __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
static inline __attribute__((always_inline)) void N(transpose)(N(V) v[LANES]) {
    N(V) a = ZIP1(v[0], v[1]), b = ZIP2(v[0], v[1]), c = ZIP1(v[2], v[3]), d = ZIP2(v[2], v[3]);
    v[0] = LOW(a, c), v[1] = LOW(b, d), v[2] = HIGH(a, c), v[3] = HIGH(b, d);
}
#undef ZIP1
#undef ZIP2
#undef LOW
#undef HIGH
#endif

/* Rotates a block of columns, from column j on, and writes its transpose to rows j, j+1 … of `to`. */
static void N(turn_block)(const FftPlan *f, N(Split) x, size_t s, size_t j, size_t columns, N(Split) to) {
    size_t n1 = f->n1, wide = N(padded)(n1) / LANES;
    const N(V) *fine = f->fine;
    for (size_t l = 0; l < columns; l += LANES, j += LANES) {
        size_t rows = columns - l < LANES ? columns - l : LANES;
        for (size_t k = 0; k < n1; k += LANES) {
            N(V) re[LANES], im[LANES];
            for (size_t i = 0; i < LANES; i++) {
                if (k + i >= n1) {
                    re[i] = im[i] = (N(V)){0};
                    continue;
                }
                REAL a, b;
                N(root)(&f->roots, (k + i) * j, &a, &b);
                N(V) cr = fine[2 * (k + i)], ci = fine[2 * (k + i) + 1], wr = cr * a - ci * b, wi = cr * b + ci * a;
                N(V) xr = x.re[(k + i) * s + l / LANES], xi = x.im[(k + i) * s + l / LANES];
                re[i] = xr * wr - xi * wi, im[i] = xr * wi + xi * wr;
            }
            N(transpose)(re), N(transpose)(im);
            for (size_t i = 0; i < rows; i++)
                to.re[(j + i) * wide + k / LANES] = re[i], to.im[(j + i) * wide + k / LANES] = im[i];
        }
    }
}

static void N(line)(const FftPlan *f, const void *src, int parts, void *dst, bool inverse, void *room) {
    size_t n1 = f->n1, n2 = f->n2, wide = N(padded)(n1), size = N(largest)(f);
    REAL *out = dst, scale = inverse ? 1 / (REAL)f->n : 1;
    const REAL *in = src;
    N(Split) t = {(N(V) *)room, (N(V) *)((REAL *)room + n2 * wide)}, x, y;
    N(take_buffers)((REAL *)room + 2 * n2 * wide, size, &x, &y);
    for (size_t j = 0, lines = N(block)(n1, n2), n; j < n2; j += n) {
        n = n2 - j < lines ? n2 - j : lines;
        size_t pitch = N(padded)(n);
        REAL *re = (REAL *)(inverse ? x.im : x.re), *im = (REAL *)(inverse ? x.re : x.im);
        for (size_t k = 0; k < n1; k++)
            N(separate)(in + (k * n2 + j) * (size_t)parts, parts, n, pitch, re + k * pitch, im + k * pitch);
        N(turn_block)(f, N(run_chain)(&f->columns, x, y, pitch / LANES), pitch / LANES, j, n, t);
    }
    for (size_t k = 0, lines = N(block)(n2, n1), n; k < n1; k += n) {
        n = n1 - k < lines ? n1 - k : lines;
        size_t pitch = N(padded)(n);
        N(Split) r = x;
        if (pitch == wide && size >= n2 * wide) r = N(run_chain)(&f->rows, t, x, pitch / LANES);
        else {
            for (size_t j = 0; j < n2; j++)
                for (size_t l = 0; l < pitch / LANES; l++)
                    x.re[j * pitch / LANES + l] = t.re[(j * wide + k) / LANES + l],
                                             x.im[j * pitch / LANES + l] = t.im[(j * wide + k) / LANES + l];
            r = N(run_chain)(&f->rows, x, y, pitch / LANES);
        }
        const REAL *re = (const REAL *)(inverse ? r.im : r.re), *im = (const REAL *)(inverse ? r.re : r.im);
        for (size_t j = 0; j < n2; j++) N(join)(re + j * pitch, im + j * pitch, n, scale, out + 2 * (j * n1 + k));
    }
}

/* -- several sequences --------------------------------------------------------------------------------------------- */
static size_t N(first_of)(const FftLines *g, size_t line) {
    return line / g->inner * g->inner * g->n + line % g->inner;
}

/* Returns whether sequences k to k+n-1 are neighbours. */
static bool N(are_neighbours)(const FftLines *g, size_t k, size_t n) { return k % g->inner + n <= g->inner; }

/* Reads sequences k to k+n-1. */
static void N(gather)(const FftLines *g, const REAL *src, int parts, size_t k, size_t n, size_t pitch, REAL *re,
                      REAL *im) {
    if (N(are_neighbours)(g, k, n)) {
        const REAL *p = src + N(first_of)(g, k) * (size_t)parts;
        for (size_t j = 0; j < g->n; j++, p += g->inner * (size_t)parts)
            N(separate)(p, parts, n, pitch, re + j * pitch, im + j * pitch);
        return;
    }
    memset(re, 0, g->n * pitch * sizeof *re), memset(im, 0, g->n * pitch * sizeof *im);
    for (size_t l = 0; l < n; l++) {
        const REAL *p = src + N(first_of)(g, k + l) * (size_t)parts;
        size_t step = g->inner * (size_t)parts;
        for (size_t j = 0; j < g->n; j++)
            re[j * pitch + l] = p[j * step], im[j * pitch + l] = parts == 2 ? p[j * step + 1] : 0;
    }
}

static void N(scatter)(const FftLines *g, const REAL *re, const REAL *im, size_t k, size_t n, size_t pitch, REAL scale,
                       REAL *dst) {
    if (N(are_neighbours)(g, k, n)) {
        REAL *p = dst + 2 * N(first_of)(g, k);
        for (size_t j = 0; j < g->n; j++, p += 2 * g->inner) N(join)(re + j * pitch, im + j * pitch, n, scale, p);
        return;
    }
    for (size_t l = 0; l < n; l++) {
        REAL *p = dst + 2 * N(first_of)(g, k + l);
        for (size_t j = 0; j < g->n; j++)
            p[2 * j * g->inner] = re[j * pitch + l] * scale, p[2 * j * g->inner + 1] = im[j * pitch + l] * scale;
    }
}

/* Two real sequences are transformed as one complex one: the parts of the result with conjugate symmetry belong to the
 * first, the others to the second.  The two halves of z are the results of sequences k to k+n-1 and of the n after
 * them. */
static void N(scatter_pairs)(const FftLines *g, N(Split) z, size_t k, size_t n, size_t pitch, REAL *dst) {
    const REAL *zr = (const REAL *)z.re, *zi = (const REAL *)z.im;
    REAL *p = dst + 2 * N(first_of)(g, k);
    const REAL half = (REAL)0.5;
    for (size_t j = 0; j < g->n; j++, p += 2 * g->inner) {
        size_t a = j * pitch, b = (j ? g->n - j : 0) * pitch;
        for (size_t l = 0; l < n; l++) {
            REAL sr = zr[a + l] + zr[b + l], si = zi[a + l] + zi[b + l];
            REAL tr = zr[a + l] - zr[b + l], ti = zi[a + l] - zi[b + l];
            p[2 * l] = sr * half, p[2 * l + 1] = ti * half;
            p[2 * (n + l)] = si * half, p[2 * (n + l) + 1] = -tr * half;
        }
    }
}

static void N(lines)(const FftPlan *f, const FftLines *g, const void *src, int parts, size_t from, size_t end,
                     void *dst, bool inverse, void *room) {
    size_t most = N(block)(f->n, SIZE_MAX);
    REAL scale = inverse ? 1 / (REAL)f->n : 1;
    N(Split) x, y;
    N(take_buffers)(room, N(largest)(f), &x, &y);
    for (size_t k = from, n; k < end; k += n) {
        n = end - k < most ? end - k : most;
        REAL *re = (REAL *)(inverse ? x.im : x.re), *im = (REAL *)(inverse ? x.re : x.im);
        size_t pairs = n / 2, pitch = N(padded)(n);
        if (parts == 1 && !inverse && end - k >= 2 * LANES) {
            n = end - k < 2 * most ? end - k : 2 * most, pairs = n / 2, n = 2 * pairs;
            if (N(are_neighbours)(g, k, n)) {
                const REAL *p = (const REAL *)src + N(first_of)(g, k);
                pitch = N(padded)(pairs);
                for (size_t j = 0; j < g->n; j++, p += g->inner)
                    for (size_t l = 0; l < pitch; l++)
                        re[j * pitch + l] = l < pairs ? p[l] : 0, im[j * pitch + l] = l < pairs ? p[pairs + l] : 0;
                N(scatter_pairs)(g, N(run_chain)(&f->columns, x, y, pitch / LANES), k, pairs, pitch, dst);
                continue;
            }
            n = end - k < most ? end - k : most, pitch = N(padded)(n);
        }
        N(gather)(g, src, parts, k, n, pitch, re, im);
        N(Split) r = N(run_chain)(&f->columns, x, y, pitch / LANES);
        N(scatter)(g, (REAL *)(inverse ? r.im : r.re), (REAL *)(inverse ? r.re : r.im), k, n, pitch, scale, dst);
    }
}

/* Z is the transform of the pairs x[2j] + i x[2j+1].  The transforms of the even and of the odd elements are
 * E[k] = (Z[k] + conj Z[n/2-k])/2 and O[k] = (Z[k] - conj Z[n/2-k])/2i, and the result is E[k] + w^k O[k].  The upper
 * half of it is the conjugate of the lower one, in reverse order. */
static void N(untangle)(const FftRoots *r, void *dst) {
    REAL *z = dst;
    const REAL *fine = r->fine, half = (REAL)0.5;
    size_t n = r->n, m = n / 2;
    REAL first = z[0], second = z[1];
    for (size_t k = 1; 2 * k <= m; k += LANES) {
        REAL a, b;
        N(root)(r, k, &a, &b);
        for (size_t l = 0; l < LANES && 2 * (k + l) <= m; l++) {
            size_t p = 2 * (k + l), q = 2 * (m - k - l);
            REAL wr = fine[l] * a - fine[LANES + l] * b, wi = fine[l] * b + fine[LANES + l] * a;
            REAL er = (z[p] + z[q]) * half, ei = (z[p + 1] - z[q + 1]) * half;
            REAL or = (z[p + 1] + z[q + 1]) * half, oi = (z[q] - z[p]) * half;
            REAL tr = or *wr - oi * wi, ti = or *wi + oi * wr;
            z[p] = er + tr, z[p + 1] = ei + ti;
            z[2 * n - p] = er + tr, z[2 * n - p + 1] = -(ei + ti);
            if (p == q) continue;
            z[q] = er - tr, z[q + 1] = ti - ei;
            z[2 * n - q] = er - tr, z[2 * n - q + 1] = ei - ti;
        }
    }
    z[0] = first + second, z[1] = 0, z[n] = first - second, z[n + 1] = 0;
}

static const FftLoops N(loops) = {N(line), N(lines), N(untangle), N(room)};
