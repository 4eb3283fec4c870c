/* Corrupt files: every truncation and many bit errors of good images and .npz files give a value or an error, and never
 * take much memory. */
#include "tests/unit/natives.h"

#include <unistd.h>

static char folder[] = "/tmp/quasar-damage-XXXXXX";
static char path[64];

static const char *in_folder(const char *name) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static qs_value picture(qs_vm *vm, int64_t h, int64_t w, int64_t channels) {
    Array *a = make_array(vm, QS_F32, channels == 1 ? 2 : 3, (int64_t[]){h, w, channels}, NULL);
    for (size_t i = 0; i < a->count; i++) CHECK(qarr_put(vm, a, i, qs_num((double)(i * 7919 % 251))) == QS_OK);
    return qarr_value(a);
}

static void write_file(const char *name, const char *p, size_t n) {
    FILE *f = fopen(name, "wb");
    CHECK(f && fwrite(p, 1, n, f) == n);
    if (f) fclose(f);
}

/* Reading gives a value or one error message; the file has at most 64 KiB, so the VM must not hold much more after
 * it. */
static void read_back(qs_vm *vm, qs_native_fn *read, const char *name) {
    qs_value in = make_string(vm, name), out;
    qs_status s = native(vm, read, 1, &in, 1, &out);
    CHECK((s == QS_OK) == (qvm_ctx(vm)->err.status == QS_OK));
    qerr_clear(qvm_ctx(vm));
    qval_release(vm, out);
}

static void damage(qs_vm *vm, qs_native_fn *read, const char *name) {
    Text good;
    qtext_init(&good, qvm_ctx(vm));
    CHECK(qio_slurp(vm, "test", name, &good) == QS_OK);
    char *bytes = malloc(good.len), bad[80];
    const char *dot = strrchr(name, '.');
    snprintf(bad, sizeof bad, "%s/damaged%s", folder, dot);
    size_t step = good.len / 150 + 1;
    for (size_t n = 0; n < good.len; n += step) {
        write_file(bad, good.s, n);
        read_back(vm, read, bad);
    }
    for (size_t i = 0; i < good.len; i += i < 200 ? 1 : step)
        for (int bit = 0; bit < 8; bit += 3) {
            memcpy(bytes, good.s, good.len);
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
            write_file(bad, bytes, good.len);
            read_back(vm, read, bad);
        }
    free(bytes);
    qtext_free(&good);
    unlink(bad);
}

static void image(qs_vm *vm, const char *name, int64_t channels, int option) {
    const char *file = in_folder(name);
    qs_value in[3] = {make_string(vm, file), picture(vm, 23, 31, channels), qs_num(option)}, out;
    CHECK(native(vm, qimage_imwrite, option ? 3 : 2, in, 0, &out) == QS_OK);
    qval_release(vm, option ? qs_nil() : in[2]);
    damage(vm, qimage_imread, file);
    damage(vm, qimage_imfinfo, file);
    unlink(file);
}

static void arrays(qs_vm *vm) {
    const char *file = in_folder("x.npz");
    qs_value in[5] = {make_string(vm, file), make_string(vm, "a"), picture(vm, 5, 7, 1), make_string(vm, "b"),
                      make_string(vm, "text")},
             out;
    CHECK(native(vm, qnpy_save, 5, in, 0, &out) == QS_OK);
    damage(vm, qnpy_load, file);
    unlink(file);
    file = in_folder("x.npy");
    qs_value one[2] = {make_string(vm, file), picture(vm, 5, 7, 3)};
    CHECK(native(vm, qnpy_save, 2, one, 0, &out) == QS_OK);
    damage(vm, qnpy_load, file);
    unlink(file);
}

int main(void) {
    qs_vm *vm = machine_open();
    CHECK(mkdtemp(folder) != NULL);
    image(vm, "x.ppm", 3, 0);
    image(vm, "x.pgm", 1, 16);
#ifdef QUASAR_PNG
    image(vm, "x.png", 3, 0);
    image(vm, "x.png", 4, 16);
#endif
#ifdef QUASAR_JPEG
    image(vm, "x.jpg", 3, 90);
#endif
#ifdef QUASAR_TIFF
    image(vm, "x.tif", 3, 0);
    image(vm, "x.tif", 1, 32);
#endif
    arrays(vm);
    rmdir(folder);
    machine_close(vm);
    return check_done();
}
