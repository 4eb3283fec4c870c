/* gpu_threads.h -- what the fake driver does with code: runs it, thread by thread, on this processor.
 *
 * The code is the LLVM IR from which PTX is made, behind the first line of PTX (devices/ptx.h).  It is compiled for
 * this processor, with functions for what a thread asks the hardware.  Threads of a block are coroutines that take
 * turns where they wait for each other; shared memory begins with rubbish in every block. */
#ifndef TESTS_SUPPORT_GPU_THREADS_H
#define TESTS_SUPPORT_GPU_THREADS_H
#include "tests/support/driver/fake_cuda.h"
#include "vm/base/ctx.h"

/* Once in a process; c lives until the close.  QS_EDEVICE: there is no LLVM. */
qs_status gpu_threads_open(Ctx *c, FakeCuda *fake);
void gpu_threads_close(void);
unsigned gpu_threads_mistakes(void);    /* code that could not be made, shuffles that a GPU would not survive */
unsigned gpu_threads_whole_warps(void); /* how often a warp was found complete, summed over its threads */
#endif
