/* ffmpeg.h -- declares the interface between the VM and FFmpeg.
 *
 * FFmpeg is used by a separate shared object, _video.so, which video.c loads when a program opens a video:
 * distributions build FFmpeg under the GPL, and programs without video should not depend on it.
 *
 * Reading takes a path and returns frames in memory that the caller owns (free); writing takes frames and creates a
 * file. Every function that can fail writes an unterminated sentence to `why`. */
#ifndef VIDEO_FFMPEG_H
#define VIDEO_FFMPEG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VIDEO_WHY = 512 };

typedef struct VideoInfo {
    int width, height, bits; /* extents of a frame; bits per colour */
    int channels;            /* 3, or 1 for grey videos */
    double rate, duration;   /* frames per second; duration in seconds, 0 if the file does not contain it */
    int64_t frames;          /* number of frames; an estimate if the file does not contain it */
    bool live;               /* a capture device: it has no end and cannot be rewound */
} VideoInfo;

typedef struct VideoFrame {
    void *data;  /* height x width x channels of uint8, or of uint16 if bits > 8 */
    double time; /* seconds since the beginning */
} VideoFrame;

typedef enum { VIDEO_FRAME, VIDEO_END, VIDEO_FAILED } VideoStatus;

typedef struct VideoLib {
    size_t size; /* sizeof(VideoLib); checks that both sides come from the same build */
    /* Opens a video and decodes ahead on a separate thread.  `v` contains the wanted size and rate (0: the native ones)
     * and receives the actual ones.  NULL: failed. */
    void *(*open)(const char *path, VideoInfo *v, char why[VIDEO_WHY]);
    VideoStatus (*read)(void *video, VideoFrame *out, char why[VIDEO_WHY]);
    /* Makes the frame that is shown at this time the next one to be read; for a live source, the next one to arrive.
     * bits: of colours from then on. */
    void (*seek)(void *video, double seconds, int bits);
    void (*close)(void *video);
    /* channels and bits are those of the frames; codec "": chosen by the file name. */
    /* Returns whether `create` supports this file and codec. */
    bool (*known)(const char *path, const char *codec, char why[VIDEO_WHY]);
    void *(*create)(const char *path, const VideoInfo *info, const char *codec, char why[VIDEO_WHY]);
    bool (*write)(void *video, const void *data, char why[VIDEO_WHY]);
    bool (*finish)(void *video, char why[VIDEO_WHY]); /* ends the file and frees the video */
    bool (*devices)(void);                            /* whether libavdevice, which reads cameras, is available */
} VideoLib;

extern const VideoLib qffmpeg_library; /* video.c finds this name in _video.so */
#endif
