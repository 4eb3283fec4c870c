/* amd.c -- see amd.h.
 *
 *   file, which is as it lies in memory:
 *     ELF head, segments | metadata of kernels (.note) | symbols, their hash, names | constants, descriptors     read
 *     machine code                                                                                      read, execute
 *     .dynamic                                                                                            read, write
 *     section headers, their names                                                                         not loaded
 *
 * Symbols are in the tables twice, by the same bytes: AMD's loader takes .symtab, other tools .dynsym. */
#include "devices/amd.h"
#include "devices/elf_shared.h"

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

/* -- the object ---------------------------------------------------------------------------------------------------- */
enum { CODE_ALIGN = 256, MOST_SYMBOLS = 8, PAGE = 4096, MACHINE = 224 /* EM_AMDGPU */ };
enum { S_NONE, S_NOTE, S_DYNSYM, S_HASH, S_DYNSTR, S_DATA, S_TEXT, S_DYNAMIC, S_SYMTAB, S_NAMES, SECTIONS };
enum { P_READ, P_CODE, P_WRITE, P_DYNAMIC, P_NOTE, SEGMENTS };
enum { DYNAMICS = 6 /* the last ends them */ };
static const char section_names[] = "\0.note\0.dynsym\0.hash\0.dynstr\0.rodata\0.text\0.dynamic\0.symtab\0.shstrtab";

typedef struct {
    Ctx *ctx;
    const uint8_t *file;
    size_t n;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *sections;
    const Elf64_Sym *symbols;
    size_t nsymbols;
    const char *names;
    size_t names_size;
    uint64_t *at;                       /* where each section goes; 0: nowhere */
    size_t shown[MOST_SYMBOLS], nshown; /* symbols that the code object has */
    uint64_t note, note_end, dynsym, hash, strings, strings_end, data, data_end, code, code_end, dynamic, dynamic_end;
    uint64_t end;
} Link;

static qs_status damaged(Ctx *c, const char *what) {
    return qerr_set(c, QS_EDEVICE, "code for an AMD device is damaged: %s", what);
}

static qs_status read_sections(Link *l) {
    const Elf64_Shdr *symtab = NULL;
    for (size_t i = 0; i < l->head->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type != SHT_NOBITS && (s->sh_offset > l->n || s->sh_size > l->n - s->sh_offset))
            return damaged(l->ctx, "section bounds");
        if (s->sh_addralign & (s->sh_addralign - 1) || s->sh_addralign > PAGE)
            return damaged(l->ctx, "section alignment");
        if (s->sh_type == SHT_SYMTAB) symtab = s;
    }
    if (!symtab || symtab->sh_offset % 8 || symtab->sh_link >= l->head->e_shnum) return damaged(l->ctx, "symbols");
    const Elf64_Shdr *names = &l->sections[symtab->sh_link];
    l->symbols = (const void *)(l->file + symtab->sh_offset), l->nsymbols = symtab->sh_size / sizeof(Elf64_Sym);
    l->names = (const char *)l->file + names->sh_offset, l->names_size = names->sh_size;
    bool ended = names->sh_type == SHT_STRTAB && names->sh_size && !l->names[l->names_size - 1];
    return ended ? QS_OK : damaged(l->ctx, "names of symbols");
}

static qs_status read_object(Link *l) {
    l->head = (const void *)l->file;
    if (l->n < sizeof *l->head || memcmp(l->head->e_ident, ELFMAG, SELFMAG)) return damaged(l->ctx, "not an ELF file");
    if (l->head->e_machine != MACHINE || l->head->e_type != ET_REL) return damaged(l->ctx, "for another machine");
    uint64_t room = l->head->e_shnum * sizeof(Elf64_Shdr);
    if (l->head->e_shentsize != sizeof(Elf64_Shdr) || l->head->e_shoff % 8 || l->head->e_shoff > l->n ||
        room > l->n - l->head->e_shoff)
        return damaged(l->ctx, "section table");
    l->sections = (const void *)(l->file + l->head->e_shoff);
    return read_sections(l);
}

/* -- where everything goes ----------------------------------------------------------------------------------------- */

static bool is_note(const Elf64_Shdr *s) { return s->sh_type == SHT_NOTE; }
static bool is_code(const Elf64_Shdr *s) { return s->sh_flags & SHF_ALLOC && s->sh_flags & SHF_EXECINSTR; }
static bool is_data(const Elf64_Shdr *s) { return s->sh_flags & SHF_ALLOC && !is_code(s) && !is_note(s); }

static uint64_t place(Link *l, uint64_t at, bool (*is)(const Elf64_Shdr *)) {
    for (size_t i = 1; i < l->head->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (!s->sh_size || !is(s)) continue;
        l->at[i] = qelf_up(at, s->sh_addralign);
        at = l->at[i] + s->sh_size;
    }
    return at;
}

static const char *name_of(const Link *l, const Elf64_Sym *s) {
    return s->st_name < l->names_size ? l->names + s->st_name : "";
}

/* What others may see: the kernel, and its descriptor. */
static qs_status choose_symbols(Link *l) {
    for (size_t i = 1; i < l->nsymbols; i++) {
        const Elf64_Sym *s = &l->symbols[i];
        if (ELF64_ST_BIND(s->st_info) == STB_LOCAL || !*name_of(l, s) || s->st_shndx >= SHN_LORESERVE) continue;
        if (s->st_shndx == SHN_UNDEF)
            return qerr_set(l->ctx, QS_EDEVICE, "code for an AMD device needs `%s`, which nobody has", name_of(l, s));
        if (s->st_shndx >= l->head->e_shnum || l->nshown == MOST_SYMBOLS) return damaged(l->ctx, "its symbols");
        l->shown[l->nshown++] = i;
    }
    return QS_OK;
}

static qs_status lay_out(Link *l) {
    for (size_t i = 1; i < l->head->e_shnum; i++)
        if (l->sections[i].sh_size && l->sections[i].sh_flags & SHF_ALLOC &&
            (l->sections[i].sh_flags & SHF_WRITE || l->sections[i].sh_type == SHT_NOBITS))
            return damaged(l->ctx, "it has data that are written");
    TRY(choose_symbols(l));
    l->note = sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr);
    l->note_end = place(l, l->note, is_note);
    l->dynsym = qelf_up(l->note_end, 8);
    l->hash = l->dynsym + (l->nshown + 1) * sizeof(Elf64_Sym);
    l->strings = l->strings_end = l->hash + (2 + 1 + l->nshown + 1) * sizeof(uint32_t);
    for (size_t i = 0; i < l->nshown; i++)
        l->strings_end += (i == 0) + strlen(name_of(l, &l->symbols[l->shown[i]])) + 1;
    l->data = qelf_up(l->strings_end, 64), l->data_end = place(l, l->data, is_data);
    l->code = qelf_up(qelf_up(l->data_end, PAGE), CODE_ALIGN), l->code_end = place(l, l->code, is_code);
    l->dynamic = qelf_up(l->code_end, PAGE), l->dynamic_end = l->dynamic + DYNAMICS * sizeof(Elf64_Dyn);
    l->end = l->dynamic_end + SECTIONS * sizeof(Elf64_Shdr) + sizeof section_names;
    return QS_OK;
}

/* -- references ---------------------------------------------------------------------------------------------------- */
/* Of the ABI of AMDGPU: a difference of addresses, all of it or half. */
enum { R_REL32 = 4, R_REL64 = 5, R_REL32_LO = 10, R_REL32_HI = 11 };

static qs_status apply(Link *l, uint8_t *file, const Elf64_Shdr *place_of, const Elf64_Rela *r) {
    uint32_t type = ELF64_R_TYPE(r->r_info);
    size_t number = ELF64_R_SYM(r->r_info), size = type == R_REL64 ? 8 : 4;
    const Elf64_Sym *s = number < l->nsymbols ? &l->symbols[number] : NULL;
    uint64_t to = s && s->st_shndx < l->head->e_shnum ? l->at[s->st_shndx] : 0;
    if (!to || r->r_offset > place_of->sh_size || size > place_of->sh_size - r->r_offset)
        return damaged(l->ctx, "a reference");
    uint64_t from = l->at[place_of - l->sections] + r->r_offset;
    uint64_t far = to + s->st_value + (uint64_t)r->r_addend - from, low = type == R_REL32_HI ? far >> 32 : far;
    if (type != R_REL32 && type != R_REL64 && type != R_REL32_LO && type != R_REL32_HI)
        return qerr_set(l->ctx, QS_EDEVICE, "code for an AMD device uses relocation %u, which is not known here", type);
    memcpy(file + from, &low, size);
    return QS_OK;
}

static qs_status apply_all(Link *l, uint8_t *file) {
    for (size_t i = 1; i < l->head->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type == SHT_REL) return damaged(l->ctx, "a table of references");
        if (s->sh_type != SHT_RELA || s->sh_info >= l->head->e_shnum || !l->at[s->sh_info]) continue;
        if (s->sh_offset % 8) return damaged(l->ctx, "a table of references");
        const Elf64_Rela *r = (const void *)(l->file + s->sh_offset);
        for (size_t k = 0; k < s->sh_size / sizeof *r; k++) TRY(apply(l, file, &l->sections[s->sh_info], &r[k]));
    }
    return QS_OK;
}

/* -- parts --------------------------------------------------------------------------------------------------------- */
static void write_head(const Link *l, uint8_t *file) {
    Elf64_Ehdr h = *l->head; /* the kind of device is in its flags */
    h.e_type = ET_DYN, h.e_phoff = sizeof h, h.e_phentsize = sizeof(Elf64_Phdr), h.e_phnum = SEGMENTS;
    h.e_shoff = l->dynamic_end, h.e_shnum = SECTIONS, h.e_shstrndx = S_NAMES;
    memcpy(file, &h, sizeof h);
}

static void write_segments(const Link *l, uint8_t *file) {
    Elf64_Phdr h[SEGMENTS] = {
        [P_READ] = qelf_segment(PT_LOAD, PF_R, 0, l->data_end, PAGE),
        [P_CODE] = qelf_segment(PT_LOAD, PF_R | PF_X, l->code, l->code_end, PAGE),
        [P_WRITE] = qelf_segment(PT_LOAD, PF_R | PF_W, l->dynamic, l->dynamic_end, PAGE),
        [P_DYNAMIC] = qelf_segment(PT_DYNAMIC, PF_R | PF_W, l->dynamic, l->dynamic_end, PAGE),
        [P_NOTE] = qelf_segment(PT_NOTE, PF_R, l->note, l->note_end, PAGE),
    };
    h[P_NOTE].p_align = 4;
    memcpy(file + sizeof(Elf64_Ehdr), h, sizeof h);
}

/* One bucket: all symbols after another. */
static void write_symbols(const Link *l, uint8_t *file) {
    Elf64_Sym *to = (void *)(file + l->dynsym);
    uint32_t *hash = (void *)(file + l->hash), n = (uint32_t)l->nshown;
    hash[0] = 1, hash[1] = n + 1, hash[2] = n ? 1 : 0;
    uint64_t name = l->strings + 1;
    for (uint32_t i = 0; i < n; i++) {
        const Elf64_Sym *s = &l->symbols[l->shown[i]];
        size_t len = strlen(name_of(l, s)) + 1;
        to[i + 1] = *s;
        to[i + 1].st_name = (uint32_t)(name - l->strings), to[i + 1].st_value += l->at[s->st_shndx];
        to[i + 1].st_shndx = is_code(&l->sections[s->st_shndx]) ? S_TEXT : S_DATA;
        memcpy(file + name, name_of(l, s), len), name += len;
        hash[3 + i + 1] = i + 1 < n ? i + 2 : 0;
    }
}

static void write_dynamic(const Link *l, uint8_t *file) {
    Elf64_Dyn d[DYNAMICS] = {{DT_SYMTAB, {l->dynsym}},
                             {DT_SYMENT, {sizeof(Elf64_Sym)}},
                             {DT_STRTAB, {l->strings}},
                             {DT_STRSZ, {l->strings_end - l->strings}},
                             {DT_HASH, {l->hash}}};
    memcpy(file + l->dynamic, d, sizeof d);
}

static Elf64_Shdr section(uint32_t type, uint64_t flags, uint64_t from, uint64_t to, uint64_t row) {
    return (Elf64_Shdr){.sh_type = type,
                        .sh_flags = flags,
                        .sh_addr = flags & SHF_ALLOC ? from : 0,
                        .sh_offset = from,
                        .sh_size = to - from,
                        .sh_entsize = row,
                        .sh_addralign = type == SHT_NOTE ? 4 : 8};
}

static void write_sections(const Link *l, uint8_t *file) {
    uint64_t names = l->dynamic_end + SECTIONS * sizeof(Elf64_Shdr);
    Elf64_Shdr h[SECTIONS] = {
        [S_NOTE] = section(SHT_NOTE, SHF_ALLOC, l->note, l->note_end, 0),
        [S_DYNSYM] = section(SHT_DYNSYM, SHF_ALLOC, l->dynsym, l->hash, sizeof(Elf64_Sym)),
        [S_HASH] = section(SHT_HASH, SHF_ALLOC, l->hash, l->strings, sizeof(uint32_t)),
        [S_DYNSTR] = section(SHT_STRTAB, SHF_ALLOC, l->strings, l->strings_end, 0),
        [S_DATA] = section(SHT_PROGBITS, SHF_ALLOC, l->data, l->data_end, 0),
        [S_TEXT] = section(SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, l->code, l->code_end, 0),
        [S_DYNAMIC] = section(SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, l->dynamic, l->dynamic_end, sizeof(Elf64_Dyn)),
        [S_SYMTAB] = section(SHT_SYMTAB, 0, l->dynsym, l->hash, sizeof(Elf64_Sym)),
        [S_NAMES] = section(SHT_STRTAB, 0, names, names + sizeof section_names, 0)};
    h[S_HASH].sh_link = S_DYNSYM, h[S_DYNSYM].sh_link = h[S_SYMTAB].sh_link = h[S_DYNAMIC].sh_link = S_DYNSTR;
    h[S_DYNSYM].sh_info = h[S_SYMTAB].sh_info = 1; /* the first that is not local */
    h[S_TEXT].sh_addralign = CODE_ALIGN, h[S_DATA].sh_addralign = 64;
    const char *name = section_names;
    for (int i = 0; i < SECTIONS; i++, name += strlen(name) + 1) h[i].sh_name = (uint32_t)(name - section_names);
    memcpy(file + l->dynamic_end, h, sizeof h);
    memcpy(file + names, section_names, sizeof section_names);
}

static qs_status write_all(Link *l, Text *out) {
    size_t before = out->len;
    Text file;
    qtext_init(&file, l->ctx);
    qtext_pad(&file, 0, l->end);
    qs_status s = qtext_status(&file);
    uint8_t *at = (uint8_t *)file.s;
    for (size_t i = 1; s == QS_OK && i < l->head->e_shnum; i++)
        if (l->at[i]) memcpy(at + l->at[i], l->file + l->sections[i].sh_offset, l->sections[i].sh_size);
    if (s == QS_OK) s = apply_all(l, at);
    if (s == QS_OK) {
        write_head(l, at), write_segments(l, at), write_symbols(l, at), write_dynamic(l, at), write_sections(l, at);
        qtext_add(out, file.s, file.len);
    } else out->len = before;
    qtext_free(&file);
    return s == QS_OK ? qtext_status(out) : s;
}

qs_status qamd_link(Ctx *c, const void *object, size_t n, Text *out) {
    Link l = {.ctx = c, .file = object, .n = n};
    TRY(read_object(&l));
    l.at = qmem_alloc(c, qmem_size(l.head->e_shnum + 1u, sizeof *l.at, 0));
    qs_status s = lay_out(&l);
    if (s == QS_OK) s = write_all(&l, out);
    qmem_free(c, l.at, (l.head->e_shnum + 1u) * sizeof *l.at);
    return s;
}
