type fixed : class
    m : scalar
    pos : vec3
end
type part : mutable class
    pos : vec3
    m : scalar
    n : int
    any
    name : string
    z : cscalar
    b : bool
end
function [] = __kernel__ imm(p : fixed, pos : int)
    p.m = 1
end
function [] = __kernel__ imm2(p : vec[fixed], pos : int)
    p[pos].pos += 1
end
function [] = __kernel__ imm3(p : vec[fixed], pos : int)
    p[pos].pos[1] = 5
end
function [] = __kernel__ setm(p : part, q : part, pos : int)
    p.m = q.m + 1
end
function [] = __kernel__ setc(p : part'const, pos : int)
    p.m = 1
end
function [] = __kernel__ sets(p : part, pos : int)
    p.name = "x"
end
function [] = __kernel__ seta(p : part, pos : int)
    p.any = 2
end
function [] = __kernel__ short(p : part, pos : int)
    p.pos = [1,2]
end
function [] = __kernel__ cellm(p : vec[part], pos : int)
    p[pos+1].m = 5
end
function [] = __kernel__ cellp(p : vec[part], pos : int)
    p[pos+1].pos += 5
end
function [] = __kernel__ cellq(p : vec[part], q : part, pos : int)
    p[pos].m = 5
    q.m = 6
end
function [] = __kernel__ cells(p : vec[part], pos : int)
    p[pos] = p[0]
end
function [] = __kernel__ fetch(p : part, ps : vec[part], y : vec[int], pos : int)
    y[pos] = atomic_add(p.n, 2)
    atomic_add(ps[pos].n, pos)
    p.z += 1j
    p.b = pos > 1
end
function [] = __kernel__ far(p : vec[part], pos : int)
    p[0].pos[5] = 5
end
function [] = __kernel__ size_of(p : part, y : vec, pos : int)
    a = zeros(p.n)
    p.n = 3
    y[pos] = sum(a)
end
function [] = try_it(f)
    try
        f()
    catch e
        print e.message
    end
end
function [] = main()
    p = part(m:=1)
    f = fixed()
    try_it(() -> parallel_do(1, f, imm))
    try_it(() -> parallel_do(1, {f}, imm2))
    parallel_do(1, {f}, imm3)
    print f
    try_it(() -> parallel_do(1, p, p, setm))
    q = part(m:=3)
    parallel_do(1, p, q, setm)
    print p
    try_it(() -> parallel_do(1, p, setc))
    try_it(() -> parallel_do(1, p, sets))
    p.any = 1
    try_it(() -> parallel_do(1, p, seta))
    try_it(() -> parallel_do(1, p, short))
    parallel_do(2, {p, q}, cellm)
    print p.m, " ", q.m
    try_it(() -> parallel_do(2, {p, p}, cellm))
    try_it(() -> parallel_do(2, {p, q}, p, cellq))
    try_it(() -> parallel_do(2, {p, q}, cells))
    q.pos = p.pos
    try_it(() -> parallel_do(2, {p, q}, cellp))
    print p.pos
    y = vec[int](3)
    ps = {part(), part(), part()}
    parallel_do(3, p, ps, y, fetch)
    print sort(y), ps[2].n, p
    try_it(() -> parallel_do(1, {p}, far))
    try_it(() -> parallel_do(1, p, y, size_of))
end
% an object of the cell that is an argument of its own, and only read
type single : mutable class
    m : scalar
end
function [] = __kernel__ from_first(ps : vec[single], p : single, pos : int)
    ps[pos].m = p.m + 1
end
singles = {single(), single()}
try
    parallel_do(2, singles, singles[0], from_first)
catch e
    print e
end
