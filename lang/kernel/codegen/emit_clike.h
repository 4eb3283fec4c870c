/* emit_clike.h -- prints kernels in languages like C, and describes a dialect of such a language.
 *
 * The printer emits OpenCL C with the words of a dialect: names of types, of memory spaces, of a kernel.  Functions of
 * OpenCL that the language lacks are defined in the dialect's prelude under the same name (get_group_id, barrier,
 * as_uint …).  Operations that differ between the language and KIR are replaced before printing (passes/legal.h).
 *
 * A new target of this kind needs a dialect (such as emit_opencl.c or emit_c.c), a device that loads and launches the
 * text (devices/device.h), and the table of its driver's functions: three files, and a row in compile.c. */
#ifndef LANG_EMIT_CLIKE_H
#define LANG_EMIT_CLIKE_H
#include "lang/kernel/codegen/emit.h"
#include "lang/kernel/passes/pipeline.h"

/* Words of a dialect.  In the printer's text, $x is replaced by the word with the letter x. */
typedef enum {
    WORD_LONG,   /* $l: 64-bit integer */
    WORD_ULONG,  /* $w: unsigned 64-bit integer */
    WORD_UINT,   /* $u: unsigned 32-bit integer */
    WORD_USHORT, /* $h: unsigned 16-bit integer */
    WORD_UCHAR,  /* $c: unsigned 8-bit integer */
    WORD_GLOBAL, /* $g: memory space of arrays, with a blank after it; "": the language has no memory spaces */
    WORD_LOCAL,  /* $s: memory space of a block */
    WORD_KERNEL, /* $k: declaration before the name of a kernel */
    WORD__COUNT
} Word;

typedef struct Clike Clike;
typedef struct {
    const char *words[WORD__COUNT];
    const char *types[QS_NDTYPES]; /* types of array elements; also of values, except bool */
    const char *suffix;            /* suffix of 64-bit constants, such as "L" */
    PipelineKind pipeline;         /* passes to run before printing */
    /* true: positions run in parallel in groups of work items.  false: the kernel loops over all positions itself; it
     * has no barriers and no memory of a block. */
    bool groups;
    void (*head)(const Clike *, Text *out); /* prints the beginning of the text */
} Dialect;

typedef struct {
    uint8_t op, dtype, local;
} ClikeMade;
enum { CLIKE_REF = 64, CLIKE_NREFS = 8 };

struct Clike {
    const KFunc *f;
    const Dialect *dialect;
    const KSplit *split; /* interior and border of f, or NULL */
    unsigned can;        /* operations that the language has with the meaning of KIR: LEGAL_* */
    Text body, lines;    /* lines: source position of each line of body, as uint32_t */
    uint32_t pos;        /* source position of the next line; 0: none */
    int depth;
    uint64_t helpers[QS_NDTYPES]; /* by dtype: bit h is set if helper h is needed */
    Text atomics;                 /* functions for atomic updates that were needed; `made` lists them */
    ClikeMade made[KA__COUNT * QS_NDTYPES * 2];
    int nmade;
    bool fp64, atom64, exact, ending, fault;
    uint8_t *marks; /* per instruction: MARK_* */
    char refs[CLIKE_NREFS][CLIKE_REF];
    int nextref;
};

/* Prints an expression for the value of an array element. */
void kclike_element(Text *out, const Dialect *d, qs_dtype elem, const char *array, const char *index);
/* Prints the kernel as a function named `entry`; emit_clike.c describes its parameters.  lines: see kemit_opencl. */
void kclike_print(Ctx *c, const Dialect *d, const KFunc *f, const char *entry, Text *out, Text *lines);
#endif
