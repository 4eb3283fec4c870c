/* bundle.h -- stores a precompiled program: its sources, the code of its kernels, and its exported functions.
 *
 *     Header | modules | imports | codes | targets | functions | bytes of all of these | Trailer
 *
 * qrun --make-exe appends a bundle to a copy of qrun; --make-lib makes a shared object around one.  A bundle contains
 * sources instead of compiled host code: they are smaller, parsing is fast, and everything that reads a program
 * (kernels, messages, derivatives) reads its source.  Kernel code has the same key as in the disk cache (cache.h),
 * which is computed from the text of its LLVM IR and the target.  So code is never run for a different kernel, even if
 * the sources were changed.  The cache searches the bundles before the disk.
 *
 * The contents of a bundle are not trusted: when it is opened, the checksum over all bytes and every offset are
 * checked.  Error messages begin with the name of the file. */
#ifndef DEVICES_BUNDLE_H
#define DEVICES_BUNDLE_H
#include "devices/cache.h"

#include <time.h>

/* The last 16 bytes of a file with a bundle, directly behind it; a reader finds the bundle from here. */
typedef struct {
    char magic[8];
    uint64_t size;
} BundleTrailer;

typedef struct {
    uint64_t at;
    uint32_t n;
    uint32_t pad;
} BundleText; /* at: offset from the start of the bundle */
typedef struct {
    BundleText path, text;
    uint32_t import, nimports;
    uint32_t library, pad;
} BundleModule;
typedef struct {
    BundleText name;
    uint32_t module, pad;
} BundleImport; /* name: the operand of `import` */
typedef struct {
    CacheKey key;
    uint64_t at, n;
} BundleCode; /* sorted by key */
typedef struct {
    char name[24];
    int32_t libc, pad;
} BundleTarget; /* "x86-64-v3", "native", "sm_80"; glibc 2.x */
typedef struct {
    BundleText name, signature;
} BundleFunction; /* see vm/api/bindings.h */

typedef struct Bundle {
    struct Bundle *next; /* list of open bundles */
    char *path;          /* path of the file */
    size_t path_size;
    const uint8_t *at;
    size_t n;
    void *own;               /* the same memory as `at` if we own it; NULL: borrowed */
    struct timespec changed; /* modification time of the file that was read */
    const BundleModule *modules;
    uint32_t nmodules; /* the first is the program */
    const BundleImport *imports;
    const BundleCode *codes;
    uint32_t ncodes;
    const BundleTarget *targets;
    uint32_t ntargets;
    const BundleFunction *functions;
    uint32_t nfunctions;
    BundleText settings; /* settings of the run, separated by spaces (vm/program/prebuilt.h) */
} Bundle;

/* Opens a bundle in memory, which must outlive it, or at the end of a file.  version is the version of this Quasar.
 * Fails with QS_EIO. */
qs_status qbundle_open(Ctx *c, const char *path, const char *version, const void *at, size_t n, Bundle **out);
qs_status qbundle_open_file(Ctx *c, const char *path, const char *version, Bundle **out);
void qbundle_close(Ctx *c, Bundle *b);
/* Reads only the settings, before a VM exists; "": there are none, or they do not fit. */
void qbundle_settings(const void *at, size_t n, char *out, size_t room);
static inline const char *qbundle_text(const Bundle *b, BundleText t) { return (const char *)b->at + t.at; }
bool qbundle_is(const Bundle *b, BundleText t, const char *s, size_t n); /* returns whether the texts are equal */

/* Finds the code with this key in a list of bundles; false: none has it. */
bool qbundle_code(const Bundle *list, CacheKey key, Text *out);

/* -- making -------------------------------------------------------------------------------------------------------- */
typedef struct BundleMaker BundleMaker;
BundleMaker *qbundle_maker(Ctx *c);
void qbundle_add_module(BundleMaker *m, const char *path, const char *text, size_t n, bool library);
void qbundle_add_import(BundleMaker *m, const char *name, uint32_t module);   /* an import of the last added module */
void qbundle_add_code(BundleMaker *m, CacheKey key, const void *p, size_t n); /* ignores keys added before */
void qbundle_add_target(BundleMaker *m, const char *name, int libc);
void qbundle_add_function(BundleMaker *m, const char *name, const char *signature);
uint32_t qbundle_ncodes(const BundleMaker *m);
/* Appends the bundle and its trailer to out, whose length must be a multiple of 16. */
void qbundle_write(BundleMaker *m, const char *version, const char *settings, Text *out);
void qbundle_seal(void *at, size_t n); /* writes the checksum into a bundle */
void qbundle_maker_free(BundleMaker *m);
#endif
