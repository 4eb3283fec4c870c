/* amd.c -- see amd.h. */
#include "devices/amd.h"

enum { WAVE64 = 64, WAVE32 = 32 };

static const AmdTarget targets[] = {
    {"gfx900", 16, WAVE64},  {"gfx906", 16, WAVE64},  {"gfx908", 16, WAVE64},  {"gfx90a", 16, WAVE64},
    {"gfx90c", 16, WAVE64},  {"gfx942", 17, WAVE64},  {"gfx950", 20, WAVE64},  {"gfx1010", 16, WAVE32},
    {"gfx1012", 16, WAVE32}, {"gfx1030", 16, WAVE32}, {"gfx1031", 16, WAVE32}, {"gfx1032", 16, WAVE32},
    {"gfx1034", 16, WAVE32}, {"gfx1035", 16, WAVE32}, {"gfx1036", 16, WAVE32}, {"gfx1100", 16, WAVE32},
    {"gfx1101", 16, WAVE32}, {"gfx1102", 16, WAVE32}, {"gfx1103", 16, WAVE32}, {"gfx1150", 17, WAVE32},
    {"gfx1151", 17, WAVE32}, {"gfx1152", 19, WAVE32}, {"gfx1153", 20, WAVE32}, {"gfx1200", 18, WAVE32},
    {"gfx1201", 18, WAVE32},
};

const AmdTarget *qamd_target(const char *name) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].name, name)) return &targets[i];
    return NULL;
}
