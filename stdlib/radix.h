/* radix.h -- declares the loops of radix sort: converting elements to keys and back, and counting and moving items by
 * digits of their keys.
 *
 * A key is an unsigned number whose order is the order of the elements.  NaN has the largest key in both directions,
 * and -0 has the key of 0.  Elements of up to 4 bytes have 32-bit keys, others 64-bit keys.  An item is the unit that
 * is moved. */
#ifndef STDLIB_RADIX_H
#define STDLIB_RADIX_H
#include "stdlib/stdlib.h"

/* -- keys of one element type -------------------------------------------------------------------------------------- */
/* Strides (`step`) are in elements.  down: larger elements get smaller keys; NaN stays last. */
typedef struct {
    /* Converts elements to keys; returns whether one of them is -0. */
    bool (*make)(const void *src, size_t step, size_t n, bool down, void *keys);
    void (*back)(const void *keys, size_t n, bool down, void *dst, size_t step);
    /* take_zeros copies the zeros among elements and returns their number.  put_zeros overwrites the zeros of sorted
     * elements by them: they have signs, which keys do not contain, in their original order. */
    size_t (*take_zeros)(const void *src, size_t step, size_t n, void *zeros);
    void (*put_zeros)(const void *zeros, size_t n, void *dst, size_t step);
} KeyLoops;

const KeyLoops *qradix_keys(qs_dtype d);
const KeyLoops *qradix_keys_avx2(qs_dtype d);
const KeyLoops *qradix_keys_avx512(qs_dtype d);

enum { QRADIX_BUCKETS = 1024 }; /* maximum number of buckets */

/* -- forms of items ------------------------------------------------------------------------------------------------ */
typedef enum {
    ITEM_KEY32,
    ITEM_KEY64, /* the key alone */
    ITEM_WORD,  /* a 32-bit key above a 32-bit position */
    ITEM_PAIR,
    ITEM_FAR, /* SortItem with a 64-bit key (pair) or a 32-bit key (far) */
    ITEM_FORMS
} ItemForm;

typedef struct {
    uint64_t base;
    int shift;
    uint64_t mask;
} Digit; /* extracts a digit of a number: (number - base) >> shift & mask */

/* The smallest and the largest key, the bits that all keys have and the bits that a key has. */
typedef struct {
    uint64_t least, most, common, any;
} KeyRange;

typedef struct {
    size_t size;
    int low; /* number of bits below the key */
    /* Converts keys to items; positions count from `first`. */
    void (*pack)(const void *keys, size_t n, size_t first, void *items);
    void (*unpack)(const void *items, size_t n, void *keys);
    void (*places)(const void *items, size_t n, double *at);
    void (*range)(const void *items, size_t n, KeyRange *range); /* extends *range to include the keys */
    /* By a digit of the key: `tally` counts the keys with each digit; `spread` stores each as an item at the next
     * position of the bucket for its digit.  items: aligned to 64 bytes; stream: they do not fit in the cache. */
    void (*tally)(const void *keys, size_t n, Digit d, size_t *counts);
    void (*spread)(const void *keys, size_t n, size_t first, Digit d, const uint16_t *bucket, size_t *places,
                   bool stream, void *items);
    /* By a digit of the item, including the bits below the key: `count` counts the digits, `scatter` stores each item
     * at the next position of its digit. */
    void (*count)(const void *items, size_t n, Digit d, size_t *counts);
    void (*scatter)(const void *items, size_t n, Digit d, size_t *places, void *to);
    /* Insertion sort; false: stopped because it needed more than `most` moves. */
    bool (*insert)(void *items, size_t n, size_t most);
    /* Sorts items that are keys only, by comparisons; spare: room for n items.  NULL: not available. */
    void (*compare)(void *items, size_t n, void *spare);
} ItemLoops;

const ItemLoops *qradix_items(ItemForm form);
const ItemLoops *qradix_items_avx2(ItemForm form);
const ItemLoops *qradix_items_avx512(ItemForm form);
#endif
