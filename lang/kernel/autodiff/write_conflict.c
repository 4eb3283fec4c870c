/* write_conflict.c -- detects array elements that several positions write with =, where the code does not show that
 * each element has one writer.
 *
 * The backward pass gives the adjoint of an element to its last write.  If two positions write one element, the order
 * is undefined, so it is an error.  Two passes check arrays whose new contents have derivatives:
 *
 *     claim    over positions    claim[element] = number of the position
 *     check    over positions    an error if the claim has the number of another position
 *
 * One position may write an element several times.  Writes without a derivative claim nothing: if all positions
 * write 0, for example, the order does not matter. */
#include "lang/kernel/autodiff/rematerialize.h"
#include "lang/kernel/ir/kir.h"
#include "lang/kernel/passes/passes.h"

#include <stdio.h>

void kconflict_find(const KFunc *f, const KActive *act, const bool *active, KGroup *group) {
    KRef first;
    for (KRef r = 1; r < f->nins && !f->serial; r++) {
        const KIns *i = &f->ins[r];
        if (i->op != K_STORE || !active[i->imm] || group[i->imm].kind || !act->live[i->b]) continue;
        group[i->imm].meets = kadjindex_owner(f, (int)i->imm, &first) == KOWN_NOT;
    }
}

/* The index in the packed array of claims; both parts of a complex element share one claim. */
static KRef claim_index(KRemat *v, const KIns *i) {
    KRef at = kadjindex_packed(v->g, v->f, i, kremat_value, v);
    if (!qdtype_is_complex((qs_dtype)v->f->params[i->imm].dtype)) return at;
    return kir_op(v->g, K_SHR, at, kir_const_int(v->g, (qs_dtype)v->g->ins[at].dtype, 1, v->g->pos));
}

static KRef position_number(KRemat *v) { /* number of the position, counted from 1 */
    KRef at = kremat_pos(v, 0);
    for (int a = 1; a < v->f->rank; a++) {
        KRef extent = kir_emit(v->g, (KMake){K_PARAM, .own = QS_I64, .imm = (uint64_t)v->s->extent[a]});
        at = kir_op(v->g, K_ADD, kir_op(v->g, K_MUL, at, extent), kremat_pos(v, a));
    }
    return kir_op(v->g, K_ADD, at, kir_int(v->g, 1));
}

static void write_claim(KRemat *v, const KIns *i) {
    const KGroup *k = &v->s->group[i->imm];
    if (!k->meets || !v->s->act.live[i->b]) return;
    kir_emit(v->g, (KMake){K_STORE, .a = claim_index(v, i), .b = position_number(v), .c = kremat_use(v, i->c),
                           .imm = (uint64_t)k->claim});
}

static void check_claim(KRemat *v, const KIns *i) {
    const KGroup *k = &v->s->group[i->imm];
    char text[280];
    if (!k->meets) return;
    KRef owner = kir_emit(v->g, (KMake){K_LOAD, .own = QS_I64, .a = claim_index(v, i), .b = kremat_use(v, i->c),
                                        .imm = (uint64_t)k->claim});
    KRef none = kir_op(v->g, K_EQ, owner, kir_int(v->g, 0));
    KRef fits = kir_op(v->g, K_OR, none, kir_op(v->g, K_EQ, owner, position_number(v)));
    snprintf(text, sizeof text,
             "kernel %.60s has no derivative here: several positions write one element of %.60s "
             "with =, and which of them is the last is not known",
             v->f->name->s, v->f->params[i->imm].name->s);
    kir_emit(v->g, (KMake){K_CHECK, .a = fits, .imm = (uint64_t)kir_message(v->g, QS_EVALUE, text)});
}

static qs_status over_positions(const KGrading *s, KVisit *visit, KFunc **out) {
    KRemat v;
    bool *wanted = qarena_alloc(s->arena, (size_t)s->nparams + 1);
    for (int p = 0; p < s->f->nparams; p++)
        if (s->group[p].meets) wanted[s->group[p].claim] = true;
    kremat_begin(&v, s);
    v.write = visit;
    kremat_iteration(&v, 1, s->f->nins);
    kir_seal(v.g);
    return *out = kdeadcode(s->ctx, s->arena, v.g, wanted, NULL), v.status;
}

qs_status kconflict_claim(const KGrading *s, KFunc **out) { return over_positions(s, write_claim, out); }
qs_status kconflict_check(const KGrading *s, KFunc **out) { return over_positions(s, check_claim, out); }
