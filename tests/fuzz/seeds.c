/* seeds.c -- gives a target every file of some folders, without libFuzzer: fuzz_x folder ...
 *
 * It prints the file that it looks at, so that the last one is known when a sanitizer, or the clock, ends it. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 120 }; /* for one file, on a machine that does other things, too */

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

int main(int argc, char **argv) {
    int n = 0;
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    give("(nothing)", (const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        int here = give_folder(argv[i]);
        if (here <= 0) return printf("%s: no files\n", argv[i]), 1;
        n += here;
    }
    printf("%d files\n", n);
    return argc < 2;
}
