/* libFuzzer entry: any text is a program: it runs to its end, to an error or to an interrupt after some time. */
#include "tests/fuzz/harmless.h"

#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    harmless_init();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    qs_vm *vm = harmless_open(size & 1 ? "always" : NULL); /* loops are interpreted, or all compiled */
    qs_status s = qs_load(vm, "fuzz.q", (const char *)data, size);
    if ((s != QS_OK) != (qs_error(vm) != NULL)) abort();
    if (s != QS_OK && !qs_error_report(vm)) abort();
    harmless_close(vm);
    return 0;
}
