/* radix.h -- the loops of sorting: elements into keys and back, items counted and moved by digits of their keys.
 *
 * A key is an unsigned number; keys have the order of the elements.  NaN has the largest key whichever way is sorted,
 * and -0 that of 0.  Keys of elements of up to 4 bytes have 32 bits, others 64.  An item is what is moved about. */
#ifndef STDLIB_RADIX_H
#define STDLIB_RADIX_H
#include "stdlib/stdlib.h"

/* -- keys of one element type -------------------------------------------------------------------------------------- */
/* Steps count elements.  down: larger elements get smaller keys, NaN stays last. */
typedef struct {
    bool (*make)(const void *src, size_t step, size_t n, bool down, void *keys); /* true: -0 is among them */
    void (*back)(const void *keys, size_t n, bool down, void *dst, size_t step);
    /* Zeros of sorted elements get the signs they had, in their old order. */
    void (*zeros)(const void *src, size_t n, void *dst, size_t step);
} KeyLoops;

const KeyLoops *qradix_keys(qs_dtype d);
const KeyLoops *qradix_keys_avx2(qs_dtype d);

/* -- forms of items ------------------------------------------------------------------------------------------------ */
typedef enum {
    ITEM_KEY32,
    ITEM_KEY64, /* the key alone */
    ITEM_WORD,  /* a key of 32 bits above as many of the position */
    ITEM_PAIR,
    ITEM_FAR, /* SortItem, of keys of 64 and of 32 bits */
    ITEM_FORMS
} ItemForm;

typedef struct {
    uint64_t base;
    int shift;
    uint64_t mask;
} Digit; /* of a number: (number - base) >> shift & mask */

typedef struct {
    size_t size;
    int low; /* bits below the key */
    /* keys into items; positions count from `first` */
    void (*pack)(const void *keys, size_t n, size_t first, void *items);
    void (*unpack)(const void *items, size_t n, void *keys);
    void (*places)(const void *items, size_t n, double *at);
    void (*range)(const void *items, size_t n, uint64_t range[2]); /* of keys: grows to hold them */
    /* by a digit of the key: how many have which; each into the next place of the bucket that has such digits */
    void (*tally)(const void *keys, size_t n, Digit d, size_t *counts);
    void (*spread)(const void *keys, size_t n, size_t first, Digit d, const uint16_t *bucket, size_t *places,
                   void *items);
    /* by a digit of the item, with its bits below the key: how many have which; each into its next place */
    void (*count)(const void *items, size_t n, Digit d, size_t *counts);
    void (*scatter)(const void *items, size_t n, Digit d, size_t *places, void *to);
    /* Insertion; false: there was more than `most` places to move by in all, and it was given up. */
    bool (*insert)(void *items, size_t n, size_t most);
} ItemLoops;

const ItemLoops *qradix_items(ItemForm form);
const ItemLoops *qradix_items_avx2(ItemForm form);
#endif
