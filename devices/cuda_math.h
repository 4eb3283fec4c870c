/* cuda_math.h -- calls NVIDIA's libraries cuBLAS, cuFFT, cuSOLVER and cuDNN, if they are installed.
 *
 * A CudaMath holds the library handles of one device, bound to its stream.  The caller must have made the device's
 * context current.  All calls queue their work like a launch. */
#ifndef DEVICES_CUDA_MATH_H
#define DEVICES_CUDA_MATH_H
#include "devices/device.h"

typedef struct CudaMath CudaMath;

/* driver: the newest CUDA version that the driver supports; 12040 means 12.4. */
CudaMath *qcudamath_open(Device *d, int driver);
/* Opens the library.  Returns why it cannot be used, or NULL. */
const char *qcudamath_missing(Device *d, CudaMath *m, DevLibrary lib);
qs_status qcudamath_gemm(Device *d, CudaMath *m, void *stream, const DevGemm *g);
qs_status qcudamath_fft(Device *d, CudaMath *m, void *stream, const DevFft *f);
/* Solves s.  x must contain zeros, or for an inverse the identity matrix.  Synchronous, because it reads s->info. */
qs_status qcudamath_solve(Device *d, CudaMath *m, void *stream, DevSolve *s);
qs_status qcudamath_factor(Device *d, CudaMath *m, void *stream, DevFactor *f);
/* Computes in the precision of the elements and deterministically. */
qs_status qcudamath_convolve(Device *d, CudaMath *m, void *stream, DevConv *c);
/* alive: the context still works, so that handles can be destroyed. */
void qcudamath_close(Device *d, CudaMath *m, bool alive);
#endif
