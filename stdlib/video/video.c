/* video.c -- implements vidopen, vidreadframe, vidseek, vidclose; vidcreate, vidwrite.
 *
 * A video is an object with fields; rgb_data is the last frame, in the memory into which it was decoded. */
#include "stdlib/builtins.h"
#include "stdlib/image.h"
#include "stdlib/video/ffmpeg.h"
#include "vm/program/library.h"
#include "vm/program/python.h"
#include "vm/value/machine.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Video {
    qs_vm *vm;
    const VideoLib *lib;
    void *reader, *writer; /* at most one of them; both NULL: closed */
    char *path, *codec;
    VideoInfo info;    /* a writer has no size until its first frame */
    int bits;          /* bits of frames that are read or written */
    qs_value frame;    /* value of rgb_data */
    double time, next; /* time of the frame, and of the next one */
    int users;         /* number of threads that wait for a frame; other uses of the video wait for them */
} Video;

static const qs_foreign_type video_type;

/* -- the shared object with FFmpeg --------------------------------------------------------------------------------- */
bool qvideo_has(void) {
    char path[PATH_MAX];
    return qlibrary_own("_video.so", path) && dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

bool qvideo_has_devices(void) {
    char path[PATH_MAX];
    void *lib = qlibrary_own("_video.so", path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const VideoLib *video = lib ? dlsym(lib, "qffmpeg_library") : NULL;
    return video && video->size == sizeof(VideoLib) && video->devices();
}

static qs_status library(qs_vm *vm, const char *fn, const VideoLib **out) {
    char path[PATH_MAX];
    bool found = qlibrary_find(vm, "_video.so", path);
    void *lib = found ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const char *why = found && !lib ? dlerror() : NULL;
    *out = lib ? dlsym(lib, "qffmpeg_library") : NULL;
    if (*out && (*out)->size == sizeof(VideoLib)) return QS_OK;
    if (*out) return qs_fail(vm, QS_EIO, "%s: %s comes from another build", fn, path);
    return qs_fail(
        vm, QS_EIO,
        "%s: videos need FFmpeg, and a build that found its headers: on Debian and Ubuntu the "
        "packages libavformat-dev, libavcodec-dev and libswscale-dev; in Python the frames of PyAV (pip install av) go "
        "into functions as they are%s%s%s",
        fn, why ? " (" : "", why ? why : "", why ? ")" : "");
}

static qs_status rate_arg(qs_vm *vm, const char *fn, double fps) {
    return fps > 0 && fps <= 1000 ? QS_OK
                                  : qs_fail(vm, QS_EVALUE, "%s: fps must be above 0 and at most 1000, got %g", fn, fps);
}

/* -- a video ------------------------------------------------------------------------------------------------------- */
static Video *of(qs_value v) { return qs_foreign_ptr(v, &video_type); }

static qs_status video_arg(qs_vm *vm, const char *fn, qs_value v, bool reads, Video **out) {
    *out = of(v);
    if (!*out) return qarg_wrong(vm, fn, "stream", "a video", v);
    TRY(qthread_turn(vm, &(*out)->users));
    bool open = reads ? (*out)->reader != NULL : !(*out)->reader && (*out)->codec != NULL;
    return open ? QS_OK
                : qs_fail(vm, QS_EVALUE, "%s: %s is closed, or is not for %s", fn, (*out)->path,
                          reads ? "reading" : "writing");
}

static Video *new_video(qs_vm *vm, const VideoLib *lib, const char *path) {
    Video *v = qmem_alloc(qvm_ctx(vm), sizeof *v);
    *v = (Video){.vm = vm, .lib = lib, .path = strdup(path), .frame = qs_nil()};
    return v;
}

static void release_video(void *p) {
    Video *v = p;
    char why[VIDEO_WHY];
    if (v->users) return; /* a thread still waits for a frame: the process is ending */
    if (v->reader) v->lib->close(v->reader);
    if (v->writer) v->lib->finish(v->writer, why);
    qs_release(v->vm, v->frame);
    free(v->path), free(v->codec);
    qmem_free(qvm_ctx(v->vm), v, sizeof *v);
}

/* Reads the size [height, width] and frame rate requested from a camera. */
static qs_status wished(qs_vm *vm, qs_call_args *c, VideoInfo *v) {
    Array *a;
    const void *p;
    if (qarg_given(c, 2)) {
        TRY(qarg_num(vm, c->name, "fps", c->in[2], &v->rate));
        TRY(rate_arg(vm, c->name, v->rate));
    }
    if (!qarg_given(c, 1)) return QS_OK;
    TRY(qarg_packed(vm, c, 1, "size", QS_F64, &a, &p));
    const double *x = p, most = 1 << 14;
    if (!a->count) return QS_OK;
    for (size_t k = 0; k < 2; k++)
        if (a->count != 2 || !(x[k] >= 1 && x[k] <= most) || floor(x[k]) != x[k])
            return qs_fail(vm, QS_EVALUE, "%s: size must be [height, width], integers of 1 to %g", c->name, most);
    return v->height = (int)x[0], v->width = (int)x[1], QS_OK;
}

/* vidopen(path [, size [, fps]]) */
qs_status qvideo_open(qs_vm *vm, qs_call_args *c) {
    const char *path;
    const VideoLib *lib;
    VideoInfo info = {0};
    char why[VIDEO_WHY] = "";
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    TRY(wished(vm, c, &info));
    TRY(library(vm, c->name, &lib));
    Video *v = new_video(vm, lib, path);
    const char *own = v->path; /* `path` belongs to the VM, which is released */
    const Python *python = qpython_release_vm(vm);
    void *reader = lib->open(own, &info, why);
    qpython_acquire_vm(python);
    v->reader = reader, v->info = info;
    v->bits = v->info.bits;
    TRY(qs_foreign(vm, &video_type, v, &c->out[0]));
    return v->reader ? QS_OK : qs_fail(vm, QS_EIO, "vidopen: %s: %s", path, why);
}

/* Creates an array that takes over the memory of the frame. */
static qs_status keep_frame(qs_vm *vm, Video *v, const VideoFrame *f) {
    const VideoInfo *i = &v->info;
    int rank = i->channels > 1 ? 3 : 2;
    int64_t row = (int64_t)i->width * i->channels;
    qs_array_info a = {.dtype = v->bits > 8 ? QS_U16 : QS_U8,
                       .rank = rank,
                       .dims = {i->height, i->width, i->channels},
                       .strides = {row, i->channels, 1}};
    a.nbytes = (size_t)(row * i->height) * (v->bits > 8 ? 2 : 1);
    qs_value frame;
    TRY(qs_array_wrap(vm, &a, f->data, -1, free, f->data, &frame));
    qs_release(vm, v->frame);
    v->frame = frame, v->time = f->time, v->next = f->time + (i->rate > 0 ? 1 / i->rate : 0);
    return QS_OK;
}

qs_status qvideo_read(qs_vm *vm, qs_call_args *c) {
    Video *v;
    VideoFrame f = {0};
    char why[VIDEO_WHY] = "";
    TRY(video_arg(vm, c->name, c->in[0], true, &v));
    const VideoLib *lib = v->lib;
    void *reader = v->reader;
    v->users++;
    const Python *python = qpython_release_vm(vm);
    VideoStatus s = lib->read(reader, &f, why);
    qpython_acquire_vm(python);
    v->users--;
    if (s == VIDEO_FAILED) return qs_fail(vm, QS_EIO, "vidreadframe: %s, after %g s: %s", v->path, v->next, why);
    if (s == VIDEO_FRAME) TRY(keep_frame(vm, v, &f));
    return c->out[0] = qs_bool(s == VIDEO_FRAME), QS_OK;
}

qs_status qvideo_seek(qs_vm *vm, qs_call_args *c) {
    Video *v;
    double t;
    TRY(video_arg(vm, c->name, c->in[0], true, &v));
    TRY(qarg_num(vm, c->name, "seconds", c->in[1], &t));
    if (!(t >= 0) || !isfinite(t))
        return qs_fail(vm, QS_EVALUE, "vidseek: seconds must be finite and not negative, got %g", t);
    if (v->info.live)
        return qs_fail(vm, QS_EVALUE, "vidseek: %s is live: there is only the next frame, which vidreadframe reads",
                       v->path);
    v->lib->seek(v->reader, t, v->bits);
    v->next = t;
    return c->out[0] = qs_bool(true), QS_OK; /* programs use the call as an expression: playing ? vidseek(s, t) : [] */
}

qs_status qvideo_close(qs_vm *vm, qs_call_args *c) {
    Video *v = of(c->in[0]);
    char why[VIDEO_WHY] = "";
    if (!v) return qarg_wrong(vm, c->name, "stream", "a video", c->in[0]);
    TRY(qthread_turn(vm, &v->users));
    void *writer = v->writer;
    if (v->reader) v->lib->close(v->reader);
    v->reader = v->writer = NULL;
    free(v->codec), v->codec = NULL;
    bool good = !writer || v->lib->finish(writer, why);
    return good ? QS_OK : qs_fail(vm, QS_EIO, "vidclose: %s: %s", v->path, why);
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
/* vidcreate(path [, fps [, codec [, bits]]]) */
qs_status qvideo_create(qs_vm *vm, qs_call_args *c) {
    const char *path, *codec = "";
    const VideoLib *lib;
    char why[VIDEO_WHY];
    double fps = 25;
    int64_t bits = 8;
    TRY(qarg_string(vm, c->name, "path", c->in[0], &path, NULL));
    if (qarg_given(c, 1)) TRY(qarg_num(vm, c->name, "fps", c->in[1], &fps));
    if (qarg_given(c, 2)) TRY(qarg_string(vm, c->name, "codec", c->in[2], &codec, NULL));
    if (qarg_given(c, 3)) TRY(qarg_count(vm, c->name, "bits", c->in[3], &bits));
    TRY(rate_arg(vm, c->name, fps));
    if (bits < 8 || bits > 16) return qs_fail(vm, QS_EVALUE, "vidcreate: bits must be 8 to 16, got %ld", (long)bits);
    TRY(library(vm, c->name, &lib));
    if (!lib->known(path, codec, why)) return qs_fail(vm, QS_EVALUE, "vidcreate: %s: %s", path, why);
    Video *v = new_video(vm, lib, path);
    v->info.rate = fps, v->bits = v->info.bits = (int)bits, v->codec = strdup(codec);
    return qs_foreign(vm, &video_type, v, &c->out[0]);
}

static qs_status begin_file(qs_vm *vm, Video *v, const Array *a) {
    char why[VIDEO_WHY] = "";
    int64_t channels = a->rank > 2 ? a->dims[2] : 1;
    if (a->rank < 2 || a->rank > 3 || (channels != 1 && channels != 3) || a->dims[0] > 1 << 14 || a->dims[1] > 1 << 14)
        return qs_fail(vm, QS_ESHAPE, "vidwrite: a frame must be height x width, with 3 channels or one");
    v->info.height = (int)a->dims[0], v->info.width = (int)a->dims[1], v->info.channels = (int)channels;
    v->writer = v->lib->create(v->path, &v->info, v->codec, why);
    return v->writer ? QS_OK : qs_fail(vm, QS_EIO, "vidwrite: %s: %s", v->path, why);
}

/* Rounds values to nearest and saturates them, as imwrite does; words are scaled to 16 bits. */
static void levels(const double *x, size_t n, int bits, void *out) {
    double most = (double)((1 << bits) - 1);
    for (size_t k = 0; k < n; k++) {
        double v = x[k] > 0 ? floor(fmin(x[k], most) + 0.5) : 0;
        uint32_t word = (uint32_t)v;
        if (bits > 8) ((uint16_t *)out)[k] = (uint16_t)(word << (16 - bits) | word >> (2 * bits - 16));
        else ((uint8_t *)out)[k] = (uint8_t)word;
    }
}

static qs_status write_numbers(qs_vm *vm, Video *v, const double *x, size_t n) {
    char why[VIDEO_WHY] = "";
    void *words = malloc(qmem_size(n, 2, 0));
    if (!words) return qs_fail(vm, QS_ENOMEM, "vidwrite: no memory for a frame");
    levels(x, n, v->bits, words);
    bool good = v->lib->write(v->writer, words, why);
    free(words);
    return good ? QS_OK : qs_fail(vm, QS_EIO, "vidwrite: %s: %s", v->path, why);
}

qs_status qvideo_write(qs_vm *vm, qs_call_args *c) {
    Video *v;
    Array *a;
    const void *p;
    char why[VIDEO_WHY] = "";
    TRY(video_arg(vm, c->name, c->in[0], false, &v));
    bool bytes = c->in[1].kind == QS_ARRAY && qval_array(c->in[1])->dtype == QS_U8 && v->bits == 8;
    TRY(qarg_packed(vm, c, 1, "frame", bytes ? QS_U8 : QS_F64, &a, &p));
    if (!v->writer) TRY(begin_file(vm, v, a));
    int64_t channels = a->rank > 2 ? a->dims[2] : 1;
    if (a->rank < 2 || a->dims[0] != v->info.height || a->dims[1] != v->info.width || channels != v->info.channels)
        return qs_fail(vm, QS_ESHAPE, "vidwrite: frames of a video have one size, %dx%dx%d", v->info.height,
                       v->info.width, v->info.channels);
    if (!bytes) {
        double white = (double)((1u << v->bits) - 1);
        TRY(qimage_check_white(vm, c->name, "the frame", QS_F64, p, a->count, white, ""));
        return write_numbers(vm, v, p, a->count);
    }
    return v->lib->write(v->writer, p, why) ? QS_OK : qs_fail(vm, QS_EIO, "vidwrite: %s: %s", v->path, why);
}

/* -- fields -------------------------------------------------------------------------------------------------------- */
static qs_status get_field(qs_vm *vm, void *p, qs_value key, qs_value *out) {
    const Video *v = p;
    const char *name = qs_to_string(key, NULL);
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"frame_width", v->info.width},
                   {"frame_height", v->info.height},
                   {"avg_frame_rate", v->info.rate},
                   {"duration_sec", v->info.live ? INFINITY : v->info.duration},
                   {"bits_per_color", v->bits},
                   {"pts", v->time},
                   {"frames", v->info.live ? INFINITY : (double)v->info.frames}};
    for (size_t i = 0; name && i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(name, numbers[i].name)) return *out = qs_num(numbers[i].value), QS_OK;
    if (name && !strcmp(name, "path")) return qs_string(vm, v->path, strlen(v->path), out);
    if (!name || strcmp(name, "rgb_data") != 0)
        return qs_fail(vm, QS_ENAME,
                       "a video has no field %s; it has frame_width, frame_height, avg_frame_rate, duration_sec, "
                       "frames, bits_per_color, rgb_data, pts and path",
                       name ? name : "of that kind");
    if (v->frame.kind == QS_NIL)
        return qs_fail(vm, QS_EVALUE, "rgb_data: no frame was read yet; vidreadframe(stream) reads one");
    return *out = qs_retain(v->frame), QS_OK;
}

/* Sets bits_per_color, the bits of frames; frames decoded ahead are decoded again. */
static qs_status set_field(qs_vm *vm, void *p, qs_value key, qs_value x) {
    Video *v = p;
    int64_t bits;
    const char *name = qs_to_string(key, NULL);
    if (!name || strcmp(name, "bits_per_color") != 0 || !v->reader)
        return qs_fail(vm, QS_EVALUE, "of a video that is read, bits_per_color alone can be set");
    TRY(qarg_count(vm, "bits_per_color", "it", x, &bits));
    if (bits < 8 || bits > 16) return qs_fail(vm, QS_EVALUE, "bits_per_color: must be 8 to 16, got %ld", (long)bits);
    if (bits != v->bits) v->lib->seek(v->reader, v->next, (int)bits);
    return v->bits = (int)bits, QS_OK;
}

static const qs_foreign_type video_type = {
    .name = "video", .release = release_video, .get = get_field, .set = set_field};
