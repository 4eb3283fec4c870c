/* parts.c -- see parts.h.  CMake defines QUASAR_WITH_<name> as 0 or 1 for this file. */
#include "vm/base/parts.h"

#include <string.h>

static const struct {
    const char *option, *called, *module;
    bool here;
} parts[OPTIONAL_PARTS] = {
#define PART(name, called, module) {"QUASAR_WITH_" #name, called, module, QUASAR_WITH_##name},
#include "vm/base/parts.def"
};

int qparts_has(const char *option) {
    for (int i = 0; i < OPTIONAL_PARTS; i++)
        if (!strcmp(parts[i].option, option)) return parts[i].here;
    return -1;
}

qs_status qparts_absent(Ctx *c, OptionalPart part) {
    return qerr_set(c, QS_EVALUE, "this build has no %s (%s)", parts[part].called, parts[part].option);
}

qs_status qparts_check_module(Ctx *c, const char *file) {
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    for (int i = 0; i < OPTIONAL_PARTS; i++)
        if (!parts[i].here && *name && !strcmp(parts[i].module, name)) return qparts_absent(c, (OptionalPart)i);
    return QS_OK;
}
