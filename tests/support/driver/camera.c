/* camera.c -- a camera of Linux for programs into which this library is preloaded: /dev/video0 as the video part of the
 * kernel (v4l2) would offer it, and /dev/video7, which nobody may open.
 *
 * It has frames of 64 x 48 and, if asked, of 320 x 240, 50 or 25 a second, whose elements tell their number; a frame
 * that nobody fetches is lost, as cameras have it.  CAMERA_FRAMES=N: then it is unplugged. */
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4, APART = 1 << 20 }; /* buffers, and what lies between their numbers for mmap */

static struct {
    int fd, width, height, rate;
    uint8_t *memory[MOST];
    int waiting[MOST], first, count; /* buffers that may be filled */
    double begun;
    int given; /* number of the last frame */
} camera = {.fd = -1, .width = 64, .height = 48, .rate = 50};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fails(int why) { return errno = why, -1; }

/* -- what the device is asked -------------------------------------------------------------------------------------- */
static int capability(struct v4l2_capability *c) {
    memset(c, 0, sizeof *c);
    c->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
    return 0;
}

static int format(struct v4l2_format *f, int set) {
    if (set && f->fmt.pix.width == 320) camera.width = 320, camera.height = 240;
    uint32_t w = (uint32_t)camera.width, h = (uint32_t)camera.height;
    f->fmt.pix = (struct v4l2_pix_format){.width = w,
                                          .height = h,
                                          .pixelformat = V4L2_PIX_FMT_YUYV,
                                          .field = V4L2_FIELD_NONE,
                                          .bytesperline = 2 * w,
                                          .sizeimage = 2 * w * h};
    return 0;
}

static int rate(struct v4l2_streamparm *s, int set) {
    struct v4l2_fract *t = &s->parm.capture.timeperframe;
    if (set && t->denominator == 25) camera.rate = 25;
    s->parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
    *t = (struct v4l2_fract){1, (uint32_t)camera.rate};
    return 0;
}

static int enqueue(const struct v4l2_buffer *b) {
    camera.waiting[(camera.first + camera.count++) % MOST] = (int)b->index;
    return 0;
}

/* The frame of this moment, if it was not given yet. */
static int dequeue(struct v4l2_buffer *b) {
    const char *frames = getenv("CAMERA_FRAMES");
    int now = (int)((seconds() - camera.begun) * camera.rate), n = camera.width * camera.height;
    if (frames && camera.given >= atoi(frames)) return fails(ENODEV);
    if (now <= camera.given || !camera.count) return fails(EAGAIN);
    int k = camera.waiting[camera.first];
    camera.first = (camera.first + 1) % MOST, camera.count--;
    for (int i = 0; i < n; i++) /* brightness, and no colour */
        camera.memory[k][2 * i] = (uint8_t)(16 + now % 200), camera.memory[k][2 * i + 1] = 128;
    double at = camera.begun + now / (double)camera.rate;
    b->index = (uint32_t)k, b->bytesused = b->length = 2 * (uint32_t)n, b->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    b->timestamp.tv_sec = (time_t)at, b->timestamp.tv_usec = (suseconds_t)((at - (double)(time_t)at) * 1e6);
    return camera.given = now, 0;
}

static int answer(unsigned request, void *p) {
    switch (request) {
    case VIDIOC_QUERYCAP: return capability(p);
    case VIDIOC_G_INPUT: return *(int *)p = 0, 0;
    case VIDIOC_S_INPUT: return 0;
    case VIDIOC_ENUMINPUT: return ((struct v4l2_input *)p)->index ? fails(EINVAL) : 0;
    case VIDIOC_G_FMT:
    case VIDIOC_S_FMT: return format(p, request == VIDIOC_S_FMT);
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM: return rate(p, request == VIDIOC_S_PARM);
    case VIDIOC_REQBUFS: return ((struct v4l2_requestbuffers *)p)->count = MOST, 0;
    case VIDIOC_QUERYBUF: {
        struct v4l2_buffer *b = p;
        return b->length = 2 * (uint32_t)(camera.width * camera.height), b->m.offset = b->index * APART, 0;
    }
    case VIDIOC_QBUF: return enqueue(p);
    case VIDIOC_DQBUF: return dequeue(p);
    case VIDIOC_STREAMON: return camera.begun = seconds(), camera.given = 0, 0;
    case VIDIOC_STREAMOFF: return camera.count = 0;
    default: return fails(ENOTTY);
    }
}

/* -- in place of the C library's ----------------------------------------------------------------------------------- */
static int open_any(const char *path, int flags, int mode) {
    if (!strcmp(path, "/dev/video7")) return fails(EACCES);
    int mine = !strcmp(path, "/dev/video0");
    int fd = (int)syscall(SYS_openat, AT_FDCWD, mine ? "/dev/zero" : path, mine ? O_RDWR : flags, mode);
    return mine ? camera.fd = fd : fd;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...);                                                                        \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;                                              \
        va_end(more);                                                                                                  \
        return open_any(path, flags, mode);                                                                            \
    }
OPEN(open)
OPEN(open64)

int ioctl(int fd, unsigned long request, ...) {
    va_list more;
    va_start(more, request);
    void *p = va_arg(more, void *);
    va_end(more);
    return fd >= 0 && fd == camera.fd ? answer((unsigned)request, p) : (int)syscall(SYS_ioctl, fd, request, p);
}

#define MMAP(name)                                                                                                     \
    void *name(void *at, size_t n, int access, int flags, int fd, off_t offset) {                                      \
        bool mine = fd >= 0 && fd == camera.fd;                                                                        \
        if (mine) flags = MAP_PRIVATE | MAP_ANONYMOUS;                                                                 \
        void *p = (void *)syscall(SYS_mmap, at, n, access, flags, mine ? -1 : fd, mine ? 0 : offset);                  \
        return mine ? camera.memory[offset / APART] = p : p;                                                           \
    }
MMAP(mmap)
MMAP(mmap64)
