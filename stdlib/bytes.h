/* bytes.h -- reads and writes the numbers of binary files.
 *
 * A ByteReader never reads beyond its end: a read that does not fit gives 0 and sets `short_of`, so that a reader
 * checks once after several reads. */
#ifndef STDLIB_BYTES_H
#define STDLIB_BYTES_H
#include "vm/base/ctx.h"

#include <string.h>

/* Read an unsigned number of 1 to 8 bytes, the least (le) or the most significant byte first (be). */
static inline uint64_t qbytes_le(const uint8_t *p, int bytes) {
    uint64_t x = 0;
    for (int i = bytes; i-- > 0;) x = x << 8 | p[i];
    return x;
}
static inline uint64_t qbytes_be(const uint8_t *p, int bytes) {
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++) x = x << 8 | p[i];
    return x;
}

static inline void qbytes_put_le(Text *t, uint64_t x, int bytes) {
    for (; bytes > 0; bytes--, x >>= 8) qtext_putc(t, (char)(x & 255));
}

/* Reverses the bytes of each word. */
static inline void qbytes_swap(uint8_t *p, size_t n, size_t word) {
    for (size_t i = 0; i + word <= n; i += word)
        for (size_t k = 0; k < word / 2; k++) {
            uint8_t t = p[i + k];
            p[i + k] = p[i + word - 1 - k], p[i + word - 1 - k] = t;
        }
}

typedef struct {
    const uint8_t *p;
    size_t n;      /* number of bytes that are left at p */
    bool swapped;  /* numbers have the most significant byte first */
    bool short_of; /* a read went beyond the end */
} ByteReader;

/* Returns the next n bytes and skips them; NULL: fewer are left. */
static inline const uint8_t *qbytes_take(ByteReader *b, size_t n) {
    const uint8_t *p = b->p;
    if (n > b->n) return b->short_of = true, b->n = 0, NULL;
    return b->p += n, b->n -= n, p;
}
static inline uint64_t qbytes_number(ByteReader *b, int bytes) {
    const uint8_t *p = qbytes_take(b, (size_t)bytes);
    return !p ? 0 : b->swapped ? qbytes_be(p, bytes) : qbytes_le(p, bytes);
}
#endif
