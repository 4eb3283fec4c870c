/* cases.cu -- kernels for nvcc; tests/cuda/cases.c runs them on the PTX interpreter and has the expected results. */
#include <limits.h>

#define EACH(name, T, R, ulps, ...)                                                                                    \
    extern "C" __global__ void name(int n, const T *as, const T *bs, R *ys) {                                         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                 \
        if (i >= n) return;                                                                                            \
        T a = as[i], b = bs[i];                                                                                        \
        R y;                                                                                                           \
        __VA_ARGS__;                                                                                                   \
        ys[i] = y;                                                                                                     \
    }
#include "each.cuh"

#define KERNEL(name) extern "C" __global__ void name(int n, const int *a, int *y)
#define ALL 0xffffffffu

__device__ int counter;
__constant__ int weights[5] = {3, -1, 4, 1, -5};

KERNEL(block_sum) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int d = blockDim.x / 2; d; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (!t) y[blockIdx.x] = s[0];
}
KERNEL(warp_sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? a[i] : 0;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(ALL, v, d);
    if (threadIdx.x % 32 == 0) atomicAdd(y, v);
}
KERNEL(butterfly) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = a[i];
    for (int d = 1; d < 32; d *= 2) v = max(v, __shfl_xor_sync(ALL, v, d));
    y[i] = v;
}
KERNEL(scan) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = a[i];
    for (int d = 1; d < 32; d *= 2) {
        int u = __shfl_up_sync(ALL, v, d);
        if (threadIdx.x % 32 >= d) v += u;
    }
    y[i] = v;
}
KERNEL(rotated) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = __shfl_sync(ALL, a[i], i + 3, 8);
}
KERNEL(votes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool p = a[i] % 3 == 0;
    y[i] = (int)__ballot_sync(ALL, p) ^ (__all_sync(ALL, p) * 5) ^ (__any_sync(ALL, p) * 9);
}
KERNEL(matches) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all;
    unsigned m = __match_any_sync(ALL, a[i] & 3);
    __match_all_sync(ALL, a[i] & 3, &all);
    y[i] = (int)m + all;
}
KERNEL(active) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (a[i] & 1) y[i] = __popc(__ballot_sync(__activemask(), 1)) > 0;
    else y[i] = 2;
}
KERNEL(transposed) {
    __shared__ int tile[16][17];
    int x = threadIdx.x, z = threadIdx.y;
    tile[z][x] = a[z * 16 + x];
    __syncthreads();
    y[z * 16 + x] = tile[x][z];
}
KERNEL(histogram) {
    extern __shared__ int bins[];
    for (int k = threadIdx.x; k < 32; k += blockDim.x) bins[k] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[a[i] & 31], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 32; k += blockDim.x) atomicAdd(&y[k], bins[k]);
}
KERNEL(atomics) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMax(&y[0], a[i]), atomicMin(&y[1], a[i]), atomicOr(&y[2], a[i]), atomicAnd(&y[3], a[i]);
    atomicXor(&y[4], a[i]), atomicAdd((unsigned long long *)(y + 6), (unsigned long long)(long long)a[i]);
    atomicInc((unsigned *)&y[8], 9), atomicAdd((float *)&y[9], 1.0f);
    for (int old = y[10], seen; ; old = seen) /* adds by compare-and-swap */
        if ((seen = atomicCAS(&y[10], old, old + (a[i] & 7))) == old) break;
}
KERNEL(counted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int c = __syncthreads_count(i < n && a[i] & 1), d = __syncthreads_and(1), e = __syncthreads_or(threadIdx.x == 5);
    if (i < n) y[i] = c * 4 + (d != 0) * 2 + (e != 0);
}
KERNEL(left_early) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = a[t];
    __syncthreads();
    y[t] = s[n - 1 - t];
}
KERNEL(weighted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int k = 0; k < 5; k++) s += weights[(k + i) % 5] * (k + 1);
    y[i] = s;
    atomicAdd(&counter, 1);
}
KERNEL(within_warp) { /* through shared memory, with only __syncwarp in between */
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncwarp();
    int v = s[t ^ 1];
    __syncwarp();
    s[t] = v * 2;
    __syncwarp();
    y[t] = s[t ^ 3];
}
KERNEL(diverging) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = a[i] & 0xffff, steps = 0; /* small: no overflow */
    while (v > 1) {
        if (v & 1) v = v * 3 + 1;
        else v >>= 1;
        if (++steps > 60) break;
    }
    y[i] = steps + __popc(__ballot_sync(ALL, steps > 10));
}
KERNEL(grids) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y * blockDim.y + threadIdx.y;
    int w = blockIdx.z * blockDim.z + threadIdx.z;
    y[(w * gridDim.y * blockDim.y + z) * gridDim.x * blockDim.x + x] = x + 100 * z + 10000 * w;
}
#if __CUDA_ARCH__ >= 800
KERNEL(reduced) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = __reduce_add_sync(ALL, a[i]) ^ __reduce_max_sync(ALL, a[i]) ^ (int)__reduce_xor_sync(ALL, (unsigned)a[i]);
}
#endif

/* errors, each of which must be reported */
KERNEL(wrong_outside) { y[threadIdx.x + n] = 1; }
KERNEL(wrong_misaligned) { *(long long *)((char *)y + 4) = n + a[0]; }
KERNEL(wrong_race) {
    __shared__ int s[64];
    s[threadIdx.x] = n;
    __syncthreads();
    s[threadIdx.x] = a[threadIdx.x];
    y[threadIdx.x] = s[63 - threadIdx.x];
}
KERNEL(wrong_uninitialised) {
    __shared__ int s[64];
    if (threadIdx.x < 20) s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x];
}
KERNEL(wrong_barrier) {
    __shared__ int s[64];
    s[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x % 2) {
        asm volatile("bar.sync 0;" ::: "memory");
        s[threadIdx.x] += 1;
    } else {
        asm volatile("bar.sync 0;" ::: "memory");
        s[threadIdx.x] -= 1;
    }
    y[threadIdx.x] = s[threadIdx.x];
}
KERNEL(wrong_shuffle) {
    if (threadIdx.x % 2) y[threadIdx.x] = __shfl_xor_sync(__activemask(), a[threadIdx.x], 1);
}
KERNEL(wrong_wait) {
    if (threadIdx.x % 32 < 16) y[threadIdx.x] = (int)__ballot_sync(ALL, 1);
    else __syncthreads();
}
KERNEL(wrong_shared) {
    extern __shared__ int s[];
    s[n + threadIdx.x] = a[threadIdx.x];
    y[threadIdx.x] = s[n + threadIdx.x];
}
KERNEL(wrong_trap) {
    if (a[threadIdx.x] > -1000000000) asm volatile("trap;");
    y[threadIdx.x] = 0;
}
