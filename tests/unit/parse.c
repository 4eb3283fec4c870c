/* The result of parsing.  The tree is written as its dump on one line, children in parentheses. */
#include "tests/unit/parse_help.h"

static const struct {
    const char *text, *tree;
} expressions[] = {
    {"a = 0..2", "assign =(to: a range(0 2))"},
    {"x = 10.0.^x", "assign =(to: x .^(10 real x))"},
    {"x = 1./(1+x)", "assign =(to: x ./(1 +(1 x)))"},
    {"t = 0.0..1/(2^p-1)..1.0", "assign =(to: t range(0 real step: /(1 -(^(2 p) 1)) 1 real))"},
    {"x = 2^-n", "assign =(to: x ^(2 unary -(n)))"},
    {"x = 2^3^2", "assign =(to: x ^(^(2 3) 2))"},
    {"x = -x^2", "assign =(to: x unary -(^(x 2)))"},
    {"x = 2^-n^2", "assign =(to: x ^(^(2 unary -(n)) 2))"},
    {"x = -a*b", "assign =(to: x *(unary -(a) b))"},
    {"x = 1011011b + 0FFh + 17o + 3j + 1.5i", "assign =(to: x +(+(+(+(91 255) 15) 3j) 1.5j))"},
    {"x = 1e3 + .5 + 0. + 1.9e-4", "assign =(to: x +(+(+(1000 real 0.5 real) 0 real) 0.00019 real))"},
    {"x = n-1..-1..0", "assign =(to: x range(-(n 1) step: unary -(1) 0))"},
    {"x = pos[1]-n..pos[1]+n", "assign =(to: x range(-(index(pos 1) n) +(index(pos 1) n)))"},
    {"y = -h..h", "assign =(to: y range(unary -(h) h))"},
    {"z = 0..s..9", "assign =(to: z range(0 step: s 9))"},
    {"x = all(blkpos + [0,bit] < blkdim)", "assign =(to: x call(all <(+(blkpos matrix(0 bit)) blkdim)))"},
    {"x = a || b && c == d", "assign =(to: x ||(a &&(b ==(c d))))"},
    {"x = a < b + 1..c", "assign =(to: x <(a range(+(b 1) c)))"},
    {"x = !a && b", "assign =(to: x &&(unary !(a) b))"},
    {"x = a ? b : c ? d : e", "assign =(to: x choose(when: a b choose(when: c d e)))"},
    {"f = () -> ok ? vidseek(s, t) : []", "assign =(to: f lambda(value: choose(when: ok call(vidseek s t) matrix)))"},
    {"x = w.*(abs(w)>T)", "assign =(to: x .*(w >(call(abs w) T)))"},
    {"x = [1,2,3]", "assign =(to: x matrix(1 2 3))"},
    {"x = [[1,2],[3,4]]", "assign =(to: x matrix(matrix(1 2) matrix(3 4)))"},
    {"x = []", "assign =(to: x matrix)"},
    {"x = [size(x,0..2), max_block_size([16,32,1])]",
     "assign =(to: x matrix(call(size x range(0 2)) call(max_block_size matrix(16 32 1))))"},
    {"x = {a,{},\"s\"}", "assign =(to: x cell(a cell \"s\"))"},
    {"x = `a,b'", "assign =(to: x cell(a b))"},
    {"x = `vec'circular(3), b'", "assign =(to: x cell(call(type vec'circular 3) b))"},
    {"x = imread(\"a.tif\")[:,:,1]", "assign =(to: x index(call(imread \"a.tif\") : : 1))"},
    {"x = size(I)[0]", "assign =(to: x index(call(size I) 0))"},
    {"x = img[h-1..-1..0, :]", "assign =(to: x index(img range(-(h 1) step: unary -(1) 0) :))"},
    {"x = x[:,:,[2,1,0]]", "assign =(to: x index(x : : matrix(2 1 0)))"},
    {"y = x[pos + [0,m-r,0]]", "assign =(to: y index(x +(pos matrix(0 -(m r) 0))))"},
    {"x = a.b.c(d).e[0]", "assign =(to: x index(field e(call(field c(field b(a)) d)) 0))"},
    {"py.print(x, sep:=\"=\", end:=\"\")", "evaluate(call(field print(py) x sep: \"=\" end: \"\"))"},
    {"x = re.match(\"a\").end", "assign =(to: x field end(call(field match(re) \"a\")))"},
    {"y = imresize(I:cube, 1/s, \"nearest\")", "assign =(to: y call(imresize I(as: cube) /(1 s) \"nearest\"))"},
    {"psnr = (x,y) -> 10*log10(1/mean((x-y).^2))",
     "assign =(to: psnr lambda(param x param y value: *(10 call(log10 /(1 call(mean .^(-(x y) 2)))))))"},
    {"f = x -> y -> x + y", "assign =(to: f lambda(param x value: lambda(param y value: +(x y))))"},
    {"f = __device__ (a : scalar, b = 2) -> a*b",
     "assign =(to: f lambda __device__(param a : scalar param b(default: 2) value: *(a b)))"},
    {"f = __kernel__ (pos) -> y[pos] = x[pos,pos]",
     "assign =(to: f lambda __kernel__(param pos assign =(to: index(y pos) index(x pos pos))))"},
    {"f = () -> state.playing = false", "assign =(to: f lambda(assign =(to: field playing(state) false)))"},
    {"f = x -> (a = 1; f(x);)", "assign =(to: f lambda(param x assign =(to: a 1) value: call(f x)))"},
    {"f = x -> (a = 1; a + x)", "assign =(to: f lambda(param x assign =(to: a 1) value: +(a x)))"},
    {"add(() -> (x = 1;);)", "evaluate(call(add lambda(assign =(to: x 1))))"},
    {"f = x -> (x + 1)*2", "assign =(to: f lambda(param x value: *(+(x 1) 2)))"},
    {"f = x -> _\n x + 1", "assign =(to: f lambda(param x value: +(x 1)))"},
    {"x = vec[mat](4)", "assign =(to: x call(index(vec mat) 4))"},
    {"x = cube{:}", "assign =(to: x type cube{:})"},
    {"x = cube{4}", "assign =(to: x type cube{4})"},
    {"x = vec[^point]", "assign =(to: x index(vec type ^point))"},
    {"x = mat'circular(3,3)", "assign =(to: x call(type mat'circular 3 3))"},
    {"x = [?? -> ??]", "assign =(to: x type [(?\?) -> (?\?)])"},
    {"x = [(??,?\?) -> (??,?\?)]", "assign =(to: x type [(??,?\?) -> (??,?\?)])"},
    {"x = [__kernel__ () -> ()]", "assign =(to: x type [__kernel__ () -> ()])"},
    {"x = cube[[?? -> ??]](2)", "assign =(to: x call(index(cube type [(?\?) -> (?\?)]) 2))"},
    {"x = [vec|mat]", "assign =(to: x type [vec|mat])"},
    {"x = type(a, \"vec[mat]\")", "assign =(to: x call(type a \"vec[mat]\"))"},
    {"x = [x -> x + 1, y]", "assign =(to: x matrix(lambda(param x value: +(x 1)) y))"},
    {"x = $ftype(\"__kernel__\")", "assign =(to: x meta ftype(\"__kernel__\"))"},
    {"x = $value", "assign =(to: x meta value)"},
    {"x = \"a\"\"b\"", "assign =(to: x \"a\"b\")"},
    {"x = \"C:\\Users\\new\"", "assign =(to: x \"C:\\Users\\new\")"},
    {"x = (a ~= b)", "assign =(to: x !=(a b))"},
    {"x = f(a,\n  b,   % comment\n  c)", "assign =(to: x call(f a b c))"},
    {"x = a + _\n b", "assign =(to: x +(a b))"},
    {"x = f(a, _ % why\n b)", "assign =(to: x call(f a b))"},
    {"g = (a) -\n b", "assign =(to: g -(a b))"},
    {"x = [1, % one\n 2]", "assign =(to: x matrix(1 2))"},
};

static const struct {
    const char *text, *tree;
} statements[] = {
    {"alpha=1; beta=2,", "assign =(to: alpha 1) assign =(to: beta 2)"},
    {"x += 1; x -= 1; x *= 2; x /= 2; x .*= 2; x ./= 2; x ^= 2; x .^= 2",
     "assign +=(to: x 1) assign -=(to: x 1) assign *=(to: x 2) assign /=(to: x 2) assign .*=(to: x 2) assign "
     "./=(to: x 2) assign ^=(to: x 2) assign .^=(to: x 2)"},
    {"x &= 1; x |= 1; x ~= 1; x ^^= 1; x __= 1",
     "assign &=(to: x 1) assign |=(to: x 1) assign ~=(to: x 1) assign ^^=(to: x 1) assign __=(to: x 1)"},
    {"[a,b] = f(x)", "assign = [](to: a to: b call(f x))"},
    {"[a,_,o.c,d[0] : scalar] = f(x)", "assign = [](to: a to: _ to: field c(o) to: index(d 0 as: scalar) call(f x))"},
    {"_ = f(x)", "assign =(to: _ call(f x))"},
    {"[o.a, o.b, o.c] = [true, true, true]",
     "assign = [](to: field a(o) to: field b(o) to: field c(o) matrix(true true true))"},
    {"A[:] = 0", "assign =(to: index(A :) 0)"},
    {"a = b[0] = c.d = -1",
     "assign =(to: field d(c) unary -(1)) assign =(to: index(b 0) unary -(1)) assign =(to: a unary -(1))"},
    {"a = b = f(x)", "assign =(to: b call(f x)) assign =(to: a b)"},
    {"mean_a:mat = imresize(x)", "assign =(to: mean_a(as: mat) call(imresize x))"},
    {"eo_params.a:scalar = 2.78", "assign =(to: field a(eo_params as: scalar) 2.78 real)"},
    {"y : cube[uint8] = h.rasterize()", "assign =(to: y(as: cube[uint8]) call(field rasterize(h)))"},
    {"img : cube", "declare img(as: cube)"},
    {"a : vec'clamped(256)", "declare a(as: vec(256)'clamped)"},
    {"a : 'unchecked = b", "assign =(to: a(as: ?\?'unchecked) b)"},
    {"c : cube' clamped'hwtex_const = b", "assign =(to: c(as: cube'clamped'hwtex_const) b)"},
    {"int pw = 5", "assign =(to: pw(as: int) 5)"},
    {"f : [(scalar,vec(N)) -> [vec|mat]] = g", "assign =(to: f(as: [(scalar,vec(N)) -> ([vec|mat])]) g)"},
    {"f : [__device__ scalar -> scalar] = g", "assign =(to: f(as: [__device__ (scalar) -> (scalar)]) g)"},
    {"k : cube[cube[^T]] = g", "assign =(to: k(as: cube[cube[^T]]) g)"},
    {"print \"J=\", J, \" sigma=\", sigma", "print(\"J=\" J \" sigma=\" sigma)"},
    {"print(x)", "print(x)"},
    {"print", "print"},
    {"print (a+b)*2, c", "print(*(+(a b) 2) c)"},
    {"print \"a\",\n \"b\"", "print(\"a\" \"b\")"},
    {"print \"a\",\nx = 1", "print(\"a\") assign =(to: x 1)"},
    {"print = 3", "assign =(to: print 3)"},
    {"print.x = 3", "assign =(to: field x(print) 3)"},
    {"if(cond) a=1; end", "if(when: cond assign =(to: a 1))"},
    {"if a\n b\nelseif(c)\n d\nelse\n e\nendif",
     "if(when: a evaluate(b)) elseif(when: c evaluate(d)) else(evaluate(e))"},
    {"for m=0..2\nfor n=0..2\n x\nend\nend", "for m(in: range(0 2) for n(in: range(0 2) evaluate(x)))"},
    {"for [m,n,p]=0..size(x,0..2)-1\n x\nendfor",
     "for [] m n p(in: range(0 -(call(size x range(0 2)) 1)) evaluate(x))"},
    {"for [i,j] = 0..3, 1..2..5\n x\nend", "for [] i j(in: range(0 3) in: range(1 step: 2 5) evaluate(x))"},
    {"for x = expr\nend", "for x(in: expr)"},
    {"while true\n break\nendwhile", "while(when: true break)"},
    {"repeat\n continue\nuntil !hold(\"on\")", "repeat(continue until: unary !(call(hold \"on\")))"},
    {"match mode with\n| \"a\" -> x = 1\n| (1,2) ->\n  x = 2\n  y = 3\n| \"b\" | -3 -> x = 4\n| _ -> print "
     "\"no\"\nendmatch",
     "match(value: mode arm(pattern: \"a\" assign =(to: x 1)) arm(pattern: 1 pattern: 2 assign =(to: x 2) assign "
     "=(to: y 3)) arm(pattern: \"b\" pattern: unary -(3) assign =(to: x 4)) arm _(print(\"no\")))"},
    {"match a with | 1 -> x=1 | 2 -> y=2 end",
     "match(value: a arm(pattern: 1 assign =(to: x 1)) arm(pattern: 2 assign =(to: y 2)))"},
    {"try\n f()\ncatch e\n print e\nendtry", "try(evaluate(call(f))) catch e(print(e))"},
    {"import\"system.q\"", "import system.q"},
    {"function [] = main()\nend", "function main"},
    {"function y : mat = f(x : mat, n : int = 50, wnd=[3,3], ...rest)\nendfunction",
     "function f(param x : mat param n : int(default: 50) param wnd(default: matrix(3 3)) param ...rest result y "
     ": mat)"},
    {"function [y:vec3,z] = __device__ f[T,U](x : vec[T])\n return\nend",
     "function __device__ f[T,U](param x : vec[T] result y : vec3 result z return)"},
    {"function [] = __kernel__ k(x : cube'unchecked, pos : ivec2)\n {!kernel target=\"gpu\"}\n b = shared(16)\n "
     "syncthreads\n syncthreads(grid)\n b[0] += x[pos]\nend",
     "function __kernel__ k(param x : cube'unchecked param pos : ivec2 attribute kernel(target: \"gpu\") assign "
     "=(to: b call(shared 16)) syncthreads block syncthreads grid assign +=(to: index(b 0) index(x pos)))"},
    {"% Adds.\n% Carefully.\nfunction y = f(x)\n function z = g(x)\n end\n if x\n  function w = h(x)\n  end\n "
     "end\nend",
     "function f(param x result y function g(param x result z) if(when: x function h(param x result w)))"},
    {"type point : mutable class\n  x : scalar\n  y : scalar = 3; next : ^point\nendtype",
     "type point : mutable class(field x : scalar field y : scalar(default: 3) field next : ^point)"},
    {"type list[T] : class\n  items : vec[T]\nend", "type list[T] : class(field items : vec[T])"},
    {"type bag : dynamic class\nend", "type bag : dynamic class"},
    {"type m : [vec|mat|cube{:}]", "type m : [vec|mat|cube{:}]"},
    {"type img : cube[uint8]", "type img : cube[uint8]"},
    {"type color : enum\n red\n green = 7\n blue\nend",
     "type color : int(field red(default: 0) field green(default: 7) field blue(default: 8)) "
     "assign =(to: red 0) assign =(to: green 7) assign =(to: blue 8)"},
    {"type = 3", "assign =(to: type 3)"},
    {"x = type(a)", "assign =(to: x call(type a))"},
    {"reduction (x:M, a, b, c) -> (x[a > b] = c) = (x += (c - x).*(a > b))",
     "reduction(var x : M var a var b var c pattern: assign =(to: index(x >(a b)) c) becomes: assign +=(to: x "
     ".*(-(c x) >(a b))))"},
    {"reduction x -> x.T = np.transpose(x)",
     "reduction(var x pattern: field T(x) becomes: call(field transpose(np) x))"},
    {"reduction (x:scalar) -> abs(x) = x where x >= 0",
     "reduction(var x : scalar pattern: call(abs x) becomes: x where: >=(x 0))"},
    {"reduction (x) -> (x + 0) = x", "reduction(var x pattern: +(x 0) becomes: x)"},
    {"{!parallel for; dim=2}\nfor i=0..3\nend", "attribute parallel(for dim: 2) for i {!parallel}(in: range(0 3))"},
    {"{!author name=\"A B\"}\nx = 1", "attribute author(name: \"A B\") assign =(to: x 1)"},
    {"{!kernel_tiling dims=[1,2]; mode=\"global\"; args=(a,b)}",
     "attribute kernel_tiling(dims: matrix(1 2) mode: \"global\" args: cell(a b))"},
    {"{a, b}", "evaluate(cell(a b))"},
    {"{!a, b} % is no attribute that makes sense", "attribute a(b)"},
};

/* In the style of public programs: kernels inside functions, typed arguments, broken lines, slices, options. */
static const char *const idioms[] = {
    "import \"system.q\"\nimport \"Quasar.UI.dll\"\nfunction [] = main()\n"
    "  img = imread(\"lena_big.tif\")[:,:,0]/255\n  tic(); y = blur(img, 3); toc()\n  imshow(y, [])\nend\n",
    "function y : cube = sharpen(x : cube'unchecked, amount : scalar = 0.5)\n"
    "  function [] = __kernel__ run(x : cube'mirror, y : cube, pos : ivec2)\n"
    "    s = 0.\n    for m=-1..1\n    for n=-1..1\n      s += max(x[pos[0]+m,pos[1]+n,0..2])\n    end\n    end\n"
    "    y[pos[0],pos[1],0..2] = x[pos[0],pos[1],0..2] + amount .* s\n  endfunction\n"
    "  y = uninit(size(x))\n  parallel_do (size(x,0..1), x, y, run)\nend\n",
    "function [out, k] = f(img, _\n  half : int, mode : string = \"mirror\")\n  match mode with\n  | \"mirror\" -> k = "
    "1\n"
    "  | _ ->\n    error(\"unknown mode \" + mode)\n  end\n  out = "
    "reshape(reshape(img,[size(img,0)*size(img,1),3])*M,size(img))\nend\n",
    "function [] = __kernel__ row_sum(x, y, blkpos : ivec2, blkdim : ivec2, pos : ivec2)\n"
    "  {!kernel target=\"gpu\"}\n  s = shared(blkdim)\n  s[blkpos] = x[pos]\n  syncthreads\n  bit = 1\n"
    "  while bit < blkdim[1]\n    if all(blkpos + [0,bit] < blkdim)\n      t = s[blkpos] + s[blkpos+[0,bit]]\n    "
    "else\n"
    "      t = s[blkpos]\n    endif\n    syncthreads\n    s[blkpos] = t; bit *= 2;\n  end\n  y[pos[0]] += "
    "s[blkpos]\nend\n"
    "parallel_do([size(x,0..1), max_block_size([1,256])], x, y, row_sum)\n",
    "params = object()\nparams.a:scalar = 2.78; params.on = () -> params.a = 1,\n"
    "b.onclick.add(() -> (params.a = 3; refresh();));\nf = (x) -> x > 0 ? x.^2 : []\n"
    "repeat\n  [u, v] = step(u, v);\nuntil !hold(\"on\")\n",
    "\xef\xbb\xbf% comment with Latin-1: \xe9\xe8\r\nx = [0.1..0.1..1]\r\ny = \"C:\\Users\\x\" % tail \xff\r\n",
};

static void no_errors(const char *text, size_t n) {
    Ctx c;
    qctx_init(&c, 32);
    Unit *u = parse_text(&c, text, n);
    if (u->nerrors) failures++, printf("%s", u->report.s);
    qparse_free(u);
    qctx_close(&c);
}

static void documentation(void) {
    Ctx c;
    qctx_init(&c, 32);
    const char *text = "% no\n\n% Adds.\n%   Twice.\r\nfunction y = f(x)\nend\nx = 1 % tail\nfunction y = g(x)\nend\n"
                       "% With attribute.\n{!auto_inline}\nfunction y = h(x)\nend";
    Unit *u = parse_text(&c, text, strlen(text));
    Str *f = u->funcs[0]->u.func->doc, *h = u->funcs[2]->u.func->doc;
    compare("doc", "Adds.\n  Twice.", f ? f->s : "none");
    compare("doc", "With attribute.", h ? h->s : "none");
    if (u->funcs[1]->u.func->doc || u->funcs[2]->u.func->nattrs != 1) failures++;
    qparse_free(u);
    qctx_close(&c);
}

static void incomplete(const char *text, bool expected) {
    Ctx c;
    qctx_init(&c, 32);
    compare(text, expected ? "more" : "complete", qparse_incomplete(&c, text, strlen(text)) ? "more" : "complete");
    qctx_close(&c);
}

static void prompt(void) {
    static const char *const open[] = {"if x",
                                       "for i=0..3\n x = i",
                                       "x = [1,\n",
                                       "x = 1 +",
                                       "x = 1 _",
                                       "f(1,",
                                       "function y = f(x)\n",
                                       "match x with\n| 1 -> y",
                                       "repeat\nx",
                                       "type t : class\n x : int",
                                       "x = {1,2",
                                       "while a\nif b\nend"};
    static const char *const done[] = {"x = 1",           "if x\nend", "",           "% if",  "x = \"abc",
                                       "if x\nendfor",    "x = 1 2",   "if if",      "f(1,]", "end",
                                       "function f(x)\n", "x = 1,",    "a.b = [1,2]"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) incomplete(open[i], true);
    for (size_t i = 0; i < sizeof done / sizeof *done; i++) incomplete(done[i], false);
}

static void type_text(const char *text, bool good) {
    Ctx c;
    qctx_init(&c, 32);
    Unit *u;
    TypeExpr *t;
    qs_status s = qparse_type(&c, text, strlen(text), &u, &t);
    compare(text, good ? "type" : "no type", s == QS_OK ? "type" : "no type");
    if (s == QS_OK) qparse_free(u);
    else if (c.err.status != QS_ESYNTAX) failures++;
    qctx_close(&c);
}

static char *repeated(const char *s, int n, const char *tail) {
    size_t len = strlen(s);
    char *out = malloc(len * (size_t)n + strlen(tail) + 1);
    for (int i = 0; i < n; i++) memcpy(out + len * (size_t)i, s, len);
    strcpy(out + len * (size_t)n, tail);
    return out;
}

/* Any construct repeated without end gives an error or a tree, in little time and stack. */
static void hostile(void) {
    static const char *const units[] = {"(",
                                        "[",
                                        "{",
                                        "`",
                                        "[(",
                                        "f(",
                                        "x[",
                                        "x->",
                                        "x->(",
                                        "-",
                                        "!",
                                        "2^",
                                        "a=",
                                        "a.",
                                        "x?",
                                        "if x\n",
                                        "1+",
                                        "vec[",
                                        "x:^",
                                        "x:[(",
                                        "{!a b=",
                                        "x=(1\n",
                                        "match x with\n",
                                        "reduction (x)->(",
                                        "function y=f(x)\n",
                                        "repeat\n",
                                        "\"",
                                        "'",
                                        "_",
                                        "1",
                                        ".",
                                        "..",
                                        "a:",
                                        "print ",
                                        "try\n",
                                        "else\n",
                                        "| 1 ->"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        Ctx c;
        qctx_init(&c, 32);
        char *text = repeated(units[i], 20000, "");
        qparse_free(parse_text(&c, text, strlen(text)));
        (void)qparse_incomplete(&c, text, strlen(text));
        free(text);
        qctx_close(&c);
    }
}

static void lengths(void) {
    char *sum = repeated("1+", 900, "1"), *longer = repeated("1+", 1100, "1"), *line = repeated("x=[1,2];", 131072, "");
    char *deep = repeated("(", 150, "1"), *deeper = repeated("(", 250, "1");
    no_errors(sum, strlen(sum));
    no_errors(line, strlen(line)); /* one line of a mebibyte */
    complains(longer, "1:2000: error: an expression of more than 1000 operations in a chain: split it into statements");
    complains(deeper, "1:201: error: nested more than 200 levels deep");
    complains(deep, "1:152: error: expected ')', found end of file");
    free(sum), free(longer), free(line), free(deep), free(deeper);
    Ctx c;
    qctx_init(&c, 32);
    Unit *u = parse_text(&c, "x = 1\0\ny = \"\0\"", 14);
    char *said = sentences(u);
    compare("NUL bytes", "1:6: error: unexpected byte 0\n2:6: error: a NUL byte in a string", said);
    free(said);
    qparse_free(u);
    qctx_close(&c);
}

int main(void) {
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
        parses_to(expressions[i].text, expressions[i].tree);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        parses_to(statements[i].text, statements[i].tree);
    for (size_t i = 0; i < sizeof idioms / sizeof *idioms; i++) no_errors(idioms[i], strlen(idioms[i]));
    documentation();
    prompt();
    type_text("vec[mat]", true);
    type_text(" cube{:} ", true);
    type_text("mat'circular", true);
    type_text("[(??,?\?) -> (??,?\?)]", true);
    type_text("vec(3)", true);
    type_text("vec[", false);
    type_text("", false);
    type_text("vec mat", false);
    type_text("mat'round", false);
    hostile();
    lengths();
    if (failures) printf("%d failures\n", failures);
    return failures != 0;
}
