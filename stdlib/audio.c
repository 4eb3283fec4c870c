/* audio.c -- reads and writes sound in WAV files: integers of 8 to 32 bits, and floats.
 *
 *     "RIFF" size "WAVE" │ chunks: name (4 bytes), size, data, and a byte of padding after an odd size
 *     "fmt "  form, channels, rate, bytes per second, bytes per frame, bits per sample; for EXTENSIBLE the form follows
 *     "data"  frames: one sample of each channel
 *
 * Sources: Microsoft's Multimedia Programming Interface and Data Specifications 1.0; the description of
 * WAVEFORMATEXTENSIBLE.  Samples of 8 bits are unsigned. */
#include "stdlib/builtins.h"
#include "stdlib/bytes.h"
#include "vm/base/warning.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { PCM = 1, FLOATS = 3, EXTENSIBLE = 0xFFFE };
/* The bytes after the form in the identifier of an extensible format. */
static const uint8_t extensible_tail[14] = {0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71};

typedef struct {
    int form, channels, bytes, bits; /* bytes of a sample in the file, and bits of these that are used */
    int64_t rate, frames;
    const uint8_t *data;
} Sound;

/* -- reading ------------------------------------------------------------------------------------------------------- */
typedef struct {
    qs_vm *vm;
    const char *fn, *path;
} Place;

static qs_status damaged(const Place *at, const char *why) {
    return qs_fail(at->vm, QS_EVALUE, "%s: %s is damaged: %s", at->fn, at->path, why);
}

static const char *form_name(int form) {
    return form == 2 ? "ADPCM" : form == 6 ? "A-law" : form == 7 ? "mu-law" : form == 0x55 ? "MP3" : "unknown";
}

static qs_status read_format(const Place *at, ByteReader b, Sound *s) {
    s->form = (int)qbytes_number(&b, 2), s->channels = (int)qbytes_number(&b, 2);
    s->rate = (int64_t)qbytes_number(&b, 4);
    qbytes_take(&b, 4);
    int frame = (int)qbytes_number(&b, 2);
    s->bits = (int)qbytes_number(&b, 2);
    if (b.short_of) return damaged(at, "its format chunk is too short");
    if (s->form == EXTENSIBLE) {
        qbytes_take(&b, 8);
        s->form = (int)qbytes_number(&b, 2);
        const uint8_t *tail = qbytes_take(&b, sizeof extensible_tail);
        if (!tail) return damaged(at, "its format chunk is too short");
        if (memcmp(tail, extensible_tail, sizeof extensible_tail)) s->form = 0;
    }
    if (s->form != PCM && s->form != FLOATS)
        return qs_fail(at->vm, QS_EVALUE, "%s: %s is compressed (format %d, %s); only integers and floats are read",
                       at->fn, at->path, s->form, form_name(s->form));
    s->bytes = (s->bits + 7) / 8;
    bool good = s->form == PCM ? s->bits >= 1 && s->bits <= 32 : s->bits == 32 || s->bits == 64;
    if (!good || s->channels < 1 || frame != s->channels * s->bytes || s->rate < 1)
        return qs_fail(at->vm, QS_EVALUE, "%s: %s is damaged: %d channels of %d bits in frames of %d bytes, %lld Hz",
                       at->fn, at->path, s->channels, s->bits, frame, (long long)s->rate);
    return QS_OK;
}

/* Finds the format and the samples.  A program that writes to a pipe does not know their size and writes 0xFFFFFFFF:
 * they end with the file. */
static qs_status open_sound(const Place *at, const Text *file, Sound *s) {
    ByteReader b = {.p = (const uint8_t *)file->s, .n = file->len};
    const uint8_t *id = qbytes_take(&b, 12);
    bool known = false;
    memset(s, 0, sizeof *s);
    if (id && (!memcmp(id, "RIFX", 4) || !memcmp(id, "RF64", 4)))
        return qs_fail(at->vm, QS_EVALUE, "%s: %s is an %.4s file, which is not supported; WAV files begin with RIFF",
                       at->fn, at->path, (const char *)id);
    if (!id || memcmp(id, "RIFF", 4) || memcmp(id + 8, "WAVE", 4))
        return qs_fail(at->vm, QS_EVALUE, "%s: %s is no WAV file", at->fn, at->path);
    while (b.n >= 8) {
        const uint8_t *name = qbytes_take(&b, 4);
        uint64_t size = qbytes_number(&b, 4);
        bool is_data = !memcmp(name, "data", 4);
        if (is_data && size == UINT32_MAX) size = b.n;
        if (size > b.n) return damaged(at, is_data ? "it ends before its last sample" : "a chunk ends beyond the file");
        ByteReader chunk = {.p = qbytes_take(&b, size), .n = size};
        if (size % 2 && b.n) qbytes_take(&b, 1);
        if (!memcmp(name, "fmt ", 4)) {
            TRY(read_format(at, chunk, s));
            known = true;
        }
        if (!is_data) continue;
        if (!known) return damaged(at, "its samples come before their format");
        s->data = chunk.p, s->frames = (int64_t)(size / (size_t)(s->channels * s->bytes));
        if (size % (size_t)(s->channels * s->bytes)) return damaged(at, "it ends within a frame");
        return QS_OK;
    }
    return damaged(at, known ? "it has no samples" : "it has no format chunk");
}

/* Returns the type of the elements in the file; integers of 24 bits fill the upper bytes of an int32. */
static qs_dtype native_type(const Sound *s) {
    if (s->form == FLOATS) return s->bits == 32 ? QS_F32 : QS_F64;
    return s->bytes == 1 ? QS_U8 : s->bytes == 2 ? QS_I16 : QS_I32;
}

/* Reads an integer sample into the upper bits of an int32. */
static int32_t sample_at(const uint8_t *p, int bytes) {
    return (int32_t)((uint32_t)(qbytes_le(p, bytes) ^ (bytes == 1 ? 0x80 : 0)) << (32 - 8 * bytes));
}

static void copy_native(const Sound *s, size_t n, void *out) {
    size_t bytes = (size_t)s->bytes;
    if (bytes != 3) memcpy(out, s->data, n * bytes);
    else
        for (size_t i = 0; i < n; i++) ((int32_t *)out)[i] = sample_at(s->data + i * bytes, 3);
}

static void copy_scaled(const Sound *s, size_t n, qs_dtype d, void *out) {
    for (size_t i = 0; i < n; i++) {
        double x = sample_at(s->data + i * (size_t)s->bytes, s->bytes) * 0x1p-31;
        if (d == QS_F32) ((float *)out)[i] = (float)x;
        else ((double *)out)[i] = x;
    }
}

static qs_status read_samples(qs_vm *vm, const Sound *s, bool native, qs_value *out) {
    Array *a;
    void *p;
    bool scaled = !native && s->form == PCM;
    qs_dtype d = scaled ? (s->bytes == 4 ? QS_F64 : qvm_ctx(vm)->scalar_dtype) : native_type(s);
    TRY(qarr_make(vm, d, 2, (int64_t[]){s->frames, s->channels}, false, &a, &p));
    *out = qarr_value(a);
    if (!a->count) return QS_OK;
    if (scaled) copy_scaled(s, a->count, d, p);
    else copy_native(s, a->count, p);
    return QS_OK;
}

/* audioread(path [, "native"]) */
qs_status qaudio_read(qs_vm *vm, qs_call_args *c) {
    Place at = {vm, c->name, NULL};
    const char *option = NULL;
    Sound s;
    Text file;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &at.path, NULL));
    if (qarg_given(c, 1)) TRY(qarg_string(vm, c->name, "option", c->in[1], &option, NULL));
    if (option && strcmp(option, "native"))
        return qs_fail(vm, QS_EVALUE, "audioread: option must be \"native\", got \"%s\"", option);
    qtext_init(&file, qvm_ctx(vm));
    qs_status status = qio_slurp(vm, c->name, at.path, &file);
    if (status == QS_OK) status = open_sound(&at, &file, &s);
    if (status == QS_OK) status = read_samples(vm, &s, option != NULL, &c->out[0]);
    qtext_free(&file);
    if (status == QS_OK && c->nout > 1) c->out[1] = qs_num((double)s.rate);
    return status;
}

qs_status qaudio_info(qs_vm *vm, qs_call_args *c) {
    Place at = {vm, c->name, NULL};
    Object *o;
    Sound s;
    Text file;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &at.path, NULL));
    qtext_init(&file, qvm_ctx(vm));
    qs_status status = qio_slurp(vm, c->name, at.path, &file);
    if (status == QS_OK) status = open_sound(&at, &file, &s);
    qtext_free(&file);
    TRY(status);
    TRY(qobj_new(vm, NULL, &o));
    c->out[0] = qval_object(QS_OBJECT, o);
    const struct {
        const char *name;
        qs_value v;
    } fields[] = {{"channels", qs_num(s.channels)},
                  {"rate", qs_num((double)s.rate)},
                  {"samples", qs_num((double)s.frames)},
                  {"duration", qs_num((double)s.frames / (double)s.rate)},
                  {"bits", qs_num(s.bits)},
                  {"floats", qs_bool(s.form == FLOATS)}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        TRY(qobj_set(vm, o, qstr_cname(qvm_ctx(vm), fields[i].name), fields[i].v));
    return QS_OK;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
/* Decides how the elements are stored: integers as they are, floats with the given number of bits (16). */
static qs_status choose_format(qs_vm *vm, qs_call_args *c, const Array *a, Sound *s) {
    qs_dtype d = (qs_dtype)a->dtype;
    bool integers = d == QS_U8 || d == QS_I16 || d == QS_I32;
    int64_t bits = integers ? 8 * (int64_t)qdtype_size(d) : 16, given;
    if (!integers && d < QS_F16) return qarg_wrong(vm, c->name, "x", "floats in -1..1, uint8, int16 or int", c->in[1]);
    if (qdtype_is_complex(d)) return qarg_wrong(vm, c->name, "x", "real", c->in[1]);
    if (qarg_given(c, 3)) {
        TRY(qarg_int(vm, c->name, "bits", c->in[3], &given));
        if (integers && given != bits)
            return qs_fail(vm, QS_EVALUE, "audiowrite: x of %s is written with %lld bits, got %lld",
                           qdtype_info[d].name, (long long)bits, (long long)given);
        bits = given;
    }
    if (bits != 8 && bits != 16 && bits != 24 && bits != 32 && bits != 64)
        return qs_fail(vm, QS_EVALUE, "audiowrite: bits must be 8, 16 or 24, or 32 or 64 (floats), got %lld",
                       (long long)bits);
    s->bits = (int)bits, s->bytes = s->bits / 8, s->form = !integers && bits >= 32 ? FLOATS : PCM;
    return QS_OK;
}

static void write_header(const Sound *s, size_t data, Text *t) {
    bool extensible = s->channels > 2, floats = s->form == FLOATS;
    unsigned format = extensible ? 40 : floats ? 18 : 16, frame = (unsigned)(s->channels * s->bytes);
    size_t fact = floats || extensible ? 12 : 0, size = 4 + 8 + format + fact + 8 + data + data % 2;
    qtext_puts(t, "RIFF"), qbytes_put_le(t, size, 4), qtext_puts(t, "WAVEfmt "), qbytes_put_le(t, format, 4);
    qbytes_put_le(t, extensible ? EXTENSIBLE : (unsigned)s->form, 2), qbytes_put_le(t, (uint64_t)s->channels, 2);
    qbytes_put_le(t, (uint64_t)s->rate, 4), qbytes_put_le(t, (uint64_t)s->rate * frame, 4);
    qbytes_put_le(t, frame, 2), qbytes_put_le(t, (uint64_t)s->bits, 2);
    if (format > 16) qbytes_put_le(t, format - 18, 2);
    if (extensible) { /* mask 0: the channels have no positions */
        qbytes_put_le(t, (uint64_t)s->bits, 2), qbytes_put_le(t, 0, 4), qbytes_put_le(t, (uint64_t)s->form, 2);
        qtext_add(t, (const char *)extensible_tail, sizeof extensible_tail);
    }
    if (fact) qtext_puts(t, "fact"), qbytes_put_le(t, 4, 4), qbytes_put_le(t, (uint64_t)s->frames, 4);
    qtext_puts(t, "data"), qbytes_put_le(t, data, 4);
}

/* Writes x*2^(bits-1), rounded to nearest.  Returns how many samples were outside -1..1, or -1: there is a nan. */
static int64_t write_integers(const Sound *s, const double *x, size_t n, Text *t) {
    double full = ldexp(1, s->bits - 1);
    int64_t clipped = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i])) return -1;
        clipped += fabs(x[i]) > 1;
        double v = fmin(fmax(floor(x[i] * full + 0.5), -full), full - 1);
        qbytes_put_le(t, (uint64_t)((int64_t)v + (s->bits == 8 ? 128 : 0)), s->bytes);
    }
    return clipped;
}

/* Writes the samples; `d`: their type in memory. */
static qs_status write_samples(qs_vm *vm, const char *path, const Sound *s, qs_dtype d, const void *p, size_t n,
                               Text *t) {
    if (s->form == FLOATS || d < QS_F16) return qtext_add(t, p, n * (size_t)s->bytes), QS_OK;
    int64_t clipped = write_integers(s, p, n, t);
    if (clipped < 0)
        return qs_fail(vm, QS_EVALUE, "audiowrite: x has nan, which integers cannot represent; write 32 bits");
    if (!clipped) return QS_OK;
    return qwarn_at(qvm_ctx(vm), qvm_here(vm), "audiowrite: %s: %lld of %zu samples are outside -1..1 and are clipped",
                    path, (long long)clipped, n);
}

/* audiowrite(path, x, rate [, bits]).  A vec is one channel. */
qs_status qaudio_write(qs_vm *vm, qs_call_args *c) {
    const char *path;
    Array *a;
    const void *p;
    Sound s = {0};
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    size_t length = strlen(path);
    if (length < 4 || strcasecmp(path + length - 4, ".wav"))
        return qs_fail(vm, QS_EVALUE, "audiowrite: %s must end in .wav", path);
    TRY(qarg_array(vm, c, 1, "x", &a));
    if (a->rank > 2)
        return qs_fail(vm, QS_ESHAPE, "audiowrite: x must be samples x channels, got %d dimensions", a->rank);
    TRY(qarg_int(vm, c->name, "rate", c->in[2], &s.rate));
    if (s.rate < 1 || s.rate > UINT32_MAX)
        return qs_fail(vm, QS_EVALUE, "audiowrite: rate must be 1 to 4294967295 Hz, got %lld", (long long)s.rate);
    TRY(choose_format(vm, c, a, &s));
    s.channels = a->rank < 2 ? 1 : (int)(a->dims[1] > 65536 ? 65536 : a->dims[1]);
    s.frames = a->rank < 2 ? (int64_t)a->count : a->dims[0];
    if (s.channels < 1 || s.channels > 65535 / s.bytes || (double)a->count * s.bytes > UINT32_MAX - 100.0)
        return qs_fail(vm, QS_ESHAPE, "audiowrite: a .wav file holds 1 to %d channels and 4 GiB, got %lld x %lld",
                       65535 / s.bytes, (long long)s.frames, (long long)qarr_dim(a, 1));
    qs_dtype d = (qs_dtype)a->dtype;
    if (d >= QS_F16) d = s.form == FLOATS && s.bits == 32 ? QS_F32 : QS_F64;
    TRY(qarg_packed(vm, c, 1, "x", d, &a, &p));
    Text t;
    qtext_init(&t, qvm_ctx(vm));
    size_t data = a->count * (size_t)s.bytes;
    write_header(&s, data, &t);
    qs_status status = write_samples(vm, path, &s, d, p, a->count, &t);
    qtext_pad(&t, 0, data % 2);
    if (status == QS_OK) status = qtext_status(&t);
    if (status == QS_OK) status = qio_spill(vm, c->name, path, t.s, t.len);
    qtext_free(&t);
    return status;
}
