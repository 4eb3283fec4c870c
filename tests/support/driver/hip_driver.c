/* A libamdhip64.so that executes machine code of AMD devices: the fake driver (fake_cuda.h) with a program in Python
 * (tests/support/gcn), which reads and writes the memory of this process.
 *
 *     QUASAR_HIP=build/libhip_driver.so build/qrun --device hip script.q
 *
 * FAKE_GPU_ARCH=gfx906, or whatever else gcn.py executes; others are loaded and read with FAKE_GPU_IDLE=1, when
 * launches do nothing.  FAKE_GPU_CODE: a folder for the code objects.  What a GPU would not have borne is printed, and
 * makes the process end with status 70. */
#include "tests/support/driver/fake_cuda.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef struct {
    int number, threads, local;
    size_t params;
} Image;

static FILE *to, *from; /* the program */
static int images;

/* It may look into us. */
static bool start(void) {
    int there[2], back[2];
    char python[] = PYTHON, script[] = GCN, *arguments[] = {python, script, NULL};
    if (to) return true;
    if (pipe(there) || pipe(back)) return false;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    if (!fork()) {
        dup2(there[0], 0), dup2(back[1], 1);
        close(there[0]), close(there[1]), close(back[0]), close(back[1]);
        execvp(python, arguments);
        _exit(127);
    }
    close(there[0]), close(back[1]);
    return to = fdopen(there[1], "w"), from = fdopen(back[0], "r"), to && from;
}

/* A line that answers; "" when the program has ended. */
static void answer(char *line, size_t n) {
    fflush(to);
    if (!fgets(line, (int)n, from)) *line = 0;
    line[strcspn(line, "\n")] = 0;
}

static size_t size_of(const char *image) {
    const Elf64_Ehdr *h = (const void *)image;
    const Elf64_Shdr *s = (const void *)(image + h->e_shoff);
    size_t n = h->e_shoff + h->e_shnum * sizeof *s;
    for (int i = 0; i < h->e_shnum; i++)
        if (s[i].sh_offset + s[i].sh_size > n) n = s[i].sh_offset + s[i].sh_size;
    return n;
}

static void keep(const char *image, size_t n) {
    const char *folder = getenv("FAKE_GPU_CODE");
    char name[512];
    if (!folder) return;
    snprintf(name, sizeof name, "%s/%d-%d.co", folder, (int)getpid(), images);
    FILE *f = fopen(name, "wb");
    if (f) fwrite(image, 1, n, f), fclose(f);
}

static void *load(const char *image, char *why, size_t n) {
    char line[512];
    if ((uintptr_t)image % _Alignof(Elf64_Ehdr)) return snprintf(why, n, "a code object where none may begin"), NULL;
    if (memcmp(image, ELFMAG, SELFMAG) != 0 || !start()) return snprintf(why, n, "no code object"), NULL;
    size_t size = size_of(image);
    keep(image, size);
    fprintf(to, "load %d %" PRIuPTR " %zu\n", images, (uintptr_t)image, size);
    answer(line, sizeof line);
    Image *i = malloc(sizeof *i);
    *i = (Image){.number = images++};
    if (sscanf(line, "ok %d %d %zu", &i->threads, &i->local, &i->params) == 3) return i;
    fprintf(stderr, "gcn: %s\n", line);
    return snprintf(why, n, "%s", line), free(i), NULL;
}

static void unload(void *code) {
    if (to) fprintf(to, "unload %d\n", ((Image *)code)->number), fflush(to);
    free(code);
}

static int run(void *code, const FakeLaunch *l, const uint64_t *slots) {
    const Image *i = code;
    char line[512];
    fprintf(to, "run %d %u %u %u %u %u %" PRIuPTR "\n", i->number, l->grid, l->x, l->y, l->z, l->shared,
            (uintptr_t)slots);
    answer(line, sizeof line);
    if (!strcmp(line, "ok")) return 0;
    fprintf(stderr, "gcn: %s\n", *line ? line : "the program that executes kernels has ended");
    _exit(70);
}

static size_t params(void *code) { return ((Image *)code)->params; }

static int attribute(void *code, int what) {
    enum { MAX_THREADS = 0, LOCAL = 3 };
    return what == MAX_THREADS ? ((Image *)code)->threads : what == LOCAL ? ((Image *)code)->local : -1;
}

__attribute__((constructor)) static void begin(void) {
    FakeCuda *fake = fake_cuda();
    fake->load = load, fake->run = run, fake->unload = unload, fake->attribute = attribute, fake->params = params;
}

__attribute__((destructor)) static void end(void) {
    const FakeCuda *fake = fake_cuda();
    if (to) fclose(to), to = NULL;
    if (!fake->misuse) return;
    fflush(stdout);
    fprintf(stderr, "gcn: misuse of the driver: %s\n", fake->wrong);
    _exit(70);
}
