/* ffmpeg.c -- reads and writes videos with FFmpeg; the only file that uses it, in a separate shared object.
 *
 *     file ── demuxer ── decoder ── scaler ──► a ring of frames ──► read()
 *             └────────── thread of the video ────────┘
 *
 * The thread keeps AHEAD frames ready.  A seek goes to the last key frame before the time, decodes and drops frames up
 * to it, and is therefore exact.  A live device does not wait for the program: only the newest frames are kept, and
 * reading from the device never blocks, so that it can be closed when no frames arrive. */
#include "stdlib/video/ffmpeg.h"
#include "vm/base/ctx.h"

#include <dlfcn.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/time.h>
#include <libswscale/swscale.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 4, LIVE_AHEAD = 2, PATIENCE_US = 10000000, LINE_BYTES = 64, NAME_ROOM = 4200 };
enum { SCALING = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP };

typedef struct Complaint { /* the first error that a codec has logged; some codecs conceal errors */
    atomic_bool made;
    char text[96]; /* text of the first error */
} Complaint;

typedef struct Reader {
    AVFormatContext *format;
    AVCodecContext *codec;
    struct SwsContext *scaler;
    AVPacket *packet;
    AVFrame *frame, *ahead; /* ahead: if is_ahead, the frame behind the one that a seek has found */
    double ahead_time;
    bool is_ahead;
    int stream, bits, channels; /* bits and channels of the returned frames */
    int width, height;          /* size reported to the program; the decoder's size may change */
    /* Number of frames according to the file; number decoded without a seek, -1 after one. */
    int64_t announced, given;
    double shown; /* end time of the last frame in seconds; -1: unknown, after a seek */
    bool timed;   /* the time of the last frame is known */
    bool draining, live;
    int64_t late;   /* time (av_gettime_relative) after which a silent device counts as failed */
    double skip_to; /* target of a seek: the last frame that begins before it is returned next; -inf: none */
    Complaint complaint;
    pthread_t thread;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    VideoFrame ring[AHEAD];
    int first, count;
    VideoStatus state; /* state of the thread; VIDEO_FRAME while it continues */
    char why[VIDEO_WHY];
    bool stop, wants_seek;
    double seek_to;
    int seek_bits;
} Reader;

static void write_reason(char why[VIDEO_WHY], const char *what, int error) {
    char text[128] = "";
    if (error) av_strerror(error, text, sizeof text);
    snprintf(why, VIDEO_WHY, error ? "%s: %s" : "%s", what, text);
}

/* Stores log messages in the complaint of their codec or output format, and drops all others. */
static void on_log(void *from, int level, const char *format, va_list args) {
    const AVClass *class = from && level <= AV_LOG_ERROR ? *(const AVClass **)from : NULL;
    Complaint *c = !class                                          ? NULL
                   : !strcmp(class->class_name, "AVCodecContext")  ? ((const AVCodecContext *)from)->opaque
                   : !strcmp(class->class_name, "AVFormatContext") ? ((const AVFormatContext *)from)->opaque
                                                                   : NULL;
    if (c && !atomic_exchange(&c->made, true)) vsnprintf(c->text, sizeof c->text, format, args);
}

/* -- pixels -------------------------------------------------------------------------------------------------------- */
static bool is_grey(enum AVPixelFormat f) {
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(f);
    return d && d->nb_components == 1 && !(d->flags & AV_PIX_FMT_FLAG_PAL);
}

static enum AVPixelFormat packed_format(int channels, int bits) {
    return bits > 8        ? channels == 1 ? AV_PIX_FMT_GRAY16 : AV_PIX_FMT_RGB48
           : channels == 1 ? AV_PIX_FMT_GRAY8
                           : AV_PIX_FMT_RGB24;
}

/* Returns the matrix that converts luma and chroma to RGB: the one in the file, otherwise the usual one for the
 * size. */
static int colour_matrix(int space, int height) {
    if (space != AVCOL_SPC_UNSPECIFIED) return space == AVCOL_SPC_RGB ? SWS_CS_ITU709 : space;
    return height >= 720 ? SWS_CS_ITU709 : SWS_CS_ITU601;
}

static void set_colours(struct SwsContext *s, int space, int height, bool from_full, bool to_full) {
    const int *table = sws_getCoefficients(colour_matrix(space, height));
    sws_setColorspaceDetails(s, table, from_full, table, to_full, 0, 1 << 16, 1 << 16);
}

/* Converts a frame.  Scalers write whole words behind the end of rows, so rows have spare room and are compacted
 * later. */
static void *frame_pixels(Reader *r, char why[VIDEO_WHY]) {
    AVFrame *f = r->frame;
    size_t row = (size_t)f->width * (size_t)r->channels * (r->bits > 8 ? 2 : 1), wide = row + LINE_BYTES;
    uint8_t *data = malloc(qmem_size((size_t)f->height, wide, LINE_BYTES));
    r->scaler = sws_getCachedContext(r->scaler, f->width, f->height, (enum AVPixelFormat)f->format, f->width, f->height,
                                     packed_format(r->channels, r->bits), SCALING, NULL, NULL, NULL);
    if (!data || !r->scaler) return free(data), write_reason(why, "no memory for a frame", 0), NULL;
    set_colours(r->scaler, f->colorspace, f->height,
                f->color_range == AVCOL_RANGE_JPEG || is_grey((enum AVPixelFormat)f->format), true);
    uint8_t *to[4] = {data};
    int step[4] = {(int)wide};
    sws_scale(r->scaler, (const uint8_t *const *)f->data, f->linesize, 0, f->height, to, step);
    for (int y = 1; y < f->height; y++) memmove(data + (size_t)y * row, data + (size_t)y * wide, row);
    uint16_t *x = (uint16_t *)data;
    for (size_t k = 0; r->bits > 8 && r->bits < 16 && k < row / 2 * (size_t)f->height; k++)
        x[k] = (uint16_t)(x[k] >> (16 - r->bits));
    return data;
}

/* -- decoding, in the thread --------------------------------------------------------------------------------------- */
static double seconds_of(const Reader *r, int64_t stamp) {
    const AVStream *s = r->format->streams[r->stream];
    int64_t start = s->start_time != AV_NOPTS_VALUE ? s->start_time : 0;
    return (double)(stamp - start) * av_q2d(s->time_base);
}

/* Also called by FFmpeg while it blocks. */
static int given_up(void *reader) {
    Reader *r = reader;
    pthread_mutex_lock(&r->lock);
    bool stop = r->stop;
    pthread_mutex_unlock(&r->lock);
    return stop || (r->live && av_gettime_relative() > r->late);
}

static void be_patient(Reader *r) { r->late = av_gettime_relative() + PATIENCE_US; }

static int next_packet(Reader *r) {
    for (be_patient(r);;) {
        int e = av_read_frame(r->format, r->packet);
        if (e == AVERROR(EAGAIN) && r->live) {
            if (given_up(r)) return AVERROR_EXIT;
            av_usleep(1000);
            continue;
        }
        if (e < 0 || r->packet->stream_index == r->stream) return e;
        av_packet_unref(r->packet);
    }
}

/* Passes a packet or the end to the decoder; returns an AVERROR. */
static int feed(Reader *r) {
    int e = next_packet(r);
    if (e == AVERROR_EOF) {
        r->draining = true;
        return avcodec_send_packet(r->codec, NULL);
    }
    if (e < 0) return e;
    bool corrupt = r->packet->flags & AV_PKT_FLAG_CORRUPT;
    e = corrupt ? AVERROR_INVALIDDATA : avcodec_send_packet(r->codec, r->packet);
    av_packet_unref(r->packet);
    return e;
}

static double frame_length(const Reader *r) {
    AVRational rate = av_guess_frame_rate(r->format, r->format->streams[r->stream], NULL);
    return rate.num ? av_q2d(av_inv_q(rate)) : 0.04;
}

/* Returns whether all frames of the file were read.  A file that was cut without encoding may omit some frames; then
 * its duration says how long the rest is. */
static bool is_whole(const Reader *r) {
    const AVStream *s = r->format->streams[r->stream];
    if (r->announced <= 0 || r->given < 0 || r->given >= r->announced) return true;
    return s->duration > 0 && r->shown > (double)s->duration * av_q2d(s->time_base) - 0.5 * frame_length(r);
}

#define NO_FRAME "no frame comes from it within 10 seconds"

static VideoStatus decode_frame(Reader *r, char why[VIDEO_WHY]) {
    int e;
    while ((e = avcodec_receive_frame(r->codec, r->frame)) == AVERROR(EAGAIN) && !r->draining)
        if ((e = feed(r)) < 0) break;
    /* after a seek, frames may legitimately lack their references */
    bool concealed = r->frame->decode_error_flags || (r->frame->flags & AV_FRAME_FLAG_CORRUPT) ||
                     (atomic_load(&r->complaint.made) && r->given >= 0);
    if (e == 0 && !concealed) return VIDEO_FRAME;
    if (e == 0) e = AVERROR_INVALIDDATA;
    if (e == AVERROR_EXIT) return write_reason(why, NO_FRAME, 0), VIDEO_FAILED;
    if (e != AVERROR_EOF)
        return write_reason(why, r->live ? "no frame can be read" : "a frame cannot be decoded", e), VIDEO_FAILED;
    if (is_whole(r)) return VIDEO_END;
    snprintf(why, VIDEO_WHY, "the file ends too soon: it says that it has %lld frames, and has %lld",
             (long long)r->announced, (long long)r->given);
    return VIDEO_FAILED;
}

static VideoStatus decode_timed(Reader *r, double *time, char why[VIDEO_WHY]) {
    VideoStatus s = decode_frame(r, why);
    if (s != VIDEO_FRAME) return s;
    if (r->given >= 0) r->given++;
    int64_t stamp = r->frame->best_effort_timestamp;
    r->timed = stamp != AV_NOPTS_VALUE || r->shown >= 0; /* a frame without a time follows the previous one */
    *time = stamp != AV_NOPTS_VALUE ? seconds_of(r, stamp) : fmax(r->shown, 0);
    r->shown = r->timed ? *time + frame_length(r) : -1;
    return VIDEO_FRAME;
}

static void swap_frames(Reader *r) {
    AVFrame *f = r->frame;
    r->frame = r->ahead, r->ahead = f;
}

/* Returns the tolerance for times, which files round to ticks. */
static double rounding(const Reader *r) {
    double length = frame_length(r);
    return fmin(0.5 * av_q2d(r->format->streams[r->stream]->time_base), 0.1 * length) + 0.001 * length;
}

/* Drops frames before the target of a seek.  If durations vary, the end of a frame is known only from the next one. */
static VideoStatus skip(Reader *r, double *time, char why[VIDEO_WHY]) {
    double to = r->skip_to, at = 0;
    bool any = false;
    VideoStatus s;
    r->skip_to = -INFINITY;
    while ((s = decode_timed(r, &at, why)) == VIDEO_FRAME && at <= to + rounding(r)) {
        any = r->timed, *time = at;
        if (!any) return VIDEO_FRAME; /* its time is unknown */
        swap_frames(r);
        av_frame_unref(r->frame);
    }
    if (s == VIDEO_FAILED || (s == VIDEO_END && (!any || *time + frame_length(r) <= to))) return s;
    if (!any) return *time = at, VIDEO_FRAME;
    r->is_ahead = s == VIDEO_FRAME, r->ahead_time = at;
    return swap_frames(r), VIDEO_FRAME;
}

static void to_start(Reader *r, bool by_time) {
    const AVStream *s = r->format->streams[r->stream];
    int64_t start = s->start_time != AV_NOPTS_VALUE ? s->start_time : 0;
    if (by_time || av_seek_frame(r->format, r->stream, 0, AVSEEK_FLAG_BYTE) < 0)
        av_seek_frame(r->format, r->stream, start, AVSEEK_FLAG_BACKWARD);
}

/* Seeks to the key frame before a time (-INFINITY: the beginning); the next frame is the one that is visible at
 * `to`. */
static void seek_from(Reader *r, double from, double to) {
    if (r->live) return;
    const AVStream *s = r->format->streams[r->stream];
    int64_t start = s->start_time != AV_NOPTS_VALUE ? s->start_time : 0;
    int64_t stamp = from > 0 ? start + (int64_t)floor(from / av_q2d(s->time_base)) : 0;
    if (from <= 0 || av_seek_frame(r->format, r->stream, stamp, AVSEEK_FLAG_BACKWARD) < 0)
        to_start(r, from > -INFINITY);
    avcodec_flush_buffers(r->codec);
    av_frame_unref(r->ahead);
    r->draining = r->is_ahead = false;
    r->skip_to = to;
    r->given = to <= 0 ? 0 : -1, r->shown = to <= 0 ? 0 : -1;
}

/* In packet streams the first times after a seek may belong to other frames, so the seek starts earlier. */
static double run_up(const Reader *r) { return r->format->iformat->flags & AVFMT_TS_DISCONT ? 1 : 0; }

/* Finds the target of a seek.  In formats without an index, a key frame after the time may be found; the seek is then
 * repeated from further ahead. */
static VideoStatus find_sought(Reader *r, double *time, char why[VIDEO_WHY]) {
    double to = r->skip_to, back = 0;
    bool first = false;
    for (;;) {
        *time = -INFINITY;
        VideoStatus s = skip(r, time, why);
        bool none = s == VIDEO_END && *time == -INFINITY;
        bool late = none || (s == VIDEO_FRAME && r->timed && *time > to + rounding(r));
        if (!late || first) return s;
        back = back ? 4 * back : 1;
        first = back >= to;
        seek_from(r, first ? -INFINITY : to - back, to);
    }
}

static VideoStatus find_frame(Reader *r, double *time, char why[VIDEO_WHY]) {
    if (r->skip_to > -INFINITY) return find_sought(r, time, why);
    if (!r->is_ahead) return decode_timed(r, time, why);
    swap_frames(r);
    return r->is_ahead = false, *time = r->ahead_time, VIDEO_FRAME;
}

static VideoStatus next_frame(Reader *r, VideoFrame *out, char why[VIDEO_WHY]) {
    VideoStatus s = find_frame(r, &out->time, why);
    if (s != VIDEO_FRAME) return s;
    bool same = r->frame->width == r->width && r->frame->height == r->height;
    if (!same) return write_reason(why, "the size of frames changes", 0), VIDEO_FAILED;
    out->data = frame_pixels(r, why);
    av_frame_unref(r->frame);
    return out->data ? VIDEO_FRAME : VIDEO_FAILED;
}

static void drop_oldest(Reader *r) {
    free(r->ring[r->first].data);
    r->count--, r->first = (r->first + 1) % AHEAD;
}

static void empty_ring(Reader *r) {
    while (r->count) drop_oldest(r);
}

/* Waits until there is work; false: the video is being closed. */
static bool work_to_do(Reader *r) {
    while (!r->stop && !r->wants_seek && ((r->count == AHEAD && !r->live) || r->state != VIDEO_FRAME))
        pthread_cond_wait(&r->changed, &r->lock);
    return !r->stop;
}

static void take_seek(Reader *r) {
    double to = r->seek_to;
    empty_ring(r);
    r->bits = r->seek_bits, r->wants_seek = false, r->state = VIDEO_FRAME;
    pthread_mutex_unlock(&r->lock);
    seek_from(r, to - run_up(r), to);
    pthread_mutex_lock(&r->lock);
}

static void *decode_ahead(void *data) {
    Reader *r = data;
    pthread_mutex_lock(&r->lock);
    while (work_to_do(r)) {
        VideoFrame f = {0};
        char why[VIDEO_WHY] = "";
        if (r->wants_seek) take_seek(r);
        pthread_mutex_unlock(&r->lock);
        VideoStatus s = next_frame(r, &f, why);
        pthread_mutex_lock(&r->lock);
        if (r->wants_seek) { /* a seek has made the frame obsolete */
            free(f.data);
            continue;
        }
        r->state = s;
        if (s == VIDEO_FRAME && r->live && r->count == LIVE_AHEAD) drop_oldest(r);
        if (s == VIDEO_FRAME) r->ring[(r->first + r->count++) % AHEAD] = f;
        if (s == VIDEO_FAILED) memcpy(r->why, why, sizeof why);
        pthread_cond_broadcast(&r->changed);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* -- functions of the interface ------------------------------------------------------------------------------------ */
static VideoStatus read_frame(void *video, VideoFrame *out, char why[VIDEO_WHY]) {
    Reader *r = video;
    pthread_mutex_lock(&r->lock);
    while (r->wants_seek || (!r->count && r->state == VIDEO_FRAME)) pthread_cond_wait(&r->changed, &r->lock);
    VideoStatus s = r->count ? VIDEO_FRAME : r->state;
    if (r->count) *out = r->ring[r->first], r->first = (r->first + 1) % AHEAD, r->count--;
    if (s == VIDEO_FAILED) memcpy(why, r->why, VIDEO_WHY);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return s;
}

static void seek(void *video, double seconds, int bits) {
    Reader *r = video;
    pthread_mutex_lock(&r->lock);
    r->wants_seek = true, r->seek_to = seconds, r->seek_bits = bits;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void free_reader(Reader *r) {
    empty_ring(r);
    sws_freeContext(r->scaler);
    av_frame_free(&r->frame), av_frame_free(&r->ahead), av_packet_free(&r->packet);
    avcodec_free_context(&r->codec);
    avformat_close_input(&r->format);
    pthread_mutex_destroy(&r->lock), pthread_cond_destroy(&r->changed);
    free(r);
}

static void close_reader(void *video) {
    Reader *r = video;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    free_reader(r);
}

static int open_codec(Reader *r) {
    const AVCodec *decoder = NULL;
    int e = avformat_find_stream_info(r->format, NULL);
    if (e < 0) return e;
    r->stream = av_find_best_stream(r->format, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
    if (r->stream < 0) return r->stream;
    r->codec = avcodec_alloc_context3(decoder);
    if (!r->codec) return AVERROR(ENOMEM);
    e = avcodec_parameters_to_context(r->codec, r->format->streams[r->stream]->codecpar);
    r->codec->opaque = &r->complaint;
    r->codec->thread_count = 0;
    /* libavcodec 59 ends the process by an assertion on damaged frames if this decoder has a thread per frame */
    if (decoder->id == AV_CODEC_ID_MPEG4) r->codec->thread_type = FF_THREAD_SLICE;
    r->codec->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
    r->codec->pkt_timebase = r->format->streams[r->stream]->time_base;
    return e < 0 ? e : avcodec_open2(r->codec, decoder, NULL);
}

static int bits_of(enum AVPixelFormat f) {
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(f);
    return d && d->comp[0].depth > 8 ? d->comp[0].depth : 8;
}

static bool describe_stream(Reader *r, VideoInfo *v) {
    AVStream *s = r->format->streams[r->stream];
    AVRational rate = av_guess_frame_rate(r->format, s, NULL);
    bool known = r->codec->pix_fmt != AV_PIX_FMT_NONE && r->codec->width > 0 && r->codec->height > 0;
    if (!known) return false;
    *v = (VideoInfo){.width = r->codec->width,
                     .height = r->codec->height,
                     .bits = bits_of(r->codec->pix_fmt),
                     .channels = is_grey(r->codec->pix_fmt) ? 1 : 3,
                     .rate = rate.den ? av_q2d(rate) : 0,
                     .frames = s->nb_frames,
                     .live = r->live};
    if (s->duration > 0) v->duration = (double)s->duration * av_q2d(s->time_base);
    else if (r->format->duration != AV_NOPTS_VALUE) v->duration = (double)r->format->duration / AV_TIME_BASE;
    if (!v->frames) v->frames = llround(v->duration * v->rate);
    r->bits = v->bits, r->channels = v->channels, r->announced = s->nb_frames;
    r->width = v->width, r->height = v->height;
    return true;
}

/* Treats a name with a colon as a file, unless it is a URL. */
static void file_name(const char *path, char *out, size_t room) {
    snprintf(out, room, "%s%s", strstr(path, "://") ? "" : "file:", path);
}

/* -- devices ------------------------------------------------------------------------------------------------------- */
/* Prefixes of names that are devices.  lavfi generates pictures in real time: a camera for tests. */
typedef struct Device {
    /* Format: FFmpeg's name; before and after: added around the rest of the name. */
    const char *prefix, *format, *before, *after;
} Device;
static const Device devices[] = {{"camera:", "v4l2", "/dev/video", ""},
                                 {"/dev/video", "v4l2", "/dev/video", ""},
                                 {"lavfi:", "lavfi", "", ",realtime"}};

/* Returns whether libavdevice, which is often not installed, can be loaded.  Within a release it has the version of
 * libavformat. */
static bool has_devices(void) {
    char name[64];
    snprintf(name, sizeof name, "libavdevice.so.%d", LIBAVFORMAT_VERSION_MAJOR);
    void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    void *symbol = lib ? dlsym(lib, "avdevice_register_all") : NULL;
    void (*register_all)(void);
    memcpy(&register_all, &symbol, sizeof symbol);
    if (symbol) register_all();
    return symbol;
}

static const Device *device_of(const char *path) {
    for (size_t k = 0; k < sizeof devices / sizeof *devices; k++)
        if (!strncmp(path, devices[k].prefix, strlen(devices[k].prefix))) return &devices[k];
    return NULL;
}

/* Translates a name for FFmpeg.  A name with a colon is a file, unless it is a URL. */
static const AVInputFormat *input_of(Reader *r, const char *path, char name[NAME_ROOM], char why[VIDEO_WHY]) {
    const Device *d = device_of(path);
    if (!d) return file_name(path, name, NAME_ROOM), NULL;
    r->live = true;
    snprintf(name, NAME_ROOM, "%s%s%s", d->before, path + strlen(d->prefix), d->after);
    const AVInputFormat *f = has_devices() ? av_find_input_format(d->format) : NULL;
    if (!f)
        snprintf(why, VIDEO_WHY,
                 "devices need FFmpeg's libavdevice.so.%d with %s: on Debian and Ubuntu the package "
                 "libavdevice%d",
                 LIBAVFORMAT_VERSION_MAJOR, d->format, LIBAVFORMAT_VERSION_MAJOR);
    return f;
}

static void wishes(const VideoInfo *v, AVDictionary **out) {
    char text[64];
    snprintf(text, sizeof text, "%dx%d", v->width, v->height);
    if (v->width) av_dict_set(out, "video_size", text, 0);
    snprintf(text, sizeof text, "%.9g", v->rate);
    if (v->rate > 0) av_dict_set(out, "framerate", text, 0);
}

/* -- opening ------------------------------------------------------------------------------------------------------- */
static int open_input(Reader *r, const char *path, const VideoInfo *wanted, char why[VIDEO_WHY]) {
    char name[NAME_ROOM];
    AVDictionary *options = NULL;
    const AVInputFormat *format = input_of(r, path, name, why);
    if (*why) return AVERROR(ENOSYS);
    r->format = avformat_alloc_context();
    if (!r->format) return AVERROR(ENOMEM);
    r->format->interrupt_callback = (AVIOInterruptCB){given_up, r};
    if (r->live) r->format->flags |= AVFMT_FLAG_NONBLOCK;
    wishes(wanted, &options);
    be_patient(r);
    int e = avformat_open_input(&r->format, name, (void *)format, &options);
    if (e >= 0 && av_dict_count(options)) {
        write_reason(why, "it has a size and a rate of its own; those that are asked for are for cameras", 0);
        e = AVERROR(EINVAL);
    }
    av_dict_free(&options);
    return e < 0 ? e : open_codec(r);
}

static bool as_wanted(const VideoInfo *wanted, const VideoInfo *v, char why[VIDEO_WHY]) {
    bool size = !wanted->width || (v->width == wanted->width && v->height == wanted->height);
    if (!size)
        snprintf(why, VIDEO_WHY, "it has no frames of %d x %d, but of %d x %d (height x width)", wanted->height,
                 wanted->width, v->height, v->width);
    bool rate = !(wanted->rate > 0) || fabs(v->rate - wanted->rate) <= 0.01 * wanted->rate;
    if (size && !rate) snprintf(why, VIDEO_WHY, "it does not have %g frames a second, but %g", wanted->rate, v->rate);
    return size && rate;
}

static bool opens(Reader *r, const char *path, VideoInfo *v, char why[VIDEO_WHY]) {
    VideoInfo wanted = *v;
    *why = 0;
    r->packet = av_packet_alloc(), r->frame = av_frame_alloc(), r->ahead = av_frame_alloc();
    int e = r->packet && r->frame && r->ahead ? open_input(r, path, &wanted, why) : AVERROR(ENOMEM);
    if (e < 0 && *why) return false;
    if (e == AVERROR_EXIT) return write_reason(why, NO_FRAME, 0), false;
    if (e == AVERROR(EACCES) && r->live)
        return write_reason(why, "only root and the group video may open it", 0), false;
    if (e < 0)
        return write_reason(why, r->live ? "the device cannot be opened" : "cannot be opened as a video", e), false;
    if (!describe_stream(r, v)) return write_reason(why, "the size of its frames is not known", 0), false;
    return as_wanted(&wanted, v, why);
}

static void *open_reader(const char *path, VideoInfo *v, char why[VIDEO_WHY]) {
    Reader *r = calloc(1, sizeof *r);
    if (!r) return write_reason(why, "no memory", 0), NULL;
    av_log_set_callback(on_log);
    pthread_mutex_init(&r->lock, NULL), pthread_cond_init(&r->changed, NULL);
    r->skip_to = -INFINITY;
    if (!opens(r, path, v, why)) return free_reader(r), NULL;
    if (!pthread_create(&r->thread, NULL, decode_ahead, r)) return r;
    return free_reader(r), write_reason(why, "no thread for it", 0), NULL;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */
typedef struct {
    AVFormatContext *format;
    AVCodecContext *codec;
    AVStream *stream;
    struct SwsContext *scaler;
    AVFrame *frame;
    AVPacket *packet;
    int channels, bits;
    int64_t next;
    bool begun;
    Complaint complaint;
} Writer;

/* Returns whether a format writes one image per frame; the extension then selects the codec. */
static bool is_images(const AVOutputFormat *f) { return !strcmp(f->name, "image2"); }

static const AVCodec *encoder_for(const AVOutputFormat *f, const char *path, const char *codec) {
    enum AVCodecID usual = av_guess_codec((AVOutputFormat *)(uintptr_t)f, NULL, path, NULL, AVMEDIA_TYPE_VIDEO);
    const AVCodec *x264 = avcodec_find_encoder_by_name("libx264"), *named = avcodec_find_encoder_by_name(codec);
    const AVCodecDescriptor *d = avcodec_descriptor_get_by_name(codec);
    if (*codec) return named ? named : d ? avcodec_find_encoder(d->id) : NULL;
    return usual == AV_CODEC_ID_H264 && x264 ? x264 : avcodec_find_encoder(usual);
}

/* An audio file may contain a cover picture; it is not a video stream. */
static bool is_music(const AVOutputFormat *f) {
    return f->audio_codec != AV_CODEC_ID_NONE && f->video_codec == AV_CODEC_ID_PNG;
}

/* Returns whether a format can contain a codec.  Formats that cannot answer (negative) report an error when the file is
 * started. */
static bool holds(const AVOutputFormat *f, const AVCodec *c) {
    if (!c || c->type != AVMEDIA_TYPE_VIDEO || is_music(f)) return false;
    int answer = avformat_query_codec(f, c->id, FF_COMPLIANCE_NORMAL);
    return answer > 0 || (answer < 0 && f->video_codec != AV_CODEC_ID_NONE);
}

/* Lists the usual extensions that are available. */
static void list_endings(char *out, size_t room) {
    static const char *const usual[] = {".mkv", ".mp4", ".mov", ".avi", ".webm", ".mpg", ".gif"};
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
        const AVOutputFormat *f = av_guess_format(NULL, usual[k], NULL);
        bool here = f && holds(f, encoder_for(f, usual[k], ""));
        if (here) snprintf(out + strlen(out), room - strlen(out), " %s", usual[k]);
    }
}

static void list_codecs(const AVOutputFormat *f, char *out, size_t room) {
    static const char *const usual[] = {"ffv1",      "libx264",   "libx265",    "libvpx-vp9", "libaom-av1",
                                        "libsvtav1", "mpeg4",     "mpeg2video", "mjpeg",      "png",
                                        "huffyuv",   "prores_ks", "gif"};
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        if (holds(f, avcodec_find_encoder_by_name(usual[k])))
            snprintf(out + strlen(out), room - strlen(out), " %s", usual[k]);
}

static bool is_codec_known(const char *path, const char *codec, char why[VIDEO_WHY]) {
    const AVOutputFormat *f = av_guess_format(NULL, path, NULL);
    const AVCodec *c = f ? encoder_for(f, path, codec) : NULL;
    bool numbered = !f || !is_images(f) || av_filename_number_test(path);
    if (holds(f, c) && numbered) return true;
    char list[200] = "";
    const char *dot = strrchr(path, '.'), *ending = dot && !strchr(dot, '/') ? dot : "";
    if (f) list_codecs(f, list, sizeof list);
    bool video = *list && *codec;
    if (!video) *list = 0, list_endings(list, sizeof list);
    if (!numbered)
        snprintf(why, VIDEO_WHY,
                 "of images there is one for each frame, and the name must say where its number goes, "
                 "as \"frame%%03d%s\"; imwrite writes a single image",
                 ending);
    else if (video)
        snprintf(why, VIDEO_WHY, "%s \"%s\"; for %s there are%s",
                 c ? "files of that kind do not hold the codec" : "there is no codec", codec, ending, list);
    else if (*ending) snprintf(why, VIDEO_WHY, "no video is called %s; there are%s", ending, list);
    else snprintf(why, VIDEO_WHY, "the name says by its ending which kind of video it is; there are%s", list);
    return false;
}

/* Returns the pixel format of an encoder that loses least. */
static enum AVPixelFormat best_format(const AVCodec *c, int channels, int bits) {
    enum AVPixelFormat from = packed_format(channels, bits);
    if (!c->pix_fmts) return from;
    /* the format that every player shows, for 8-bit frames and encoders for films */
    /* JPEG has its own range. */
    enum AVPixelFormat usual = c->id == AV_CODEC_ID_MJPEG ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P;
    for (const enum AVPixelFormat *p = c->pix_fmts; *p != AV_PIX_FMT_NONE && bits == 8 && c->id != AV_CODEC_ID_FFV1;
         p++)
        if (*p == usual) return *p;
    enum AVPixelFormat tenth =
        bits > 8 && bits <= 10 && c->id != AV_CODEC_ID_FFV1 ? AV_PIX_FMT_YUV420P10 : AV_PIX_FMT_NONE;
    for (const enum AVPixelFormat *p = c->pix_fmts; *p != AV_PIX_FMT_NONE; p++)
        if (*p == tenth) return *p;
    if (c->id == AV_CODEC_ID_FFV1 && channels == 3 && bits == 8) return AV_PIX_FMT_0RGB32;
    if (c->id == AV_CODEC_ID_FFV1 && channels == 3 && bits <= 10) return AV_PIX_FMT_GBRP10;
    if (c->id == AV_CODEC_ID_FFV1 && channels == 1 && bits > 8 && bits <= 10) return AV_PIX_FMT_GRAY10;
    return avcodec_find_best_pix_fmt_of_list(c->pix_fmts, from, 0, NULL);
}

static void free_writer(Writer *w) {
    if (w->format && w->format->pb && !(w->format->oformat->flags & AVFMT_NOFILE)) avio_closep(&w->format->pb);
    sws_freeContext(w->scaler);
    av_frame_free(&w->frame), av_packet_free(&w->packet);
    avcodec_free_context(&w->codec);
    avformat_free_context(w->format);
    free(w);
}

static int open_encoder(Writer *w, const VideoInfo *v, const AVCodec *encoder) {
    AVCodecContext *c = w->codec = avcodec_alloc_context3(encoder);
    w->format->opaque = &w->complaint;
    w->stream = avformat_new_stream(w->format, NULL);
    if (!c || !w->stream) return AVERROR(ENOMEM);
    c->opaque = &w->complaint;
    c->width = v->width, c->height = v->height;
    c->time_base = av_inv_q(av_d2q(v->rate, 1001000));
    c->framerate = av_inv_q(c->time_base);
    c->pix_fmt = best_format(encoder, v->channels, v->bits);
    c->gop_size = 12, c->bit_rate = (int64_t)(v->width * v->height * v->rate * 0.4), c->qmin = 2;
    c->colorspace = v->height >= 720 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
    if (c->pix_fmt == AV_PIX_FMT_YUVJ420P) c->color_range = AVCOL_RANGE_JPEG;
    if (av_pix_fmt_desc_get(c->pix_fmt)->flags & AV_PIX_FMT_FLAG_RGB) c->colorspace = AVCOL_SPC_RGB;
    if (w->format->oformat->flags & AVFMT_GLOBALHEADER) c->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    if (!strcmp(encoder->name, "libx264")) av_opt_set(c->priv_data, "crf", "16", 0), c->bit_rate = 0;
    if (encoder->id == AV_CODEC_ID_FFV1) c->level = 3, av_opt_set(c->priv_data, "slicecrc", "1", 0);
    int e = avcodec_open2(c, encoder, NULL);
    w->stream->time_base = c->time_base, w->stream->avg_frame_rate = c->framerate;
    return e < 0 ? e : avcodec_parameters_from_context(w->stream->codecpar, c);
}

static int open_frame(Writer *w, const VideoInfo *v) {
    w->frame = av_frame_alloc(), w->packet = av_packet_alloc();
    if (!w->frame || !w->packet) return AVERROR(ENOMEM);
    w->frame->width = v->width, w->frame->height = v->height, w->frame->format = w->codec->pix_fmt;
    w->scaler = sws_getContext(v->width, v->height, packed_format(v->channels, v->bits), v->width, v->height,
                               w->codec->pix_fmt, SCALING, NULL, NULL, NULL);
    if (!w->scaler) return AVERROR(EINVAL);
    bool full = w->codec->pix_fmt == AV_PIX_FMT_YUVJ420P || is_grey(w->codec->pix_fmt);
    set_colours(w->scaler, w->codec->colorspace, v->height, true, full);
    return av_frame_get_buffer(w->frame, 0);
}

static int open_file(Writer *w, const char *path) {
    char name[NAME_ROOM];
    file_name(path, name, sizeof name);
    int e = w->format->oformat->flags & AVFMT_NOFILE ? 0 : avio_open(&w->format->pb, name, AVIO_FLAG_WRITE);
    if (e >= 0) e = avformat_write_header(w->format, NULL);
    w->begun = e >= 0;
    return e;
}

/* Explains why a frame was not written; encoders report the reason only in their log. */
static void not_written(const Writer *w, const VideoInfo *v, const AVCodec *encoder, int e, char why[VIDEO_WHY]) {
    const AVPixFmtDescriptor *d = w->codec ? av_pix_fmt_desc_get(w->codec->pix_fmt) : NULL;
    int odd = d ? (v->width & d->log2_chroma_w) | (v->height & d->log2_chroma_h) : 0;
    const Complaint *c = &w->complaint;
    write_reason(why, "cannot be written", e);
    if ((odd & 1) && (e == AVERROR_EXTERNAL || e == AVERROR(EINVAL)))
        snprintf(why, VIDEO_WHY,
                 "the codec %s wants frames of even sizes, got %d x %d (height x width); cut or pad "
                 "them, or take a codec for any size, as \"ffv1\" in an .mkv",
                 encoder->name, v->height, v->width);
    else if (*c->text)
        snprintf(why, VIDEO_WHY, "the codec %s does not write frames of %d x %d at %g frames a second: %.*s",
                 encoder->name, v->height, v->width, v->rate, (int)strcspn(c->text, "\n"), c->text);
}

static void *create(const char *path, const VideoInfo *v, const char *codec, char why[VIDEO_WHY]) {
    Writer *w = calloc(1, sizeof *w);
    if (!w) return write_reason(why, "no memory", 0), NULL;
    av_log_set_callback(on_log);
    w->channels = v->channels, w->bits = v->bits;
    const AVCodec *encoder = NULL;
    int e = is_codec_known(path, codec, why) ? avformat_alloc_output_context2(&w->format, NULL, NULL, path)
                                             : AVERROR(EINVAL);
    if (e >= 0) encoder = encoder_for(w->format->oformat, path, codec), e = open_encoder(w, v, encoder);
    if (e >= 0) e = open_frame(w, v);
    if (e >= 0) e = open_file(w, path);
    if (e >= 0) return w;
    if (!*why) not_written(w, v, encoder, e, why);
    return free_writer(w), NULL;
}

static int encode(Writer *w, AVFrame *f) {
    int e = avcodec_send_frame(w->codec, f);
    while (e >= 0 && (e = avcodec_receive_packet(w->codec, w->packet)) >= 0) {
        if (!w->packet->duration) w->packet->duration = 1;
        av_packet_rescale_ts(w->packet, w->codec->time_base, w->stream->time_base);
        w->packet->stream_index = w->stream->index;
        e = av_interleaved_write_frame(w->format, w->packet);
    }
    return e == AVERROR(EAGAIN) || e == AVERROR_EOF ? 0 : e;
}

static bool write_frame(void *video, const void *data, char why[VIDEO_WHY]) {
    Writer *w = video;
    const uint8_t *from[4] = {data};
    int step[4] = {w->frame->width * w->channels * (w->bits > 8 ? 2 : 1)}, e = av_frame_make_writable(w->frame);
    if (e >= 0) sws_scale(w->scaler, from, step, 0, w->frame->height, w->frame->data, w->frame->linesize);
    w->frame->pts = w->next++;
    if (e >= 0) e = encode(w, w->frame);
    return e >= 0 || (write_reason(why, "a frame cannot be written", e), false);
}

static bool finish_writer(void *video, char why[VIDEO_WHY]) {
    Writer *w = video;
    int e = encode(w, NULL);
    if (w->begun && e >= 0) e = av_write_trailer(w->format);
    free_writer(w);
    return e >= 0 || (write_reason(why, "the file cannot be ended", e), false);
}

__attribute__((visibility("default")))
const VideoLib qffmpeg_library = {sizeof(VideoLib), open_reader, read_frame,  seek,          close_reader,
                                  is_codec_known,   create,      write_frame, finish_writer, has_devices};
