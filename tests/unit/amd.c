/* Code objects for AMD devices: what is made of objects of LLVM, and of damaged ones. */
#include "devices/amd.h"
#include "devices/llvm.h"
#include "tests/unit/check.h"

#include <elf.h>

static Ctx ctx;
static Text object;

/* A constant array that is indexed and a function that is called: references of both kinds. */
static const char ir[] =
    "@table = internal unnamed_addr addrspace(4) constant [4 x i64] [i64 3, i64 1, i64 4, i64 1]\n"
    "define internal i64 @far(i64 %x) noinline { %y = mul i64 %x, %x\n ret i64 %y }\n"
    "define protected amdgpu_kernel void @kernel(ptr addrspace(4) byref([2 x i64]) align 8 %slots)"
    " \"amdgpu-no-implicitarg-ptr\" {\n"
    "  %i = load i64, ptr addrspace(4) %slots\n  %p = getelementptr i64, ptr addrspace(4) @table, i64 %i\n"
    "  %x = load i64, ptr addrspace(4) %p\n  %y = call i64 @far(i64 %x)\n"
    "  %o = getelementptr i64, ptr addrspace(4) %slots, i64 1\n  %to = load ptr addrspace(1), ptr addrspace(4) %o\n"
    "  store i64 %y, ptr addrspace(1) %to\n  ret void\n}\n"
    "!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"amdgpu_code_object_version\", i32 500}\n";

static bool compile(const char *cpu) {
    Llvm *l = NULL;
    LlvmTarget t = {.arch = LLVM_AMDGPU, .cpu = cpu, .features = "", .thorough = true};
    qs_status s = qllvm_open(&ctx, &l);
    if (s == QS_OK) s = qllvm_compile(&ctx, l, &(LlvmTask){&t, ir, sizeof ir - 1, LLVM_OBJECT}, &object);
    if (s != QS_OK) printf("%s\n", ctx.err.text);
    qerr_clear(&ctx);
    qllvm_close(&ctx, l);
    return s == QS_OK;
}

static const Elf64_Sym *symbol(const char *file, const char *name) {
    const Elf64_Ehdr *h = (const void *)file;
    const Elf64_Shdr *s = (const void *)(file + h->e_shoff);
    for (int i = 0; i < h->e_shnum; i++) {
        const Elf64_Sym *all = (const void *)(file + s[i].sh_offset);
        for (size_t k = 0; s[i].sh_type == SHT_SYMTAB && k < s[i].sh_size / sizeof *all; k++)
            if (!strcmp(file + s[s[i].sh_link].sh_offset + all[k].st_name, name)) return &all[k];
    }
    return NULL;
}

static void is_linked(const char *cpu, uint32_t machine) {
    Text out;
    qtext_init(&out, &ctx);
    CHECK(compile(cpu));
    CHECK(object.len && qamd_link(&ctx, object.s, object.len, &out) == QS_OK);
    const Elf64_Ehdr *h = (const void *)out.s;
    CHECK(out.len && h->e_type == ET_DYN && (h->e_flags & 0xff) == machine);
    CHECK(out.len && h->e_ident[EI_OSABI] == 64 && h->e_ident[EI_ABIVERSION] == 3); /* HSA, version 5 */
    const Elf64_Sym *kernel = out.len ? symbol(out.s, "kernel") : NULL,
                    *descriptor = out.len ? symbol(out.s, "kernel.kd") : NULL;
    CHECK(kernel && descriptor && kernel->st_value % 256 == 0 && descriptor->st_value % 64 == 0);
    CHECK(out.len && !symbol(out.s, "far") && !symbol(out.s, "table"));
    if (kernel && descriptor) { /* places in the file are addresses */
        int64_t entry;
        uint32_t parameters;
        memcpy(&entry, out.s + descriptor->st_value + 16, 8), memcpy(&parameters, out.s + descriptor->st_value + 8, 4);
        CHECK(descriptor->st_value + (uint64_t)entry == kernel->st_value && parameters == 16);
    }
    qtext_free(&out);
}

static bool survives(const char *bytes, size_t n) {
    Text out;
    qtext_init(&out, &ctx);
    qs_status s = qamd_link(&ctx, bytes, n, &out);
    bool told = s == QS_OK || (s == QS_EDEVICE && strstr(ctx.err.text, "AMD device") && !out.len);
    qerr_clear(&ctx);
    qtext_free(&out);
    return told;
}

/* In blocks of their own length, so that who reads beyond is caught under sanitizers. */
static void damaged_ones(void) {
    unsigned wrong = 0, seed = 1;
    for (size_t n = 0; n < object.len; n += n < 80 ? 1 : 37) {
        char *part = qmem_alloc(&ctx, n + 1);
        memcpy(part, object.s, n);
        wrong += !survives(part, n);
        qmem_free(&ctx, part, n + 1);
    }
    char *all = qmem_alloc(&ctx, object.len);
    for (int i = 0; i < 4000; i++) {
        memcpy(all, object.s, object.len);
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525 + 1013904223;
            size_t at = (seed >> 8) % object.len;
            if (i % 2) at = i % 4 == 1 ? at % 64 : object.len - 1 - at % 960; /* head and sections */
            all[at] = (char)(seed >> 3);
        }
        wrong += !survives(all, object.len);
    }
    CHECK(wrong == 0);
    qmem_free(&ctx, all, object.len);
}

static void kinds(void) {
    CHECK(!qamd_target("gfx9") && !qamd_target("") && !qamd_target("sm_90"));
    CHECK(qamd_target("gfx90a") && qamd_target("gfx90a")->wave == 64 && qamd_target("gfx1100")->wave == 32);
}

int main(void) {
    qctx_init(&ctx, 32);
    qtext_init(&object, &ctx);
    kinds();
    is_linked("gfx906", 0x2f);
    is_linked("gfx1030", 0x36);
    is_linked("gfx1100", 0x41);
    if (object.len) damaged_ones();
    qtext_free(&object);
    qctx_close(&ctx);
    return check_done();
}
