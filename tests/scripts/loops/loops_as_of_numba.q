% options: --loops always
% Loops over numbers and ints in the style of Numba: all are compiled.
function c = collatz(n)
    c = 0
    for i = 1..n
        k = i
        while k != 1
            if mod(k,2) == 0
                k = k/2
            else
                k = 3*k+1
            end
            c = c+1
        end
    end
end
function s = gcds(n)
    s = 0
    for i = 1..n
        a = i
        b = n
        while b != 0
            t = mod(a,b)
            a = b
            b = t
        end
        s = s+a
    end
end
function p = sieve(n)
    p = uint8(ones(n+1))
    for i = 2..floor(sqrt(n))
        if p[i] == 1
            j = i*i
            while j <= n
                p[j] = 0
                j = j+i
            end
        end
    end
end
function h = histogram(img)
    h = int(zeros(256))
    for i = 0..numel(img)-1
        v = img[i]
        h[v] = h[v]+1
    end
end
function m = runs(x)
    m = 0
    run = 0
    last = -1
    for i = 0..numel(x)-1
        if x[i] == last
            run = run+1
        else
            run = 1
            last = x[i]
        end
        if run > m
            m = run
        end
    end
end
function [] = insertion(x)
    for i = 1..numel(x)-1
        key = x[i]
        j = i-1
        while j >= 0 && x[j] > key
            x[j+1] = x[j]
            j = j-1
        end
        x[j+1] = key
    end
end
function s = bsearch(x, q)
    s = 0
    for i = 0..numel(q)-1
        lo = 0
        hi = numel(x)-1
        found = -1
        while lo <= hi
            mid = floor((lo+hi)/2)
            if x[mid] == q[i]
                found = mid
                break
            elseif x[mid] < q[i]
                lo = mid+1
            else
                hi = mid-1
            end
        end
        s = s+found
    end
end
function c = popcount(n)
    c = 0
    for i = 0..n-1
        v = int(i)
        while v != 0
            v = and(v, v-int(1))
            c = c+1
        end
    end
end
function c = popcount2(n)
    c = 0
    for i = 0..n-1
        v = i
        while v > 0
            c = c + and(v,1)
            v = shr(v,1)
        end
    end
end
function s = lcg(n)
    s = 12345
    for i = 1..n
        s = mod(1103515245*s + 12345, 2147483648)
    end
end
function s = lcgint(n)
    s = int(12345)
    for i = 1..n
        s = mod(int(1103515245)*s + 12345, 2147483648)
    end
end
function s = xorshift(n)
    x = int(2463534242)
    s = 0
    for i = 1..n
        x = xor(x, and(shl(x,13), int(4294967295)))
        x = xor(x, shr(x,17))
        x = xor(x, and(shl(x,5), int(4294967295)))
        s = s + and(x,1)
    end
end
function d = edit(a, b)
    n = numel(a)
    m = numel(b)
    D = int(zeros(n+1,m+1))
    for i = 0..n
        D[i,0] = i
    end
    for j = 0..m
        D[0,j] = j
    end
    for i = 1..n
        for j = 1..m
            cost = a[i-1] == b[j-1] ? 0 : 1
            D[i,j] = min(min(D[i-1,j]+1, D[i,j-1]+1), D[i-1,j-1]+cost)
        end
    end
    d = D[n,m]
end
function d = edit2(a, b)
    n = numel(a)
    m = numel(b)
    prev = int(0..m)
    cur = int(zeros(m+1))
    for i = 1..n
        cur[0] = i
        for j = 1..m
            c = 1
            if a[i-1] == b[j-1]
                c = 0
            end
            best = prev[j-1]+c
            if prev[j]+1 < best, best = prev[j]+1, end
            if cur[j-1]+1 < best, best = cur[j-1]+1, end
            cur[j] = best
        end
        for j = 0..m
            prev[j] = cur[j]
        end
    end
    d = prev[m]
end
function [] = prefmax(x, y)
    m = -1
    for i = 0..numel(x)-1
        m = x[i] > m ? x[i] : m
        y[i] = m
    end
end
function [] = mandel(out, n)
    for i = 0..n-1
        for j = 0..n-1
            cr = -2+3*j/n
            ci = -1.5+3*i/n
            zr = 0
            zi = 0
            k = 0
            while k < 100 && zr*zr+zi*zi < 4
                t = zr*zr-zi*zi+cr
                zi = 2*zr*zi+ci
                zr = t
                k = k+1
            end
            out[i,j] = k
        end
    end
end
function [] = life(a, b)
    n = size(a,0)
    m = size(a,1)
    for i = 0..n-1
        for j = 0..m-1
            c = 0
            for di = -1..1
                for dj = -1..1
                    if di != 0 || dj != 0
                        c = c + a[mod(i+di,n), mod(j+dj,m)]
                    end
                end
            end
            if c == 3 || (c == 2 && a[i,j] == 1)
                b[i,j] = 1
            else
                b[i,j] = 0
            end
        end
    end
end
function best = knapsack(w, v, cap)
    t = int(zeros(cap+1))
    for i = 0..numel(w)-1
        for c = cap..-1..w[i]
            take = t[c-w[i]] + v[i]
            if take > t[c]
                t[c] = take
            end
        end
    end
    best = t[cap]
end
function [] = floyd(d)
    n = size(d,0)
    for k = 0..n-1
        for i = 0..n-1
            for j = 0..n-1
                t = d[i,k]+d[k,j]
                if t < d[i,j]
                    d[i,j] = t
                end
            end
        end
    end
end
function [] = bubble(x)
    n = numel(x)
    repeat
        swapped = false
        for i = 1..n-1
            if x[i-1] > x[i]
                t = x[i]
                x[i] = x[i-1]
                x[i-1] = t
                swapped = 1
            end
        end
    until !swapped
end
function crc = crc32(data)
    crc = int(4294967295)
    for i = 0..numel(data)-1
        crc = xor(crc, data[i])
        for k = 0..7
            if and(crc,1) == 1
                crc = xor(shr(crc,1), int(3988292384))
            else
                crc = shr(crc,1)
            end
        end
    end
    crc = xor(crc, int(4294967295))
end
function s = digits(text)
    s = 0
    v = 0
    sign = 1
    for i = 0..numel(text)-1
        c = text[i]
        if c == 45
            sign = -1
        elseif c >= 48 && c <= 57
            v = v*10 + (c-48)
        else
            s = s + sign*v
            v = 0
            sign = 1
        end
    end
    s = s+sign*v
end
function [c] = digitsum(n)
    c = 0
    for i = 1..n
        v = i
        while v > 0
            c = c + mod(v,10)
            v = floor(v/10)
        end
    end
end
function c = primes_count(n)
    c = 0
    for i = 2..n
        isp = true
        d = 2
        while d*d <= i
            if mod(i,d) == 0
                isp = false
                break
            end
            d = d+1
        end
        if isp, c = c+1, end
    end
end
function f = fibmod(n)
    a = 0
    b = int(1)
    for i = 1..n
        t = mod(a+b, 1000007)
        a = b
        b = t
    end
    f = a
end
function c = perfect(n)
    c = 0
    for i = 2..n
        s = 1
        for d = 2..floor(i/2)
            if mod(i,d) == 0
                s = s+d
            end
        end
        if s == i, c = c+1, end
    end
end
function m = maxsub(x)
    best = x[0]
    cur = 0
    for i = 0..numel(x)-1
        cur = max(cur+x[i], x[i])
        best = max(best, cur)
    end
    m = best
end
function c = inversions(x)
    c = 0
    for i = 0..numel(x)-2
        for j = i+1..numel(x)-1
            if x[i] > x[j], c = c+1, end
        end
    end
end
function [] = counting_sort(x, y, k)
    cnt = int(zeros(k+1))
    for i = 0..numel(x)-1
        cnt[x[i]+1] += 1
    end
    for i = 1..k
        cnt[i] += cnt[i-1]
    end
    for i = 0..numel(x)-1
        p = cnt[x[i]]
        y[p] = x[i]
        cnt[x[i]] = p+1
    end
end
function l = lis(x)
    n = numel(x)
    len = int(ones(n))
    l = 0
    for i = 0..n-1
        for j = 0..i-1
            if x[j] < x[i] && len[j]+1 > len[i]
                len[i] = len[j]+1
            end
        end
        l = max(l, len[i])
    end
end
function p = powmod(n)
    p = 0
    for i = 1..n
        b = i
        e = 1000003
        r = 1
        while e > 0
            if mod(e,2) == 1
                r = mod(r*b, 1009)
            end
            b = mod(b*b, 1009)
            e = floor(e/2)
        end
        p = p+r
    end
end
function idx = argmax(x)
    idx = 0
    best = x[0]
    for i = 1..numel(x)-1
        if x[i] > best
            best = x[i]
            idx = i
        end
    end
end
function [] = rle(x, vals, lens)
    n = 0
    i = 0
    while i < numel(x)
        v = x[i]
        j = i
        while j < numel(x) && x[j] == v
            j += 1
        end
        vals[n] = v
        lens[n] = j-i
        n += 1
        i = j
    end
end
function [] = unionfind(p, a, b)
    for i = 0..numel(a)-1
        x = a[i]
        while p[x] != x
            p[x] = p[p[x]]
            x = p[x]
        end
        y = b[i]
        while p[y] != y
            y = p[y]
        end
        if x != y, p[x] = y, end
    end
end
function [] = bfs(ptr, idx, dist)
    n = numel(dist)
    q = int(zeros(n))
    head = 0
    tail = 1
    for i = 0..n-1
        dist[i] = -1
    end
    dist[0] = 0
    while head < tail
        u = q[head]
        head = head+1
        for k = ptr[u]..ptr[u+1]-1
            v = idx[k]
            if dist[v] < 0
                dist[v] = dist[u]+1
                q[tail] = v
                tail = tail+1
            end
        end
    end
end
function s = trapz(n)
    s = 0
    h = 1/n
    for x = 0..h..1
        s = s + 4/(1+x*x)*h
    end
end
function c = coins(amount, coin)
    ways = int(zeros(amount+1))
    ways[0] = 1
    for i = 0..numel(coin)-1
        for a = coin[i]..amount
            ways[a] = ways[a] + ways[a-coin[i]]
        end
    end
    c = ways[amount]
end
function s = dither(img)
    s = 0
    err = 0
    for i = 0..numel(img)-1
        v = img[i]+err
        o = v > 127 ? 255 : 0
        err = v-o
        s += o
    end
end
function [] = thresh(img, out)
    for i = 0..size(img,0)-1
        for j = 0..size(img,1)-1
            v = img[i,j]
            if v < 50
                v = 0
            elseif v > 200
                v = 255
            end
            out[i,j] = v
        end
    end
end
function [] = median3(img, out)
    for i = 1..numel(img)-2
        a = img[i-1]
        b = img[i]
        c = img[i+1]
        if a > b
            t = a
            a = b
            b = t
        end
        if b > c, b = c, end
        if a > b, b = a, end
        out[i] = b
    end
end
function [] = pascal(t, n)
    for i = 0..n-1
        for j = 0..i
            t[i,j] = j == 0 || j == i ? 1 : mod(t[i-1,j-1]+t[i-1,j], 1000)
        end
    end
end
function s = clampwin(x, y, w)
    s = 0
    n = numel(x)
    for i = 0..n-1
        acc = 0
        cnt = 0
        for k = max(0,i-w)..min(n-1,i+w)
            acc = acc+x[k]
            cnt = cnt+1
        end
        y[i] = acc/cnt
        s += acc
    end
end
function [] = interp(x, y, q)
    n = numel(x)
    for i = 0..numel(q)-1
        k = int(floor(q[i]))
        k = max(k, 0)
        k = min(k, n-2)
        f = q[i]-k
        y[i] = x[k]*(1-f)+x[k+1]*f
    end
end
function n = nqueens(N)
    n = 0
    cols = int(zeros(N+1))
    r = 0
    cols[0] = -1
    while r >= 0
        cols[r] = cols[r]+1
        ok = false
        while cols[r] < N && !ok
            ok = true
            for k = 0..r-1
                if cols[k] == cols[r] || abs(cols[k]-cols[r]) == r-k
                    ok = false
                    break
                end
            end
            if !ok, cols[r] = cols[r]+1, end
        end
        if cols[r] >= N
            r = r-1
        elseif r == N-1
            n = n+1
        else
            r = r+1
            cols[r] = -1
        end
    end
end
function s = bitrev(n, b)
    s = 0
    for i = 0..n-1
        r = int(0)
        v = int(i)
        for k = 1..b
            r = or(shl(r,1), and(v,1))
            v = shr(v,1)
        end
        s += r
    end
end
function [] = heapsort(a)
    n = numel(a)
    start = floor(n/2)
    last = n
    while last > 1
        if start > 0
            start = start-1
        else
            last = last-1
            t = a[last]
            a[last] = a[0]
            a[0] = t
        end
        root = start
        while 2*root+1 < last
            child = 2*root+1
            if child+1 < last && a[child] < a[child+1]
                child = child+1
            end
            if a[root] < a[child]
                t = a[root]
                a[root] = a[child]
                a[child] = t
                root = child
            else
                break
            end
        end
    end
end
function r = power(n)
    r = 0
    for i = 0..n-1
        x = 2^mod(i,20)
        y = int(2)^int(mod(i,20))
        r = r + x + y
    end
end
function r = isqrt(n)
    r = 0
    for i = 0..n-1
        x = i
        y = floor((x+1)/2)
        while y < x
            x = y
            y = floor((x+floor(i/x))/2)
        end
        r += x
    end
end
function s = mixsum(x, img)
    s = 0
    n = int(0)
    for i = 0..numel(img)-1
        if img[i] > 10
            s = s + img[i]
            n = n + 1
        end
    end
    s = n > 0 ? s/n : 0
end
N = 200
img = uint8(mod((0..N-1)*37, 256))
x = int(mod((0..N-1)*37, 101))
print collatz(30)
print gcds(30)
print sum(sieve(100))
print sum(histogram(img))
print runs(x)
z = copy(x), insertion(z), print z[5]
print bsearch(0..99, [3,5.5,7])
print popcount(50)
print popcount2(50)
print lcg(20)
print lcgint(20)
print xorshift(20)
print edit(x[0..20], x[3..30])
print edit2(x[0..20], x[3..30])
y = int(zeros(N)), prefmax(x,y), print y[0..3]
o = int(zeros(9,9)), mandel(o,9), print sum(o)
a = uint8(mod(reshape(0..80,[9,9])*7,5) < 2), b = copy(a), life(a,b), print sum(b)
print knapsack(int([3,4,5,9]), int([3,4,4,10]), 20)
d = int(mod(reshape(0..80,[9,9])*7,50)), floyd(d), print sum(d)
z = copy(x), bubble(z), print z[5]
print crc32(img)
print digits(uint8([52,50,32,45,49,55,32]))
print digitsum(50)
print primes_count(50)
print fibmod(20)
print perfect(50)
print maxsub(x-50)
print inversions(x)
y = copy(x), counting_sort(x,y,101), print y[5]
print lis(x)
print powmod(20)
print argmax(x)
v = int(zeros(N)), l = int(zeros(N)), rle(x,v,l), print sum(l)
p = int(0..9), unionfind(p, int([1,2,3,1]), int([2,3,4,5])), print p
di = int(zeros(4)), bfs(int([0,2,3,4,5]), int([1,2,3,3,0]), di), print di
print trapz(100)
print coins(50, int([1,5,10]))
print dither(img)
io = reshape(img,[10,20]), oo = copy(io), thresh(io,oo), print sum(oo)
oo = copy(img), median3(img,oo), print sum(oo)
t = int(zeros(9,9)), pascal(t,9), print sum(t)
y = zeros(N), print clampwin(img, y, 3)
y = zeros(3), interp(0..9, y, [1.5,2.25,-1]), print y
print nqueens(5)
print bitrev(16,4)
z = copy(x), heapsort(z), print z[7]
print power(30)
print isqrt(50)
print mixsum(x,img)
