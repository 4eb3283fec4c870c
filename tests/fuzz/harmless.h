/* harmless.h -- for targets that run whole programs: a folder of their own, and bounds on time and memory. */
#ifndef TESTS_FUZZ_HARMLESS_H
#define TESTS_FUZZ_HARMLESS_H
#include "vm/quasar.h"

void harmless_init(void); /* once: an empty working directory, which is removed at exit; files stay small */
/* loops: see qs_config.  A VM on the reference device that is interrupted after some time, uses little memory, and
 * accesses no path outside that directory, and no Python. */
qs_vm *harmless_open(const char *loops);
qs_vm *harmless_open_whole(const char *loops); /* the same with every built-in: the target calls no dangerous one */
void harmless_close(qs_vm *vm);                /* checks that the VM leaked no memory; removes its files */
#endif
