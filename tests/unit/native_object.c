/* The object loader: runs objects compiled by LLVM, and rejects damaged ones instead of crashing. */
#include "devices/elf.h"
#include "devices/native.h"
#include "lang/kernel/compile.h"
#include "lang/kernel/ir/kir.h"
#include "tests/unit/check.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>

static Ctx ctx;

static const char text[] =
    "kernel \"k\" rank 1 {\n  param \"x\" array float32 rank 1 contiguous unit_last read written\n  message EINDEX "
    "\"no %0\"\n"
    "  %1 = pos int64 0\n  %2 = load float32 $0 %1\n  %3 = math.exp float32 %2\n  %4 = math.lgamma float32 %3\n"
    "  %5 = const float32 100\n  %6 = lt bool %4 %5\n  check #0 %6 %4 @7\n  store $0 %1 %4\n}\n";

static void *resolve(void *ud, const char *name) {
    if (!strncmp(name, "_ZGV", 4)) return ud ? dlsym(ud, name) : NULL;
    return dlsym(RTLD_DEFAULT, name);
}

static void *nothing(void *ud, const char *name) {
    (void)ud, (void)name;
    return NULL;
}

static void try_load(const char *bytes, size_t n, ElfResolve *r, void *ud) {
    ElfObject *o;
    if (qelf_load(&ctx, bytes, n, r, ud, &o) == QS_OK) qelf_unload(&ctx, o);
    qerr_clear(&ctx);
}

/* For any random change there is no access out of bounds. */
static void test_damage(const Code *code, void *mvec) {
    char *copy = aligned_alloc(64, (code->n + 63) / 64 * 64);
    srand(1);
    for (int round = 0; round < 20000; round++) {
        memcpy(copy, code->bytes, code->n);
        size_t n = round % 4 ? code->n : (size_t)rand() % code->n;
        for (int k = round % 8; k >= 0; k--) copy[(size_t)rand() % (round % 3 ? code->n : 64)] = (char)rand();
        try_load(copy, n, resolve, mvec);
    }
    free(copy);
}

typedef struct {
    Elf64_Ehdr *head;
    Elf64_Shdr *sections, *text, *relocations, *symtab;
    Elf64_Sym *syms;
} Elf;

static Elf open_elf(char *p) {
    Elf e = {.head = (void *)p};
    e.sections = (void *)(p + e.head->e_shoff);
    for (Elf64_Shdr *s = e.sections; s < e.sections + e.head->e_shnum; s++) {
        if (s->sh_type == SHT_SYMTAB) e.symtab = s, e.syms = (void *)(p + s->sh_offset);
        if (s->sh_type == SHT_RELA && e.sections[s->sh_info].sh_flags & SHF_EXECINSTR)
            e.relocations = s, e.text = &e.sections[s->sh_info];
    }
    return e;
}

/* Each error has its own message: damage is reported at its position, not by its consequences. */
static void test_mistakes(const Code *code, void *mvec) {
    enum {
        NAMES,
        NAME_END,
        NOBITS,
        BOUNDS,
        HUGE_BSS,
        ALIGN,
        NO_SYMBOLS,
        SYMBOL_NAME,
        SYMBOL_VALUE,
        RELOC_AT,
        RELOC_SYM,
        FAR,
        COUNT
    };
    static const char *const wanted[COUNT] = {
        [NAMES] = "names of sections", [NAME_END] = "names of sections", [NOBITS] = "names of sections",
        [BOUNDS] = "section bounds",   [HUGE_BSS] = "section bounds",    [ALIGN] = "section alignment",
        [NO_SYMBOLS] = "symbol table", [SYMBOL_NAME] = "symbol name",    [SYMBOL_VALUE] = "symbol value",
        [RELOC_AT] = "relocation",     [RELOC_SYM] = "relocation",       [FAR] = "out of reach"};
    char *copy = aligned_alloc(64, (code->n + 63) / 64 * 64);
    ElfObject *o;
    for (int which = 0; which < COUNT; which++) {
        memcpy(copy, code->bytes, code->n);
        Elf e = open_elf(copy);
        Elf64_Shdr *names = &e.sections[e.symtab->sh_link];
        Elf64_Rela *rela = (void *)(copy + e.relocations->sh_offset);
        size_t last = e.symtab->sh_size / sizeof(Elf64_Sym) - 1;
        switch (which) {
        case NAMES: e.head->e_shstrndx = e.head->e_shnum; break;
        case NAME_END: names->sh_size--; break;
        case NOBITS: names->sh_type = SHT_NOBITS, names->sh_offset = (uint64_t)1 << 60; break;
        case BOUNDS: e.text->sh_size = code->n; break;
        case HUGE_BSS: e.text->sh_type = SHT_NOBITS, e.text->sh_size = (uint64_t)1 << 63; break;
        case ALIGN: e.text->sh_addralign = 48; break;
        case NO_SYMBOLS: e.symtab->sh_size = 0; break;
        case SYMBOL_NAME: e.syms[last].st_name = (Elf64_Word)names->sh_size; break;
        case SYMBOL_VALUE:
            e.syms[last].st_shndx = (Elf64_Half)(e.text - e.sections), e.syms[last].st_value = 1 << 30;
            break;
        case RELOC_AT: rela->r_offset = e.text->sh_size - 3; break;
        case RELOC_SYM: rela->r_info = ELF64_R_INFO(last + 1, ELF64_R_TYPE(rela->r_info)); break;
        default: rela->r_addend = (int64_t)1 << 40; break;
        }
        bool refused = qelf_load(&ctx, copy, code->n, resolve, mvec, &o) == QS_EDEVICE;
        CHECK(refused && strstr(ctx.err.text, wanted[which]));
        if (!refused) printf("  mistake %d is taken\n", which), qelf_unload(&ctx, o);
        qerr_clear(&ctx);
    }
    free(copy);
}

static void test_symbols(const Code *code, void *mvec) {
    ElfObject *o;
    CHECK(qelf_load(&ctx, code->bytes, code->n, nothing, NULL, &o) == QS_EDEVICE &&
          strstr(ctx.err.text, "which this system lacks"));
    qerr_clear(&ctx);
    CHECK(qelf_load(&ctx, code->bytes, code->n, resolve, mvec, &o) == QS_OK);
    const NativeInfo *info = qelf_symbol(o, "kernel_info");
    CHECK(info && info->abi == NATIVE_ABI && info->nargs == 1 && (info->flags & NATIVE_CHECKS));
    CHECK(qelf_symbol(o, "kernel") && !qelf_symbol(o, "nothing"));
    qelf_unload(&ctx, o);
}

static void test_run(Device *d, const Code *code) {
    float x[100];
    Program *p;
    DevFault fault;
    DevArg a = {.is_array = true, .block = (DevPtr)(uintptr_t)x, .rank = 1, .dims = {100}, .strides = {1}};
    CHECK(d->ops->load(d, code, &p) == QS_OK);
    for (int i = 0; i < 100; i++) x[i] = 1;
    CHECK(d->ops->launch(d, p, &(Launch){.rank = 1, .domain = {100}, .block = {1}}, 1, &a, &fault) == QS_OK &&
          !fault.message);
    CHECK(x[0] > 0.449f && x[0] < 0.4501f && x[99] == x[0]); /* log of gamma(e) */
    x[42] = 9;
    CHECK(d->ops->launch(d, p, &(Launch){.rank = 1, .domain = {100}, .block = {1}}, 1, &a, &fault) == QS_OK);
    CHECK(fault.message == 1 && fault.at[0] == 42 && fault.pos == 7 && fault.value[0] > 100);
    d->ops->unload(d, p);
}

int main(void) {
    Arena arena;
    KFunc *f;
    Code code;
    Device d = {.ops = &qdev_cpu_ops, .ctx = &ctx};
    qctx_init(&ctx, 32);
    qarena_init(&arena, &ctx);
    KCompiler *k = kcompile_open(&ctx, "");
    bool ok = d.ops->open(&d, 0) == QS_OK && kir_parse(&ctx, &arena, text, strlen(text), &f) == QS_OK &&
              kcompile(k, f, &d, &code) == QS_OK;
    CHECK(ok);
    if (ok) {
        void *mvec = dlopen("libmvec.so.1", RTLD_NOW);
        test_symbols(&code, mvec);
        test_run(&d, &code);
        test_mistakes(&code, mvec);
        test_damage(&code, mvec);
        kcompile_free(k, &code);
        if (mvec) dlclose(mvec);
    } else printf("%s\n", ctx.err.text);
    qerr_clear(&ctx);
    d.ops->close(&d);
    kcompile_close(k);
    qarena_free(&arena);
    qctx_close(&ctx);
    return check_done();
}
