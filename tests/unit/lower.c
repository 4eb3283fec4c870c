/* Statements, types and parameters of kernels, from text to numbers. */
#include "tests/support/lowered.h"

static void simple(void) {
    Lowered t;
    float x[4] = {1, 2, 3, 4}, y[4] = {0};
    lowered_open(&t, "function [] = __kernel__ f(x : vec, y : vec, a, pos : int)\n y[pos] = a*x[pos] + 1\nend\n");
    OK(&t, RUN1(&t, "f", 4, VEC(x, 4), VEC(y, 4), NUM(2)));
    FLOATS(y, 3, 5, 7, 9);
    OK(&t, RUN1(&t, "f", 4, VEC(x, 4), VEC(y, 4), NUM(0.5)));
    FLOATS(y, 1.5, 2, 2.5, 3);
    printf("%s", t.kir.s);
    lowered_close(&t);
}

int main(void) {
    simple();
    return check_done();
}
