/* fft_loops.c -- implements fft.h; also compiled from fft_avx2.c for processors with AVX2 and FMA. */
#include "stdlib/fft.h"
#include "vm/array/contiguous.h"

#include <string.h>

#define REAL    float
#define N(name) name##_f
#define LANES   8
#include "stdlib/fft_pass.h"
#undef REAL
#undef N
#undef LANES
#define REAL    double
#define N(name) name##_d
#define LANES   4
#include "stdlib/fft_pass.h"
#undef REAL
#undef N
#undef LANES

#ifdef QFFT_AVX2
const FftLoops *qfft_loops_avx2(bool wide) { return wide ? &loops_d : &loops_f; }
#else
const FftLoops *qfft_loops(bool wide) {
    if (QCPU_AVX2 && QCPU_FMA) return qfft_loops_avx2(wide);
    return wide ? &loops_d : &loops_f;
}
#endif
