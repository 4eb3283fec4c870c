/* Maps messages of OpenCL C compilers about generated text to lines of the script. */
#include "devices/buildlog.h"
#include "tests/unit/check.h"

static Ctx ctx;
static CodeLines lines;

/* A script of five lines; lines 11 to 15 of the generated text belong to them, earlier lines to none. */
static void make_lines(uint32_t pos[15]) {
    for (uint32_t i = 0; i < 15; i++) pos[i] = i < 10 ? 0 : 3 * (i - 10) + 1;
    lines = (CodeLines){qsource_add(&ctx, "blur.q", "aa\nbb\ncc\ndd\nee\n", 15), pos, 15, false};
}

static void says(const char *log, uint32_t row, const char *told) {
    Text t;
    int line = 0, column;
    uint32_t pos = qbuildlog_error(&lines, log);
    if (pos) qsource_line_col(lines.src, pos, &line, &column);
    CHECK(line == (int)row);
    qtext_init(&t, &ctx);
    qbuildlog_translate(&lines, log, &t);
    CHECK_TEXT(t.s ? t.s : "", told);
    qtext_free(&t);
}

static void clang_and_those_made_of_it(void) {
    says("<kernel>:12:5: error: use of undeclared identifier 'k'\n    v3 = k;\n         ^\n", 2, /* NVIDIA */
         "blur.q:2: error: use of undeclared identifier 'k'\n    v3 = k;\n         ^\n");
    says(":14:5: error: expected ')'\n", 4, "blur.q:4: error: expected ')'\n"); /* NVIDIA, older */
    says("1:13:2: error: use of undeclared identifier 'k'\n", 3,                /* Intel */
         "blur.q:3: error: use of undeclared identifier 'k'\n");
    says("input.cl:14:80: error: use of undeclared identifier 'k'\n" /* oclgrind, Mesa, AMD */
         "input.cl:15:21: note: expanded from macro 'BYTE'\n1 error generated.\n",
         4,
         "blur.q:4: error: use of undeclared identifier 'k'\nblur.q:5: note: expanded from macro 'BYTE'\n"
         "1 error generated.\n");
    says("/tmp/comgr-5f1b2c/input/CompileSource:11:1: error: unknown type name 'flot'\n", 1, /* AMD, ROCm */
         "blur.q:1: error: unknown type name 'flot'\n");
    says("<source>:15:5: error: implicit declarations are not allowed\n\n" /* ARM */
         "error: Compiler frontend failed (error code 59)\n",
         5,
         "blur.q:5: error: implicit declarations are not allowed\n\nerror: Compiler frontend failed (error code 59)\n");
    says("[E] Tue Mar 13 22:11:59 2018: ../VC4CL/mul2.cl:13:12: error: use of undeclared identifier 'i'\n", 3, /* VC4 */
         "[E] Tue Mar 13 22:11:59 2018: blur.q:3: error: use of undeclared identifier 'i'\n");
}

static void others(void) {
    says("error: /home/user/.cache/pocl/kcache/tempfile_1.cl:14:12: use of undeclared identifier 'k'\n" /* PoCL */
         "error: /home/user/.cache/pocl/kcache/tempfile_1.cl:15:13: expected expression\n"
         "Device pthread-skylake-avx512 failed to build the program\n",
         4,
         "error: blur.q:4: use of undeclared identifier 'k'\nerror: blur.q:5: expected expression\n"
         "Device pthread-skylake-avx512 failed to build the program\n");
    says("\"C:\\Documents and Settings\\OCLF9.tmp.cl\", line 12: error:\n          identifier \"C\" is undefined\n", 2,
         "blur.q:2: error:\n          identifier \"C\" is undefined\n"); /* AMD, before clang */
}

/* Only for PTX. */
static void ptx(void) {
    lines.ptx = true;
    says("ptxas application ptx input, line 14; error   : Unexpected instruction types\n"
         "ptxas application ptx input, line 15; warning : unused\nptxas fatal   : Ptx assembly aborted\n",
         4,
         "ptxas application ptx blur.q:4; error   : Unexpected instruction types\n"
         "ptxas application ptx blur.q:5; warning : unused\nptxas fatal   : Ptx assembly aborted\n");
    says("input.cl:12:5: error: wrong\n", 0, "input.cl:12:5: error: wrong\n");
    lines.ptx = false;
}

static void rows_that_name_no_line_of_ours(void) {
    static const char *const logs[] = {"",
                                       "error: out of memory",
                                       "ptxas application ptx input, line 12; error   : Module-scoped variables\n",
                                       "<kernel>:12:5: remark: loop not vectorized\n",
                                       "input.cl:3:1: error: in what stands before the body\n",
                                       "input.cl:99:1: error: behind the end\n",
                                       "input.cl:99999999999999999999:1: error: no number\n",
                                       "    x = a ? b :12:13:\n",
                                       "error: 12:13 is no place\n",
                                       "error: LLVM says :12"};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) says(logs[i], 0, logs[i]);
    says("input.cl:12:5: warning: unused\ninput.cl:13:5: error: wrong\n", 3, /* a warning is not an error */
         "blur.q:2: warning: unused\nblur.q:3: error: wrong\n");
    says("input.cl:3:5: error: in the head\ninput.cl:13:5: error: wrong\n", 3, /* the first that the script has */
         "input.cl:3:5: error: in the head\nblur.q:3: error: wrong\n");
}

int main(void) {
    uint32_t pos[15];
    qctx_init(&ctx, 32);
    make_lines(pos);
    clang_and_those_made_of_it();
    others();
    ptx();
    rows_that_name_no_line_of_ours();
    qctx_close(&ctx);
    return check_done();
}
