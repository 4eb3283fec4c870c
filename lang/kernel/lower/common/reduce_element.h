/* reduce_element.h -- declares what reductions do to each element and to a result, by the columns of reduce.def. */
#ifndef LANG_REDUCE_ELEMENT_H
#define LANG_REDUCE_ELEMENT_H
#include "lang/kernel/lower/common/common.h"
#include "vm/base/reduction.h"

/* Maps the element v, a real number.  MAP_EXP and MAP_INDEX need the centre that kreduce_centre gives, and MAP_INDEX
 * the index of the element; both have the type of v. */
KRef kreduce_map(Walk *w, ReduceMap map, KRef v, KRef centre, KRef index);
/* Prepares the result of the centre's reduction for kreduce_map. */
KRef kreduce_centre(Walk *w, ReduceMap map, KRef centre);
/* Finishes a combined value; count: the number of elements, of any type. */
KRef kreduce_finish(Walk *w, const ReduceInfo *r, KRef v, KRef count, KRef centre);
#endif
