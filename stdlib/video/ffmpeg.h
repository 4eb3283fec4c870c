/* ffmpeg.h -- what the machine asks of FFmpeg, and nothing about how it is done.
 *
 * FFmpeg is used by an object of its own, _video.so, which video.c opens when a program opens a video: distributions
 * build FFmpeg under the GPL, and who reads no video has nothing to do with it.
 *
 * A path comes in, frames go out in memory that the caller owns from then on (free), or frames come in and a file goes
 * out.  Every function that can fail writes a sentence without its end to `why`. */
#ifndef VIDEO_FFMPEG_H
#define VIDEO_FFMPEG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VIDEO_WHY = 512 };

typedef struct VideoInfo {
    int width, height, bits; /* of a colour */
    int channels;            /* 3, or 1 of grey videos */
    double rate, duration;   /* frames a second; seconds, 0 when the file does not say it */
    int64_t frames;          /* how many the file says it has; about so many when it does not */
    bool live;               /* a device: it has no end and no past */
} VideoInfo;

typedef struct VideoFrame {
    void *data;  /* height x width x channels of uint8, or of uint16 where bits are more than 8 */
    double time; /* seconds since the beginning */
} VideoFrame;

typedef enum { VIDEO_FRAME, VIDEO_END, VIDEO_FAILED } VideoStatus;

typedef struct VideoLib {
    size_t size; /* sizeof(VideoLib): both sides come from the same build */
    /* Decodes ahead on a thread of its own.  `v` has the size and the rate that are wanted, or 0; then those that there
     * are.  NULL: failed. */
    void *(*open)(const char *path, VideoInfo *v, char why[VIDEO_WHY]);
    VideoStatus (*read)(void *video, VideoFrame *out, char why[VIDEO_WHY]);
    /* The next frame is the first that is still shown at that time; of a live one it is the next that comes.  bits: of
     * colours from then on. */
    void (*seek)(void *video, double seconds, int bits);
    void (*close)(void *video);
    /* channels and bits as those of frames; codec "" for what suits the name of the file. */
    bool (*known)(const char *path, const char *codec, char why[VIDEO_WHY]); /* whether `create` knows them */
    void *(*create)(const char *path, const VideoInfo *info, const char *codec, char why[VIDEO_WHY]);
    bool (*write)(void *video, const void *data, char why[VIDEO_WHY]);
    bool (*finish)(void *video, char why[VIDEO_WHY]); /* ends the file, and the video */
    bool (*devices)(void);                            /* there is libavdevice, which has cameras */
} VideoLib;

extern const VideoLib qffmpeg_library; /* by this name it is found in _video.so */
#endif
