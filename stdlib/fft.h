/* fft.h -- declares the loops of fft.c, which are compiled twice: fft_loops.c and, for AVX2 and FMA, fft_avx2.c.
 *
 * A chain transforms several interleaved sequences: one pass per radix, in Stockham's self-sorting order.  A long
 * sequence of n = n1*n2 numbers is transformed as a matrix of n1 rows and n2 columns: its columns, a rotation of each
 * element by exp(-2 pi i k1 j2/n), then its rows.  Both steps run as chains over neighbouring sequences, so all loops
 * use vectors and the cache. */
#ifndef STDLIB_FFT_H
#define STDLIB_FFT_H
#include "vm/base/dtype.h"

enum {
    FFT_RADIX = 61,   /* largest prime factor of a chain; other lengths use Bluestein's algorithm */
    FFT_PASSES = 64,  /* maximum number of passes */
    FFT_BYTES = 32,   /* size of a vector */
    FFT_BLOCK = 8192, /* maximum number of elements of a block of sequences in a chain, which stays in the cache */
    FFT_SMALL = 64    /* sequences up to this length are not divided into rows and columns */
};

typedef struct {
    size_t n;
    int passes, radix[FFT_PASSES];
    void *twiddles[FFT_PASSES]; /* of a pass: radix-1 complex factors for each p; for radices above 8 after them the
                                   radix complex roots of 1 */
} FftChain;

/* Gives exp(-2 pi i k/n) as the product of two factors. */
typedef struct {
    size_t n;
    int bits;           /* the lower `bits` bits of k select the second factor */
    double *high, *low; /* complex */
    void *fine;         /* exp(-2 pi i l/n) of the element type for each l of a vector: real parts, imaginary parts */
} FftRoots;

typedef struct {
    size_t n, n1, n2;       /* n2 1: one chain */
    FftChain columns, rows; /* of lengths n1 and n2 */
    FftRoots roots;         /* of n, if n2 > 1 */
    void *fine;             /* for each k1 < n1: exp(-2 pi i k1 l/n) for each l of a vector */
} FftPlan;

/* Positions of the sequences of a contiguous array: element j of sequence k is at first(k) + j*inner. */
typedef struct {
    size_t n, inner, lines;
} FftLines;

/* Elements are complex, or real if `parts` is 1.  An inverse transform divides by n.  Source and destination may be the
 * same if both are complex. */
typedef struct {
    /* Transforms one contiguous sequence, divided into rows and columns. */
    void (*line)(const FftPlan *f, const void *src, int parts, void *dst, bool inverse, void *room);
    /* Transforms sequences `from` to `end`-1, a few at a time, by a chain. */
    void (*lines)(const FftPlan *f, const FftLines *g, const void *src, int parts, size_t from, size_t end, void *dst,
                  bool inverse, void *room);
    /* dst contains the transform of n/2 pairs of real numbers, taken as complex numbers, and receives the transform of
     * the n numbers; r: roots of n. */
    void (*untangle)(const FftRoots *r, void *dst);
    size_t (*room)(const FftPlan *f); /* bytes of work space of `line` and `lines` */
} FftLoops;

const FftLoops *qfft_loops(bool wide);
const FftLoops *qfft_loops_avx2(bool wide);
#endif
