/* operators.h -- the operators of the language, one name for parser, bytecode, arrays and kernels. */
#ifndef LANG_OPERATORS_H
#define LANG_OPERATORS_H

typedef enum {
#define BINARY(id, text, inplace, prec, method) OP_##id,
#define UNARY(id, text, prec, method)           OP_##id,
#include "lang/syntax/operators.def"
    OP__COUNT
} Op;
const char *qop_text(Op op);    /* "+"; for in-place-only operators the in-place text */
const char *qop_inplace(Op op); /* "+=", "" when there is none */
#endif
