/* harmless.h -- for targets that run whole programs: a folder of their own, and bounds on time and memory. */
#ifndef TESTS_FUZZ_HARMLESS_H
#define TESTS_FUZZ_HARMLESS_H
#include "vm/quasar.h"

void harmless_init(void); /* once: an empty working directory, which goes at exit; files stay small */
/* loops: see qs_config.  A machine on the reference device that is interrupted after a while, holds little memory, and
 * reaches no path outside of that directory, and no Python. */
qs_vm *harmless_open(const char *loops);
qs_vm *harmless_open_whole(const char *loops); /* the same with every built-in: the target calls no dangerous one */
void harmless_close(qs_vm *vm);                /* the machine left no memory behind; its files go */
#endif
