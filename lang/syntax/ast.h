/* ast.h -- the syntax tree.
 *
 *     text ── lex.c ── tokens ── parse.c stmt.c define.c expr.c typeexpr.c ── tree, errors with their places
 *
 * Text comes in (parse.h), a Unit goes out.  The session calls the parser; lang/names notes in the tree who is meant by
 * each name; lang/bytecode and lang/kernel read it.
 *
 * Nodes live in the arena of their Unit for as long as the program, because kernels and generic functions are
 * specialised from them at run time.  A position is a byte offset into the Unit's Source. */
#ifndef LANG_AST_H
#define LANG_AST_H
#include "vm/base/type.h"

typedef enum { /* expressions first; NODE_IS_EXPR depends on it */
               N_NUM,
               N_STR,
               N_IDENT,
               N_META,
               N_UNARY,
               N_BINARY,
               N_TERNARY,
               N_RANGE,
               N_CALL,
               N_INDEX,
               N_FIELD,
               N_LAMBDA,
               N_MATRIX,
               N_CELL,
               N_COLON,
               N_TYPE,
               N_LAST_EXPR = N_TYPE,
               N_EXPR,
               N_ASSIGN,
               N_DECL,
               N_IF,
               N_FOR,
               N_WHILE,
               N_REPEAT,
               N_MATCH,
               N_BREAK,
               N_CONTINUE,
               N_RETURN,
               N_SYNC,
               N_PRINT,
               N_IMPORT,
               N_FUNC,
               N_TYPEDEF,
               N_REDUCTION,
               N_ATTR,
               N_TRY,
               N_BLOCK
} NodeKind;

typedef struct Node Node;
typedef struct Func Func;
typedef struct Sym Sym;

typedef struct {
    Node **at;
    int n;
} NodeList;

/* -- type expressions, as written ---------------------------------------------------------------------------------- */
typedef enum {
    TE_NAME,
    TE_ARRAY /* base[inner] */,
    TE_FIXED /* base(d0,d1…) */,
    TE_RANK /* cube{4} or cube{:} */,
    TE_FN,
    TE_PTR,
    TE_UNION,
    TE_ANY
} TypeExprKind;
typedef struct TypeExpr TypeExpr;
struct TypeExpr {
    TypeExprKind kind;
    uint32_t pos;
    Str *name;      /* TE_NAME */
    TypeExpr *base; /* TE_ARRAY, TE_FIXED, TE_RANK: vec, mat, cube, or a user's generic name; TE_PTR: target */
    TypeExpr **args;
    int nargs; /* TE_ARRAY: element / type arguments; TE_FN: parameters; TE_UNION: members */
    TypeExpr **outs;
    int nouts; /* TE_FN */
    Node **dims;
    int ndims;            /* TE_FIXED; a dimension may be a type parameter (N_IDENT) */
    int rank;             /* TE_RANK, RANK_ANY for {:} */
    uint8_t qual;         /* TE_FN: FuncQual */
    TypeMods mods;        /* 'circular … on this type */
    const Type *resolved; /* cache of types.c; NULL until then or when it depends on a type parameter */
};
/* The error for an access mode that would have no effect. */
#define AST_MODE_REFUSED "%s cannot have an access mode, which belongs to a variable, as in x : mat'mirror = y"

typedef struct {
    Str *name; /* name := …, NULL when positional */
    Node *value;
    TypeExpr *type; /* f(x : cube) */
    uint32_t pos;
} Arg;
typedef struct {
    Arg *at;
    int n;
} ArgList;

typedef enum { Q_HOST, Q_DEVICE, Q_KERNEL } FuncQual;
/* Flags of an N_ASSIGN.  Of scope.c: a local begins with what a name outside has, if so; of define.c: the variable
 * gets a copy of its own. */
enum { ASSIGN_BEGINS = 1, ASSIGN_COPIES };

enum { EFFECTS_UNKNOWN, EFFECTS_NONE, EFFECTS_SOME }; /* Func.effects */
typedef struct Param {
    Str *name;
    TypeExpr *type;
    Node *init;
    bool variadic;
    uint32_t pos;
    Sym *sym;
} Param;

/* {!name key=value; …}: parsed, kept, and read only by those who honour it */
typedef struct {
    Str *key;
    Node *value; /* NULL: a bare word */
} AttrItem;
typedef struct {
    Str *name;
    AttrItem *items;
    int nitems;
    uint32_t pos;
} Attr;
/* Whether the one result of f is a list of `want` numbers on purpose: that of a lambda, or declared as vec2, ivec3 … */
bool qast_means_list(const Func *f, int want);
const Attr *qast_attribute(const Func *f, const char *name); /* the first of that name; NULL: f has none */

/* -- names, filled in by scope.c ----------------------------------------------------------------------------------- */
typedef enum {
    SYM_LOCAL,   /* index: number within func->locals */
    SYM_CAPTURE, /* index: number within func->captures */
    SYM_GLOBAL,  /* a top-level variable or function: index is a machine-wide global slot */
    SYM_TYPE,    /* a type name in expression position */
    SYM_NESTED,  /* a function defined inside a function: each mention makes a closure of `func` */
    SYM_TEMP     /* made by rewrite.c: an intermediate value; index is set by the compiler that evaluates `bound` */
} SymKind;
struct Sym {
    SymKind kind;
    int index;
    Str *name;
    Func *owner;        /* the function whose local this is; NULL for globals */
    bool variable;      /* SYM_GLOBAL: a variable, whose value a lambda captures */
    bool function;      /* SYM_GLOBAL: a function, when the unit is linked */
    bool unpacks;       /* SYM_GLOBAL: a built-in function whose one result is documented to be unpacked */
    Func *func;         /* SYM_NESTED */
    Node *bound;        /* SYM_TEMP */
    TypeExpr *declared; /* the first annotation, if any */
    TypeMods mods;      /* access mode of the variable: annotation, or taken over from the variable it was set from */
    const Type *type;   /* SYM_TYPE */
    const struct TypeDef *constants; /* SYM_TYPE: the enum, when it is one */
    uint32_t pos;                    /* first appearance */
};
/* outer: a symbol of the enclosing function; inner: SYM_CAPTURE here */
typedef struct {
    Sym *outer;
    Sym *inner;
} Capture;

/* A function, kernel, device function or lambda. */
struct Func {
    Str *name;    /* "lambda" for lambdas */
    uint64_t id;  /* no two have one, however many were freed */
    uint8_t qual; /* FuncQual */
    bool is_lambda, is_main_body;
    uint32_t pos, end; /* of the header; end: offset after the body */
    Str **typarams;
    int ntyparams;
    Param *params;
    int nparams;
    Param *outs;
    int nouts;     /* named results; none in a lambda */
    Node *expr;    /* lambda: the value, evaluated after body; NULL when it ends with an assignment */
    NodeList body; /* of (a = 1; b) -> the statements before the value */
    Attr **attrs;
    int nattrs;
    Func *parent; /* lexically enclosing function; NULL at top level */
    struct Unit *unit;
    Str *doc; /* the comment block directly above, for ?name */
    /* scope.c: */
    Sym **locals;
    int nlocals;
    uint32_t cap_locals; /* parameters first, then results, then the others */
    Capture *captures;
    int ncaptures;
    uint32_t cap_captures;
    void *machine;   /* owned by vm/interp/proto.c: compiled */
    void *kernel;    /* owned by vm/launch/kernel.c: what was launched of it */
    uint8_t effects; /* vm/interp/effects.c: what is known of it, EFFECTS_… */
};

struct Node {
    uint8_t kind; /* NodeKind */
    uint8_t op;   /* Op of N_UNARY, N_BINARY; of N_ASSIGN with in_place */
    uint8_t flag; /* see each kind */
    uint32_t pos;
    union {
        /* integer: without '.', 'e': weakly int in kernels.  whole: not 0 if float64 does not hold the integer; then it
         * is its value, an int64, or the bits of a uint64 (is_uint64). */
        struct {
            double value;
            int64_t whole;
            bool imaginary, integer, is_uint64;
        } num;
        Str *str; /* N_STR */
        struct {
            Str *name;
            Sym *sym;
        } ident; /* N_IDENT; the target `_`, a discard, has no sym */
        struct {
            Str *name;
            ArgList args;
        } meta; /* N_META: $name or $name(args) */
        struct {
            Node *a, *b;
        } bin; /* N_BINARY; N_UNARY uses a */
        struct {
            Node *cond, *then, *other;
        } ternary;
        struct {
            Node *lo, *step, *hi;
        } range; /* step NULL: 1 */
        struct {
            Node *callee;
            ArgList args;
        } call; /* callee N_FIELD: a method call */
        struct {
            Node *base;
            NodeList at;
        } index; /* N_COLON items allowed */
        struct {
            Node *base;
            Str *name;
        } field;
        struct {
            Func *func;
        } lambda;
        NodeList items; /* N_MATRIX, N_CELL */
        TypeExpr *type; /* N_TYPE: vec[mat], cube{:} … as a value */
        /* statements */
        Node *expr; /* N_EXPR */
        struct {    /* N_ASSIGN: targets op= value */
            Node **targets;
            TypeExpr **types;
            int ntargets; /* types[i] may be NULL; bracketed: [a,b] = */
            Node *value;
            bool bracketed, in_place;
        } assign;
        struct {
            Sym *sym;
            Str *name;
            TypeExpr *type;
        } decl; /* N_DECL: img : cube */
        struct {
            Node **conds;
            NodeList *blocks;
            int n;
            NodeList other;
            bool has_else;
        } ifs;   /* n pairs */
        struct { /* N_FOR: one variable, or bracketed [m,n,p] */
            Str **names;
            Sym **syms;
            int nvars;
            bool bracketed;
            Node **ranges;
            int nranges; /* N_RANGE, or what gives a vector, cell or iterable */
            NodeList body;
            Attr *attr; /* {!parallel for} … directly before */
        } loop;
        struct {
            Node *cond;
            NodeList body;
        } whiles; /* N_WHILE; N_REPEAT: until cond */
        struct {
            Node *value;
            struct MatchArm *arms;
            int narms;
        } match;
        Str *scope;    /* N_SYNC: "block" by default */
        ArgList print; /* N_PRINT: the statement form, print a, b */
        struct {
            Str *path;
            struct Unit *unit;
        } import;
        Func *func; /* N_FUNC */
        struct TypeDef *typedefn;
        struct Reduction *reduction;
        Attr *attr;
        struct {
            NodeList body, handler;
            Str *name;
            Sym *sym;
        } tries;        /* catch name */
        NodeList block; /* N_BLOCK: (a; b;) of a lambda */
    } u;
};
#define NODE_IS_EXPR(n) ((n)->kind <= N_LAST_EXPR)

/* (a,b) and a | b are two patterns: either of them. */
typedef struct MatchArm {
    Node **patterns;
    int npatterns;
    bool wildcard;
    NodeList body;
    uint32_t pos;
} MatchArm;

typedef struct TypeDef {
    Str *name;
    Str **typarams;
    int ntyparams;
    bool is_class, is_enum;
    uint8_t class_kind; /* ClassKind */
    Param *fields;
    int nfields;     /* init: the default value when written.  is_enum: constants, all N_NUM */
    TypeExpr *alias; /* otherwise: alias, or TE_UNION; of an enum int */
    uint32_t pos;
    const Type *type; /* set by the machine when the module is linked */
} TypeDef;

/* reduction (x : T1, y) -> pattern = replacement where condition.  pattern and replacement may be N_ASSIGN nodes. */
typedef struct Reduction {
    Param *params;
    int nparams;
    Node *pattern, *replacement, *where;
    uint32_t pos;
    int order; /* definition order, for ties */
    struct Unit *unit;
} Reduction;

/* One source file, parsed. */
typedef struct Unit {
    Ctx *ctx;
    Source *src;
    Arena arena;
    Func *main;       /* the top-level statements as a function with no parameters */
    NodeList imports; /* N_IMPORT nodes in order, also reachable from main */
    Node **funcs;
    int nfuncs; /* top-level N_FUNC nodes */
    TypeDef **typedefs;
    int ntypedefs;
    Reduction **reductions;
    int nreductions;
    int nerrors; /* syntax errors found (the first is in ctx->err, all are in `report`) */
    struct UnitWarning {
        uint32_t pos;
        const char *sentence;
    } * warnings;
    int nwarnings; /* told when it is linked */
    uint32_t *percents;
    int npercents;          /* comments behind something that can be divided, for lint.c */
    Text report;            /* every diagnostic, formatted, in order */
    void *module;           /* of the machine: whose top level this is */
    uint32_t functions;     /* values made of its functions that live (vm/value/object.c) */
    bool loose;             /* it goes with the last of them */
    struct Unit *next_dead; /* vm/program/unload.c: no function of it lives, and it is loose */
} Unit;

Node *qast_node(Unit *u, NodeKind k, uint32_t pos);
void *qast_alloc(Unit *u, size_t n);
/* One more element, zeroed, of a list of *n that doubles inside the arena; `list` points to the pointer to it. */
void *qast_append(Unit *u, void *list, int *n, size_t size);
Where qast_where(const Unit *u, uint32_t pos);
void qast_print(const Unit *u, Text *out);     /* a readable dump with one node per line: tests, --dump ast */
bool qast_equal(const Node *a, const Node *b); /* structure and names, not positions */
/* The type that a name, name[…] or N_TYPE denotes when names stand for types; NULL when it cannot be one. */
TypeExpr *qast_type_of_expr(Unit *u, const Node *n);
/* A copy whose lists are its own and whose children are shared. */
Node *qast_copy(Unit *u, const Node *n);
/* A deep copy of an expression or assignment.  Names keep their Sym; lambdas and types are shared. */
Node *qast_clone(Unit *u, const Node *n);
/* The variable that holds the initial value of a field, when that is computed: no program can write this name. */
Str *qast_initial_name(Ctx *c, const Str *type, const Str *field);
bool qast_is_initial_name(const Str *name);
/* Calls f on every direct child (expressions and statements, in evaluation order).  A Func is a world of its own:
 * bodies of lambdas and nested functions are not children; neither are attribute values and default values. */
void qast_children(Node *n, void (*f)(void *ud, Node **child), void *ud);
#endif
