/* operators.h -- enumerates the operators of the language for the parser, bytecode, arrays and kernels. */
#ifndef LANG_OPERATORS_H
#define LANG_OPERATORS_H

typedef enum Op {
#define BINARY(id, text, inplace, prec, method) OP_##id,
#define UNARY(id, text, prec, method)           OP_##id,
#include "lang/syntax/operators.def"
    OP__COUNT
} Op;
static inline int qop_is_bitwise(Op op) { return op == OP_BITAND || op == OP_BITOR || op == OP_BITXOR; }
const char *qop_text(Op op);    /* such as "+"; for operators with an in-place form only, that form */
const char *qop_inplace(Op op); /* such as "+="; "": there is no in-place form */
#endif
