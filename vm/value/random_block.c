/* random_block.c -- the generator of random numbers: Philox4x32-10.
 *
 * Source: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).  stdlib/random.c makes
 * numbers of its blocks; kernels and compiled loops compute them as well (lower_random.c, loop_random.c). */
#include "vm/value/random_block.h"

void qrandom_block(uint64_t seed, uint64_t counter, uint32_t out[4]) {
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    uint32_t x0 = (uint32_t)counter, x1 = (uint32_t)(counter >> 32), x2 = 0, x3 = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t p = 0xD2511F53ull * x0, q = 0xCD9E8D57ull * x2;
        x0 = (uint32_t)(q >> 32) ^ x1 ^ k0, x1 = (uint32_t)q;
        x2 = (uint32_t)(p >> 32) ^ x3 ^ k1, x3 = (uint32_t)p;
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u; /* golden ratio, sqrt(3)-1 */
    }
    out[0] = x0, out[1] = x1, out[2] = x2, out[3] = x3;
}
