/* ast.h -- defines the syntax tree.
 *
 *     text ── lex.c ── tokens ── parse.c stmt.c define.c expr.c typeexpr.c ── tree, errors with source positions
 *
 * The parser (parse.h) turns source text into a Unit.  lang/names then links each name to its symbol in the tree;
 * lang/bytecode and lang/kernel compile the tree.
 *
 * Nodes are allocated in the arena of their Unit and live as long as the program, because kernels and generic
 * functions are specialized from them at run time.  A position is a byte offset into the Unit's Source. */
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

/* -- type expressions ---------------------------------------------------------------------------------------------- */
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
    TypeExpr *base; /* TE_ARRAY, TE_FIXED, TE_RANK: vec, mat, cube or the name of a generic class; TE_PTR: target */
    TypeExpr **args;
    int nargs; /* TE_ARRAY: element / type arguments; TE_FN: parameters; TE_UNION: members */
    TypeExpr **outs;
    int nouts; /* TE_FN */
    Node **dims;
    int ndims;            /* TE_FIXED: sizes; one may be the name of a type parameter (N_IDENT) */
    int rank;             /* TE_RANK: number of dimensions; RANK_ANY for {:} */
    uint8_t qual;         /* TE_FN: FuncQual */
    TypeMods mods;        /* access modifiers such as 'circular */
    const Type *resolved; /* result cached by types.c; NULL: not resolved yet, or it depends on a type parameter */
};
/* Error message for an access mode that would have no effect. */
#define AST_MODE_REFUSED "%s cannot have an access mode, which belongs to a variable, as in x : mat'mirror = y"

typedef struct {
    Str *name; /* from name := …; NULL: a positional argument */
    Node *value;
    TypeExpr *type; /* cube in f(x : cube); NULL: none */
    uint32_t pos;
} Arg;
typedef struct {
    Arg *at;
    int n;
} ArgList;

typedef enum { Q_HOST, Q_DEVICE, Q_KERNEL } FuncQual;
/* Node.flag of an N_ASSIGN.
 * ASSIGN_BEGINS (set by scope.c): initializes a local from the outer variable of the same name, if that has a value.
 * ASSIGN_COPIES (set by define.c): the variable gets its own copy of the value. */
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

/* {!name key=value; …}: an attribute; it does not change what the program computes */
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
/* Returns whether f may return a list of `want` numbers: f is a lambda, or its only result is declared as a type such
 * as vec2 or ivec3 with that length. */
bool qast_means_list(const Func *f, int want);
const Attr *qast_attribute(const Func *f, const char *name); /* first attribute of that name; NULL: none */
/* Returns whether the attribute asks for fast math: {!fast_math}, {!fast_math false}, or a setting fast_math=true or
 * false of another one.  Returns `otherwise` if it says nothing about it (or is NULL); *wrong: it has another value. */
bool qast_asks_fast(const Attr *a, bool otherwise, bool *wrong);

/* -- names, filled in by scope.c ----------------------------------------------------------------------------------- */
typedef enum {
    SYM_LOCAL,   /* local variable; index into func->locals */
    SYM_CAPTURE, /* captured variable; index into func->captures */
    SYM_GLOBAL,  /* top-level variable or function; index: its global slot, unique in the VM */
    SYM_TYPE,    /* type name used as an expression */
    SYM_NESTED,  /* function defined inside a function; each mention creates a closure of `func` */
    SYM_TEMP     /* intermediate value created by rewrite.c; the compiler that evaluates `bound` sets index */
} SymKind;
struct Sym {
    SymKind kind;
    int index;
    Str *name;
    Func *owner;        /* function that has this local or capture; NULL for globals */
    bool variable;      /* SYM_GLOBAL: it is a variable; a lambda captures its value */
    bool function;      /* SYM_GLOBAL: it is a function once the unit is linked */
    bool builtin;       /* SYM_GLOBAL: it is the built-in with this name */
    Func *func;         /* SYM_NESTED */
    Node *bound;        /* SYM_TEMP */
    TypeExpr *declared; /* type of the first annotation; NULL: none */
    TypeMods mods;      /* access mode: from the annotation, or inherited from the variable that was assigned to it */
    const Type *type;   /* SYM_TYPE */
    const struct TypeDef *constants; /* SYM_TYPE: the definition of an enum; NULL: not an enum */
    uint32_t pos;                    /* position of the first appearance */
};
/* A captured variable.  outer: symbol in the enclosing function; inner: SYM_CAPTURE in the capturing function. */
typedef struct {
    Sym *outer;
    Sym *inner;
} Capture;

/* A function, kernel, device function or lambda. */
struct Func {
    Str *name;    /* "lambda" for lambdas */
    uint64_t id;  /* unique; never reused after the function is freed */
    uint8_t qual; /* FuncQual */
    bool is_lambda, is_main_body;
    uint32_t pos, end; /* position of the header; offset after the body */
    uint32_t head_end; /* offset after the parameters; not set for lambdas */
    Str **typarams;
    struct TypeExpr **constraints; /* by type parameter, f[T : [scalar|cscalar]]; NULL: none */
    int ntyparams;
    Param *params;
    int nparams;
    Param *outs;
    int nouts;     /* named results; none in a lambda */
    Node *expr;    /* lambda: its value, evaluated after body; NULL: the lambda ends with an assignment */
    NodeList body; /* statements; in a lambda x -> (a = 1; b), the ones before its value */
    Attr **attrs;
    int nattrs;
    Func *parent; /* lexically enclosing function; NULL at top level */
    struct Unit *unit;
    Str *doc; /* comment lines directly above the function, shown by ?name; NULL: none */
    /* set by scope.c: */
    Sym **locals;
    int nlocals;
    uint32_t cap_locals; /* parameters first, then results, then the others */
    Capture *captures;
    int ncaptures;
    uint32_t cap_captures;
    void *machine;   /* bytecode; owned by vm/interp/proto.c */
    void *kernel;    /* compiled specializations; owned by vm/launch/kernel.c */
    uint8_t effects; /* EFFECTS_…: whether calls have side effects; cached by vm/interp/effects.c */
};

struct Node {
    uint8_t kind; /* NodeKind */
    uint8_t op;   /* Op of N_UNARY, N_BINARY, and of N_ASSIGN with in_place */
    uint8_t flag; /* depends on kind; N_ASSIGN: ASSIGN_… */
    uint32_t pos;
    union {
        /* N_NUM.  integer: the literal has no '.' and no 'e'; kernels treat it as an int that adapts to the other
         * operand.  int_value: nonzero if float64 cannot represent the integer exactly; then it is the value as int64,
         * or as the bits of a uint64 (is_uint64). */
        struct {
            double value;
            int64_t int_value;
            bool imaginary, integer, is_uint64;
        } num;
        Str *str; /* N_STR */
        struct {
            Str *name;
            Sym *sym;
        } ident; /* N_IDENT; the discard target `_` has no sym */
        struct {
            Str *name;
            ArgList args;
        } meta; /* N_META: $name or $name(args) */
        struct {
            Node *a, *b;
        } bin; /* N_BINARY; N_UNARY uses only a */
        struct {
            Node *cond, *then, *other;
        } ternary;
        struct {
            Node *lo, *step, *hi;
        } range; /* N_RANGE; step NULL: 1 */
        struct {
            Node *callee;
            ArgList args;
        } call; /* N_CALL; callee is an N_FIELD in a method call */
        struct {
            Node *base;
            NodeList at;
        } index; /* N_INDEX; items may be N_COLON */
        struct {
            Node *base;
            Str *name;
        } field;
        struct {
            Func *func;
        } lambda;
        NodeList items; /* N_MATRIX, N_CELL */
        TypeExpr *type; /* N_TYPE: a type used as a value, such as vec[mat] or cube{:} */
        /* statements */
        Node *expr; /* N_EXPR */
        struct {    /* N_ASSIGN: targets op= value */
            Node **targets;
            TypeExpr **types;
            int ntargets; /* types[i]: annotation of target i, or NULL; bracketed: written [a,b] = … */
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
            int nranges; /* each an N_RANGE, or an expression whose value is a vector, cell or iterable */
            NodeList body;
            Attr *attr;   /* attribute directly before the loop, such as {!parallel for}; NULL: none */
            Node *origin; /* the N_WHILE that does the same; NULL: a loop of the program */
        } loop;
        struct {
            Node *cond;
            NodeList body;
            Node *counted; /* the N_FOR that does the same (kloop_as_for); NULL: none, or not examined */
            bool examined;
        } whiles; /* N_WHILE; N_REPEAT: until cond */
        struct {
            Node *value;
            struct MatchArm *arms;
            int narms;
        } match;
        Str *scope;    /* N_SYNC: "block" by default */
        ArgList print; /* N_PRINT: values of the statement print a, b */
        struct {
            Str *path, *name; /* name: of import … as name; NULL: its names are visible as they are */
            struct Unit *unit;
        } import;
        Func *func; /* N_FUNC */
        struct TypeDef *typedefn;
        struct Reduction *reduction;
        Attr *attr;
        struct {
            NodeList body, handler, last;
            Str *name;
            Sym *sym;
            bool has_catch, has_last;
        } tries;        /* N_TRY; name: variable after catch, or NULL; last: after finally */
        NodeList block; /* N_BLOCK: statements (a; b;) of a lambda */
    } u;
};
#define NODE_IS_EXPR(n) ((n)->kind <= N_LAST_EXPR)

/* One arm of a match.  It matches if any of its patterns does; (a,b) and a | b both mean two patterns. */
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
    struct TypeExpr **constraints; /* by type parameter; NULL: none */
    int ntyparams;
    bool is_class, is_enum;
    uint8_t class_kind; /* ClassKind */
    Param *fields;
    int nfields;     /* init of a field: its default value, or NULL.  is_enum: the constants; init is an N_NUM */
    TypeExpr *alias; /* neither class nor enum: the aliased type or TE_UNION; enum: int */
    uint32_t pos;
    const Type *type; /* set by the VM when the module is linked */
} TypeDef;

/* reduction (x : T1, y) -> pattern = replacement where condition.  pattern and replacement may be N_ASSIGN nodes. */
typedef struct Reduction {
    Param *params;
    int nparams;
    Node *pattern, *replacement, *where;
    uint32_t pos;
    int order; /* definition order; breaks ties */
    struct Unit *unit;
} Reduction;

/* A parsed source file. */
typedef struct Unit {
    Ctx *ctx;
    Source *src;
    Arena arena;
    Func *main;       /* the top-level statements as a function with no parameters */
    NodeList imports; /* N_IMPORT nodes in order; they are also part of main */
    Node **funcs;
    int nfuncs; /* top-level N_FUNC nodes */
    TypeDef **typedefs;
    int ntypedefs;
    Reduction **reductions;
    int nreductions;
    int nerrors; /* number of errors found; the first is in ctx->err, all are in `report` */
    struct UnitWarning {
        uint32_t pos;
        const char *sentence;
    } * warnings;
    int nwarnings; /* the warnings are reported when the unit is linked */
    uint32_t *percents;
    int npercents;      /* positions of comments after an operand; lint.c checks for a mistaken remainder operator */
    Text report;        /* all formatted diagnostics in order */
    void *module;       /* module of the VM whose top level this unit is */
    uint32_t functions; /* number of live function values of this unit (vm/value/object.c) */
    bool loose;         /* the unit is freed with its last function value */
    struct Unit *next_dead; /* list of loose units without live functions (vm/program/unload.c) */
} Unit;

Node *qast_node(Unit *u, NodeKind k, uint32_t pos);
void *qast_alloc(Unit *u, size_t n);
/* Appends a zeroed element to a growing list of *n elements in the arena and returns it.  `list` is the address of the
 * pointer to the elements. */
void *qast_append(Unit *u, void *list, int *n, size_t size);
Where qast_where(const Unit *u, uint32_t pos);
void qast_print(const Unit *u, Text *out);     /* prints one node per line, for tests and --dump ast */
bool qast_equal(const Node *a, const Node *b); /* compares structure and names, ignores positions */
/* Whether a list inside of n has float64 elements, because n is converted to a type wider than float32. */
bool qast_carries_width(const Node *n);
bool qast_is_builtin(const Node *n, const char *name); /* whether n is a name that means this built-in */
bool qast_calls_builtin(const Node *n, const char *name);
/* Whether n is a call of error or assert with a message that is no constant. */
bool qast_makes_message(const Node *n);
/* Returns x of a statement x = e or x op= e without brackets and type; NULL: n is something else. */
Node *qast_target(const Node *n);
Sym *qast_symbol(const Node *n);                   /* the symbol of a name; NULL: n is NULL or a different node */
bool qast_is_name(const Node *n, const Sym *s);    /* whether n is a name of s; n may be NULL */
bool qast_same_name(const Node *a, const Node *b); /* whether both are names of one symbol */
bool qast_means(const Node *n, SymKind kind);      /* whether n is a name of a symbol of this kind; n may be NULL */
const Sym *qast_written(const Node *target);       /* the variable whose array or object is written: x in x[0].y = 1 */
bool qast_is_parameter(const Func *f, const Sym *s);
bool qast_is_variadic(const Func *f); /* whether the last parameter takes all remaining arguments */
/* The name by which `name` of a module imported as `module` is looked up: "module.name". */
Str *qast_member_name(Unit *u, const Str *module, const Str *name);
/* Returns the type that a name, module.name, name[…] or N_TYPE denotes; NULL: n cannot be a type. */
TypeExpr *qast_type_of_expr(Unit *u, const Node *n);
/* Returns a shallow copy: the lists of children are copied, the children are shared. */
Node *qast_copy(Unit *u, const Node *n);
/* Returns a deep copy of an expression or assignment.  Names keep their Sym; lambdas and types are shared. */
Node *qast_clone(Unit *u, const Node *n);
/* Returns the name of the hidden variable that holds a computed initial value of a field.  The name contains a '.', so
 * no program can use it. */
Str *qast_initial_name(Ctx *c, const Str *type, const Str *field);
bool qast_is_initial_name(const Str *name);
/* Calls f for every direct child (expressions and statements, in evaluation order).  Bodies of lambdas and nested
 * functions, attribute values and default values do not count as children. */
void qast_children(Node *n, void (*f)(void *ud, Node **child), void *ud);
#endif
