/* nvidia.h -- where files of NVIDIA's are: a toolkit, or packages of Python. */
#ifndef DEVICES_NVIDIA_H
#define DEVICES_NVIDIA_H
#include <stdbool.h>
#include <stddef.h>

/* Offers take() each file of this name that is here, until it takes one: in CUDA_HOME, CUDA_PATH, /usr/local/cuda and
 * the like, then in VIRTUAL_ENV, CONDA_PREFIX, the home of the python3 that PATH finds, ~/.local, /usr/local, /usr.
 * The folders there: patterns for glob, with %s for the place. */
bool qnvidia_find(const char *const *folders, size_t n, const char *file, bool (*take)(void *ud, const char *path),
                  void *ud);
#endif
