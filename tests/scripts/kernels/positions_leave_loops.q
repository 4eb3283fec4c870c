% Positions leave loops in different iterations: the same counts in every form, also where some positions end before.
function [] = __kernel__ with_while(y : mat, pos : ivec2)
    n = 7*pos[0] + 13*pos[1] + 1
    k = 0
    while n > 1 && k < 60
        n = mod(n, 2) == 0 ? n/2 : 3*n + 1
        k += 1
    end
    y[pos] = k
end
function [] = __kernel__ with_break(y : mat, pos : ivec2)
    n = 7*pos[0] + 13*pos[1] + 1
    k = 60
    for i = 0..59
        if n <= 1
            k = i
            break
        end
        if mod(n, 2) == 0
            n = n/2
            continue
        end
        n = 3*n + 1
    end
    y[pos] = k
end
function [] = __kernel__ with_return(y : mat, pos : ivec2)
    n = 7*pos[0] + 13*pos[1] + 1
    y[pos] = 60
    for i = 0..59
        if n <= 1
            y[pos] = i
            return
        end
        n = mod(n, 2) == 0 ? n/2 : 3*n + 1
    end
end
function k = __device__ steps(n, limit)
    for k = 0..limit-1
        if n <= 1; return; end
        n = mod(n, 2) == 0 ? n/2 : 3*n + 1
    end
    k = limit
end
function [] = __kernel__ with_function(y : mat, pos : ivec2)
    y[pos] = steps(7*pos[0] + 13*pos[1] + 1, 60)
end
function [] = __kernel__ in_branches(y : mat, pos : ivec2)
    n = 7*pos[0] + 13*pos[1] + 1
    k = 0
    if mod(n, 2) == 0
        while n > 1 && k < 60
            n = mod(n, 2) == 0 ? n/2 : 3*n + 1
            k += 1
        end
    else
        repeat
            if n <= 1; break; end
            n = mod(n, 2) == 0 ? n/2 : 3*n + 1
            k += 1
        until k >= 60
    end
    y[pos] = k
end
function [] = __kernel__ from_tables(y : mat, next : vec[int], pos : ivec2)
    step = [1,0,0]
    n = 7*pos[0] + 13*pos[1] + 1
    k = 0
    while n > 1 && k < 60
        n = n < numel(next) ? next[n] : mod(n, 2) == 0 ? n/2 : 3*n + 1
        for i = 0..2
            k += step[i]
        end
    end
    y[pos] = k
end
next = int(mod(0..99, 2) == 0 ? (0..99)/2 : 3*(0..99)+1)
want = zeros(40, 75)
parallel_do(size(want), want, with_while)
print sum(want), " ", want[3,0..9]
for f in {with_break, with_return, with_function, in_branches}
    y = zeros(40, 75)
    parallel_do(size(y), y, f)
    print isequal(y, want)
end
y = zeros(40, 75)
parallel_do(size(y), y, next, from_tables)
print isequal(y, want)

% A loop after positions have ended: in an earlier version it ran forever, depending on what memory held.
function [] = __kernel__ ended_before(y : vec, pos : int)
    if mod(pos, 3) == 0
        y[pos] = -1
        return
    end
    n = pos
    k = 0
    while n > 1
        n -= 3
        k += 1
    end
    if mod(k, 2) == 0; return; end
    repeat
        k -= 2
        y[pos] += 1
    until k < 0
end
total = 0
for r = 1..50
    y = zeros(200)
    parallel_do(200, y, ended_before)
    total += sum(y)
end
print total

% Jumps out of two loops, and iterations that depend on the position
function [] = __kernel__ nested(y : vec, pos : int)
    s = 0
    for i = 0..pos
        for k = 0..9
            if i*k > 30 + pos; break; end
            if mod(i + k, 7) == 3; continue; end
            if s > 500
                y[pos] = -s
                return
            end
            s += k
        end
        if s > 300 + pos; break; end
    end
    y[pos] = s
end
y = zeros(100)
parallel_do(100, y, nested)
print sum(y), " ", y[90..99]

% The last value of a counter
function [] = __kernel__ at_the_end(y : vec, first : int, last : int, pos : int)
    s = 0
    for i = first..last
        if s >= pos; break; end
        s += 1
    end
    y[pos] = s
end
y = zeros(40)
parallel_do(40, y, 2147483640, 2147483647, at_the_end)
print y

% Steps behind which a counter wraps
function [] = __kernel__ far_steps(y : vec, first : int, last : int, pos : int)
    s = 0
    for i = first..1073741824..last
        if s >= pos; break; end
        s += 1
    end
    for i = last..-2000000000..first
        if s >= 2*pos; break; end
        s += 1
    end
    y[pos] = s
end
y = zeros(40)
parallel_do(40, y, -2147483648, 2147483647, far_steps)
print y

% Indices that are inside only where the condition holds
function [] = __kernel__ conditional_reads(y : vec, x : vec'unchecked, m : mat'unchecked, n : int, pos : int)
    s = 0
    for k = 0..9
        if k > pos; break; end
        if pos < -1; s += x[123456789]; end
        if n > 20000; s += m[size(m,0)*1000000,0]; end
        s += k
    end
    y[pos] = s
end
y = zeros(40)
parallel_do(40, y, [1,2], [[1,2],[3,4]], 3, conditional_reads)
print y[0..12]

% Narrow images, and local arrays behind such a loop: in an earlier version it ran forever.
function [] = __kernel__ with_arrays(img : mat, pos : ivec2)
    t = 0.5
    for i = 0..1
        if t > 3; break; end
        t += pos[1]
    end
    n = [0.0,0.0,0.0]
    for k = 0..2
        a = zeros(3)
        a[k] = t
        n[k] = a[0] + a[1] + a[2]
    end
    img[pos] = n[1]
end
for w in {1, 3, 20, 33}
    y = zeros(17, w)
    parallel_do(size(y), y, with_arrays)
    print sum(y), " ", y[3,w-1]
end
