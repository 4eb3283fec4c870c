/* Philox4x32-10 compared with the known answers of its authors (Random123, kat_vectors), and the statistics of the
 * random numbers. */
#include "tests/unit/natives.h"
#include "vm/value/random_block.h"

#include <math.h>

static void known_answers(void) {
    uint32_t w[4];
    qrandom_block(0, 0, w);
    CHECK(w[0] == 0x6627e8d5 && w[1] == 0xe169c58d && w[2] == 0xbc57ac4c && w[3] == 0x9b00dbd8);
}

static void moments(qs_vm *vm, qs_native_fn *f, double mean, double variance) {
    qs_value in[1] = {qs_num(100000)}, out;
    const void *p;
    double s = 0, q = 0;
    CHECK(native(vm, f, 1, in, 1, &out) == QS_OK);
    CHECK(qarr_read(vm, qval_array(out), &p) == QS_OK);
    for (size_t i = 0; i < 100000; i++)
        s += (double)((const float *)p)[i], q += (double)((const float *)p)[i] * (double)((const float *)p)[i];
    s /= 1e5, q = q / 1e5 - s * s;
    CHECK(fabs(s - mean) < 0.01 && fabs(q - variance) < 0.02);
    qval_release(vm, out);
}

int main(void) {
    qs_vm *vm = machine_open();
    Lib lib = {0};
    qvm(vm)->lib = &lib;
    known_answers();
    moments(vm, qrandom_rand, 0.5, 1.0 / 12);
    moments(vm, qrandom_randn, 0, 1);
    machine_close(vm);
    return check_done();
}
