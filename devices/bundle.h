/* bundle.h -- a program that was compiled before: its texts, the code of its kernels, the functions that it shows.
 *
 *     Header | modules | imports | codes | targets | functions | bytes of all of these | Trailer
 *
 * qrun --make-exe puts one behind a copy of qrun, --make-lib makes a shared object around one.  Texts are kept instead
 * of host code, for they are smaller, parsing takes 10 µs per kilobyte, and everything that reads a program (kernels,
 * messages, derivatives) reads its text.  Code has the key that it has in the cache on disk (cache.h): the text of its
 * LLVM IR and what it was made for.  So no code is ever run for a kernel that is not the one it was made of, whatever
 * became of the texts, and the cache asks here before it asks the disk.
 *
 * Nobody trusts what is read: the sum over all bytes is checked when a bundle is opened, and so is every offset.  What
 * is wrong is a sentence that begins with the name of the file. */
#ifndef DEVICES_BUNDLE_H
#define DEVICES_BUNDLE_H
#include "devices/cache.h"

#include <time.h>

/* 16 bytes behind the bundle, where a file ends: whoever has the file finds the bundle from there. */
typedef struct {
    char magic[8];
    uint64_t size;
} BundleTrailer;

typedef struct {
    uint64_t at;
    uint32_t n;
    uint32_t pad;
} BundleText; /* from the start of the bundle */
typedef struct {
    BundleText path, text;
    uint32_t import, nimports;
    uint32_t library, pad;
} BundleModule;
typedef struct {
    BundleText name;
    uint32_t module, pad;
} BundleImport; /* what stands behind `import` */
typedef struct {
    CacheKey key;
    uint64_t at, n;
} BundleCode; /* by key, ascending */
typedef struct {
    char name[24];
    int32_t libc, pad;
} BundleTarget; /* "x86-64-v3", "native", "sm_80"; glibc 2.x */
typedef struct {
    BundleText name, signature;
} BundleFunction; /* see vm/api/bindings.h */

typedef struct Bundle {
    struct Bundle *next; /* of those that are open */
    char *path;
    size_t path_size; /* the file */
    const uint8_t *at;
    size_t n;
    void *own;               /* the same memory; NULL: it is somebody's */
    struct timespec changed; /* of the file that was read */
    const BundleModule *modules;
    uint32_t nmodules; /* the first is the program */
    const BundleImport *imports;
    const BundleCode *codes;
    uint32_t ncodes;
    const BundleTarget *targets;
    uint32_t ntargets;
    const BundleFunction *functions;
    uint32_t nfunctions;
    BundleText settings; /* how the program runs: words with spaces between (vm/program/prebuilt.h) */
} Bundle;

/* The bundle in memory that outlives it, or at the end of a file.  version: of the Quasar that asks.  QS_EIO. */
qs_status qbundle_open(Ctx *c, const char *path, const char *version, const void *at, size_t n, Bundle **out);
qs_status qbundle_open_file(Ctx *c, const char *path, const char *version, Bundle **out);
void qbundle_close(Ctx *c, Bundle *b);
/* The settings alone, before there is a machine; "" when there are none that fit. */
void qbundle_settings(const void *at, size_t n, char *out, size_t room);
static inline const char *qbundle_text(const Bundle *b, BundleText t) { return (const char *)b->at + t.at; }
bool qbundle_is(const Bundle *b, BundleText t, const char *s, size_t n); /* the same text? */

/* Code of that key in any of a list; false: it is in none. */
bool qbundle_code(const Bundle *list, CacheKey key, Text *out);

/* -- making -------------------------------------------------------------------------------------------------------- */
typedef struct BundleMaker BundleMaker;
BundleMaker *qbundle_maker(Ctx *c);
void qbundle_add_module(BundleMaker *m, const char *path, const char *text, size_t n, bool library);
void qbundle_add_import(BundleMaker *m, const char *name, uint32_t module);   /* of the module that was added last */
void qbundle_add_code(BundleMaker *m, CacheKey key, const void *p, size_t n); /* once, however often it comes */
void qbundle_add_target(BundleMaker *m, const char *name, int libc);
void qbundle_add_function(BundleMaker *m, const char *name, const char *signature);
uint32_t qbundle_ncodes(const BundleMaker *m);
/* The bundle and its trailer, behind what is in out, whose length is a multiple of 16. */
void qbundle_write(BundleMaker *m, const char *version, const char *settings, Text *out);
void qbundle_seal(void *at, size_t n); /* writes the sum over all else into a bundle */
void qbundle_maker_free(BundleMaker *m);
#endif
