/* ptx_parse.h -- what the parser (ptx_parse.c) hands to the decoder (ptx_decode.c): one statement at a time, as a name
 * and operands, and the names that are known at this place. */
#ifndef TESTS_SUPPORT_PTX_PARSE_H
#define TESTS_SUPPORT_PTX_PARSE_H
#include "tests/support/ptx/ptx_machine.h"

typedef enum { END_OF_TEXT, WORD, NUMBER, SIGN, STRING } TokenKind;
typedef struct {
    TokenKind kind;
    const char *s;
    int n;
    uint32_t line;
} Token;

typedef enum { SYM_REGISTER, SYM_ARG, SYM_PARAM, SYM_SHARED, SYM_GLOBAL, SYM_LOCAL, SYM_FUNCTION } SymbolKind;
typedef struct {
    const char *name;
    int length, count; /* count: of registers name0 …; 0: the name stands for itself */
    SymbolKind kind;
    uint8_t width; /* bytes of a lane; 0: a predicate */
    int64_t at;
    size_t bytes;
} Symbol;

enum { OPERANDS = 8, PARTS = 10 };
typedef enum { OPERAND_NAME, OPERAND_NUMBER, OPERAND_VECTOR, OPERAND_ADDRESS, OPERAND_LIST } OperandKind;
typedef struct {
    OperandKind kind;
    bool inverted, minus; /* !x, -x */
    Token token, second;  /* second: behind |; .n is 0 where there is none */
    Token list[MOST_ARGS];
    int nlist;
    int64_t offset; /* of an address */
} Operand;

typedef struct {
    const char *name;
    int length;
    uint32_t at;
} Label; /* at: of the function's instructions */
typedef struct {
    uint32_t at;
    Token name;
} Jump; /* whose target is not known yet */

struct PtxParser {
    PtxModule *m;
    const char *at;
    uint32_t line;
    Token token;
    Symbol *symbol;
    uint32_t nsymbols, symbols_room;
    uint32_t mark[64], depth; /* symbols before each { */
    PtxFunction *f;           /* being read */
    PtxIns *code;             /* of f */
    uint32_t ncode, code_room;
    PtxIns **codes; /* of all functions, in the order of the text */
    Label *label;
    uint32_t nlabels, labels_room;
    Jump *jump;
    uint32_t njumps, jumps_room;
    Label list_label[32]; /* .branchtargets: at is the index in m->branches */
    uint32_t nlist_labels;
    /* the statement */
    char opcode[96];
    Token guard;
    bool guard_not;
    Operand operand[OPERANDS];
    int noperands;
    char *why;
    size_t nwhy;
    bool failed;
};

__attribute__((format(printf, 2, 3))) bool ptx_refuse(PtxParser *p, const char *fmt, ...);
const Symbol *ptx_lookup(const PtxParser *p, Token name, int *index);
/* A slot in the register file for a constant, the same for all lanes. */
int32_t ptx_const(PtxParser *p, unsigned type, uint64_t bits);
int32_t ptx_special(PtxParser *p, Token name);
int32_t ptx_room(PtxParser *p, size_t bytes);
void *ptx_grow(void *list, uint32_t n, uint32_t *room, size_t size);
#define PTX_GROW(list, n, room) ((list) = ptx_grow(list, n, &(room), sizeof *(list)))
#endif
