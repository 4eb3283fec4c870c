/* solib.c -- implements solib.h: lays out and writes the ELF file. */
#include "devices/solib.h"
#include "devices/bundle.h"

#include <elf.h>
#include <string.h>

enum { S_NONE, S_HASH, S_DYNSYM, S_DYNSTR, S_RELA, S_TEXT, S_DYNAMIC, S_DATA, S_BUNDLE, S_NAMES, SECTIONS };
enum { P_CODE, P_DATA, P_BUNDLE, P_DYNAMIC, P_STACK, SEGMENTS };
static const char section_names[] =
    "\0.gnu.hash\0.dynsym\0.dynstr\0.rela.dyn\0.text\0.dynamic\0.data\0.quasar\0.shstrtab";

/* -- code ---------------------------------------------------------------------------------------------------------- */
enum { STUB = 16 };

#if defined(__aarch64__)
/* The common code, which a stub jumps to with the index of its function in w17.  It saves the argument registers at
 * sp+16 as the save area of a va_list, and makes the va_list at sp+208.  Pages may have 64 KiB. */
enum { MACHINE = EM_AARCH64, RELATIVE = R_AARCH64_RELATIVE, ADDRESS = R_AARCH64_GLOB_DAT, PAGE = 65536 };
static const uint32_t common_code[] = {
    0xa9b17bfd, 0x910003fd,                         /* stp x29, x30, [sp, -240]!; mov x29, sp */
    0xa90107e0, 0xa9020fe2, 0xa90317e4, 0xa9041fe6, /* stp x0, x1, [sp, 16] … stp x6, x7, [sp, 64] */
    0xad0287e0, 0xad038fe2, 0xad0497e4, 0xad059fe6, /* stp q0, q1, [sp, 80] … stp q6, q7, [sp, 176] */
    0x9103c3e9, 0x910143ea, 0xa90d2be9,             /* stack, gr_top: sp+240, sp+80 */
    0x910343e9, 0xf90073e9,                         /* vr_top: sp+208 */
    0x128007e9, 0x12800fea, 0x291d2be9,             /* gr_offs, vr_offs: -64, -128 */
    0x2a1103e1, 0x910343e2,                         /* mov w1, w17; add x2, sp, 208 */
    0x90000000, 0x91000000,                         /* adrp x0, SolibData; add x0, x0, its low 12 bits */
    0xf9400c09, 0xd63f0120,                         /* ldr x9, [x0, 24]: the entry function; blr x9 */
    0xa8cf7bfd, 0xd65f03c0,                         /* ldp x29, x30, [sp], 240; ret */
};
enum { ADRP = 20 };
_Static_assert(sizeof(SolibData) == 24, "the code knows where the door is");

/* bti c; mov w17, number; b common */
static void write_stub(uint8_t *at, uint32_t number, int64_t common) {
    uint32_t code[] = {0xd503245f, 0x52800011 | (number & 0xffff) << 5, 0x72a00011 | number >> 16 << 5,
                       0x14000000 | ((uint32_t)(common - 12) >> 2 & 0x3ffffff)};
    memcpy(at, code, sizeof code);
}

static void write_common(uint8_t *at, int64_t own, int64_t data) {
    uint32_t code[sizeof common_code / 4], pages = (uint32_t)((data >> 12) - ((own + ADRP * 4) >> 12));
    memcpy(code, common_code, sizeof code);
    code[ADRP] |= (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5, code[ADRP + 1] |= (uint32_t)(data & 0xfff) << 10;
    memcpy(at, code, sizeof code);
}
#else
/* The common code, which a stub jumps to with the index of its function in r11.  It saves the argument registers at rsp
 * as the save area of a va_list, and makes the va_list at rsp+176. */
enum { MACHINE = EM_X86_64, RELATIVE = R_X86_64_RELATIVE, ADDRESS = R_X86_64_GLOB_DAT, PAGE = 4096 };
static const uint8_t common_code[] = {
    0x55, 0x48, 0x89, 0xe5,                /* push rbp; mov rbp, rsp */
    0x48, 0x81, 0xec, 0xd0, 0,    0,    0, /* sub rsp, 208 */
    0x48, 0x89, 0x3c, 0x24,                /* mov [rsp], rdi */
    0x48, 0x89, 0x74, 0x24, 0x08,          /* mov [rsp+8], rsi */
    0x48, 0x89, 0x54, 0x24, 0x10,          /* mov [rsp+16], rdx */
    0x48, 0x89, 0x4c, 0x24, 0x18,          /* mov [rsp+24], rcx */
    0x4c, 0x89, 0x44, 0x24, 0x20,          /* mov [rsp+32], r8 */
    0x4c, 0x89, 0x4c, 0x24, 0x28,          /* mov [rsp+40], r9 */
    0x0f, 0x29, 0x44, 0x24, 0x30,          /* movaps [rsp+48], xmm0 … */
    0x0f, 0x29, 0x4c, 0x24, 0x40, 0x0f, 0x29, 0x54, 0x24, 0x50, 0x0f, 0x29, 0x5c, 0x24, 0x60,
    0x0f, 0x29, 0x64, 0x24, 0x70, 0x0f, 0x29, 0xac, 0x24, 0x80, 0,    0,    0,    0x0f, 0x29,
    0xb4, 0x24, 0x90, 0,    0,    0,    0x0f, 0x29, 0xbc, 0x24, 0xa0, 0,    0,    0, /* … movaps [rsp+160], xmm7 */
    0xc7, 0x84, 0x24, 0xb0, 0,    0,    0,    0,    0,    0,    0, /* gp_offset: mov dword [rsp+176], 0 */
    0xc7, 0x84, 0x24, 0xb4, 0,    0,    0,    48,   0,    0,    0, /* fp_offset: mov dword [rsp+180], 48 */
    0x48, 0x8d, 0x45, 0x10,                                        /* overflow_arg_area: lea rax, [rbp+16] */
    0x48, 0x89, 0x84, 0x24, 0xb8, 0,    0,    0,                   /* mov [rsp+184], rax */
    0x48, 0x89, 0xa4, 0x24, 0xc0, 0,    0,    0,                   /* reg_save_area: mov [rsp+192], rsp */
    0x44, 0x89, 0xde,                                              /* mov esi, r11d */
    0x48, 0x8d, 0x94, 0x24, 0xb0, 0,    0,    0,                   /* lea rdx, [rsp+176] */
    0x48, 0x8d, 0x3d, 0,    0,    0,    0,                         /* lea rdi, [rip + SolibData] */
    0xff, 0x15, 0,    0,    0,    0,                               /* call [rip + door] */
    0xc9, 0xc3,                                                    /* leave; ret */
};
enum { CALL_END = sizeof common_code - 2, LEA_END = CALL_END - 6 };

/* endbr64; mov r11d, number; jmp common */
static void write_stub(uint8_t *at, uint32_t number, int64_t common) {
    static const uint8_t head[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb};
    int32_t far = (int32_t)(common - 15);
    memset(at, 0xcc, STUB);
    memcpy(at, head, sizeof head), memcpy(at + 6, &number, 4);
    at[10] = 0xe9;
    memcpy(at + 11, &far, 4);
}

static void write_common(uint8_t *at, int64_t own, int64_t data) {
    int64_t door = data + (int64_t)sizeof(SolibData);
    int32_t to_data = (int32_t)(data - (own + LEA_END)), to_door = (int32_t)(door - (own + CALL_END));
    memcpy(at, common_code, sizeof common_code);
    memcpy(at + LEA_END - 4, &to_data, 4), memcpy(at + CALL_END - 4, &to_door, 4);
}
#endif

/* The head of .gnu.hash; the hash of each name follows. */
enum { FILTER = 16 };
typedef struct {
    uint32_t buckets, first, words, shift;
    uint64_t filter[FILTER];
    uint32_t bucket;
} __attribute__((packed)) HashHead;

/* -- layout: file offsets, which are addresses, too ---------------------------------------------------------------- */
/* Rounds n up to a section alignment, where 0 and 1 mean none. */
static uint64_t round_up(uint64_t n, uint64_t to) { return to > 1 ? (n + to - 1) / to * to : n; }

static Elf64_Phdr make_segment(uint32_t type, uint32_t flags, uint64_t from, uint64_t to) {
    return (Elf64_Phdr){.p_type = type,
                        .p_flags = flags,
                        .p_offset = from,
                        .p_vaddr = from,
                        .p_paddr = from,
                        .p_filesz = to - from,
                        .p_memsz = to - from,
                        .p_align = type == PT_LOAD ? PAGE : 8};
}

typedef struct {
    const Solib *s;
    Text names; /* .dynstr */
    uint64_t hash, hash_end, symbols, strings, rela;
    uint64_t code, code_end, dynamic, data, door, data_end, sections, bundle, end;
} Plan;

enum { DYNAMICS = 13 /* including the terminator */, RELOCATIONS = 2 };
enum { FIRST = 2 /* symbol index of the first function, after the null symbol and the entry function */ };

static uint32_t add_name(Plan *p, const char *name) {
    uint32_t at = (uint32_t)p->names.len;
    qtext_add(&p->names, name, strlen(name) + 1);
    return at;
}

static void lay_out(Plan *p) {
    p->hash = sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr);
    p->hash_end = p->hash + sizeof(HashHead) + p->s->nnames * sizeof(uint32_t);
    p->symbols = round_up(p->hash_end, 8);
    p->strings = p->symbols + (p->s->nnames + FIRST) * sizeof(Elf64_Sym);
    p->rela = round_up(p->strings + p->names.len, 8);
    p->code = round_up(p->rela + RELOCATIONS * sizeof(Elf64_Rela), 64);
    p->code_end = p->code + p->s->nnames * (uint64_t)STUB + sizeof common_code;
    p->dynamic = round_up(p->code_end, PAGE);
    p->data = p->dynamic + DYNAMICS * sizeof(Elf64_Dyn);
    p->door = p->data + sizeof(SolibData);
    p->data_end = p->door + sizeof(void *);
    p->sections = p->data_end;
    p->bundle = round_up(p->sections + SECTIONS * sizeof(Elf64_Shdr) + sizeof section_names, PAGE);
    p->end = p->bundle + p->s->bundle->len;
}

/* -- parts --------------------------------------------------------------------------------------------------------- */
static void write_head(const Plan *p, uint8_t *at) {
    Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                    .e_type = ET_DYN,
                    .e_machine = MACHINE,
                    .e_version = EV_CURRENT,
                    .e_phoff = sizeof h,
                    .e_shoff = p->sections,
                    .e_ehsize = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = SEGMENTS,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = SECTIONS,
                    .e_shstrndx = S_NAMES};
    memcpy(at, &h, sizeof h);
}

static void write_segments(const Plan *p, uint8_t *at) {
    Elf64_Phdr h[SEGMENTS] = {
        [P_CODE] = make_segment(PT_LOAD, PF_R | PF_X, 0, p->code_end),
        [P_DATA] = make_segment(PT_LOAD, PF_R | PF_W, p->dynamic, p->data_end),
        [P_BUNDLE] = make_segment(PT_LOAD, PF_R, p->bundle, p->end),
        [P_DYNAMIC] = make_segment(PT_DYNAMIC, PF_R | PF_W, p->dynamic, p->data),
        [P_STACK] = make_segment(PT_GNU_STACK, PF_R | PF_W, 0, 0),
    };
    memcpy(at + sizeof(Elf64_Ehdr), h, sizeof h);
}

static uint32_t hash_of(const char *name) {
    uint32_t h = 5381;
    for (; *name; name++) h = h * 33 + (uint8_t)*name;
    return h;
}

/* Writes .gnu.hash with one chain for all symbols.  The loader looks up each symbol of each library in the process
 * here, and the Bloom filter rejects nearly all names that are not ours. */
static void write_hash(const Plan *p, uint8_t *at) {
    HashHead head = {.buckets = 1, .first = FIRST, .words = FILTER, .shift = 6, .bucket = FIRST};
    for (uint32_t i = 0; i < p->s->nnames; i++) {
        uint32_t h = hash_of(p->s->names[i]), chain = (h & ~1u) | (i + 1 == p->s->nnames); /* 1: the last */
        head.filter[h / 64 % FILTER] |= UINT64_C(1) << h % 64 | UINT64_C(1) << (h >> head.shift) % 64;
        memcpy(at + p->hash + sizeof head + i * sizeof chain, &chain, sizeof chain);
    }
    memcpy(at + p->hash, &head, sizeof head);
}

static void write_symbols(const Plan *p, uint8_t *at, const uint32_t *name, uint32_t door) {
    Elf64_Sym *s = (void *)(at + p->symbols);
    s[1] = (Elf64_Sym){.st_name = door, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = SHN_UNDEF};
    for (uint32_t i = 0; i < p->s->nnames; i++)
        s[2 + i] = (Elf64_Sym){.st_name = name[i],
                               .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                               .st_shndx = S_TEXT,
                               .st_value = p->code + i * (uint64_t)STUB,
                               .st_size = STUB};
}

static void write_code(const Plan *p, uint8_t *at) {
    uint64_t common = p->code + p->s->nnames * (uint64_t)STUB;
    for (uint32_t i = 0; i < p->s->nnames; i++) {
        uint64_t own = p->code + i * (uint64_t)STUB;
        write_stub(at + own, i, (int64_t)(common - own));
    }
    write_common(at + common, (int64_t)common, (int64_t)p->data);
}

static void write_data(const Plan *p, uint8_t *at) {
    SolibData d = {.n = p->s->bundle->len - sizeof(BundleTrailer)};
    Elf64_Rela r[RELOCATIONS] = {
        {.r_offset = p->data, .r_info = ELF64_R_INFO(0, RELATIVE), .r_addend = (int64_t)p->bundle},
        {.r_offset = p->door, .r_info = ELF64_R_INFO(1, ADDRESS), .r_addend = 0}};
    memcpy(at + p->data, &d, sizeof d);
    memcpy(at + p->rela, r, sizeof r);
}

static void write_dynamic(const Plan *p, uint8_t *at, uint32_t soname, uint32_t needed, uint32_t runpath) {
    Elf64_Dyn d[DYNAMICS] = {{DT_NEEDED, {needed}},
                             {DT_SONAME, {soname}},
                             {DT_RUNPATH, {runpath}},
                             {DT_GNU_HASH, {p->hash}},
                             {DT_FLAGS_1, {DF_1_NODELETE}},
                             {DT_STRTAB, {p->strings}},
                             {DT_SYMTAB, {p->symbols}},
                             {DT_STRSZ, {p->names.len}},
                             {DT_SYMENT, {sizeof(Elf64_Sym)}},
                             {DT_RELA, {p->rela}},
                             {DT_RELASZ, {RELOCATIONS * sizeof(Elf64_Rela)}},
                             {DT_RELAENT, {sizeof(Elf64_Rela)}}};
    memcpy(at + p->dynamic, d, sizeof d);
}

static Elf64_Shdr section(uint32_t type, uint64_t flags, uint64_t from, uint64_t to, uint64_t row) {
    return (Elf64_Shdr){.sh_type = type,
                        .sh_flags = flags,
                        .sh_addr = flags & SHF_ALLOC ? from : 0,
                        .sh_offset = from,
                        .sh_size = to - from,
                        .sh_entsize = row,
                        .sh_addralign = 8};
}

static void write_sections(const Plan *p, uint8_t *at) {
    uint64_t names = p->sections + SECTIONS * sizeof(Elf64_Shdr);
    Elf64_Shdr h[SECTIONS] = {
        [S_HASH] = section(SHT_GNU_HASH, SHF_ALLOC, p->hash, p->hash_end, 0),
        [S_DYNSYM] = section(SHT_DYNSYM, SHF_ALLOC, p->symbols, p->strings, sizeof(Elf64_Sym)),
        [S_DYNSTR] = section(SHT_STRTAB, SHF_ALLOC, p->strings, p->strings + p->names.len, 0),
        [S_RELA] =
            section(SHT_RELA, SHF_ALLOC, p->rela, p->rela + RELOCATIONS * sizeof(Elf64_Rela), sizeof(Elf64_Rela)),
        [S_TEXT] = section(SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, p->code, p->code_end, 0),
        [S_DYNAMIC] = section(SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, p->dynamic, p->data, sizeof(Elf64_Dyn)),
        [S_DATA] = section(SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, p->data, p->data_end, 0),
        [S_BUNDLE] = section(SHT_PROGBITS, SHF_ALLOC, p->bundle, p->end, 0),
        [S_NAMES] = section(SHT_STRTAB, 0, names, names + sizeof section_names, 0)};
    h[S_HASH].sh_link = h[S_RELA].sh_link = S_DYNSYM, h[S_DYNSYM].sh_link = h[S_DYNAMIC].sh_link = S_DYNSTR;
    h[S_DYNSYM].sh_info = 1; /* index of the first symbol that is not local */
    const char *name = section_names;
    for (int i = 0; i < SECTIONS; i++, name += strlen(name) + 1) h[i].sh_name = (uint32_t)(name - section_names);
    memcpy(at + p->sections, h, sizeof h);
    memcpy(at + names, section_names, sizeof section_names);
}

static void write_all(Plan *p, Text *out, const uint32_t *name) {
    uint32_t door = name[p->s->nnames], soname = name[p->s->nnames + 1], needed = name[p->s->nnames + 2];
    lay_out(p);
    qtext_pad(out, 0, p->bundle);
    qtext_add(out, p->s->bundle->s, p->s->bundle->len);
    if (out->lost) return;
    uint8_t *at = (uint8_t *)out->s;
    write_head(p, at), write_segments(p, at), write_hash(p, at), write_symbols(p, at, name, door);
    memcpy(at + p->strings, p->names.s, p->names.len);
    write_code(p, at), write_data(p, at), write_dynamic(p, at, soname, needed, name[p->s->nnames + 3]);
    write_sections(p, at);
}

/* $ORIGIN in the run path allows libquasar.so to be in the same folder.  The library is never unloaded
 * (DF_1_NODELETE), because its VM may have threads, and others may hold views of its arrays. */
qs_status qsolib_write(Ctx *c, const Solib *s, Text *out) {
#if !defined(__x86_64__) && !defined(__aarch64__)
    (void)s, (void)out;
    return qerr_set(c, QS_EDEVICE, "shared objects can be made on x86-64 and aarch64 only");
#else
    Plan p = {.s = s};
    uint32_t *name = qmem_alloc(c, qmem_size(s->nnames + 4, sizeof *name, 0));
    qtext_init(&p.names, c);
    qtext_putc(&p.names, 0);
    for (uint32_t i = 0; i < s->nnames; i++) name[i] = add_name(&p, s->names[i]);
    name[s->nnames] = add_name(&p, s->door), name[s->nnames + 1] = add_name(&p, s->soname);
    name[s->nnames + 2] = add_name(&p, s->needed), name[s->nnames + 3] = add_name(&p, "$ORIGIN");
    write_all(&p, out, name);
    qtext_free(&p.names);
    qmem_free(c, name, (s->nnames + 4) * sizeof *name);
    return qtext_status(out);
#endif
}
