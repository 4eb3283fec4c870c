/* elf_shared.h -- helpers for writing shared objects, used by solib.c (programs and libraries) and amd.c (code of AMD
 * devices).  In both, file offsets and addresses are equal. */
#ifndef DEVICES_ELF_SHARED_H
#define DEVICES_ELF_SHARED_H
#include <elf.h>
#include <stdint.h>

/* Rounds n up to a section alignment, where 0 and 1 mean none. */
static inline uint64_t qelf_up(uint64_t n, uint64_t to) { return to > 1 ? (n + to - 1) / to * to : n; }

static inline Elf64_Phdr qelf_segment(uint32_t type, uint32_t flags, uint64_t from, uint64_t to, uint64_t page) {
    return (Elf64_Phdr){.p_type = type,
                        .p_flags = flags,
                        .p_offset = from,
                        .p_vaddr = from,
                        .p_paddr = from,
                        .p_filesz = to - from,
                        .p_memsz = to - from,
                        .p_align = type == PT_LOAD ? page : 8};
}
#endif
