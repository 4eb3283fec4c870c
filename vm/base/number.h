/* number.h -- converts between numbers and text with a decimal point, whatever locale the host program has set.
 * All text is formatted and parsed with these functions, also messages and the code of kernels: a decimal comma there
 * would be an error that only users of some locales see. */
#ifndef VM_BASE_NUMBER_H
#define VM_BASE_NUMBER_H
#include "vm/quasar_types.h"

#include <stdarg.h>
#include <stddef.h>

double qnum_read(const char *s, char **end); /* strtod; end may be NULL */
float qnum_read_float(const char *s, char **end);
/* Like snprintf and vsnprintf. */
int qnum_print(char *s, size_t n, const char *fmt, ...) QS_PRINTF(3, 4);
int qnum_vprint(char *s, size_t n, const char *fmt, va_list ap);
#define QNUM_CONVERSIONS "diuxXoeEfFgGsc" /* letters that end a conversion of sprintf and of f"{x:.3f}" */
/* Formats a number for a message: all digits of an integral one, otherwise fifteen digits; nan without a sign. */
enum { NUMBER_TEXT = 32 };
const char *qnum_shown(double x, char buf[NUMBER_TEXT]);
/* Writes the decimal digits of an integer, without a NUL; returns their number.  It is faster than a format. */
enum { INTEGER_TEXT = 24 };
size_t qnum_digits(char out[INTEGER_TEXT], int64_t n);
#endif
