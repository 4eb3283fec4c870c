/* zlib.c -- decompresses parts of files with zlib. */
#include "stdlib/npy.h"

#ifdef QUASAR_ZLIB
#include <zlib.h>

#define LAZY      libz
#define LAZY_API  "stdlib/zlib_api.def"
#define LAZY_FILE QUASAR_ZLIB
#include "vm/base/lazy_library.h"

qs_status qzlib_inflate(qs_vm *vm, const char *path, const uint8_t *p, size_t n, bool raw, uint8_t *out, size_t size) {
    z_stream z = {.next_in = (Bytef *)(uintptr_t)p, .next_out = out};
    if (n > UINT32_MAX || size > UINT32_MAX)
        return qs_fail(vm, QS_EVALUE, "load: %s: compressed entries may have 4 GiB", path);
    z.avail_in = (uInt)n, z.avail_out = (uInt)size;
    if (missing()) return qs_fail(vm, QS_EIO, "load: %s is compressed, and zlib cannot be opened: %s", path, missing());
    if (libz.inflateInit2_(&z, raw ? -15 : 15, ZLIB_VERSION, (int)sizeof z) != Z_OK)
        return qs_fail(vm, QS_ENOMEM, "load: zlib is out of memory");
    int r = libz.inflate(&z, raw ? Z_FINISH : Z_SYNC_FLUSH);
    libz.inflateEnd(&z);
    if (z.avail_out == 0 && (r == Z_STREAM_END || (!raw && r == Z_OK))) return QS_OK;
    return qs_fail(vm, QS_EVALUE, "load: %s is damaged: its compressed data", path);
}
bool qzlib_here(void) { return !missing(); }
#else
bool qzlib_here(void) { return false; }
qs_status qzlib_inflate(qs_vm *vm, const char *path, const uint8_t *p, size_t n, bool raw, uint8_t *out, size_t size) {
    (void)p, (void)n, (void)raw, (void)out, (void)size;
    return qs_fail(vm, QS_EVALUE, "load: %s is compressed; this build has no zlib", path);
}
#endif
