/* Random numbers of kernels: known answers of Philox4x32-10 (Random123, kat_vectors), and the words of the counter. */
#include "tests/support/lowered.h"
#include "vm/value/random_block.h"

static float unit(uint32_t w) { return (float)(w >> 8) * 0x1p-24f; }

static void known_answers(void) {
    BEGIN("function [] = __kernel__ f(y : vec, pos : int)\n"
          " y[0..3] = rand(4)\n"
          "end\n");
    OK(&t, RUN1(&t, "f", 1, VEC(y, 4)));
    CHECK(y[0] == unit(0x6627e8d5) && y[1] == unit(0xe169c58d) && y[2] == unit(0xbc57ac4c) && y[3] == unit(0x9b00dbd8));
    END;
}

/* The words of the counter are the axes, the last one first, and the number of the draw; qrandom_block sets two. */
static void counters(void) {
    BEGIN("function [] = __kernel__ f(y : vec, pos : int)\n"
          " y[pos] = rand()\n"
          "end\n"
          "function [] = __kernel__ g(y : mat, pos : ivec2)\n"
          " y[pos] = rand()\n"
          "end\n"
          "function [] = __kernel__ h(y : vec, pos : int)\n"
          " s = rand()\n"
          " y[pos] = rand()\n"
          "end\n");
    lowered_key[0] = 0x12345678, lowered_key[1] = 0x9abcdef0;
    uint64_t key = (uint64_t)lowered_key[1] << 32 | lowered_key[0];
    uint32_t w[4];
    OK(&t, RUN1(&t, "f", 12, VEC(y, 12)));
    for (uint64_t i = 0; i < 12; i++) qrandom_block(key, i, w), CHECK(y[i] == unit(w[0]));
    OK(&t, RUN2(&t, "g", 3, 4, MAT(y, 3, 4)));
    for (uint64_t i = 0; i < 12; i++) qrandom_block(key, i / 4 << 32 | i % 4, w), CHECK(y[i] == unit(w[0]));
    OK(&t, RUN1(&t, "h", 12, VEC(y, 12)));
    for (uint64_t i = 0; i < 12; i++) qrandom_block(key + (1ull << 32), i, w), CHECK(y[i] == unit(w[0]));
    lowered_key[0] = lowered_key[1] = 0;
    END;
}

/* Draws in loops are counted, each call by itself. */
static void draws(void) {
    BEGIN("function [] = __kernel__ f(y : vec, pos : int)\n"
          " for k = 0..3\n"
          "  y[k] = rand()\n"
          "  if k < 3\n"
          "   y[4+k] = rand()\n"
          "  end\n"
          " end\n"
          " y[8] = rand()\n"
          "end\n");
    OK(&t, RUN1(&t, "f", 1, VEC(y, 12)));
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < i; k++) CHECK(y[i] != y[k]); /* y[7] is 0 */
    END;
}

static void refusals(void) {
    BEGIN("function [] = __kernel__ f(n : int, y : vec, pos : int)\n"
          " y[pos] = randi(n)\n"
          "end\n"
          "function [] = __kernel__ g(y : vec, pos : int)\n"
          " y[pos] = sum(rand(2000))\n"
          "end\n");
    FAILS(&t, RUN1(&t, "f", 1, INT(0), VEC(y, 1)), "randi: n must be an integer from 1 to 2^31-1, got 0");
    OK(&t, RUN1(&t, "f", 12, INT(1), VEC(y, 12)));
    for (int i = 0; i < 12; i++) CHECK(y[i] == 0);
    FAILS(&t, RUN1(&t, "g", 1, VEC(y, 1)), "rand of more than 1024 elements is too big for a kernel");
    END;
}

int main(void) {
    known_answers();
    counters();
    draws();
    refusals();
    return check_done();
}
