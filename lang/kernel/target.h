/* target.h -- what machine code is made for: this processor, or one that other machines have, too.
 *
 *     native                                     this processor, with all it can do, and its C library
 *     x86-64-v2  x86-64-v3  x86-64-v4            every processor of that level (its psABI): SSE4, AVX2, AVX-512
 *     sm_70 … sm_90, also ptx:sm_80              NVIDIA devices from that compute capability on
 *     opencl                                     any OpenCL device
 *
 * A list has commas between them; v3 is short for x86-64-v3. */
#ifndef LANG_KERNEL_TARGET_H
#define LANG_KERNEL_TARGET_H
#include "devices/cache.h"
#include "devices/device.h"
#include "lang/kernel/codegen/emit.h"

enum { TARGET_NAME = 24 };
typedef struct {
    CodeKind kind;
    char name[TARGET_NAME];
} TargetName;

/* Reads the next target of a list, and advances the list.  false: the list has ended, or what follows is no target
 * (then *list is not at its end). */
bool ktarget_next(const char **list, TargetName *out);

/* This machine: what its processor has, in letters of KTarget, and a key that two machines share when they run the same
 * code. */
CacheKey ktarget_machine(void);
KTarget ktarget_host(void);
int ktarget_libc(void); /* glibc 2.36: 36 */
/* A level of x86-64 as KTarget, for machines with glibc 2.libc and later; false: the name is none. */
bool ktarget_level(const char *name, int libc, KTarget *out);
/* How much of the processor it uses, more is better; 0: this one cannot run it. */
int ktarget_rank(const char *name, int libc);
#endif
