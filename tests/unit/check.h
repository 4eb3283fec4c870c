/* check.h -- assertions for unit tests: CHECK counts and reports, `return check_done()` ends main. */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int check_count, check_failed; /* some tests check on several threads */

static inline void check_report(int ok, const char *file, int line, const char *what) {
    check_count++;
    if (ok) return;
    check_failed++;
    printf("%s:%d: failed: %s\n", file, line, what);
}
#define CHECK(cond) check_report(!!(cond), __FILE__, __LINE__, #cond)

static inline void check_text(const char *got, const char *want, const char *file, int line, const char *what) {
    check_report(got && strcmp(got, want) == 0, file, line, what);
    if (!got || strcmp(got, want) != 0) printf("  got:  %s\n  want: %s\n", got ? got : "(null)", want);
}
#define CHECK_TEXT(got, want) check_text(got, want, __FILE__, __LINE__, #got)

static inline int check_done(void) {
    printf("%d checks, %d failed\n", check_count, check_failed);
    return check_failed != 0;
}
#endif
