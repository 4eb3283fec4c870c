/* fft_pass.h -- implements the transforms of fft.c for one element type; included twice, with REAL and N(name) defined.
 *
 * A pass maps m*radix*s complex numbers x[q + s*(p + m*j)] to y[q + s*(radix*p + k)] (Stockham's self-sorting order,
 * decimation in frequency).  The innermost index q runs over independent transforms, so every inner loop vectorises.
 * Real and imaginary parts are in separate arrays.  w contains exp(-2 pi i k/N), k = 0 … N-1. */

typedef struct {
    REAL *re, *im;
} N(Split);
typedef struct {
    const REAL *re, *im;
    size_t n, step;
} N(Twiddles); /* step: N / (m*radix) */

static N(Split) N(at)(N(Split) x, size_t i) { return (N(Split)){x.re + i, x.im + i}; }

/* y = (re + i im) * w */
#define PUT(k, a, b)                                                                                                   \
    do {                                                                                                               \
        REAL a_ = (a), b_ = (b);                                                                                       \
        y.re[(k)*s + q] = a_ * wr[k] - b_ * wi[k], y.im[(k)*s + q] = a_ * wi[k] + b_ * wr[k];                          \
    } while (0)
#define LOAD(name, j) REAL name##r = x.re[(j)*m * s + q], name##i = x.im[(j)*m * s + q]
#define LINE          INDEPENDENT_LINES for (size_t q = 0; q < s; q++)

static void N(radix2)(N(Split) x, N(Split) y, size_t m, size_t s, const REAL *wr, const REAL *wi) {
    LINE {
        LOAD(a, 0);
        LOAD(b, 1);
        PUT(0, ar + br, ai + bi);
        PUT(1, ar - br, ai - bi);
    }
}

static void N(radix3)(N(Split) x, N(Split) y, size_t m, size_t s, const REAL *wr, const REAL *wi) {
    const REAL h = (REAL)0.86602540378443864676;
    LINE {
        LOAD(a, 0);
        LOAD(b, 1);
        LOAD(c, 2);
        REAL tr = br + cr, ti = bi + ci, ur = (bi - ci) * h, ui = (cr - br) * h;
        REAL vr = ar - tr / 2, vi = ai - ti / 2;
        PUT(0, ar + tr, ai + ti);
        PUT(1, vr + ur, vi + ui);
        PUT(2, vr - ur, vi - ui);
    }
}

static void N(radix4)(N(Split) x, N(Split) y, size_t m, size_t s, const REAL *wr, const REAL *wi) {
    LINE {
        LOAD(a, 0);
        LOAD(b, 1);
        LOAD(c, 2);
        LOAD(d, 3);
        REAL acr = ar + cr, aci = ai + ci, bdr = br + dr, bdi = bi + di;
        REAL er = ar - cr, ei = ai - ci, fr = bi - di, fi = dr - br; /* f = -i (b - d) */
        PUT(0, acr + bdr, aci + bdi);
        PUT(1, er + fr, ei + fi);
        PUT(2, acr - bdr, aci - bdi);
        PUT(3, er - fr, ei - fi);
    }
}

static void N(radix5)(N(Split) x, N(Split) y, size_t m, size_t s, const REAL *wr, const REAL *wi) {
    const REAL c1 = (REAL)0.30901699437494742410, c2 = (REAL)-0.80901699437494742410;
    const REAL s1 = (REAL)0.95105651629515357212, s2 = (REAL)0.58778525229247312917;
    LINE {
        LOAD(a, 0);
        LOAD(b, 1);
        LOAD(c, 2);
        LOAD(d, 3);
        LOAD(e, 4);
        REAL pr = br + er, pi = bi + ei, ur = br - er, ui = bi - ei, qr = cr + dr, qi = ci + di, vr = cr - dr,
             vi = ci - di;
        REAL fr = ar + c1 * pr + c2 * qr, fi = ai + c1 * pi + c2 * qi, gr = s1 * ur + s2 * vr, gi = s1 * ui + s2 * vi;
        REAL hr = ar + c2 * pr + c1 * qr, hi = ai + c2 * pi + c1 * qi, kr = s2 * ur - s1 * vr, ki = s2 * ui - s1 * vi;
        PUT(0, ar + pr + qr, ai + pi + qi);
        PUT(1, fr + gi, fi - gr);
        PUT(2, hr + ki, hi - kr);
        PUT(3, hr - ki, hi + kr);
        PUT(4, fr - gi, fi + gr);
    }
}
#undef PUT
#undef LOAD

/* Computes a pass of any radix by the definition; cr and ci contain exp(-2 pi i k/radix). */
static void N(radix_any)(N(Split) x, N(Split) y, size_t r, size_t m, size_t s, const REAL *wr, const REAL *wi,
                         const REAL *cr, const REAL *ci) {
    for (size_t k = 0; k < r; k++) {
        REAL *yr = y.re + k * s, *yi = y.im + k * s;
        memcpy(yr, x.re, s * sizeof *yr), memcpy(yi, x.im, s * sizeof *yi);
        for (size_t j = 1; j < r; j++) {
            const REAL *xr = x.re + j * m * s, *xi = x.im + j * m * s, c = cr[j * k % r], d = ci[j * k % r];
            LINE yr[q] += xr[q] * c - xi[q] * d, yi[q] += xr[q] * d + xi[q] * c;
        }
        LINE {
            REAL a = yr[q], b = yi[q];
            yr[q] = a * wr[k] - b * wi[k], yi[q] = a * wi[k] + b * wr[k];
        }
    }
}
#undef LINE

/* Computes one pass over all p. */
static void N(pass)(N(Split) x, N(Split) y, size_t r, size_t m, size_t s, const N(Twiddles) * w) {
    REAL wr[MAX_RADIX], wi[MAX_RADIX], cr[MAX_RADIX], ci[MAX_RADIX];
    for (size_t k = 0; k < r; k++) cr[k] = w->re[k * (w->n / r)], ci[k] = w->im[k * (w->n / r)];
    for (size_t p = 0; p < m; p++) {
        for (size_t k = 0; k < r; k++) wr[k] = w->re[p * k * w->step], wi[k] = w->im[p * k * w->step];
        N(Split) from = N(at)(x, p * s), to = N(at)(y, p * r * s);
        switch (r) {
        case 2: N(radix2)(from, to, m, s, wr, wi); break;
        case 3: N(radix3)(from, to, m, s, wr, wi); break;
        case 4: N(radix4)(from, to, m, s, wr, wi); break;
        case 5: N(radix5)(from, to, m, s, wr, wi); break;
        default: N(radix_any)(from, to, r, m, s, wr, wi, cr, ci);
        }
    }
}

/* Transforms `lines` interleaved sequences of w->n numbers; returns the one of the two buffers that holds the
 * result. */
static N(Split) N(stockham)(const Factors *f, N(Split) x, N(Split) y, size_t lines, N(Twiddles) w) {
    size_t n = w.n, s = lines;
    for (int i = 0; i < f->n; i++) {
        size_t r = (size_t)f->radix[i], m = n / r;
        w.step = w.n / n;
        N(pass)(x, y, r, m, s, &w);
        N(Split) t = x;
        x = y, y = t;
        n = m, s *= r;
    }
    return x;
}

/* Fills a table of twiddle factors; p has room for 2n numbers. */
static N(Twiddles) N(twiddles)(REAL *p, size_t n) {
    for (size_t k = 0; k < n; k++) {
        double re, im;
        unit_root(k, n, &re, &im);
        p[k] = (REAL)re, p[n + k] = (REAL)im;
    }
    return (N(Twiddles)){p, p + n, n, 1};
}

GATHER(N(gather), REAL, REAL, N(Split))
SCATTER(N(scatter), REAL, REAL, N(Split))

/* Transforms every line; the length has no large prime factors. */
static qs_status N(smooth)(qs_vm *vm, const Geometry *g, const Factors *f, REAL *data, bool inverse) {
    size_t lines = batch(g), room = lines * g->n;
    Store s;
    TRY(allocate_store(vm, &s, 2 * g->n + 4 * room, sizeof(REAL)));
    REAL *p = s.p;
    N(Twiddles) w = N(twiddles)(p, g->n);
    p += 2 * g->n;
    N(Split) x = {p, p + room}, y = {p + 2 * room, p + 3 * room};
    for (size_t k = 0; k < g->lines; k += lines) {
        if (lines > g->lines - k) lines = g->lines - k;
        N(gather)(g, data, k, lines, inverse, x);
        N(scatter)(g, N(stockham)(f, x, y, lines, w), k, lines, inverse, data);
    }
    give_back(&s);
    return QS_OK;
}
