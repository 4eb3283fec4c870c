/* Every allocation of a block may fail: the script gets an error that it can catch, and no memory is leaked. */
#include "tests/unit/check.h"
#include "vm/quasar.h"
#include "vm/value/object.h"

#include <stdlib.h>

static const char script[] = "function [a, b] = parts(x, k = [1,2], ...rest)\n"
                             "    a = x.*x + sum(k)\n"
                             "    b = {a, x, rest, [x[0], 1, x[1]]}\n"
                             "end\n"
                             "v = [3, 4, 5]\n"
                             "n = 2\n"
                             "[p, q] = parts(v, [n, 1], 7, \"s\")\n"
                             "[p, q] = parts(v)\n"
                             "c = {n, 2}\n"
                             "c[0] = p\n"
                             "for x = q\n"
                             "    y = {x, 0..9}\n"
                             "end\n"
                             "for [i,j] = 0..[1,1]\n"
                             "    v[i] += j\n"
                             "    m = [[1,2],[v[i],j]]\n"
                             "    m[0,:] = [j, i]\n"
                             "    v = v + m[0,0]\n"
                             "end\n"
                             "f = z -> {z, n}\n"
                             "r = {f(1), f(f)}\n"
                             "s = [v, v, v]\n"
                             "w = s[1..2, 0]\n"
                             "t = sprintf(\"%4000d\", 1)\n"
                             "t = t + t + n\n"
                             "t = ucase(t) + substr(t, 1)\n";

static const char caught[] = "r = 0\ntry\n u = zeros(10000).*2 + ones(10000)\n r = {u[0..9], [r, 1]}\n"
                             "catch e\n r = -1\nend\nt = r\n";

/* Recording for a derivative: the rules are known, the record itself fails. */
static const char rules[] = "function y = f(x)\n"
                            " a : vec[float64] = x\n"
                            " b = [a[0], a[1]*2, 3]\n"
                            " c = a > 0 ? a : -a\n"
                            " y = sum(float64(b)) + sum(0..a[2]) + sum(a[0]..0.5..a[2]) + sum(c*transpose(a))\n"
                            "end\n";
static const char loops[] = "function y = own(x)\n y = 2*x\nend\n"
                            "function [] = __kernel__ k(x : vec, y : vec, s : scalar, pos : int)\n"
                            " y[pos] += s*x[pos]*x[pos]\nend\n"
                            "type pair : class\n a : vec[float64]\n b : scalar\nend\n"
                            "function y = f(x)\n"
                            " z = zeros(3)\n s = 0.0\n q = {x, 2}\n p = pair(a:=x, b:=1)\n"
                            " z[1] = x[0]\n z[0..1] = x[1..2]\n z[2] += x[int([0,0,1])][1]\n"
                            " for i = 0..2\n  s += x[i]*z[i]\n end\n"
                            " parallel_do(3, x, z, s, k)\n"
                            " [m, j] = max(x)\n"
                            " y = sum(z.*exp(q[0])) + s + m + sum(p.a) + mean(x) + sum(linspace(x[0],x[1],4))\n"
                            "end\n";
static const char recorded[] = "t = grad(f, [1.0, 2.0, 3.5])";

static void run(const char *first, const char *text, long fail_after, bool catches) {
    qs_vm *vm = NULL;
    qs_value one = qs_nil();
    CHECK(qs_open(NULL, &vm) == QS_OK);
    for (int i = 0; i < 2 && *first; i++) CHECK(qs_eval(vm, i ? recorded : first, NULL) == QS_OK);
    qvm_ctx(vm)->fail_after = fail_after;
    qs_status s = qs_eval(vm, text, NULL);
    qvm_ctx(vm)->fail_after = -1;
    CHECK(s == QS_OK || (s == QS_ENOMEM && !catches));
    qs_error_clear(vm);
    CHECK(qs_eval(vm, "1", &one) == QS_OK && one.u.f == 1); /* the VM continues */
    qs_close(vm);
}

int main(void) {
    for (long n = 0; n < 150; n++) run("", script, n, false);
    for (long n = 1; n < 40; n++) run("", caught, n, true);
    for (long n = 1; n < 220; n++) run(rules, recorded, n, false);
    for (long n = 1; n < 320; n++) run(loops, recorded, n, false);
    return check_done();
}
