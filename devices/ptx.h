/* ptx.h -- the contract between PTX made by the kernel compiler and the cuda device.
 *
 * The entry has one parameter, an array of 64-bit slots passed by value:
 *
 *     fault                       device address of a DevFault, cleared before the launch
 *     domain  block  nblocks      rank slots each
 *     for each argument           a number: its bits; an array: the address of its first element, dims, strides
 *
 * The grid is one-dimensional: the product of nblocks, blocks numbered row-major.  A block has its last extent
 * along x, the one before along y, the product of all others along z.  A serial kernel is launched as one thread
 * and loops over the domain itself.  Shared memory is part of the code. */
#ifndef DEVICES_PTX_H
#define DEVICES_PTX_H
#include "devices/device.h"

static inline int qptx_first_arg(int rank) { return 1 + 3 * rank; }
static inline int qptx_arg_slots(bool is_array, int rank) { return is_array ? 1 + 2 * rank : 1; }
#endif
