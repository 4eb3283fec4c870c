/* buildlog.h -- translates line numbers of generated text in compiler messages to lines of the script.
 *
 * The driver's compiler reports errors in the text that we generated.  These formats are recognized:
 *     clang             name:12:5: error: …      with any name or none
 *     PoCL              error: name:12:5: …
 *     older compilers   "name", line 12: error: …
 *     NVIDIA, for PTX   … input, line 12; error : …      also from its OpenCL driver
 * A line of the log that names no line of the text is unchanged. */
#ifndef DEVICES_BUILDLOG_H
#define DEVICES_BUILDLOG_H
#include "devices/device.h"

/* Returns the script position that a line of the text (counted from 1) was generated from; 0: none. */
uint32_t qbuildlog_position(const CodeLines *lines, uint32_t line);

/* Returns the script position of the first error in the log that has one; 0: none. */
uint32_t qbuildlog_error(const CodeLines *lines, const char *log);

/* Appends the log to out, with lines of the text replaced by the file and line of the script. */
void qbuildlog_translate(const CodeLines *lines, const char *log, Text *out);
#endif
