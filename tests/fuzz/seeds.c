/* seeds.c -- gives a target every file of some folders, without libFuzzer: fuzz_x folder ...
 *
 * It prints the file that it looks at, so that the last one is known when a sanitizer, or the clock, ends it.
 *
 *     fuzz_x -seconds=N [-seed=S]
 *
 * gives it random bytes for so long; the target prints what it makes of them.  The seed is printed; it
 * is taken from the clock, unless it is named. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 120 }; /* for one file, on a computer that is busy */

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void give(const char *name, const uint8_t *data, size_t size) {
    printf("%s\n", name);
    fflush(stdout);
    alarm(SECONDS);
    LLVMFuzzerTestOneInput(data, size);
}

static void give_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) abort();
    size_t size = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(size ? size : 1); /* no larger, so that the sanitizer sees a read behind the file */
    if (!data || fread(data, 1, size, f) != size) abort();
    fclose(f);
    give(path, data, size);
    free(data);
}

static int is_file(const struct dirent *e) { return e->d_name[0] != '.'; }

static int give_folder(const char *folder) {
    struct dirent **entries;
    char path[4096];
    int n = scandir(folder, &entries, is_file, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        give_file(path);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return n;
}

static uint64_t next_random(uint64_t *state) { /* xorshift64* */
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

static int give_random(const char *seconds, const char *seed) {
    time_t end = time(NULL) + atol(seconds), told = time(NULL);
    uint64_t state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 2 + 1;
    long n = 0;
    printf("seed %llu\n", (unsigned long long)state);
    for (state = state * 2 + 1; time(NULL) < end; n++) {
        uint8_t data[256];
        for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(next_random(&state) >> 32);
        alarm(SECONDS);
        LLVMFuzzerTestOneInput(data, sizeof data);
        if (time(NULL) - told < 60) continue;
        told = time(NULL);
        printf("%ld inputs, %ld s left\n", n + 1, (long)(end - told));
    }
    printf("%ld inputs\n", n);
    return 0;
}

static const char *option(int argc, char **argv, const char *name) {
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], name, strlen(name))) return argv[i] + strlen(name);
    return NULL;
}

int main(int argc, char **argv) {
    int n = 0;
    const char *seconds = option(argc, argv, "-seconds=");
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    if (seconds) return give_random(seconds, option(argc, argv, "-seed="));
    give("(nothing)", (const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        int here = give_folder(argv[i]);
        if (here <= 0) return printf("%s: no files\n", argv[i]), 1;
        n += here;
    }
    printf("%d files\n", n);
    return argc < 2;
}
