/* The kernels of tests/bench/kernels as one writes them in CUDA C: 32-bit indices, the last axis along x, sums by
 * shuffles.  tests/bench/gpu_code.py holds what nvcc makes of them beside what we make of ours. */
#define KERNEL extern "C" __global__ void
#define AT(i) int i = blockIdx.x * blockDim.x + threadIdx.x
#define ROW(m) int m = blockIdx.y * blockDim.y + threadIdx.y

static __device__ int clamped(int i, int n) { return min(max(i, 0), n - 1); }
/* As the language says it: the edge repeats, and so does the image behind it. */
static __device__ int mirrored(int i, int n) {
    if ((unsigned)i < (unsigned)n) return i;
    i %= 2 * n;
    if (i < 0) i += 2 * n;
    return i < n ? i : 2 * n - 1 - i;
}
static __device__ int around(int i, int n) {
    if ((unsigned)i < (unsigned)n) return i;
    i %= n;
    return i < 0 ? i + n : i;
}

KERNEL saxpy(float a, const float *__restrict__ x, float *__restrict__ y, int n) {
    AT(i);
    if (i < n) y[i] = a * x[i] + y[i];
}

KERNEL triad(const float *__restrict__ b, const float *__restrict__ c, float *__restrict__ y, int n) {
    AT(i);
    if (i < n) y[i] = b[i] + 3 * c[i];
}

KERNEL fused(const float *__restrict__ x, float *__restrict__ y, int n) {
    AT(i);
    if (i < n) y[i] = expf(-x[i] * x[i]) * sinf(x[i]);
}

static __device__ void add_block(float s, float *out) {
    __shared__ float part[32];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x == 0) atomicAdd(out, s);
}

KERNEL dot(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ out, int n) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i] * y[i];
    add_block(s, out);
}

KERNEL histogram(const unsigned char *__restrict__ x, int *__restrict__ h, int n) {
    AT(i);
    if (i < n) atomicAdd(&h[x[i]], 1);
}

KERNEL transpose(const float *__restrict__ x, float *__restrict__ y, int rows, int columns) {
    AT(n);
    ROW(m);
    if (m < rows && n < columns) y[m * columns + n] = x[n * rows + m];
}

KERNEL box(const float *__restrict__ x, float *__restrict__ y, int rows, int columns) {
    AT(n);
    ROW(m);
    if (m >= rows || n >= columns) return;
    float s = 0;
    for (int a = -2; a <= 2; a++)
        for (int b = -2; b <= 2; b++) s += x[clamped(m + a, rows) * columns + clamped(n + b, columns)];
    y[m * columns + n] = s / 25;
}

KERNEL gauss_rows(const float *__restrict__ x, float *__restrict__ y, const float *__restrict__ w, int rows,
                  int columns) {
    AT(n);
    ROW(m);
    if (m >= rows || n >= columns) return;
    float s = 0;
    for (int k = -6; k <= 6; k++) s += w[k + 6] * x[m * columns + mirrored(n + k, columns)];
    y[m * columns + n] = s;
}

KERNEL gauss_columns(const float *__restrict__ x, float *__restrict__ y, const float *__restrict__ w, int rows,
                     int columns) {
    AT(n);
    ROW(m);
    if (m >= rows || n >= columns) return;
    float s = 0;
    for (int k = -6; k <= 6; k++) s += w[k + 6] * x[mirrored(m + k, rows) * columns + n];
    y[m * columns + n] = s;
}

static __device__ float inside(const float *__restrict__ x, int m, int n, int rows, int columns) {
    return (unsigned)m < (unsigned)rows && (unsigned)n < (unsigned)columns ? x[m * columns + n] : 0;
}

KERNEL jacobi(const float *__restrict__ u, const float *__restrict__ f, float *__restrict__ v, int rows, int columns) {
    AT(n);
    ROW(m);
    if (m >= rows || n >= columns) return;
    v[m * columns + n] = 0.25f * (inside(u, m - 1, n, rows, columns) + inside(u, m + 1, n, rows, columns) +
                                  inside(u, m, n - 1, rows, columns) + inside(u, m, n + 1, rows, columns) +
                                  f[m * columns + n]);
}

KERNEL nlmeans(const float *__restrict__ x, float *__restrict__ y, int rows, int columns) {
    AT(n);
    ROW(m);
    if (m >= rows || n >= columns) return;
    float total = 0, weights = 0;
    for (int a = -5; a <= 5; a++)
        for (int b = -5; b <= 5; b++) {
            float d = 0;
            for (int p = -1; p <= 1; p++)
                for (int q = -1; q <= 1; q++) {
                    float e = x[mirrored(m + p, rows) * columns + mirrored(n + q, columns)] -
                              x[mirrored(m + a + p, rows) * columns + mirrored(n + b + q, columns)];
                    d += e * e;
                }
            float w = expf(-8 * d);
            total += w * x[mirrored(m + a, rows) * columns + mirrored(n + b, columns)];
            weights += w;
        }
    y[m * columns + n] = total / weights;
}

KERNEL bilateral(const float *__restrict__ x, float *__restrict__ y, int rows, int columns) {
    AT(n);
    ROW(m);
    if (m >= rows || n >= columns) return;
    float centre = x[m * columns + n], total = 0, weights = 0;
    for (int a = -3; a <= 3; a++)
        for (int b = -3; b <= 3; b++) {
            float v = x[clamped(m + a, rows) * columns + clamped(n + b, columns)], d = v - centre;
            float w = expf(-(a * a + b * b) / 8.0f - 12.5f * d * d);
            total += w * v;
            weights += w;
        }
    y[m * columns + n] = total / weights;
}

KERNEL mandelbrot(float *__restrict__ y, int rows, int columns) {
    AT(n);
    ROW(m);
    if (m >= rows || n >= columns) return;
    float a = n * (3.0f / 512) - 2.25f, b = m * (2.5f / 384) - 1.25f, u = 0, v = 0;
    int turns = 0;
    while (turns < 200 && u * u + v * v < 4) {
        float t = u * u - v * v + a;
        v = 2 * u * v + b;
        u = t;
        turns++;
    }
    y[m * columns + n] = turns;
}

KERNEL nbody(const float *__restrict__ p, float *__restrict__ f, int n) {
    AT(i);
    if (i >= n) return;
    float fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < n; j++) {
        float dx = p[j] - p[i], dy = p[n + j] - p[n + i], dz = p[2 * n + j] - p[2 * n + i];
        float d = dx * dx + dy * dy + dz * dz + 0.01f;
        float r = __fdividef(1, d * sqrtf(d));
        fx += dx * r, fy += dy * r, fz += dz * r;
    }
    f[i] = fx, f[n + i] = fy, f[2 * n + i] = fz;
}

KERNEL blackscholes(const float *__restrict__ s, const float *__restrict__ k, const float *__restrict__ t,
                    float *__restrict__ c, int n) {
    AT(i);
    if (i >= n) return;
    const float r = 0.02f, v = 0.3f;
    float root = v * sqrtf(t[i]);
    float d1 = (logf(s[i] / k[i]) + (r + 0.5f * v * v) * t[i]) / root, d2 = d1 - root;
    float n1 = 0.5f * erfcf(-0.70710678f * d1), n2 = 0.5f * erfcf(-0.70710678f * d2);
    c[i] = s[i] * n1 - k[i] * expf(-r * t[i]) * n2;
}

KERNEL life(const bool *__restrict__ now, bool *__restrict__ next, int rows, int columns) {
    AT(n);
    ROW(m);
    if (m >= rows || n >= columns) return;
    int alive = 0;
    for (int a = -1; a <= 1; a++)
        for (int b = -1; b <= 1; b++) alive += now[around(m + a, rows) * columns + around(n + b, columns)];
    next[m * columns + n] = alive == 3 || (alive == 4 && now[m * columns + n]);
}

KERNEL kmeans(const float *__restrict__ x, const float *__restrict__ y, const float *__restrict__ c,
              float *__restrict__ sums, int n) {
    AT(i);
    if (i >= n) return;
    int best = 0;
    float nearest = 1e30f;
    for (int k = 0; k < 16; k++) {
        float dx = x[i] - c[k], dy = y[i] - c[16 + k], d = dx * dx + dy * dy;
        if (d < nearest) nearest = d, best = k;
    }
    atomicAdd(&sums[best], x[i]);
    atomicAdd(&sums[16 + best], y[i]);
    atomicAdd(&sums[32 + best], 1);
}

KERNEL __launch_bounds__(256) tiles(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                    int inner, int columns) {
    __shared__ float ta[16][16], tb[16][16];
    AT(n);
    ROW(m);
    float s = 0;
    for (int t = 0; t < inner; t += 16) {
        ta[threadIdx.y][threadIdx.x] = a[m * inner + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * columns + n];
        __syncthreads();
        for (int k = 0; k < 16; k++) s += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[m * columns + n] = s;
}
