/* elf.c -- implements the ELF loader of elf.h.
 *
 *   mapping:  [ sections with code | a stub per undefined symbol ] [ sections with data | a slot per undefined symbol ]
 *             read, execute                                         read, write
 *
 * A call to an undefined symbol goes through a stub that jumps to the address in the symbol's slot, because libraries
 * may be outside the range of a call instruction.  Position-independent references read the same slot. */
#include "devices/elf.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64, STUB = 8 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64, STUB = 16 };
#else
enum { MACHINE = EM_NONE, STUB = 16 };
#endif

struct ElfObject {
    uint8_t *base;
    size_t size, code_size;
    size_t nsymbols;
    struct {
        char *name;
        void *at;
    } * symbols; /* global functions and data that the object defines */
};

typedef struct { /* state of the loader */
    Ctx *ctx;
    const uint8_t *file;
    size_t n;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *sections;
    size_t nsections;
    const Elf64_Sym *syms;
    size_t nsyms;
    const char *names, *section_names;
    size_t names_size, section_names_size;
    uint8_t **place;   /* address of each section; NULL: not loaded */
    uint8_t **addr;    /* address of each symbol; of its stub if it is undefined */
    uint64_t **slot;   /* slot of each undefined symbol; NULL: defined */
    size_t code, data; /* sizes of the two parts in bytes */
    ElfObject *obj;
} Load;

static qs_status damaged(Ctx *c, const char *what) {
    return qerr_set(c, QS_EDEVICE, "compiled kernel is damaged: %s", what);
}

static bool is_inside(const Load *l, uint64_t off, uint64_t len) { return off <= l->n && len <= l->n - off; }

/* Finds a string table; false: invalid, for example because the last name is not terminated. */
static bool read_names(const Load *l, size_t section, const char **names, size_t *n) {
    const Elf64_Shdr *s = section < l->nsections ? &l->sections[section] : NULL;
    if (!s || s->sh_type != SHT_STRTAB || !s->sh_size) return false;
    *names = (const char *)l->file + s->sh_offset, *n = s->sh_size;
    return !(*names)[*n - 1];
}

static qs_status read_sections(Load *l) {
    const Elf64_Shdr *symtab = NULL;
    l->sections = (const Elf64_Shdr *)(const void *)(l->file + l->head->e_shoff);
    for (size_t i = 0; i < l->nsections; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        bool in_file = s->sh_type == SHT_NOBITS || is_inside(l, s->sh_offset, s->sh_size);
        if (!in_file || s->sh_size > INT32_MAX) return damaged(l->ctx, "section bounds");
        if (s->sh_addralign & (s->sh_addralign - 1) || s->sh_addralign > 4096)
            return damaged(l->ctx, "section alignment");
        if (s->sh_type == SHT_SYMTAB) symtab = s;
    }
    if (!read_names(l, l->head->e_shstrndx, &l->section_names, &l->section_names_size))
        return damaged(l->ctx, "names of sections");
    if (!symtab || symtab->sh_offset % 8 || symtab->sh_size < sizeof(Elf64_Sym) ||
        !read_names(l, symtab->sh_link, &l->names, &l->names_size))
        return damaged(l->ctx, "symbol table");
    l->syms = (const Elf64_Sym *)(const void *)(l->file + symtab->sh_offset);
    l->nsyms = symtab->sh_size / sizeof(Elf64_Sym);
    return QS_OK;
}

static qs_status read_head(Load *l) {
    l->head = (const Elf64_Ehdr *)(const void *)l->file;
    if (l->n < sizeof *l->head || memcmp(l->head->e_ident, ELFMAG, SELFMAG)) return damaged(l->ctx, "not an ELF file");
    if (l->head->e_ident[EI_CLASS] != ELFCLASS64 || l->head->e_type != ET_REL || l->head->e_machine != MACHINE)
        return qerr_set(l->ctx, QS_EDEVICE, "compiled kernel is for a different type of machine (ELF machine %d)",
                        l->head->e_machine);
    l->nsections = l->head->e_shnum;
    if (l->head->e_shentsize != sizeof(Elf64_Shdr) || l->head->e_shoff % 8 ||
        !is_inside(l, l->head->e_shoff, l->nsections * sizeof(Elf64_Shdr)))
        return damaged(l->ctx, "section table");
    return read_sections(l);
}

static size_t align_to(size_t n, size_t a) { return a > 1 ? (n + a - 1) & ~(a - 1) : n; }

/* Returns whether a section is loaded.  Unwind tables are left out, because only debuggers use them.  Until the mapping
 * exists, place[] holds the offset of each section in the code or data part. */
static bool loaded(const Load *l, const Elf64_Shdr *s) {
    const char *name = s->sh_name < l->section_names_size ? l->section_names + s->sh_name : "";
    return (s->sh_flags & SHF_ALLOC) && s->sh_size && strcmp(name, ".eh_frame") != 0;
}

static bool undefined(const Load *l, size_t i) { return i && l->syms[i].st_shndx == SHN_UNDEF && l->syms[i].st_name; }

static size_t count_undefined(const Load *l) {
    size_t n = 0;
    for (size_t i = 1; i < l->nsyms; i++) n += undefined(l, i);
    return n;
}

static qs_status map_sections(Load *l) {
    size_t nundef = count_undefined(l), page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < l->nsections; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (!loaded(l, s)) continue;
        size_t *end = s->sh_flags & SHF_EXECINSTR ? &l->code : &l->data;
        *end = align_to(*end, s->sh_addralign);
        l->place[i] = (uint8_t *)*end;
        *end += s->sh_size;
    }
    size_t stubs = l->code = align_to(l->code, 16), slots = l->data = align_to(l->data, 16);
    l->code = align_to(l->code + nundef * STUB, page);
    l->data += nundef * 8;
    ElfObject *o = l->obj;
    o->size = l->code + align_to(l->data, page), o->code_size = l->code;
    void *m = mmap(NULL, o->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) return qerr_set(l->ctx, QS_ENOMEM, "no memory for a compiled kernel (%zu bytes)", o->size);
    o->base = m;
    for (size_t i = 0; i < l->nsections; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (!loaded(l, s)) continue;
        l->place[i] = o->base + (s->sh_flags & SHF_EXECINSTR ? 0 : l->code) + (size_t)l->place[i];
        if (s->sh_type != SHT_NOBITS) memcpy(l->place[i], l->file + s->sh_offset, s->sh_size);
    }
    size_t k = 0;
    for (size_t i = 1; i < l->nsyms; i++)
        if (undefined(l, i)) {
            l->addr[i] = o->base + stubs + k * STUB;
            l->slot[i] = (uint64_t *)(void *)(o->base + l->code + slots + k++ * 8);
        }
    return QS_OK;
}

static void write_stub(uint8_t *stub, const uint64_t *slot) {
#if defined(__x86_64__)
    int32_t rel = (int32_t)((const uint8_t *)slot - (stub + 6));
    stub[0] = 0xff, stub[1] = 0x25; /* jmp *rel(%rip) */
    memcpy(stub + 2, &rel, 4);
#elif defined(__aarch64__)
    const uint32_t code[2] = {0x58000050, 0xd61f0200}; /* ldr x16, .+8; br x16 */
    memcpy(stub, code, 8), memcpy(stub + 8, slot, 8);
#else
    (void)stub, (void)slot;
#endif
}

static qs_status resolve_symbols(Load *l, ElfResolve *resolve, void *ud) {
    for (size_t i = 1; i < l->nsyms; i++) {
        const Elf64_Sym *s = &l->syms[i];
        if (s->st_name >= l->names_size) return damaged(l->ctx, "symbol name");
        const char *name = l->names + s->st_name;
        if (undefined(l, i)) {
            void *p = resolve(ud, name);
            if (!p) return qerr_set(l->ctx, QS_EDEVICE, "compiled kernel needs `%s`, which this system lacks", name);
            *l->slot[i] = (uint64_t)(uintptr_t)p;
            write_stub(l->addr[i], l->slot[i]);
        } else if (s->st_shndx < l->nsections && l->place[s->st_shndx]) {
            if (s->st_value > l->sections[s->st_shndx].sh_size) return damaged(l->ctx, "symbol value");
            l->addr[i] = l->place[s->st_shndx] + s->st_value;
        }
    }
    return QS_OK;
}

static qs_status put32(Load *l, uint8_t *at, int64_t v) {
    if (v != (int32_t)v) return damaged(l->ctx, "a reference is out of reach");
    int32_t w = (int32_t)v;
    memcpy(at, &w, 4);
    return QS_OK;
}

#if defined(__x86_64__)
static size_t reloc_width(uint32_t type) { return type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4; }

static qs_status apply_relocation(Load *l, uint32_t type, size_t sym, int64_t addend, uint8_t *at) {
    uint64_t target = (uint64_t)(uintptr_t)l->addr[sym] + (uint64_t)addend, here = (uint64_t)(uintptr_t)at;
    switch (type) {
    case R_X86_64_NONE: return QS_OK;
    case R_X86_64_64: memcpy(at, &target, 8); return QS_OK;
    case R_X86_64_PC64:
        target -= here;
        memcpy(at, &target, 8);
        return QS_OK;
    case R_X86_64_PC32:
    case R_X86_64_PLT32: return put32(l, at, (int64_t)(target - here));
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
        if (!l->slot[sym]) return damaged(l->ctx, "indirect reference to a symbol of its own");
        return put32(l, at, (int64_t)((uint64_t)(uintptr_t)l->slot[sym] + (uint64_t)addend - here));
    }
    return qerr_set(l->ctx, QS_EDEVICE, "compiled kernel uses relocation %u, which is not known here", type);
}
#elif defined(__aarch64__)
static size_t reloc_width(uint32_t type) { return type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64 ? 8 : 4; }

static qs_status patch(uint8_t *at, uint32_t mask, uint32_t bits) {
    uint32_t w;
    memcpy(&w, at, 4);
    w = (w & ~mask) | (bits & mask);
    memcpy(at, &w, 4);
    return QS_OK;
}

static qs_status page_relative(Load *l, int64_t target, int64_t here, uint8_t *at) {
    int64_t d = (target >> 12) - (here >> 12);
    if (d < -(1 << 20) || d >= 1 << 20) return damaged(l->ctx, "a reference is out of reach");
    return patch(at, 0x60ffffe0, (uint32_t)((d & 3) << 29 | ((d >> 2) & 0x7ffff) << 5));
}

static qs_status low12(uint8_t *at, int64_t target, int shift) {
    return patch(at, 0x3ffc00, (uint32_t)((target & 0xfff) >> shift << 10));
}

static qs_status apply_relocation(Load *l, uint32_t type, size_t sym, int64_t addend, uint8_t *at) {
    int64_t target = (int64_t)((uint64_t)(uintptr_t)l->addr[sym] + (uint64_t)addend);
    int64_t here = (int64_t)(intptr_t)at, d = (int64_t)((uint64_t)target - (uint64_t)here);
    int64_t slot = (int64_t)(intptr_t)l->slot[sym];
    switch (type) {
    case R_AARCH64_NONE: return QS_OK;
    case R_AARCH64_ABS64: memcpy(at, &target, 8); return QS_OK;
    case R_AARCH64_PREL64: memcpy(at, &d, 8); return QS_OK;
    case R_AARCH64_PREL32: return put32(l, at, d);
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
        if (d < -(1 << 27) || d >= 1 << 27) return damaged(l->ctx, "a call is out of reach");
        return patch(at, 0x3ffffff, (uint32_t)(d >> 2));
    case R_AARCH64_ADR_PREL_PG_HI21: return page_relative(l, target, here, at);
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC: return low12(at, target, 0);
    case R_AARCH64_LDST16_ABS_LO12_NC: return low12(at, target, 1);
    case R_AARCH64_LDST32_ABS_LO12_NC: return low12(at, target, 2);
    case R_AARCH64_LDST64_ABS_LO12_NC: return low12(at, target, 3);
    case R_AARCH64_LDST128_ABS_LO12_NC: return low12(at, target, 4);
    case R_AARCH64_ADR_GOT_PAGE:
        if (slot) return page_relative(l, slot, here, at);
        break;
    case R_AARCH64_LD64_GOT_LO12_NC:
        if (slot) return low12(at, slot, 3);
        break;
    }
    return qerr_set(l->ctx, QS_EDEVICE, "compiled kernel uses relocation %u, which is not known here", type);
}
#else
static size_t reloc_width(uint32_t type) {
    (void)type;
    return 4;
}
static qs_status apply_relocation(Load *l, uint32_t type, size_t sym, int64_t addend, uint8_t *at) {
    (void)sym, (void)addend, (void)at;
    return qerr_set(l->ctx, QS_EDEVICE, "compiled kernel uses relocation %u, which is not known here", type);
}
#endif

static qs_status relocate(Load *l) {
    for (size_t i = 0; i < l->nsections; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type != SHT_RELA || s->sh_info >= l->nsections || !l->place[s->sh_info]) continue;
        size_t room = l->sections[s->sh_info].sh_size;
        for (size_t k = 0; k < s->sh_size / sizeof(Elf64_Rela); k++) {
            Elf64_Rela r;
            memcpy(&r, l->file + s->sh_offset + k * sizeof r, sizeof r);
            size_t sym = ELF64_R_SYM(r.r_info), width = reloc_width((uint32_t)ELF64_R_TYPE(r.r_info));
            if (sym >= l->nsyms || r.r_offset > room || room - r.r_offset < width) return damaged(l->ctx, "relocation");
            if (sym && !l->addr[sym]) return damaged(l->ctx, "relocation against a section that is not loaded");
            TRY(apply_relocation(l, (uint32_t)ELF64_R_TYPE(r.r_info), sym, r.r_addend,
                                 l->place[s->sh_info] + r.r_offset));
        }
    }
    return QS_OK;
}

static void keep_symbols(Load *l) {
    ElfObject *o = l->obj;
    for (size_t i = 1; i < l->nsyms; i++)
        o->nsymbols += ELF64_ST_BIND(l->syms[i].st_info) == STB_GLOBAL && !l->slot[i] && l->addr[i];
    o->symbols = qmem_alloc(l->ctx, qmem_size(o->nsymbols, sizeof *o->symbols, 0));
    size_t k = 0;
    for (size_t i = 1; i < l->nsyms; i++) {
        if (ELF64_ST_BIND(l->syms[i].st_info) != STB_GLOBAL || l->slot[i] || !l->addr[i]) continue;
        const char *name = l->names + l->syms[i].st_name;
        o->symbols[k].name = qmem_alloc(l->ctx, strlen(name) + 1);
        memcpy(o->symbols[k].name, name, strlen(name) + 1);
        o->symbols[k++].at = l->addr[i];
    }
}

static qs_status protect(Load *l) {
    ElfObject *o = l->obj;
    if (o->code_size && mprotect(o->base, o->code_size, PROT_READ | PROT_EXEC))
        return qerr_set(l->ctx, QS_EDEVICE, "this system does not allow programs to make code at run time");
    __builtin___clear_cache((char *)o->base, (char *)o->base + o->code_size);
    return QS_OK;
}

static qs_status load_into(Load *l, ElfResolve *resolve, void *ud) {
    TRY(map_sections(l));
    TRY(resolve_symbols(l, resolve, ud));
    TRY(relocate(l));
    keep_symbols(l);
    return protect(l);
}

qs_status qelf_load(Ctx *c, const void *bytes, size_t n, ElfResolve *resolve, void *ud, ElfObject **out) {
    Load l = {.ctx = c, .file = bytes, .n = n};
    TRY(read_head(&l));
    l.obj = qmem_alloc(c, sizeof *l.obj);
    l.place = qmem_alloc(c, qmem_size(l.nsections, sizeof *l.place, 0));
    l.addr = qmem_alloc(c, qmem_size(l.nsyms, sizeof *l.addr, 0));
    l.slot = qmem_alloc(c, qmem_size(l.nsyms, sizeof *l.slot, 0));
    qs_status s = load_into(&l, resolve, ud);
    qmem_free(c, l.place, l.nsections * sizeof *l.place);
    qmem_free(c, l.addr, l.nsyms * sizeof *l.addr);
    qmem_free(c, l.slot, l.nsyms * sizeof *l.slot);
    if (s != QS_OK) qelf_unload(c, l.obj);
    else *out = l.obj;
    return s;
}

void *qelf_symbol(const ElfObject *o, const char *name) {
    for (size_t i = 0; i < o->nsymbols; i++)
        if (!strcmp(o->symbols[i].name, name)) return o->symbols[i].at;
    return NULL;
}

void qelf_unload(Ctx *c, ElfObject *o) {
    for (size_t i = 0; i < o->nsymbols; i++) qmem_free(c, o->symbols[i].name, strlen(o->symbols[i].name) + 1);
    qmem_free(c, o->symbols, o->nsymbols * sizeof *o->symbols);
    if (o->base) munmap(o->base, o->size);
    qmem_free(c, o, sizeof *o);
}
