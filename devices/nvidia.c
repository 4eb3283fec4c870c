/* nvidia.c -- searches the folders of NVIDIA's toolkit and of Python packages. */
#include "devices/nvidia.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    char s[1024];
} Path;

/* Returns the prefix of the python3 in PATH: the folder two levels above the executable; "": none.  Links are not
 * followed, because the python3 of a virtual environment is a link. */
static Path home_of_python(void) {
    const char *next = getenv("PATH");
    Path p = {""};
    while (next && *next) {
        size_t n = strcspn(next, ":");
        int len = snprintf(p.s, sizeof p.s, "%.*s/python3", (int)n, next);
        if (len > 0 && (size_t)len < sizeof p.s && !access(p.s, X_OK)) {
            for (int i = 0; i < 2 && strrchr(p.s, '/'); i++) *strrchr(p.s, '/') = 0;
            return p;
        }
        next += n + (next[n] == ':');
    }
    return (Path){""};
}

static Path below_home(const char *folder) {
    const char *home = getenv("HOME");
    Path p = {""};
    if (home && *home && snprintf(p.s, sizeof p.s, "%s/%s", home, folder) >= (int)sizeof p.s) *p.s = 0;
    return p;
}

static bool offer(const char *pattern, const char *place, const char *file, bool (*take)(void *, const char *),
                  void *ud) {
    Path p;
    glob_t found;
    bool taken = false;
    int len = snprintf(p.s, sizeof p.s, pattern, place);
    if (len < 0 || (size_t)len >= sizeof p.s) return false;
    int more = snprintf(p.s + len, sizeof p.s - (size_t)len, "/%s", file);
    if (more < 0 || (size_t)(len + more) >= sizeof p.s || glob(p.s, 0, NULL, &found)) return false;
    for (size_t i = 0; i < found.gl_pathc && !taken; i++) taken = take(ud, found.gl_pathv[i]);
    globfree(&found);
    return taken;
}

bool qnvidia_find(const char *const *folders, size_t n, const char *file, bool (*take)(void *ud, const char *path),
                  void *ud) {
    Path python = home_of_python(), own = below_home(".local");
    const char *places[] = {getenv("CUDA_HOME"),
                            getenv("CUDA_PATH"),
                            "/usr/local/cuda",
                            "/usr/lib/cuda",
                            "/opt/cuda",
                            getenv("VIRTUAL_ENV"),
                            getenv("CONDA_PREFIX"),
                            python.s,
                            own.s,
                            "/usr/local",
                            "/usr"};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (size_t i = 0; places[p] && *places[p] && i < n; i++)
            if (offer(folders[i], places[p], file, take, ud)) return true;
    return false;
}
