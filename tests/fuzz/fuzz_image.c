/* libFuzzer entry: any bytes as a file for every file reader: each returns a value or an error. */
#include "tests/fuzz/harmless.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    harmless_init();
    return 0;
}

static void write_file(const char *path, const uint8_t *data, size_t size) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) abort();
}

/* The readers look at the first bytes; those of arrays also at the name. */
static const char *const *readers_of(const uint8_t *data, size_t size) {
    static const char *const image[] = {"[a, b] = imread(\"x\"); print a, b", "a = imread(\"x\", 1)",
                                        "print imfinfo(\"x\")", "print tiffread(\"x\")", NULL};
    static const char *const array[] = {"print load(\"x.npy\")", "print load(\"x.npz\")", NULL};
    static const char *const table[] = {"print csvread(\"x\")", "print csvread(\"x\", \";\")", "print readtable(\"x\")",
                                        "print jsonencode(jsondecode(fileread(\"x\")), 1)", NULL};
    static const char *const sound[] = {"print audioread(\"x\")", "print audioread(\"x\", \"native\")",
                                        "print audioinfo(\"x\")", NULL};
    static const char *const matlab[] = {"print load(\"x\")", "print load(\"x\", \"a\")", NULL};
    if (size > 2 && data[0] == 'M' && data[1] == 'A') return matlab;
    if (size > 2 && data[0] == 'R') return sound;
    if (size > 2 && ((data[0] && strchr("\x89\xffIMBG", data[0])) || (data[0] == '#' && data[1] == '?') ||
                     (data[0] == 'P' && data[1] != 'K')))
        return image;
    static const char *const weights[] = {"print load(\"x\")", NULL};
    if (size > 8 && data[8] == '{') return weights;
    return size && (data[0] == 0x93 || data[0] == 'P') ? array : table;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    qs_vm *vm = harmless_open(NULL);
    write_file("x", data, size);
    if (link("x", "x.npy") != 0 || link("x", "x.npz") != 0) abort();
    for (const char *const *r = readers_of(data, size); *r; r++) {
        qs_value v = qs_nil();
        qs_status s = qs_eval(vm, *r, &v);
        if ((s != QS_OK) != (qs_error(vm) != NULL)) abort();
        qs_error_clear(vm);
        qs_release(vm, v);
    }
    unlink("x"), unlink("x.npy"), unlink("x.npz");
    harmless_close(vm);
    return 0;
}
