/* utf8.h -- declares reading and writing of UTF-8 text. */
#ifndef VM_BASE_UTF8_H
#define VM_BASE_UTF8_H
#include "vm/base/ctx.h"

/* Returns whether a byte continues a character. */
static inline bool qutf8_continues(char ch) { return ((unsigned char)ch & 0xC0) == 0x80; }
size_t qutf8_length(const char *s, size_t n); /* bytes of the character at s, n > 0; 0: it is malformed */
/* Reads the character at s and sets its length.  A malformed byte is a character of length 1 that returns -1. */
int32_t qutf8_read(const char *s, size_t n, size_t *len);
/* Reads the character at *s, before `end`, and skips it; a malformed byte gives U+FFFD, the replacement character. */
uint32_t qutf8_next(const char **s, const char *end);
void qutf8_add(Text *t, uint32_t code); /* what is no character gives U+FFFD */
/* The letter in upper or lower case by Unicode's simple mapping, whatever the locale; other characters are returned. */
uint32_t qutf8_upper(uint32_t code);
uint32_t qutf8_lower(uint32_t code);
#endif
