/* Kernels of opencl.c; axis 0 is the last one of the arrays. */
typedef __global float *F;
typedef __global const float *C;

__kernel void saxpy(C x, F y) {
    size_t i = get_global_id(0);
    y[i] = 0.5f * x[i] + y[i];
}
__kernel void triad(C b, C c, F y) {
    size_t i = get_global_id(0);
    y[i] = b[i] + 3 * c[i];
}
__kernel void fused(C x, F y) {
    size_t i = get_global_id(0);
    y[i] = exp(-x[i] * x[i]) * sin(x[i]);
}
/* 1024 bytes per item; the bins of a group are shared. */
__kernel void histogram(__global const uchar *x, __global int *h) {
    __local int bins[256];
    for (int k = (int)get_local_id(0); k < 256; k += (int)get_local_size(0)) bins[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = get_global_id(0) * 1024, k = 0; k < 1024; k++) atomic_inc(&bins[x[i + k]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = (int)get_local_id(0); k < 256; k += (int)get_local_size(0)) atomic_add(&h[k], bins[k]);
}
__kernel void transpose(C x, F y) {
    size_t n = get_global_id(0), m = get_global_id(1), h = get_global_size(0);
    y[m * h + n] = x[n * h + m];
}
__kernel void box(C x, F y) {
    int n = get_global_id(0), m = get_global_id(1), h = get_global_size(0);
    float s = 0;
    for (int a = -2; a <= 2; a++)
        for (int b = -2; b <= 2; b++) s += x[clamp(m + a, 0, h - 1) * h + clamp(n + b, 0, h - 1)];
    y[m * h + n] = s / 25;
}
int mirror(int i, int n) { return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i; }
__kernel void gauss_rows(C x, F y, C w) {
    int n = get_global_id(0), m = get_global_id(1), h = get_global_size(0);
    float s = 0;
    for (int k = -6; k <= 6; k++) s += w[k + 6] * x[m * h + mirror(n + k, h)];
    y[m * h + n] = s;
}
__kernel void gauss_columns(C x, F y, C w) {
    int n = get_global_id(0), m = get_global_id(1), h = get_global_size(0);
    float s = 0;
    for (int k = -6; k <= 6; k++) s += w[k + 6] * x[mirror(m + k, h) * h + n];
    y[m * h + n] = s;
}
__kernel void jacobi(C u, C f, F v) {
    int n = get_global_id(0), m = get_global_id(1), h = get_global_size(0);
    float s = f[m * h + n];
    if (m > 0) s += u[(m - 1) * h + n];
    if (m < h - 1) s += u[(m + 1) * h + n];
    if (n > 0) s += u[m * h + n - 1];
    if (n < h - 1) s += u[m * h + n + 1];
    v[m * h + n] = 0.25f * s;
}
__kernel void nlmeans(C x, F y) {
    int n = get_global_id(0), m = get_global_id(1), h = get_global_size(0);
    float total = 0, weights = 0;
    for (int a = -5; a <= 5; a++)
        for (int b = -5; b <= 5; b++) {
            float d = 0;
            for (int p = -1; p <= 1; p++)
                for (int q = -1; q <= 1; q++) {
                    float e = x[mirror(m + p, h) * h + mirror(n + q, h)] -
                              x[mirror(m + a + p, h) * h + mirror(n + b + q, h)];
                    d += e * e;
                }
            float w = exp(-8 * d);
            total += w * x[mirror(m + a, h) * h + mirror(n + b, h)];
            weights += w;
        }
    y[m * h + n] = total / weights;
}
__kernel void bilateral(C x, F y) {
    int n = get_global_id(0), m = get_global_id(1), h = get_global_size(0);
    float centre = x[m * h + n], total = 0, weights = 0;
    for (int a = -3; a <= 3; a++)
        for (int b = -3; b <= 3; b++) {
            float v = x[clamp(m + a, 0, h - 1) * h + clamp(n + b, 0, h - 1)], d = v - centre;
            float w = exp(-(float)(a * a + b * b) / 8 - 12.5f * d * d);
            total += w * v;
            weights += w;
        }
    y[m * h + n] = total / weights;
}
__kernel void mandelbrot(F y) {
    int n = get_global_id(0), m = get_global_id(1);
    float a = n * (3.0f / 512) - 2.25f, b = m * (2.5f / 384) - 1.25f, u = 0, v = 0;
    int k = 0;
    for (; k < 200 && u * u + v * v < 4; k++) {
        float t = u * u - v * v + a;
        v = 2 * u * v + b, u = t;
    }
    y[m * 512 + n] = k;
}
__kernel void nbody(C x, C y, C z, F f) {
    int i = get_global_id(0), n = get_global_size(0);
    float fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i], d = dx * dx + dy * dy + dz * dz + 0.01f;
        float r = 1 / (d * sqrt(d));
        fx += dx * r, fy += dy * r, fz += dz * r;
    }
    f[i] = fx, f[n + i] = fy, f[2 * n + i] = fz;
}
__kernel void blackscholes(C s, C k, C t, F c) {
    size_t i = get_global_id(0);
    const float r = 0.02f, v = 0.3f;
    float root = v * sqrt(t[i]), d1 = (log(s[i] / k[i]) + (r + 0.5f * v * v) * t[i]) / root, d2 = d1 - root;
    c[i] = s[i] * 0.5f * erfc(-0.70710678f * d1) - k[i] * exp(-r * t[i]) * 0.5f * erfc(-0.70710678f * d2);
}
__kernel void tiles(C a, C b, F c) {
    __local float ta[16][16], tb[16][16];
    int n = get_global_id(0), m = get_global_id(1), h = get_global_size(0), j = get_local_id(0), i = get_local_id(1);
    float s = 0;
    for (int t = 0; t < h; t += 16) {
        ta[i][j] = a[m * h + t + j], tb[i][j] = b[(t + i) * h + n];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) s += ta[i][k] * tb[k][j];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[m * h + n] = s;
}
