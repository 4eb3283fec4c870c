/* User settings: words, and device files with their errors. */
#include "devices/config.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

static Ctx ctx;
static DeviceWishes w;
static Text warnings;

static bool parse(const char *text) {
    warnings.len = 0;
    qerr_clear(&ctx);
    return qconfig_parse(&ctx, text, &w, &warnings) == QS_OK;
}

static bool is(int i, const char *kind, int ordinal) {
    return !strcmp(w.at[i].kind, kind) && w.at[i].ordinal == ordinal;
}

static void words(void) {
    CHECK(parse("cpu") && w.n == 1 && !w.automatic && is(0, "cpu", 0));
    CHECK(parse("cuda:1,opencl,cpu") && w.n == 3 && is(0, "cuda", 1) && is(1, "opencl", 0) && is(2, "cpu", 0));
    CHECK(parse("auto") && w.automatic && w.n == 0);
    CHECK(parse("auto:cpu,opencl:2") && w.automatic && w.n == 2 && is(1, "opencl", 2));
    CHECK(parse("automatic") && !w.automatic && is(0, "automatic", 0)); /* the caller knows that there is none */
    CHECK(!parse("cuda:x"));
    CHECK_TEXT(ctx.err.text, "cuda:x: a number is wanted behind the colon");
    CHECK(!parse("cuda:-1") && !parse("cuda:") && !parse("cpu,,cpu") && !parse("") &&
          !parse("averyverylongnameofakind"));
    CHECK(!parse("cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu"));
    CHECK_TEXT(ctx.err.text, "at most 7 devices can be used together");
    CHECK(!parse("/nowhere/x.xml"));
    CHECK_TEXT(ctx.err.text, "cannot read the device file /nowhere/x.xml: No such file or directory");
}

static void sizes(void) {
    size_t n = 0;
    CHECK(qconfig_bytes("100", &n) && n == 100);
    CHECK(qconfig_bytes("1.5k", &n) && n == 1536);
    CHECK(qconfig_bytes("4G", &n) && n == (size_t)4 << 30);
    static const char *const no[] = {"", "G", "-1", "0", "1X", "1GB", "nan", "1e30", "inf"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) CHECK(!qconfig_bytes(no[i], &n));
}

#ifdef QUASAR_EXPAT
static char folder[] = "/tmp/quasar-config-XXXXXX", path[64];

static bool parse_xml(const char *text) {
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
    return parse(path);
}

/* The message after the path. */
static const char *after_path(const char *text) {
    return !strncmp(text, path, strlen(path)) ? text + strlen(path) : text;
}

static void good_files(void) {
    CHECK(parse_xml("<?xml version='1.0'?>\n<devices choose='auto'>\n <device kind='cpu' threads='3'/>\n"
                    " <!-- a comment -->\n <device kind=\"cuda\" index=\"1\" memory=\"2G\"/>\n</devices>"));
    CHECK(w.automatic && w.n == 2 && is(0, "cpu", 0) && w.at[0].threads == 3 && is(1, "cuda", 1));
    CHECK(w.at[1].memory == (size_t)2 << 30 && !warnings.len);
    CHECK(parse_xml(
        "<devices choose='first' colour='red'>\n<device kind='cpu' size='4'/>\n<host>\n<device kind='cuda'/>\n"
        "</host>\n<device kind='opencl'/></devices>"));
    CHECK(w.n == 2 && !w.automatic && is(1, "opencl", 0));
    CHECK(strstr(warnings.s, ":1: warning: attribute colour is not known and ignored\n") &&
          strstr(warnings.s, ":2: warning: attribute size is not known and ignored\n") &&
          strstr(warnings.s, ":3: warning: element host is not known and ignored\n"));
    CHECK(parse_xml("<devices choose='auto'/>") && w.automatic && !w.n);
}

static void bad_files(void) {
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"", ":1: no element found"},
        {"<devices>\n<device kind='cpu'>\n</devices>", ":3: mismatched tag"},
        {"<devices>\n<device kind='cpu'\n", ":2: unclosed token"},
        {"<devices/>", ": it names no device"},
        {"<machine/>", ":1: the outermost element must be devices, got machine"},
        {"<devices choose='best'/>", ":1: choose must be auto or first, got best"},
        {"<devices>\n\n<device/></devices>", ":3: a device needs an attribute kind, got nothing"},
        {"<devices><device kind=''/></devices>", ":1: kind must be cpu, ref, opencl, cuda or gpu, got nothing"},
        {"<devices><device kind='cpu' index='-1'/></devices>", ":1: index must be an integer ≥ 0, got -1"},
        {"<devices><device kind='cpu' index='1.5'/></devices>", ":1: index must be an integer ≥ 0, got 1.5"},
        {"<devices><device kind='cpu' threads='many'/></devices>", ":1: threads must be an integer ≥ 0, got many"},
        {"<devices>\n<device kind='cuda' memory='2 GB'/></devices>", ":2: memory must be a size like 500M, got 2 GB"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(!parse_xml(bad[i].text));
        CHECK_TEXT(after_path(ctx.err.text), bad[i].said);
    }
}

static void files(void) {
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/machine.xml", folder);
    good_files();
    bad_files();
    unlink(path);
    rmdir(folder);
}
#else
static void files(void) { printf("skipped: device files, because expat is not installed\n"); }
#endif

int main(void) {
    qctx_init(&ctx, 32);
    qtext_init(&warnings, &ctx);
    words();
    sizes();
    files();
    qtext_free(&warnings);
    qctx_close(&ctx);
    CHECK(ctx.bytes == 0);
    return check_done();
}
