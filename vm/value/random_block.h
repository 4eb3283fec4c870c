/* random_block.h -- declares the generator of random numbers. */
#ifndef VM_RANDOM_BLOCK_H
#define VM_RANDOM_BLOCK_H
#include <stdint.h>

void qrandom_block(uint64_t seed, uint64_t counter, uint32_t out[4]); /* Philox4x32-10: block `counter` of the stream */
#endif
