/* Indexing in kernels: access modes, slices, atomics, shared memory, modes of the VM. */
#include "tests/support/lowered.h"

static void modes(void) {
    const char *kinds[] = {"", "'safe", "'mirror", "'reflect", "'circular", "'clamped"};
    const float want[6][9] = {{0, 0, 0, 1, 2, 3, 0, 0, 0}, {0, 0, 0, 1, 2, 3, 0, 0, 0}, {3, 2, 1, 1, 2, 3, 3, 2, 1},
                              {2, 3, 2, 1, 2, 3, 2, 1, 2}, {1, 2, 3, 1, 2, 3, 1, 2, 3}, {1, 1, 1, 1, 2, 3, 3, 3, 3}};
    for (int i = 0; i < 6; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "function [] = __kernel__ f(x : vec%s, y : vec, pos : int)\n"
                 " y[pos] = x[pos-3]\n"
                 "end\n",
                 kinds[i]);
        BEGIN(text);
        OK(&t, RUN1(&t, "f", 9, VEC(x, 3), VEC(y, 9)));
        check_floats(y, 9, want[i], __FILE__, __LINE__);
        memset(y, 0, sizeof y);
        t.checked = true;
        if (i == 0) FAILS(&t, RUN1(&t, "f", 9, VEC(x, 3), VEC(y, 9)), "index -3 is outside dimension 1 of x (size 3)");
        else OK(&t, RUN1(&t, "f", 9, VEC(x, 3), VEC(y, 9)));
        END;
    }
}

static void locals_with_modes(void) {
    BEGIN("function [] = __kernel__ f(x : vec, y : vec, pos : int)\n"
          " A : vec'circular = x\n"
          " B = A\n"
          " y[pos] = A[pos+3] + B[pos+3]*100\n"
          "end\n"
          "function [] = __kernel__ g(x : vec'checked, y : vec, pos : int)\n"
          " y[pos] = x[pos]\n"
          "end\n"
          "function [] = __kernel__ h(x : vec'unchecked, y : vec'circular, pos : int)\n"
          " y[pos+3] = x[pos]\n"
          "end\n"
          "function [] = __kernel__ k(x : vec'const, pos : int)\n"
          " x[pos] = 1\n"
          "end\n");
    OK(&t, RUN1(&t, "f", 3, VEC(x, 3), VEC(y, 3)));
    FLOATS(y, 101, 202, 303);
    FAILS(&t, RUN1(&t, "g", 4, VEC(x, 3), VEC(y, 3)), "index 3 is outside dimension 1 of x (size 3)");
    OK(&t, RUN1(&t, "h", 3, VEC(x, 3), VEC(y, 3)));
    FLOATS(y, 1, 2, 3);
    FAILS(&t, RUN1(&t, "k", 3, VEC(x, 3)), "x is 'const and cannot be written");
    END;
}

static void textures(void) {
    BEGIN("function [] = __kernel__ a(x : vec'clamped'hwtex_linear, y : vec, pos : int)\n"
          " y[pos] = x[pos/2 - 0.5]\n"
          "end\n"
          "function [] = __kernel__ b(x : mat'hwtex_linear, y : vec, pos : int)\n"
          " y[pos] = x[0.5,0.25] + x[[pos,0.5]]\n"
          "end\n"
          "function [] = __kernel__ c(x : vec'hwtex_nearest, y : vec, pos : int)\n"
          " y[pos] = x[pos + 0.75]\n"
          "end\n");
    OK(&t, RUN1(&t, "a", 4, VEC(x, 3), VEC(y, 4)));
    FLOATS(y, 1, 1, 1.5, 2);
    OK(&t, RUN1(&t, "b", 2, MAT(x, 2, 2), VEC(y, 2)));
    FLOATS(y, 3.75, 5.75);
    OK(&t, RUN1(&t, "c", 3, VEC(x, 3), VEC(y, 3)));
    FLOATS(y, 2, 3, 0);
    END;
}

static void forms(void) {
    BEGIN("function [] = __kernel__ a(x : mat, y : mat, pos : ivec2)\n"
          " y[pos] = x[pos + [0,1]] + 10*x[pos[0],0] + 100*x[pos[0],pos[1],0]\n"
          "end\n"
          "function [] = __kernel__ b(x : vec, y : vec, pos : ivec2)\n"
          " y[pos] = x[0,pos[1]] + x[pos[1]]\n"
          "end\n"
          "function [] = __kernel__ c(x : cube, y : mat, pos : ivec2)\n"
          " v = x[pos[0],pos[1],0..2]\n"
          " y[pos[0],0..2] = v[[2,1,0]]\n"
          "end\n"
          "function [] = __kernel__ d(x : cube, y : mat, pos : ivec2)\n"
          " y[pos[0],:] = x[pos[0],pos[1],:]/max(x[pos[0],pos[1],:])\n"
          "end\n"
          "function [] = __kernel__ e(x : mat, y : vec, pos : int)\n"
          " y[pos] = x[pos]\n"
          "end\n"
          "function [] = __kernel__ g(x : mat, y : vec, pos : int)\n"
          " y[pos] = x[pos,0,2]\n"
          "end\n"
          "function [] = __kernel__ h(x : vec, y : vec, pos : int)\n"
          " y[pos] = x[pos/2] + x[-0.5]\n"
          "end\n"
          "function [] = __kernel__ k(x : mat, y : vec, pos : int)\n"
          " y[0] = sum(x) + sum(x[0,:])\n"
          " y[1] = sum(x[:,1]) + max(x)\n"
          " y[2] = size(x,0)*100 + size(x,1)*10 + size(x,2)\n"
          " y[3] = numel(x) + mean(x[pos,0..1])\n"
          " s = size(y)\n"
          " y[4] = s[0]*10 + s[1]\n"
          "end\n"
          "function [] = __kernel__ l(y : mat, pos : int)\n"
          " y[pos,:] = pos + 1\n"
          "end\n"
          "function [] = __kernel__ m(x : mat, y : mat, pos : ivec2)\n"
          " y[pos] = sum(x[pos[0]-1..pos[0]+1,pos[1]])\n"
          "end\n"
          "function [] = __kernel__ n(x : cube, y : cube, pos : ivec3)\n"
          " s = 0.0\n"
          " for m=-1..1\n"
          "  s += x[pos + [0,m,0]]\n"
          " end\n"
          " y[pos] = s\n"
          "end\n");
    OK(&t, RUN2(&t, "a", 2, 2, MAT(x, 2, 2), MAT(y, 2, 2)));
    FLOATS(y, 112, 210, 334, 430);
    OK(&t, RUN2(&t, "b", 1, 3, VEC(x, 3), VEC(y, 3)));
    FLOATS(y, 2, 4, 6);
    OK(&t, RUN2(&t, "c", 2, 1, CUBE(x, 2, 1, 3), MAT(y, 2, 3)));
    FLOATS(y, 3, 2, 1, 6, 5, 4);
    OK(&t, RUN2(&t, "d", 2, 1, CUBE(x, 2, 1, 2), MAT(y, 2, 2)));
    FLOATS(y, 0.5, 1, 0.75, 1);
    FAILS(&t, RUN1(&t, "e", 2, MAT(x, 2, 2), VEC(y, 2)), "x has 2 dimensions, 1 index given");
    FAILS(&t, RUN1(&t, "g", 2, MAT(x, 2, 2), VEC(y, 2)), "x has type mat, 3 indices given where the third is not 0");
    OK(&t, RUN1(&t, "h", 4, VEC(x, 4), VEC(y, 4)));
    FLOATS(y, 2, 2, 3, 3);
    OK(&t, RUN1(&t, "k", 1, MAT(x, 2, 3), VEC(y, 5)));
    FLOATS(y, 27, 13, 231, 7.5, 15);
    OK(&t, RUN1(&t, "l", 2, MAT(y, 2, 3)));
    FLOATS(y, 1, 1, 1, 2, 2, 2);
    OK(&t, RUN2(&t, "m", 2, 2, MAT(x, 2, 2), MAT(y, 2, 2)));
    FLOATS(y, 4, 6, 4, 6);
    OK(&t, RUN3(&t, "n", 1, 3, 1, CUBE(x, 1, 3, 1), CUBE(y, 1, 3, 1)));
    FLOATS(y, 3, 6, 5);
    END;
}

static void element_types(void) {
    BEGIN("function [] = __kernel__ a(x, y, pos : int)\n"
          " y[pos] = x[pos]*2 + 0.5\n"
          "end\n"
          "function [] = __kernel__ b(x, pos : int)\n"
          " x[pos] += 1.5\n"
          "end\n"
          "function [] = __kernel__ c(x, pos : int)\n"
          " x[0] += 2.0\n"
          " x[1] ^^= 7.5\n"
          "end\n");
    uint8_t u[4] = {1, 2, 100, 200}, v[4] = {0};
    double p[2] = {0.1, 0.2}, q[2] = {0};
    OK(&t, RUN1(&t, "a", 4, TYPED(QS_U8, u, 4), TYPED(QS_U8, v, 4)));
    CHECK(v[0] == 2 && v[2] == 200 && v[3] == 255);
    OK(&t, RUN1(&t, "a", 2, TYPED(QS_F64, p, 2), TYPED(QS_F64, q, 2)));
    CHECK(q[0] == 0.1 * 2 + 0.5 && q[1] == 0.2 * 2 + 0.5);
    OK(&t, RUN1(&t, "b", 4, TYPED(QS_U8, u, 4)));
    CHECK(u[0] == 2 && u[3] == 201);
    int32_t n[2] = {1, 3};
    OK(&t, RUN1(&t, "c", 3, TYPED(QS_I32, n, 2)));
    CHECK(n[0] == 7 && n[1] == 7);
    float z[4] = {1, 2, 3, 4}, w[4] = {0};
    OK(&t, RUN1(&t, "a", 2, TYPED(QS_C64, z, 2), TYPED(QS_C64, w, 2)));
    CHECK(w[0] == 2.5f && w[1] == 4 && w[2] == 6.5f && w[3] == 8);
    END;
}

static void atomics(void) {
    BEGIN("function [] = __kernel__ a(h : vec, pos : int)\n"
          " h[mod(pos,3)] += 1\n"
          "end\n"
          "function [] = __kernel__ b(y : vec, pos : int)\n"
          " y[pos] += 1\n"
          "end\n"
          "function [] = __kernel__ c(y : mat, pos : ivec2)\n"
          " y[pos[1],pos[0]] += 1\n"
          " y[pos[0],0] += 1\n"
          "end\n"
          "function [] = __kernel__ d(x : vec, y : vec, pos : int)\n"
          " y[0] -= x[pos]\n"
          " y[1] *= x[pos]\n"
          " y[2] ^^= x[pos]\n"
          " y[3] __= x[pos]\n"
          "end\n"
          "function [] = __kernel__ e(y, pos : int)\n"
          " y[0] &= 1\n"
          "end\n");
    OK(&t, RUN1(&t, "a", 10, VEC(y, 3)));
    FLOATS(y, 4, 3, 3);
    CHECK(strstr(t.kir.s, "atomic"));
    OK(&t, RUN1(&t, "b", 3, VEC(y, 3)));
    CHECK(!strstr(t.kir.s, "atomic"));
    t.serial = true;
    OK(&t, RUN1(&t, "a", 3, VEC(y, 3)));
    CHECK(!strstr(t.kir.s, "atomic"));
    t.serial = false;
    memset(y, 0, sizeof y);
    OK(&t, RUN2(&t, "c", 2, 2, MAT(y, 2, 2)));
    FLOATS(y, 3, 1, 3, 1);
    float z[4] = {0, 1, 0, 10};
    OK(&t, RUN1(&t, "d", 4, VEC(x, 4), VEC(z, 4)));
    FLOATS(z, -10, 24, 4, 1);
    FAILS(&t, RUN1(&t, "e", 4, VEC(y, 4)),
          "`&=` on an element of y, which is vec, cannot be done by several positions at once");
    END;
}

static void shared(void) {
    BEGIN("function [] = __kernel__ a(x : vec, y : vec, pos : int, blkpos : int, blkdim : int, blkidx : int)\n"
          " s = shared(blkdim)\n s[blkpos] = x[pos]\n syncthreads\n bit = 1\n while bit < blkdim\n  if mod(blkpos, "
          "2*bit) == 0\n   s[blkpos] += s[blkpos+bit]\n  end\n"
          "  syncthreads\n"
          "  bit *= 2\n"
          " end\n"
          " if blkpos == 0\n"
          "  y[blkidx] = s[0]\n"
          " end\n"
          "end\n"
          "function [] = __kernel__ b(y : mat, pos : ivec2, blkpos : ivec2)\n"
          " s = shared_zeros(2,2)\n"
          " s[0,0] += 1\n"
          " syncthreads\n"
          " y[pos] = s[0,0] + s[1,1]\n"
          "end\n"
          "function [] = __kernel__ c(y : vec, n, pos : int)\n"
          " s = shared(n, 2*n)\n"
          " y[pos] = size(s,0) + 10*size(s,1)\n"
          "end\n"
          "function [] = __kernel__ d(y : vec, pos : int)\n"
          " s = shared(y[0])\n"
          "end\n");
    t.has_block = true, t.block[0] = 4;
    OK(&t, RUN1(&t, "a", 8, VEC(x, 8), VEC(y, 2)));
    FLOATS(y, 10, 26);
    t.block[0] = 2, t.block[1] = 2;
    OK(&t, RUN2(&t, "b", 2, 2, MAT(y, 2, 2)));
    FLOATS(y, 4, 4, 4, 4);
    OK(&t, RUN1(&t, "c", 2, VEC(y, 2), NUM(3)));
    FLOATS(y, 63, 63);
    FAILS(&t, RUN1(&t, "d", 2, VEC(y, 2)), "elements must be known");
    t.serial = true;
    FAILS(&t, RUN1(&t, "a", 8, VEC(x, 8), VEC(y, 2)), "needs parallel_do");
    END;
}

/* The forms that later passes require: positions in int64 plus constants, one bounds check per address. */
static void form_of_code(void) {
    BEGIN("function [] = __kernel__ a(x : mat, y : mat, pos : ivec2)\n"
          " i = pos[0] - 1\n"
          " y[pos] = x[i,pos[1]] + x[pos + [-1,0]]\n"
          "end\n"
          "function [] = __kernel__ b(x : vec'unchecked, y : vec'unchecked, r, pos : int)\n"
          " y[pos] = x[pos + 2*r]\n"
          "end\n");
    OK(&t, RUN2(&t, "a", 2, 2, MAT(x, 2, 2), MAT(y, 2, 2)));
    const char *load = strstr(t.kir.s, "load");
    CHECK(load && strstr(load + 1, "load"));
    CHECK(!strstr(t.kir.s, "cast"));
    OK(&t, RUN1(&t, "b", 2, VEC(x, 4), VEC(y, 2), NUM(1)));
    FLOATS(y, 3, 4);
    CHECK(!strstr(t.kir.s, "inb") && strstr(t.kir.s, "int64 r"));
    END;
}

int main(void) {
    modes();
    locals_with_modes();
    textures();
    forms();
    element_types();
    atomics();
    shared();
    form_of_code();
    return check_done();
}
