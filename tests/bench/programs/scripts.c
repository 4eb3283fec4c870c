/* The programs of scripts in C. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define FOR(i, from, end) for (int i = from; i < end; i++)

static double fibonacci(double n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
void fib(int n, int unused, double *y) { *y = fibonacci(n); }
