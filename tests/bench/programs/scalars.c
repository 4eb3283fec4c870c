/* The programs of scalars in C; double where the programs have numbers, float where they have arrays. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define FOR(i, from, end) for (int i = from; i < end; i++)

void collatz(int n, int unused, double *best) {
    int longest = 0;
    for (int start = 1; start < n; start++) {
        int64_t x = start;
        int steps = 0;
        while (x != 1) x = x % 2 == 0 ? x / 2 : 3 * x + 1, steps++;
        if (steps > longest) longest = steps, *best = start;
    }
}
