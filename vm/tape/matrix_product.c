/* matrix_product.c -- records matrix products.  Programs of small matrices record thousands of them, so their rule is
 * in C. */
#include "lang/syntax/operators.h"
#include "vm/interp/interp.h"
#include "vm/tape/tape_internal.h"

typedef struct {
    qs_value factors[2];
} Product;

static void free_product(qs_vm *vm, GradNode *n) {
    Product *p = n->data;
    for (int i = 0; i < 2; i++) qval_release(vm, p->factors[i]);
    qmem_free(qvm_ctx(vm), p, sizeof *p);
}

/* The adjoints of a*b are dy*b' and a'*dy, with the conjugate transposes of the factors. */
static qs_status reverse_product(qs_vm *vm, GradNode *n, const qs_value *dy, qs_value *dx) {
    const Product *p = n->data;
    for (int i = 0; i < 2 && dy[0].kind != QS_NIL && !qrule_is_trivial(n); i++) {
        qs_value other;
        if (!n->in[i]) continue;
        TRY(qrule_builtin(vm, "herm_transpose", 1, &p->factors[!i], &other));
        qs_status s = qops_binary(vm, OP_MUL, i ? other : dy[0], i ? dy[0] : other, &dx[i]);
        qval_release(vm, other);
        if (s != QS_OK) return s;
    }
    return QS_OK;
}

static const GradRule product_rule = {.name = "a matrix product", .reverse = reverse_product, .release = free_product};

qs_status qproduct_record(qs_vm *vm, const qs_value *in, qs_value *result) {
    GradNode unrecorded = {.data = qmem_alloc(qvm_ctx(vm), sizeof(Product))};
    Product *p = unrecorded.data;
    for (int i = 0; i < 2; i++) {
        qs_status s = qtape_keep(vm, in[i], &p->factors[i]);
        if (s != QS_OK) return free_product(vm, &unrecorded), s;
    }
    Trace *edges[2] = {qtape_edge(vm, in[0]), qtape_edge(vm, in[1])};
    qtape_record(vm, &product_rule, p, 2, edges, 1, result);
    return QS_OK;
}
