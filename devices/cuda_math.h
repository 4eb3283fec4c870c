/* cuda_math.h -- NVIDIA's libraries cuBLAS, cuFFT, cuSOLVER and cuDNN, where they are: handles of one device, on its
 * stream.
 *
 * All calls are made in the device's context and queue their work like a launch. */
#ifndef DEVICES_CUDA_MATH_H
#define DEVICES_CUDA_MATH_H
#include "devices/device.h"

typedef struct CudaMath CudaMath;

/* driver: the newest CUDA that it takes, 12040 is 12.4. */
CudaMath *qcudamath_open(Device *d, int driver);
/* Why the library cannot be used, or NULL; opens it. */
const char *qcudamath_missing(Device *d, CudaMath *m, DevLibrary lib);
qs_status qcudamath_gemm(Device *d, CudaMath *m, void *stream, const DevGemm *g);
qs_status qcudamath_fft(Device *d, CudaMath *m, void *stream, const DevFft *f);
/* x is zeros already, for an inverse the unit matrix; waits for s->info. */
qs_status qcudamath_solve(Device *d, CudaMath *m, void *stream, DevSolve *s);
qs_status qcudamath_factor(Device *d, CudaMath *m, void *stream, DevFactor *f);
/* In the precision of the elements, with the same bits each time. */
qs_status qcudamath_convolve(Device *d, CudaMath *m, void *stream, DevConv *c);
/* `alive`: the context is of use, so that handles can be given back. */
void qcudamath_close(Device *d, CudaMath *m, bool alive);
#endif
