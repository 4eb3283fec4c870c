/* embed_loop.c -- a host that calls a function of a program a thousand times a second, as a game or a controller
 * does, and prints how long the calls took.
 *
 *     cc -O2 embed_loop.c $(pkg-config --cflags --libs quasar) -o embed_loop && ./embed_loop 5000 */
#include <quasar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PARTICLES = 2000, BINS = 24 };

static const char program[] =
    "function [] = __kernel__ fall(at : mat'unchecked, speed : mat'unchecked, dt : scalar, pos : int)\n"
    "    speed[pos,1] -= 9.81*dt\n"
    "    at[pos,0] += dt*speed[pos,0]\n"
    "    at[pos,1] += dt*speed[pos,1]\n"
    "    if at[pos,1] < 0\n"
    "        at[pos,1] = -at[pos,1]\n"
    "        speed[pos,1] = -0.8*speed[pos,1]\n"
    "    end\n"
    "end\n"
    "function [] = frame(at, speed, dt)\n"
    "    parallel_do(size(at,0), at, speed, dt, fall)\n"
    "end\n";

static double now(void) { /* microseconds */
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static qs_status wrap(qs_vm *vm, float *p, qs_value *out) {
    qs_array_info info = {
        .dtype = QS_F32, .rank = 2, .dims = {PARTICLES, 2}, .strides = {2, 1}, .nbytes = 2 * PARTICLES * sizeof *p};
    return qs_array_wrap(vm, &info, p, -1, NULL, NULL, out);
}

/* Half powers of two: bin k ends at 2^(k/2) microseconds. */
static int bin_of(double us) {
    int k = 0;
    for (double end = 1; k < BINS - 1 && us >= end; end *= 1.4142135623730951) k++;
    return k;
}

static void show(const int *count, int calls, double longest) {
    double end = 1;
    printf("%d calls; the longest took %.0f µs\n", calls, longest);
    for (int k = 0; k < BINS; k++, end *= 1.4142135623730951)
        if (count[k]) printf("  below %8.0f µs %7d\n", end, count[k]);
}

static qs_status play(qs_vm *vm, qs_value frame, qs_value *args, int calls) {
    int count[BINS] = {0};
    double longest = 0, next = now();
    qs_status s = qs_call(vm, frame, 3, args, 0, NULL); /* compiles */
    for (int i = 0; i < calls && s == QS_OK; i++, next += 1000) {
        double ahead = next - now();
        if (ahead > 0) nanosleep(&(struct timespec){0, (long)(ahead * 1000)}, NULL);
        double from = now();
        s = qs_call(vm, frame, 3, args, 0, NULL);
        double took = now() - from;
        count[bin_of(took)]++;
        if (took > longest) longest = took;
    }
    if (s == QS_OK) show(count, calls, longest);
    return s;
}

int main(int argc, char **argv) {
    static float at[PARTICLES][2], speed[PARTICLES][2];
    for (int i = 0; i < PARTICLES; i++) at[i][1] = 1 + (float)i / PARTICLES, speed[i][0] = 1;
    qs_value frame = qs_nil(), args[3] = {qs_nil(), qs_nil(), qs_num(1e-3)};
    qs_vm *vm;
    qs_status s = qs_open(NULL, &vm);
    if (s == QS_OK) s = qs_load(vm, "fall.q", program, strlen(program));
    if (s == QS_OK) s = qs_global(vm, "frame", &frame);
    if (s == QS_OK) s = wrap(vm, &at[0][0], &args[0]);
    if (s == QS_OK) s = wrap(vm, &speed[0][0], &args[1]);
    if (s == QS_OK) s = play(vm, frame, args, argc > 1 ? atoi(argv[1]) : 3000);
    if (s != QS_OK && vm) fputs(qs_error_report(vm), stderr);
    for (int i = 0; vm && i < 2; i++) qs_release(vm, args[i]);
    if (vm) qs_release(vm, frame);
    qs_close(vm);
    return s != QS_OK;
}
