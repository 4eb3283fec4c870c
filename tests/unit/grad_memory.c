/* A failure while operations are recorded for a derivative leaks nothing: each allocation of an array fails in turn, so
 * a built-in with several results also fails after the first was made, and a repetition holds as many bytes. */
#include "devices/pool.h"
#include "tests/unit/check.h"
#include "vm/quasar.h"
#include "vm/tape/tape.h"
#include "vm/value/object.h"

static const char programs[] =
    "type pair : class\n a : vec[float64]\n b : scalar\nend\n"
    "function [] = __kernel__ both(x : vec[float64], y : vec[float64], z : vec[float64], n : int, pos : int)\n"
    " y[pos] = x[pos]^2\n z[n*pos] = y[pos]\nend\n"
    "{!adjoint twice_rule}\n"
    "function [y, z] = twice(x)\n y = 2*x\n z = x + 1\n if x[0] > 3\n  error(\"too large\")\n end\nend\n"
    "function dx = twice_rule(x, y, z, dy, dz)\n dx = 2*dy + dz\nend\n"
    "function m = square(x)\n m = transpose(x)*x + diag([1,2,3])\nend\n"
    "function [a, b, c] = three(x)\n a = x + 1\n b = {a, x}\n c = pair(a:=x, b:=1)\nend\n"
    "x = float64([1.5,0.5,2.5])\n"
    /* several results of built-ins */
    "function s = of_meshgrid(x)\n [a, b] = meshgrid(x, x)\n s = sum(a.*b)\nend\n"
    "function s = of_sort(x)\n [a, b] = sort(x)\n s = sum(a.*b)\nend\n"
    "function s = of_max(x)\n [a, b] = max(square(x), [], 0)\n s = sum(a.*b)\nend\n"
    "function s = of_unique(x)\n [a, b, c, d] = unique(x)\n s = sum(a.*b)\nend\n"
    "function s = of_histogram(x)\n [a, b] = histogram(x, 4)\n s = sum(b.^2)\nend\n"
    "function s = of_qr(x)\n [q, r] = qr(square(x))\n s = sum(q.*r)\nend\n"
    "function s = of_svd(x)\n [u, s, v] = svd(square(x))\n s = sum(u.*v) + sum(s)\nend\n"
    "function s = of_symeig(x)\n [v, d] = symeig(square(x))\n s = sum(v) + sum(d)\nend\n"
    "function s = of_eig(x)\n [v, d] = eig(square(x))\n s = real(sum(d.^2))\nend\n"
    "function s = of_solve(x)\n [y, f] = solve(square(x), transpose(x))\n s = sum(solve_back(square(x), y, f))\nend\n"
    "function s = of_chol(x)\n [r, p] = chol_ex(square(x))\n s = sum(r)\nend\n"
    /* several results of nested functions; kernels with two outputs */
    "function s = of_three(x)\n [a, b, c] = three(x)\n [d, b, c] = three(a)\n s = sum(d) + sum(b[0]) + sum(c.a)\nend\n"
    "function s = of_twice(x)\n [a, b] = twice(x)\n [a, b] = twice(a/2)\n s = sum(a) + sum(b)\nend\n"
    "function s = of_kernel(x)\n y = zeros_like(x)\n z = zeros_like(x)\n parallel_do(3, x, y, z, 1, both)\n"
    " s = sum(y) + sum(z)\nend\n"
    "function s = of_loop(x)\n z = zeros_like(x)\n for i = 0..2\n  z[i] = x[i]^2\n end\n s = sum(sin(z).*z)\nend\n"
    "function s = of_checkpoint(x)\n c = checkpoint(u -> sort(u).*u)\n s = sum(c(c(x)))\nend\n"
    "function s = of_several(x)\n [a, b] = grad((u, v) -> sum(sort(u).*v), x, 2*x)\n"
    " [y, p, q] = value_and_grad((u, v) -> sum(u.*v), x, a)\n s = sum(p) + sum(q) + y + sum(b)\nend\n"
    "function s = of_pull(x)\n [y, pull] = vjp((u, v) -> transpose(u)*v, x, 2*x)\n [a, b] = pull(y)\n"
    " [y, t] = jvp((u, v) -> u.*v, {x, a}, {b, x})\n s = sum(a.*b) + sum(t)\nend\n"
    "function s = of_tree(x)\n g = grad(c -> sum(c[0].*c[1]), {x, 2*x})\n s = sum(g[0].*g[1])\n"
    " s += sum(jacobian(u -> u.*x, x)) + sum(hessian(u -> sum(u.^3), x))\nend\n"
    "function s = of_views(x)\n y = reversed(x.*x)\n s = sum(y.*reversed(y))\n"
    " [_, pull] = vjp((u, v, w) -> u + v, x, y, x)\n [a, b, c] = pull(x)\n s += sum(a.*b + c)\nend\n"
    "function s = nested(x)\n s = grad(u -> of_sort(x*u) + u, 2.0) + sum(hvp(of_twice, x, x))\nend\n"
    /* errors of the program after results were made */
    "function s = too_large(x)\n [a, b] = twice(4*x)\n s = sum(a) + sum(b)\nend\n"
    "function s = beyond(x)\n y = zeros_like(x)\n z = zeros_like(x)\n parallel_do(3, x, y, z, 9, both)\n"
    " s = sum(y)\n z[7] = s\nend\n"
    "function s = misfit(x)\n s = sum(x)\n [y, pull] = vjp(twice, x)\n s = sum(pull([1,2]))\nend\n";

/* All elements of a vector, last first, as Python views them. */
static qs_status reversed(qs_vm *vm, void *p, qs_call_args *c) {
    Array *a = qval_array(c->in[0]), *view;
    (void)p;
    TRY(qhook_view(vm, a, 1, a->dims, (int64_t[]){-1}, a->offset + a->count - 1, &view));
    return c->out[0] = qarr_value(view), QS_OK;
}
static const qs_foreign_type reversed_type = {.name = "reversed", .call = reversed};

static const char *const succeed[] = {
    "of_meshgrid", "of_sort",       "of_max",     "of_unique", "of_histogram", "of_qr",    "of_svd",
    "of_symeig",   "of_eig",        "of_solve",   "of_chol",   "of_three",     "of_twice", "of_kernel",
    "of_loop",     "of_checkpoint", "of_several", "of_pull",   "of_tree",      "of_views", "nested"};
static const char *const fail[] = {"too_large", "beyond", "misfit"};

static qs_status attempt(qs_vm *vm, const char *name, long fail_after, long *left) {
    qs_value in[2], out = qs_nil(), grad;
    CHECK(qs_global(vm, "grad", &grad) == QS_OK && qs_global(vm, name, &in[0]) == QS_OK);
    CHECK(qs_global(vm, "x", &in[1]) == QS_OK);
    qpool_drain(qvm_ctx(vm)); /* every block is requested from the system */
    qvm_ctx(vm)->fail_after = fail_after;
    qs_status s = qs_call(vm, grad, 2, in, 1, &out);
    *left = qvm_ctx(vm)->fail_after;
    qvm_ctx(vm)->fail_after = -1;
    if (s == QS_OK) qs_release(vm, out);
    qs_error_clear(vm);
    qs_release(vm, in[0]), qs_release(vm, in[1]), qs_release(vm, grad);
    qpool_drain(qvm_ctx(vm));
    return s;
}

/* A repetition takes no more memory, except for caches, which are filled once. */
static qs_status again(qs_vm *vm, const char *name, long fail_after, long *left) {
    qs_status s = attempt(vm, name, fail_after, left);
    long more = 1;
    for (int i = 0; i < 3 && more; i++) {
        size_t held = qvm_ctx(vm)->bytes;
        s = attempt(vm, name, fail_after, left);
        more = (long)(qvm_ctx(vm)->bytes - held);
    }
    CHECK(more == 0);
    if (more) printf("  %s, allocation %ld fails: %+ld bytes each time\n", name, fail_after, more);
    return s;
}

static void each_allocation(qs_vm *vm, const char *name) {
    long left = 0, n = 1;
    CHECK(again(vm, name, -1, &left) == QS_OK);
    for (left = 0; left <= 0 && n < 1000; n++) {
        qs_status s = again(vm, name, n, &left);
        CHECK(s == QS_OK || s == QS_ENOMEM);
    }
    CHECK(n > 3 && n < 1000);
}

int main(void) {
    qs_config config;
    qs_vm *vm = NULL;
    qs_value fn;
    long left;
    qs_config_init(&config);
    config.device = "ref", config.no_warnings = true, config.cache_dir = "";
    CHECK(qs_open(&config, &vm) == QS_OK);
    CHECK(qs_foreign(vm, &reversed_type, NULL, &fn) == QS_OK && qs_set_global(vm, "reversed", fn) == QS_OK);
    qs_release(vm, fn);
    CHECK(qs_eval(vm, programs, NULL) == QS_OK);
    if (qs_error(vm)) return puts(qs_error(vm)), 1;
    for (size_t i = 0; i < sizeof succeed / sizeof *succeed; i++) each_allocation(vm, succeed[i]);
    for (size_t i = 0; i < sizeof fail / sizeof *fail; i++) {
        qs_status s = again(vm, fail[i], -1, &left);
        CHECK(s != QS_OK && s != QS_ENOMEM);
    }
    qs_close(vm);
    return check_done();
}
