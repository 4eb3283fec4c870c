/* The programs of scripts in C. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define FOR(i, from, end) for (int i = from; i < end; i++)

static double fibonacci(double n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
void fib(int n, int unused, double *y) { *y = fibonacci(n); }

static double takeuchi(double a, double b, double c) {
    return b >= a ? c : takeuchi(takeuchi(a - 1, b, c), takeuchi(b - 1, c, a), takeuchi(c - 1, a, b));
}
void tak(int n, int unused, double *y) { *y = takeuchi(n, 2 * n / 3, n / 3); }

static double transfer(int n, int from, int to, int other) {
    return n > 0 ? transfer(n - 1, from, other, to) + 1 + transfer(n - 1, other, to, from) : 0;
}
void hanoi(int n, int unused, double *y) { *y = transfer(n, 1, 3, 2); }

static int place(int row, int n, int *columns, int *up, int *down) {
    int count = 0;
    if (row == n) return 1;
    FOR(c, 0, n) if (!columns[c] && !up[row + c] && !down[row - c + n]) {
        columns[c] = up[row + c] = down[row - c + n] = 1;
        count += place(row + 1, n, columns, up, down);
        columns[c] = up[row + c] = down[row - c + n] = 0;
    }
    return count;
}
void queens(int n, int unused, double *y) {
    int columns[99] = {0}, up[99] = {0}, down[99] = {0};
    *y = place(0, n, columns, up, down);
}

static int squares(int k) {
    int s = 0;
    for (; k > 0; k /= 10) s += (k % 10) * (k % 10);
    return s;
}
void happy(int n, int unused, double *y) {
    int count = 0;
    for (int k = 1; k <= n; k++) {
        int x = k;
        while (x != 1 && x != 4) x = squares(x);
        count += x == 1;
    }
    *y = count;
}

void harmonic(int n, int unused, double *y, double *terms) {
    double s = 0;
    *terms = 0;
    for (int k = 1; k <= n; k++) {
        s += 1.0 / k;
        if (*terms == 0 && s > 10) *terms = k;
    }
    *y = s;
}

static int is_prime(int k) {
    for (int m = 2; m * m <= k; m++)
        if (k % m == 0) return 0;
    return k > 1;
}
void trial_division(int n, int unused, double *y) {
    int64_t s = 0;
    FOR(k, 0, n) if (is_prime(k)) s += k;
    *y = s;
}

typedef struct {
    double x, y, vx, vy, mass;
} Body;
static void attract(Body *self, const Body *other, double dt) {
    double dx = other->x - self->x, dy = other->y - self->y, r = dx * dx + dy * dy,
           w = dt * other->mass / (r * sqrt(r));
    self->vx += w * dx, self->vy += w * dy;
}
static void move(Body *self, double dt) { self->x += dt * self->vx, self->y += dt * self->vy; }
void orbit(int n, int unused, double *x, double *y) {
    Body sun = {.mass = 1}, planet = {.x = 1, .vy = 1, .mass = 0.001};
    FOR(k, 0, n) {
        attract(&planet, &sun, 0.001);
        attract(&sun, &planet, 0.001);
        move(&planet, 0.001);
        move(&sun, 0.001);
    }
    *x = planet.x, *y = planet.y;
}

void texts(int n, int unused, double *total, double *found) {
    char s[32];
    *total = *found = 0;
    for (int k = 1; k <= n; k++) {
        snprintf(s, sizeof s, "item %d", k);
        *total += strlen(s);
        *found += strstr(s, "77") != NULL;
    }
}
