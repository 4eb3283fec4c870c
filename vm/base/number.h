/* number.h -- numbers as text, with a point whatever locale the host program has set.  All text is made and read
 * through this door, messages and the code of kernels too: a comma in them would be an error that only some users see.
 */
#ifndef VM_BASE_NUMBER_H
#define VM_BASE_NUMBER_H
#include "vm/quasar_types.h"

#include <stdarg.h>
#include <stddef.h>

double qnum_read(const char *s, char **end); /* strtod; end may be NULL */
float qnum_read_float(const char *s, char **end);
/* snprintf and vsnprintf. */
int qnum_print(char *s, size_t n, const char *fmt, ...) QS_PRINTF(3, 4);
int qnum_vprint(char *s, size_t n, const char *fmt, va_list ap);
/* A number in a message: all digits of a whole one, otherwise fifteen; nan has no sign. */
enum { NUMBER_TEXT = 32 };
const char *qnum_shown(double x, char buf[NUMBER_TEXT]);
#endif
