/* fake_cuda_math.h -- what a test sees of the fakes of cuBLAS, cuFFT, cuSOLVER and cuDNN: they compute, on the memory
 * of the fake driver, record calls, count handles, and make the n-th call fail. */
#ifndef TESTS_SUPPORT_FAKE_CUDA_MATH_H
#define TESTS_SUPPORT_FAKE_CUDA_MATH_H

enum { FAKE_MATH_LOG = 4096 };

typedef struct {
    long fail_after; /* the n-th call from now fails, 0 is the next; < 0: none */
    int fail_with;
    const char *full;                /* this call never has memory; NULL: none */
    int info;                        /* status of an iteration that does not converge; 0: it converges */
    int no_algorithm;                /* cuDNN has no suitable algorithm */
    int handles, plans, descriptors; /* made and not given back */
    unsigned misuse;                 /* errors that the real libraries would not survive */
    char log[FAKE_MATH_LOG];         /* names of the calls, each with a blank behind it */
    char failed[64];
} FakeMath;

FakeMath *fake_math(void);
#endif
