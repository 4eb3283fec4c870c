/* planes_avx2.c -- compiles the loops of planes.h for processors with AVX2. */
#include "stdlib/planes.h"

#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2,fma")
#define BYTES 32
#include "stdlib/planes_loops.h"
const PlanesLoops *qplanes_loops_avx2(bool wide) { return wide ? &loops_f64 : &loops_f32; }
#endif
