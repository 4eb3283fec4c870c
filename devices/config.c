/* config.c -- parses device names and device files. */
#include "devices/config.h"
#include "vm/base/file.h"
#include "vm/base/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef QUASAR_EXPAT
#include <expat.h>

#define LAZY      libexpat
#define LAZY_API  "devices/expat_api.def"
#define LAZY_FILE QUASAR_EXPAT
#include "vm/base/lazy_library.h"
#endif

bool qconfig_bytes(const char *text, size_t *out) {
    static const char units[] = "kMGT";
    char *end;
    double x = qnum_read(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || !(x > 0) || (*end && (!unit || end[1]))) return false;
    for (int i = 0; unit && i <= unit - units; i++) x *= 1024;
    if (x < 1 || x >= 0x1p62) return false;
    return *out = (size_t)x, true;
}

static bool parse_integer(const char *text, int most, int *out) {
    char *end;
    long x = strtol(text, &end, 10);
    if (end == text || *end || x < 0 || x > most) return false;
    return *out = (int)x, true;
}

/* -- words --------------------------------------------------------------------------------------------------------- */
static qs_status too_many(Ctx *c) {
    return qerr_set(c, QS_EDEVICE, "at most %d devices can be used together", MAX_DEVICES - 1);
}

/* Parses one device like "cuda:1", which is n bytes long. */
static qs_status parse_device(Ctx *c, const char *text, size_t n, DeviceWishes *out) {
    char word[32] = "", *colon;
    if (n >= sizeof word || !n) return qerr_set(c, QS_EDEVICE, "%.*s is no device", (int)n, text);
    if (out->n == MAX_DEVICES - 1) return too_many(c);
    memcpy(word, text, n);
    DeviceWish w = {.ordinal = 0};
    if ((colon = strchr(word, ':'))) *colon = 0;
    if (colon && !parse_integer(colon + 1, 999, &w.ordinal))
        return qerr_set(c, QS_EDEVICE, "%.*s: a number is wanted behind the colon", (int)n, text);
    if (strlen(word) >= sizeof w.kind) return qerr_set(c, QS_EDEVICE, "there is no device kind %s", word);
    memcpy(w.kind, word, strlen(word));
    return out->at[out->n++] = w, QS_OK;
}

static qs_status parse_words(Ctx *c, const char *text, DeviceWishes *out) {
    if (!strncmp(text, "auto", 4) && (!text[4] || text[4] == ':')) {
        out->automatic = true;
        text += text[4] ? 5 : 4;
    }
    while (*text) {
        size_t n = strcspn(text, ",");
        TRY(parse_device(c, text, n, out));
        text += n + (text[n] == ',');
    }
    return out->n || out->automatic ? QS_OK : qerr_set(c, QS_EDEVICE, "no device is named");
}

/* -- files --------------------------------------------------------------------------------------------------------- */
#ifdef QUASAR_EXPAT
typedef struct {
    Ctx *c;
    XML_Parser xml;
    const char *path;
    DeviceWishes *out;
    Text *warnings;
    int depth, skipping; /* skipping: depth of the element that is ignored with its contents; 0: none */
    qs_status status;
} Reader;

static int line_of(const Reader *r) { return (int)libexpat.XML_GetCurrentLineNumber(r->xml); }

static void set_error(Reader *r, const char *what, const char *got) {
    if (r->status != QS_OK) return;
    r->status = qerr_set(r->c, QS_EDEVICE, "%s:%d: %s, got %.60s", r->path, line_of(r), what, *got ? got : "nothing");
    libexpat.XML_StopParser(r->xml, XML_FALSE);
}

static void warn(Reader *r, const char *what, const char *name) {
    qtext_printf(r->warnings, "%s:%d: warning: %s %.60s is not known and ignored\n", r->path, line_of(r), what, name);
}

static void read_root(Reader *r, const char *name, const char **attributes) {
    if (strcmp(name, "devices") != 0) {
        set_error(r, "the outermost element must be devices", name);
        return;
    }
    for (const char **a = attributes; *a; a += 2) {
        bool automatic = !strcmp(a[1], "auto");
        if (strcmp(a[0], "choose") != 0) warn(r, "attribute", a[0]);
        else if (!automatic && strcmp(a[1], "first") != 0) set_error(r, "choose must be auto or first", a[1]);
        else r->out->automatic = automatic;
    }
}

static void read_attribute(Reader *r, DeviceWish *w, const char *name, const char *value) {
    if (!strcmp(name, "kind")) {
        if (!*value || strlen(value) >= sizeof w->kind)
            set_error(r, "kind must be cpu, ref, opencl, cuda or gpu", value);
        else snprintf(w->kind, sizeof w->kind, "%s", value);
    } else if (!strcmp(name, "index")) {
        if (!parse_integer(value, 999, &w->ordinal)) set_error(r, "index must be an integer ≥ 0", value);
    } else if (!strcmp(name, "threads")) {
        if (!parse_integer(value, 1 << 20, &w->threads)) set_error(r, "threads must be an integer ≥ 0", value);
    } else if (!strcmp(name, "memory")) {
        if (!qconfig_bytes(value, &w->memory)) set_error(r, "memory must be a size like 500M", value);
    } else {
        warn(r, "attribute", name);
    }
}

static void read_device(Reader *r, const char **attributes) {
    DeviceWish w = {.ordinal = 0};
    for (const char **a = attributes; *a && r->status == QS_OK; a += 2) read_attribute(r, &w, a[0], a[1]);
    if (!*w.kind) set_error(r, "a device needs an attribute kind", "");
    else if (r->out->n == MAX_DEVICES - 1) set_error(r, "at most 7 devices can be used together", w.kind);
    else if (r->status == QS_OK) r->out->at[r->out->n++] = w;
}

static void XMLCALL begin_element(void *ud, const char *name, const char **attributes) {
    Reader *r = ud;
    int depth = r->depth++;
    if (r->skipping || r->status != QS_OK) return;
    if (depth == 0) read_root(r, name, attributes);
    else if (depth == 1 && !strcmp(name, "device")) read_device(r, attributes);
    else warn(r, "element", name), r->skipping = depth;
}

static void XMLCALL end_element(void *ud, const char *name) {
    Reader *r = ud;
    (void)name;
    if (--r->depth == r->skipping) r->skipping = 0;
}

static qs_status parse_xml(Reader *r, const char *text, size_t n) {
    if (libexpat.XML_Parse(r->xml, text, (int)n, 1) == XML_STATUS_OK) return r->status;
    if (r->status != QS_OK) return r->status;
    return qerr_set(r->c, QS_EDEVICE, "%s:%d: %s", r->path, line_of(r),
                    libexpat.XML_ErrorString(libexpat.XML_GetErrorCode(r->xml)));
}

static qs_status parse_file(Ctx *c, const char *path, const Text *text, DeviceWishes *out, Text *warnings) {
    if (missing()) return qerr_set(c, QS_EDEVICE, "%s: expat cannot be opened: %s", path, missing());
    Reader r = {.c = c, .xml = libexpat.XML_ParserCreate(NULL), .path = path, .out = out, .warnings = warnings};
    if (!r.xml) return qerr_set(c, QS_ENOMEM, "%s: no memory to read it", path);
    libexpat.XML_SetUserData(r.xml, &r);
    libexpat.XML_SetElementHandler(r.xml, begin_element, end_element);
    qs_status s = parse_xml(&r, text->s ? text->s : "", text->len);
    libexpat.XML_ParserFree(r.xml);
    if (s != QS_OK || out->n || out->automatic) return s;
    return qerr_set(c, QS_EDEVICE, "%s: it names no device", path);
}
#else
static qs_status parse_file(Ctx *c, const char *path, const Text *text, DeviceWishes *out, Text *warnings) {
    (void)text, (void)out, (void)warnings;
    return qerr_set(c, QS_EDEVICE, "%s: this build cannot read device files, because expat was not there", path);
}
#endif

enum { FILE_MOST = 1 << 20 };

static qs_status read_file(Ctx *c, const char *path, Text *out) {
    char part[4096];
    size_t n;
    FILE *f = qfile_stream(path);
    if (!f) return qerr_set(c, QS_EIO, "cannot read the device file %s: %s", path, qfile_error(errno));
    while (out->len <= FILE_MOST && (n = fread(part, 1, sizeof part, f)) > 0) qtext_add(out, part, n);
    int why = ferror(f) ? errno : 0;
    fclose(f);
    if (why) return qerr_set(c, QS_EIO, "cannot read the device file %s: %s", path, strerror(why));
    return out->len <= FILE_MOST ? QS_OK : qerr_set(c, QS_EDEVICE, "%s is too long for a device file", path);
}

static qs_status parse_path(Ctx *c, const char *path, DeviceWishes *out, Text *warnings) {
    Text text;
    qtext_init(&text, c);
    qs_status s = read_file(c, path, &text);
    if (s == QS_OK) s = parse_file(c, path, &text, out, warnings);
    qtext_free(&text);
    return s;
}

qs_status qconfig_parse(Ctx *c, const char *text, DeviceWishes *out, Text *warnings) {
    size_t n = strlen(text);
    *out = (DeviceWishes){.n = 0};
    if (n > 4 && !strcmp(text + n - 4, ".xml")) return parse_path(c, text, out, warnings);
    return parse_words(c, text, out);
}
