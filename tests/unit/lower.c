/* Kernels from source to results: types, control flow, calls, small arrays.  Indexing has its own file,
 * lower_index.c. */
#include "tests/support/lowered.h"

#define KERNEL(params, body) "function [] = __kernel__ f(" params ")\n" body "\nend\n"

static void parameters(void) {
    BEGIN(KERNEL("x : vec, y : vec, a, pos : int",
                 "y[pos] = a*x[pos] + 1") "function [] = __kernel__ g(x, y, a : int = 3, pos : int)\n"
                                          " y[pos] = x[pos]/a\n"
                                          "end\n"
                                          "function [] = __kernel__ h(y, b, pos)\n"
                                          " y[pos] = b ? 1 : 2\n"
                                          "end\n"
                                          "function [] = __kernel__ v(y, p : vec3, pos : int)\n"
                                          " y[pos] = p[pos] + norm(p)\n"
                                          "end\n");
    OK(&t, RUN1(&t, "f", 4, VEC(x, 4), VEC(y, 4), NUM(2)));
    FLOATS(y, 3, 5, 7, 9);
    OK(&t, RUN1(&t, "f", 4, VEC(x, 4), VEC(y, 4), NUM(0.5)));
    FLOATS(y, 1.5, 2, 2.5, 3);
    OK(&t, RUN1(&t, "g", 3, VEC(x, 3), VEC(y, 3), NUM(2.9)));
    FLOATS(y, 0.5, 1, 1.5);
    OK(&t, RUN1(&t, "g", 3, VEC(x, 3), VEC(y, 3)));
    FLOATS(y, 1 / 3.f, 2 / 3.f, 1);
    OK(&t, RUN1(&t, "h", 2, VEC(y, 2), BOOL(1)));
    FLOATS(y, 1, 1);
    float p[3] = {2, 3, 6};
    OK(&t, RUN1(&t, "v", 3, VEC(y, 3), VEC(p, 3)));
    FLOATS(y, 9, 10, 13);
    FAILS(&t, RUN1(&t, "v", 3, VEC(y, 3), VEC(x, 4)), "in kernel v: p must be vec3");
    FAILS(&t, RUN1(&t, "f", 4, VEC(x, 4), VEC(y, 4)), "in kernel f: 3 arguments wanted (x, y, a), got 2");
    FAILS(&t, RUN1(&t, "f", 4, NUM(1), VEC(y, 4), NUM(1)), "in kernel f: x must be vec, got int");
    END;
}

static void positions(void) {
    BEGIN("function [] = __kernel__ a(y : mat, pos : ivec2, blkdim : ivec2, blkpos : ivec2, blkidx : ivec2, blkcnt : "
          "ivec2)\n"
          " y[pos] = pos[0]*10 + pos[1] + 100*blkpos[0] + 1000*blkidx[1] + 10000*blkcnt[1] + 100000*blkdim[0]\n"
          "end\n"
          "function [] = __kernel__ b(y : mat, pos : vec2)\n"
          " y[pos] = pos[1]/2\n"
          "end\n"
          "function [] = __kernel__ c(y : vec, pos : ivec3)\n"
          " y[pos[0]] = pos[2] + 1\n"
          "end\n"
          "function [] = __kernel__ d(y : cube, pos)\n"
          " y[pos] = pos[2]\n"
          "end\n"
          "function [] = __kernel__ e(y : cube, pos : int)\n"
          " y[pos,0,0] = 1\n"
          "end\n");
    t.block[0] = 2, t.block[1] = 1;
    OK(&t, RUN2(&t, "a", 2, 3, MAT(y, 2, 3)));
    FLOATS(y, 230000, 231001, 232002, 230110, 231111, 232112);
    OK(&t, RUN2(&t, "b", 2, 3, MAT(y, 2, 3)));
    FLOATS(y, 0, 0.5, 1, 0, 0.5, 1);
    OK(&t, RUN1(&t, "c", 2, VEC(y, 2)));
    FLOATS(y, 1, 1);
    OK(&t, RUN3(&t, "d", 1, 1, 3, CUBE(y, 1, 1, 3)));
    FLOATS(y, 0, 1, 2);
    FAILS(&t, RUN3(&t, "e", 1, 1, 3, CUBE(y, 1, 1, 3)), "pos has 1 component, but the launch has 3 dimensions");
    END;
}

static void types(void) {
    BEGIN(KERNEL("x : vec, y : vec, pos : int", " s = 0\n"
                                                " for i=0..3\n"
                                                "  s += x[i]/2\n"
                                                " end\n"
                                                " y[pos] = s") "function [] = __kernel__ i(y : vec, pos : int)\n"
                                                               " a : int = 2.9\n"
                                                               " a = 7/2\n"
                                                               " y[0] = a\n"
                                                               " b : uint8 = 300\n"
                                                               " y[1] = b\n"
                                                               " c = int(-1.5)\n"
                                                               " y[2] = c\n"
                                                               " y[3] = 7/2\n"
                                                               " d : scalar = 3\n"
                                                               " y[4] = d/2\n"
                                                               " y[5] = 2147483647 + pos\n"
                                                               " y[6] = int(7/2)\n"
                                                               " y[7] = floor(-7/2)\n"
                                                               "end\n"
                                                               "function [] = __kernel__ w(y : vec, r, pos : int)\n"
                                                               " y[0] = r*r*r*r\n"
                                                               " y[1] = (2*r + 1)/2\n"
                                                               " n = 0\n"
                                                               " for k=-r..r\n"
                                                               "  n += 1\n"
                                                               " end\n"
                                                               " y[2] = n\n"
                                                               " y[3] = pos - r\n"
                                                               " y[4] = r/4\n"
                                                               "end\n"
                                                               "function [] = __kernel__ u(y : vec, pos : int)\n"
                                                               " if pos > 0\n"
                                                               "  y[0] = z\n"
                                                               " end\n"
                                                               " end\n"
                                                               "function [] = __kernel__ p(y : vec, pos : int)\n"
                                                               " v = [1,2]\n"
                                                               " if pos > 0\n"
                                                               "  v = 5\n"
                                                               " end\n"
                                                               " y[0] = v[0]\n"
                                                               " y[1] = v[1]\n"
                                                               "end\n"
                                                               "function [] = __kernel__ q(y : vec, pos : int)\n"
                                                               " v = [1,2]\n"
                                                               " if pos > 0\n"
                                                               "  v = [1,2,3]\n"
                                                               " end\n"
                                                               " y[0] = v[0]\n"
                                                               "end\n");
    OK(&t, RUN1(&t, "f", 1, VEC(x, 4), VEC(y, 1)));
    FLOATS(y, 5);
    OK(&t, RUN1(&t, "i", 1, VEC(y, 8)));
    FLOATS(y, 3, 255, -1, 3.5, 1.5, 2147483648.f, 3, -4);
    OK(&t, RUN1(&t, "w", 1, VEC(y, 5), NUM(1000)));
    FLOATS(y, 1e12f, 1000.5f, 2001, -1000, 250);
    OK(&t, RUN1(&t, "w", 1, VEC(y, 5), NUM(1.5)));
    FLOATS(y, 5.0625f, 2, 4, -1.5, 0.375);
    OK(&t, RUN1(&t, "p", 2, VEC(y, 2)));
    FLOATS(y, 5, 5);
    FAILS(&t, RUN1(&t, "q", 2, VEC(y, 2)), "v is vec3[int] here and vec2[int] elsewhere");
    END;
}

static void reads_before_values(void) {
    BEGIN("function [] = __kernel__ a(y : vec, pos : int)\n"
          " y[pos] = z\n"
          " z = 1\n"
          "end\n"
          "function [] = __kernel__ b(y : vec, pos : int)\n"
          " for i=0..3\n"
          "  if i > 0\n"
          "   y[i] = last\n"
          "  end\n"
          "  last = i\n"
          " end\n"
          "end\n"
          "function [] = __kernel__ c(y : vec, pos : int)\n"
          " if pos == 0\n"
          "  z = 4\n"
          " else\n"
          "  z = 5.5\n"
          " end\n"
          " y[pos] = z\n"
          "end\n"
          "function [] = __kernel__ d(y : vec, pos : int)\n"
          " for i=0..3\n"
          "  z = i\n"
          " end\n"
          " y[0] = z + i\n"
          "end\n");
    FAILS(&t, RUN1(&t, "a", 1, VEC(y, 1)), "in kernel a: z is read before it has a value");
    OK(&t, RUN1(&t, "b", 1, VEC(y, 4)));
    FLOATS(y, 0, 0, 1, 2);
    OK(&t, RUN1(&t, "c", 2, VEC(y, 2)));
    FLOATS(y, 4, 5.5);
    OK(&t, RUN1(&t, "d", 1, VEC(y, 2)));
    FLOATS(y, 6);
    END;
}

static void control(void) {
    BEGIN("function [] = __kernel__ a(y : vec, pos : int)\n"
          " if pos == 0\n"
          "  y[pos] = 10\n"
          " elseif pos == 1\n"
          "  y[pos] = 20\n"
          " else\n"
          "  y[pos] = 30\n"
          " end\n"
          "end\n"
          "function [] = __kernel__ b(y : vec, pos : int)\n"
          " i = 0\n"
          " while true\n"
          "  i += 1\n"
          "  if i == 3\n"
          "   continue\n"
          "  end\n"
          "  if i > 5\n"
          "   break\n"
          "  end\n"
          "  y[i] = i\n"
          " end\n"
          "end\n"
          "function [] = __kernel__ c(y : vec, pos : int)\n"
          " i = 0\n"
          " repeat\n"
          "  i += 1\n"
          "  if i == 2\n"
          "   continue\n"
          "  end\n"
          "  y[i] = i\n"
          " until i >= 4\n"
          "end\n"
          "function [] = __kernel__ d(y : vec, mode, pos : int)\n"
          " match mode with\n"
          " | \"one\" -> y[pos] = 1\n"
          " | \"two\" -> y[pos] = 2\n"
          " | _ -> y[pos] = 3\n"
          " end\n"
          "end\n"
          "function [] = __kernel__ e(y : vec, pos : int)\n"
          " match pos with\n"
          " | 0 -> y[pos] = 5\n"
          " | 1 -> y[pos] = 6\n"
          " | _ -> y[pos] = 7\n"
          " end\n"
          "end\n"
          "function [] = __kernel__ g(y : vec, pos : int)\n"
          " y[pos] = 1\n"
          " if pos == 1\n"
          "  return\n"
          " end\n"
          " y[pos] = 2\n"
          "end\n"
          "function [] = __kernel__ h(y : vec, pos : int)\n"
          " s = 0\n"
          " for i=10..-3..0\n"
          "  s += i\n"
          " end\n"
          " y[0] = s\n"
          " q = 0\n"
          " for a=0.0..0.25..1\n"
          "  q += a\n"
          " end\n"
          " y[1] = q\n"
          " n = 0\n"
          " for [i,j]=0..[1,2]\n"
          "  n += 10*i + j\n"
          " end\n"
          " y[2] = n\n"
          " m = 0\n"
          " for v=[3,5,8]\n"
          "  m += v\n"
          " end\n"
          " y[3] = m\n"
          " k = 0\n"
          " for i=0..2\n"
          "  for j=0..5\n"
          "   if j > i\n"
          "    break\n"
          "   end\n"
          "   k += 1\n"
          "  end\n"
          " end\n"
          " y[4] = k\n"
          " for [i,j]=0..9,0..9\n"
          "  if i+j == 3\n"
          "   break\n"
          "  end\n"
          "  y[5] = y[5] + 1\n"
          " end\n"
          "end\n"
          "function [] = __kernel__ k(x : vec, y : vec, pos : int)\n"
          " y[pos] = (pos > 0 && x[pos-1] > 1) || pos == 3 ? x[pos] : -1\n"
          "end\n");
    OK(&t, RUN1(&t, "a", 3, VEC(y, 3)));
    FLOATS(y, 10, 20, 30);
    memset(y, 0, sizeof y);
    OK(&t, RUN1(&t, "b", 1, VEC(y, 7)));
    FLOATS(y, 0, 1, 2, 0, 4, 5, 0);
    memset(y, 0, sizeof y);
    OK(&t, RUN1(&t, "c", 1, VEC(y, 6)));
    FLOATS(y, 0, 1, 0, 3, 4, 0);
    OK(&t, RUN1(&t, "d", 1, VEC(y, 1), STR("two")));
    FLOATS(y, 2);
    OK(&t, RUN1(&t, "d", 1, VEC(y, 1), STR("x")));
    FLOATS(y, 3);
    OK(&t, RUN1(&t, "e", 3, VEC(y, 3)));
    FLOATS(y, 5, 6, 7);
    OK(&t, RUN1(&t, "g", 3, VEC(y, 3)));
    FLOATS(y, 2, 1, 2);
    memset(y, 0, sizeof y);
    OK(&t, RUN1(&t, "h", 1, VEC(y, 6)));
    FLOATS(y, 22, 2.5, 36, 16, 6, 3);
    OK(&t, RUN1(&t, "k", 4, VEC(x, 4), VEC(y, 4)));
    FLOATS(y, -1, -1, 3, 4);
    END;
}

static void calls(void) {
    BEGIN("function y = __device__ sq(x)\n"
          " y = x*x\n"
          "end\n"
          "function [a,b] = __device__ two(x, y = 3)\n"
          " a = x + y\n"
          " b = x - y\n"
          "end\n"
          "function y = __device__ early(x)\n"
          " y = 0\n"
          " if x > 2\n"
          "  y = 1\n"
          "  return\n"
          " end\n"
          " y = 2\n"
          "end\n"
          "function y = __device__ search(x, v)\n"
          " y = -1\n"
          " for i=0..3\n"
          "  if x[i] == v\n"
          "   y = i\n"
          "   return\n"
          "  end\n"
          " end\n"
          "end\n"
          "function y = __device__ fact(n)\n"
          " y = n < 2 ? 1 : n*fact(n-1)\n"
          "end\n"
          "function y = __device__ pick(x : int)\n"
          " y = 1\n"
          "end\n"
          " function y = __device__ pick(x : scalar)\n"
          " y = 2\n"
          "end\n"
          " function y = __device__ pick(x : vec3)\n"
          " y = 3\n"
          "end\n"
          "function y = __device__ gen[T](x : vec[T], n)\n"
          " y = T(x[0]) + n\n"
          "end\n"
          "function y = __device__ apply(g, x)\n"
          " y = g(g(x))\n"
          "end\n"
          "function [] = __kernel__ a(x, y, pos)\n"
          " y[pos] = sq(x[pos]) + sq(2)\n"
          "end\n"
          "function [] = __kernel__ b(y, pos : int)\n"
          " [p,q] = two(5)\n"
          " [r,s] = two(y := 1, x := 2)\n"
          " y[0] = p\n"
          " y[1] = q\n"
          " y[2] = r\n"
          " y[3] = s\n"
          "end\n"
          "function [] = __kernel__ c(x, y, pos : int)\n"
          " y[pos] = early(x[pos]) + 10*search(x, x[pos])\n"
          "end\n"
          "function [] = __kernel__ d(y, pos : int)\n"
          " y[0] = fact(pos)\n"
          "end\n"
          "function [] = __kernel__ e(y, pos : int)\n"
          " y[0] = pick(int(1))\n"
          " y[1] = pick(1.5)\n"
          " y[2] = pick([1.0,2,3])\n"
          "end\n"
          "function [] = __kernel__ g(x, y, pos : int)\n"
          " k = 10\n"
          " h = z -> z + k\n"
          " y[pos] = apply(h, x[pos]) + apply(w -> w*2, 1) + gen(x, 1)\n"
          "end\n"
          "function [] = __kernel__ m(y, pos : int)\n"
          " y[0] = apply(sq, 3)\n"
          " y[1] = apply(sqrt, 16)\n"
          " sum = 2\n"
          " y[2] = sum([1,2,3]) + sum\n"
          "end\n"
          "function [] = __kernel__ n(y, pos : int)\n"
          " y[0] = nosuch(1)\n"
          "end\n"
          " function [] = __kernel__ o(y, pos : int)\n"
          " y[0] = sprintf(\"1\")\n"
          "end\n"
          "function [] = __kernel__ r(y, pos : int)\n"
          " y[0] = sq()\n"
          "end\n"
          "function [] = __kernel__ s(x, y, pos : int)\n"
          " serial_do([2,3], x, y, __kernel__ (x, y, pos : ivec2) -> y[pos[0]] += pos[1]*x[0])\n"
          "end\n");
    OK(&t, RUN1(&t, "a", 3, VEC(x, 3), VEC(y, 3)));
    FLOATS(y, 5, 8, 13);
    OK(&t, RUN1(&t, "b", 1, VEC(y, 4)));
    FLOATS(y, 8, 2, 3, 1);
    OK(&t, RUN1(&t, "c", 4, VEC(x, 4), VEC(y, 4)));
    FLOATS(y, 2, 12, 21, 31);
    OK(&t, RUN1(&t, "d", 1, VEC(y, 1)));
    FLOATS(y, 1);
    OK(&t, RUN1(&t, "e", 1, VEC(y, 3)));
    FLOATS(y, 1, 2, 3);
    OK(&t, RUN1(&t, "g", 2, VEC(x, 2), VEC(y, 2)));
    FLOATS(y, 27, 28);
    OK(&t, RUN1(&t, "m", 1, VEC(y, 3)));
    FLOATS(y, 81, 2, 8);
    FAILS(&t, RUN1(&t, "n", 1, VEC(y, 1)), "nosuch");
    FAILS(&t, RUN1(&t, "o", 1, VEC(y, 1)), "sprintf cannot be used in a kernel");
    FAILS(&t, RUN1(&t, "r", 1, VEC(y, 1)), "argument x is missing");
    y[0] = y[1] = 0;
    OK(&t, RUN1(&t, "s", 1, VEC(x, 3), VEC(y, 3)));
    FLOATS(y, 3, 3);
    END;
}

static void vectors(void) {
    BEGIN("function [] = __kernel__ a(y, pos : int)\n"
          " v = zeros(3)\n"
          " for i=0..2\n"
          "  v[i] = i*2\n"
          " end\n"
          " v[1] += 10\n"
          " y[0] = v[0]\n"
          " y[1] = v[1]\n"
          " y[2] = v[2]\n"
          " y[3] = sum(v)\n"
          " w = v\n"
          " w[0] = 99\n"
          " y[4] = v[0]\n"
          " y[5] = w[pos]\n"
          "end\n"
          "function [] = __kernel__ b(y, pos : int)\n"
          " m = [[1,2],[3,4]]\n"
          " n = m*m\n"
          " y[0] = n[0,0]\n"
          " y[1] = n[1,1]\n"
          " u = transpose(m)\n"
          " y[2] = u[0,1]\n"
          " r = [1,2]*m\n"
          " y[3] = r[1]\n"
          " c = m*transpose([1,1])\n"
          " y[4] = c[1,0]\n"
          " y[5] = dotprod([1,2,3],[4,5,6])\n"
          "end\n"
          "function [] = __kernel__ c(y, pos : int)\n"
          " y[0] = max([3,-5,12])\n"
          " y[1] = min(4,2.5)\n"
          " y[2] = mean([1,2,4])\n"
          " y[3] = any([0,1]) + all([1,0])\n"
          " y[4] = prod([2,3,4])\n"
          " y[5] = norm([3,4])\n"
          " v = clamp([-1,0.5,2],1)\n"
          " y[6] = v[0]+v[1]+v[2]\n"
          " v = lerp([1,2],[3,4],0.25)\n"
          " y[7] = v[1]\n"
          "end\n"
          "function [] = __kernel__ d(y, pos : int)\n"
          " v = [1,2,3]\n"
          " v = v + 1\n"
          " v .*= [1,2,3]\n"
          " [p,q,r] = v\n"
          " y[0] = p\n"
          " y[1] = q\n"
          " y[2] = r\n"
          " s = 0.0\n"
          " s += v\n"
          " y[3] = s[2]\n"
          "end\n"
          "function [] = __kernel__ e(y, pos : int)\n"
          " v = [1,2]*[3,4]\n"
          " y[0] = 1\n"
          "end\n"
          "function [] = __kernel__ g(y, pos : int)\n"
          " lut = zeros(100)\n"
          " for i=0..99\n"
          "  lut[i] = i*i\n"
          " end\n"
          " s = 0\n"
          " for i=0..99\n"
          "  s += lut[99-i]\n"
          " end\n"
          " y[0] = s\n"
          " v : vec3 = [1,2,3]\n"
          " y[1] = v[pos + 2]\n"
          " y[2] = v[-1..3][0] + size(v,1)\n"
          "end\n"
          "function [] = __kernel__ h(y, n, pos : int)\n"
          " v = ones(n)\n"
          " y[0] = sum(v) + numel(v)\n"
          " y[1] = sum(pos-n..pos+n)\n"
          "end\n");
    OK(&t, RUN1(&t, "a", 1, VEC(y, 6)));
    FLOATS(y, 0, 12, 4, 16, 0, 99);
    OK(&t, RUN1(&t, "b", 1, VEC(y, 6)));
    FLOATS(y, 7, 22, 3, 10, 7, 32);
    OK(&t, RUN1(&t, "c", 1, VEC(y, 8)));
    FLOATS(y, 12, 2.5, 7 / 3.f, 1, 24, 5, 1.5, 2.5);
    OK(&t, RUN1(&t, "d", 1, VEC(y, 4)));
    FLOATS(y, 2, 6, 12, 12);
    FAILS(&t, RUN1(&t, "e", 1, VEC(y, 1)), "use `.*` or dotprod");
    OK(&t, RUN1(&t, "g", 1, VEC(y, 3)));
    FLOATS(y, 328350, 3, 3);
    OK(&t, RUN1(&t, "h", 1, VEC(y, 2), NUM(4)));
    FLOATS(y, 8, 0);
    END;
}

static void mathematics(void) {
    BEGIN("function [] = __kernel__ a(x, y, pos : int)\n"
          " v = x[1]\n"
          " y[0] = v^3\n"
          " y[1] = v^-2\n"
          " y[2] = v^0\n"
          " y[3] = v^0.5\n"
          " y[4] = pow(v,2.5)\n"
          " y[5] = 2^v\n"
          " y[6] = mod(-3,5)\n"
          " y[7] = mod(v-5,2.5)\n"
          " y[8] = sign(-v)\n"
          " y[9] = round(2.5)\n"
          " y[10] = frac(-0.25)\n"
          " y[11] = atan2(1,1)\n"
          "end\n"
          "function [] = __kernel__ b(y, pos : int)\n"
          " y[0] = and(12,10)\n"
          " y[1] = or(12,10)\n"
          " y[2] = xor(12,10)\n"
          " y[3] = shl(3,2)\n"
          " y[4] = shr(-8,1)\n"
          " y[5] = not(0)\n"
          " y[6] = nextpow2(129)\n"
          " y[7] = isnan(0/0)\n"
          " y[8] = isinf(1/0)\n"
          " y[9] = saturate(1.5)\n"
          " y[10] = float(3)/2\n"
          " y[11] = pi\n"
          "end\n"
          "function [] = __kernel__ c(y, pos : int)\n"
          " p = ind2pos([4,5],13)\n"
          " y[0] = p[0]\n"
          " y[1] = p[1]\n"
          " y[2] = pos2ind([4,5],[2,3])\n"
          " k = 7 + pos\n"
          " y[3] = int(k/2)\n"
          " y[4] = floor(-k/2)\n"
          " y[5] = k/2\n"
          " a = 5\n"
          " a ^= 2\n"
          " y[6] = a\n"
          " b = 3\n"
          " b ^^= 7\n"
          " y[7] = b\n"
          " b __= 2\n"
          " y[8] = b\n"
          " y[9] = true + true\n"
          " y[10] = (2 > 1)*3\n"
          " y[11] = -(pos == 0)\n"
          "end\n"
          "function [] = __kernel__ z(y, pos : int)\n"
          " a = 3+4j\n"
          " y[0] = abs(a)\n"
          " b = a*conj(a)\n"
          " y[1] = real(b)\n"
          " y[2] = imag(a*a)\n"
          " c = a/(1+1j)\n"
          " y[3] = real(c)\n"
          " y[4] = imag(c)\n"
          " d = exp(1j*pi)\n"
          " y[5] = real(d)\n"
          " y[6] = real(a^2)\n"
          " y[7] = angle(1j)\n"
          " s = 0\n"
          " for i=0..2\n"
          "  s += a\n"
          " end\n"
          " y[8] = imag(s)\n"
          " y[9] = a == 3+4j\n"
          " y[10] = imag(sqrt(a))\n"
          "end\n"
          "function [] = __kernel__ w(y, pos : int)\n"
          " a = 3+4j\n"
          " y[0] = a < 2\n"
          "end\n"
          " function [] = __kernel__ v(y, pos : int)\n"
          " y[0] = 3j\n"
          "end\n");
    x[1] = 2;
    OK(&t, RUN1(&t, "a", 1, VEC(x, 4), VEC(y, 12)));
    FLOATS(y, 8, 0.25, 1, 1.41421356f, 5.656854f, 4, 2, 2, -1, 3, 0.75, 0.785398f);
    OK(&t, RUN1(&t, "b", 1, VEC(y, 12)));
    FLOATS(y, 8, 14, 6, 12, -4, -1, 256, 1, 1, 1, 1.5, 3.14159274f);
    OK(&t, RUN1(&t, "c", 1, VEC(y, 12)));
    FLOATS(y, 2, 3, 13, 3, -4, 3.5, 25, 7, 2, 2, 3, -1);
    OK(&t, RUN1(&t, "z", 1, VEC(y, 12)));
    FLOATS(y, 5, 25, 24, 3.5, 0.5, -1, -7, 1.5707963f, 12, 1, 1);
    FAILS(&t, RUN1(&t, "w", 1, VEC(y, 1)), "complex numbers have no order");
    FAILS(&t, RUN1(&t, "v", 1, VEC(y, 1)), "y is vec and cannot take a complex number");
    END;
}

static void checks(void) {
    BEGIN("function [] = __kernel__ a(x, y, pos : int)\n"
          " assert(x[pos] > 0, \"100% positive\")\n"
          " y[pos] = 1\n"
          "end\n"
          "function [] = __kernel__ b(x, y, pos : int)\n"
          " assert(x[pos] > 0)\n"
          "end\n"
          "function [] = __kernel__ c(x, y, pos : int)\n"
          " if x[pos] < 0\n"
          "  error(\"no\")\n"
          " end\n"
          "end\n");
    OK(&t, RUN1(&t, "a", 4, VEC(x, 4), VEC(y, 4)));
    x[2] = -1;
    FAILS(&t, RUN1(&t, "a", 4, VEC(x, 4), VEC(y, 4)), "100% positive");
    FAILS(&t, RUN1(&t, "b", 4, VEC(x, 4), VEC(y, 4)), "assertion");
    FAILS(&t, RUN1(&t, "c", 4, VEC(x, 4), VEC(y, 4)), "no");
    END;
}

int main(void) {
    parameters();
    positions();
    types();
    reads_before_values();
    control();
    calls();
    vectors();
    mathematics();
    checks();
    return check_done();
}
