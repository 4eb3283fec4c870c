/* embed.c -- a C program with two machines of the language inside: a script that calls C, an array of ours that the
 * script works on without a copy, a script function called from C, and an error shown (docs/embedding.md). */
#include "vm/quasar.h"

#include <stdio.h>
#include <string.h>

static const char script[] = "function y = smooth(x)\n"
                             "    y = (circshift(x, [0, 1]) + x + circshift(x, [0, -1]))/3\n"
                             "end\n"
                             "function [] = louder(x)\n"
                             "    for i = 0..numel(x)-1\n"
                             "        x[i] = gain()*x[i]\n"
                             "    end\n"
                             "end\n";

/* gain(): what scripts may call.  Each machine carries its own. */
static qs_status gain(qs_vm *vm, qs_call_args *c) {
    c->out[0] = qs_num(*(double *)qs_userdata(vm));
    return QS_OK;
}
static const qs_native_def natives[] = {{"gain", gain, 0, 0, 1, "gain(): how much louder."}};

static qs_status call(qs_vm *vm, const char *name, qs_value x, int nout, qs_value *out) {
    qs_value f;
    qs_status s = qs_global(vm, name, &f);
    if (s != QS_OK) return s;
    s = qs_call(vm, f, 1, &x, nout, out);
    qs_release(vm, f);
    return s;
}

/* The script changes `samples` where they are; its own result is read through a lock. */
static qs_status work(qs_vm *vm, float samples[4], float smoothed[4]) {
    qs_array_info info = {.dtype = QS_F32, .rank = 1, .dims = {4}, .strides = {1}, .nbytes = 4 * sizeof(float)};
    qs_value x = qs_nil(), y = qs_nil();
    void *p;
    qs_status s = qs_array_wrap(vm, &info, samples, -1, NULL, NULL, &x);
    if (s == QS_OK) s = call(vm, "louder", x, 0, NULL);
    if (s == QS_OK) s = call(vm, "smooth", x, 1, &y);
    if (s == QS_OK) s = qs_lock(vm, y, -1, QS_READ, &p);
    if (s == QS_OK) memcpy(smoothed, p, 4 * sizeof(float)), s = qs_unlock(vm, y, -1, QS_READ);
    qs_release(vm, y);
    qs_release(vm, x);
    return s;
}

static qs_vm *start(double *my_gain) {
    qs_config config;
    qs_config_init(&config);
    config.ud = my_gain;
    qs_vm *vm;
    if (qs_open(&config, &vm) == QS_OK && qs_define(vm, natives, 1) == QS_OK &&
        qs_load(vm, "sound.q", script, strlen(script)) == QS_OK)
        return vm;
    if (vm) fputs(qs_error_report(vm), stderr);
    qs_close(vm);
    return NULL;
}

int main(void) {
    double gains[2] = {2, 10};
    qs_vm *vm[2] = {start(&gains[0]), start(&gains[1])};
    int failed = !vm[0] || !vm[1];
    for (int k = 0; k < 2 && !failed; k++) {
        float x[4] = {1, 2, 3, 6}, y[4];
        failed = work(vm[k], x, y) != QS_OK || x[3] != (float)(6 * gains[k]);
        if (failed) fprintf(stderr, "%s\n", qs_error(vm[k]));
        else printf("louder: %g %g %g %g, smooth: %g %g %g %g\n", x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3]);
    }
    if (!failed && call(vm[0], "smooth", qs_nil(), 0, NULL) != QS_OK) { /* a mistake: null is no array */
        printf("%s", qs_error_report(vm[0]));
        qs_error_clear(vm[0]);
    } else failed = 1;
    for (int k = 0; k < 2; k++)
        if (vm[k]) qs_close(vm[k]);
    return failed;
}
