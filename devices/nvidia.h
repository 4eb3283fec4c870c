/* nvidia.h -- finds files of NVIDIA's toolkit or of Python packages. */
#ifndef DEVICES_NVIDIA_H
#define DEVICES_NVIDIA_H
#include <stdbool.h>
#include <stddef.h>

/* Calls take() with each installed file of this name until it returns true; returns whether it did.  The roots are
 * CUDA_HOME, CUDA_PATH, /usr/local/cuda, /usr/lib/cuda and /opt/cuda, then VIRTUAL_ENV, CONDA_PREFIX, the prefix of the
 * python3 in PATH, ~/.local, /usr/local and /usr.  `folders` are patterns for glob, with %s for the root. */
bool qnvidia_find(const char *const *folders, size_t n, const char *file, bool (*take)(void *ud, const char *path),
                  void *ud);
#endif
