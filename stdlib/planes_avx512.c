/* planes_avx512.c -- compiles the loops of planes.h for processors with AVX-512. */
#include "stdlib/planes.h"

#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")
#define BYTES 64
#include "stdlib/planes_loops.h"
const PlanesLoops *qplanes_loops_avx512(bool wide) { return wide ? &loops_f64 : &loops_f32; }
#endif
