/* buildlog.h -- what a driver's compiler says about generated text, told with the lines of the script.
 *
 * The forms are those of clang (`name:12:5: error: …`, with any name or none), of PoCL, which puts `error: ` in
 * front, and of older compilers (`"name", line 12: error: …`); of PTX only NVIDIA's (`… input, line 12; error : …`),
 * whose OpenCL driver may speak of lines of PTX, too.  A row that names no line stays as it is. */
#ifndef DEVICES_BUILDLOG_H
#define DEVICES_BUILDLOG_H
#include "devices/device.h"

/* The position in the script that a line of the text, from 1, was made for; 0: none. */
uint32_t qbuildlog_position(const CodeLines *lines, uint32_t line);

/* The position in the script of the first error that has one; 0: there is none. */
uint32_t qbuildlog_error(const CodeLines *lines, const char *log);

/* Adds the log to out; where a row names a line of the text, the script's file and line stand instead. */
void qbuildlog_tell(const CodeLines *lines, const char *log, Text *out);
#endif
