// Notes which functions a process enters, in the order of their first entries, for tools/count.py: preloaded into a
// program built with -finstrument-functions, it writes a line "object offset" for each into the file $ENTERED.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define UNSEEN __attribute__((no_instrument_function))
enum { SLOTS = 1 << 16 }; // many more than there are functions, so that the search below always ends

static _Atomic(void *) seen[SLOTS]; // a hash table that only grows: threads enter functions side by side
static void *order[SLOTS];
static atomic_uint count;

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

UNSEEN void __cyg_profile_func_enter(void *function, void *caller) {
  (void)caller;
  for (uintptr_t at = (uintptr_t)function >> 2;; at++) {
    void *there = atomic_load_explicit(&seen[at % SLOTS], memory_order_relaxed);
    if (!there && atomic_compare_exchange_strong(&seen[at % SLOTS], &there, function))
      order[atomic_fetch_add(&count, 1)] = there = function;
    if (there == function)
      return;
  }
}

UNSEEN void __cyg_profile_func_exit(void *function, void *caller) {
  (void)function;
  (void)caller;
}

UNSEEN __attribute__((destructor)) static void report(void) {
  const char *path = getenv("ENTERED");
  FILE *file = path ? fopen(path, "w") : NULL;
  Dl_info of;
  for (unsigned i = 0; file && i < count; i++)
    if (dladdr(order[i], &of))
      fprintf(file, "%s %tx\n", of.dli_fname, (char *)order[i] - (char *)of.dli_fbase);
  if (file)
    fclose(file);
}
