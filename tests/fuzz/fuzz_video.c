/* libFuzzer entry: any bytes as a video that is opened, read, sought and closed: each call returns a value or an error.
 *  FFmpeg itself is not instrumented, so the test covers our handling of its results. */
#include "stdlib/builtins.h"
#include "tests/fuzz/harmless.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    harmless_init();
    if (qvideo_has()) return 0;
    fprintf(stderr, "fuzz_video: this build has no FFmpeg\n");
    exit(1);
}

/* Reads to the end of the file, then seeks to positions that depend on it. */
static const char *const program[] = {
    "s = vidopen(\"x\")",
    "n = 0\nwhile n < 40 && vidreadframe(s)\n n += 1\n a = s.rgb_data\n t = [sum(float(a)), s.pts]\nend",
    "vidseek(s, abs(s.duration_sec)/2)\nvidreadframe(s)\nprint s.pts, max(s.rgb_data)",
    "vidseek(s, 0)\ns.bits_per_color = 12\nvidreadframe(s)\nb = s.rgb_data\nprint sum(float(b))",
    "vidseek(s, 1e9)\nvidreadframe(s)",
    "s.bits_per_color = 8\nvidclose(s)\nprint s.frame_width, s.avg_frame_rate, s.frames",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const qs_native_def open = {"vidopen", qvideo_open, 1, 1, 1, NULL};
    qs_vm *vm = harmless_open(NULL);
    FILE *f = fopen("x", "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) abort();
    if (qs_define(vm, &open, 1) != QS_OK) abort();
    for (size_t i = 0; i < sizeof program / sizeof *program; i++) {
        qs_value v = qs_nil();
        qs_status s = qs_eval(vm, program[i], &v);
        if ((s != QS_OK) != (qs_error(vm) != NULL)) abort();
        qs_error_clear(vm);
        qs_release(vm, v);
        if (i == 0 && s != QS_OK) break;
    }
    unlink("x");
    harmless_close(vm);
    return 0;
}
