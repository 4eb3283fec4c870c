% options: --loops always
% Ranges with bounds and steps that are known only at run time.
function s = win(x, c, n)
    s = 0
    for i = 0..n-1
        y = floor(c[i])
        for k = y..y+4
            s += x[k]*(k+1)
        end
    end
end
function s = win2(x, c, n)
    s = 0
    for i = 0..n-1
        y = int(floor(c[i]))
        for k = y..y+4
            s += x[k]
        end
    end
end
function s = win3(x, n)
    s = 0
    for y = 0..n-1
        for k = max(0,y-2)..min(96,y+2)
            s += x[k]
        end
    end
end
function s = win4(x, c, n)
    s = 0
    for i = 0..n-1
        for k = int(c[i])..int(c[i]+3)
            s += x[k]
        end
    end
end
function s = frac(n)
    s = 0
    for i = 0..n-1
        for t = 0..0.1..1
            s += t*i
        end
        for t = i/3..0.5..i
            s += t
        end
    end
end
function s = steps(n, h)
    s = 0
    for i = 0..n-1
        for t = 0..h..1
            s += t*i
        end
        for t = n..-h..i
            s += t
        end
        d = i+1
        for t = 0..d..n
            s += t
        end
        for t = i..-i-1..-n
            s += t
        end
        for t = i..h*0+2..n
            s += t
        end
    end
end
function p = sieve(n)
    p = uint8(ones(n+1))
    for i = 2..floor(sqrt(n))
        if p[i] == 1
            for j = i*i..i..n
                p[j] = 0
            end
        end
    end
end
function s = dd(a, b, n)
    s = 0
    for i = 0..n
        for [j,k] = floor([a,b])..[3,b+2]
            if k > 100, break, end
            if j == 2, continue, end
            s += j*10+k
        end
    end
end
function t = bad(lo, st, hi)
    t = 0
    for i = 0..1
        for k = lo..st..hi
            t += k
            if t > 10000, t = 1, end
        end
    end
end
function t = bad2(lo, hi)
    t = 0
    for i = 0..1
        for k = lo/(1-i)..hi
            t += k
        end
    end
end
function t = bad3(lo, hi)
    t = 0
    for i = 0..1
        for k = int(lo)+int(i)..2^50..int(hi)
            t = t + 1
            if t > 20, break, end
        end
    end
end
x = mod((0..199)*37, 101)
c = mod((0..49)*7.25, 100)
print win(x,c,50)
print win2(x,c,50)
print win3(x,97)
print win4(x,c,50)
print win(ones(200),-c*0-0.5+1,50)
print frac(7)
print steps(9,0.25), steps(9,1)
print sum(sieve(1000)), sieve(10)
print dd(0.5,2,1), dd(-1,99,2)
try, print bad(0,nan,1), catch e, print e, end
try, print bad(0,0,1), catch e, print e, end
try, print bad(0,-0.0,1), catch e, print e, end
try, print bad(nan,1,1), catch e, print e, end
try, print bad(inf,1,1), catch e, print e, end
try, print bad(-inf,1,1), catch e, print e, end
try, print bad(0,1,nan), catch e, print e, end
try, print bad(0,inf,5), catch e, print e, end
try, print bad(0,1e300,5), catch e, print e, end
try, print bad(1e17,8,1e17+100), catch e, print e, end
try, print bad(2,-1,-3), catch e, print e, end
try, print bad2(1,3), catch e, print e, end
try, print bad2(-1,-1), catch e, print e, end
try, print bad2(nan,-1), catch e, print e, end
try, print bad2(0,nan), catch e, print e, end
try, print bad3(0,5), catch e, print e, end
try, print bad3(9007199254740992,9007199254740995), catch e, print e, end
try, print bad3(int(9007199254740993),9007199254740995), catch e, print e, end
try, print bad3(int(9007199254700007),9007199254740995), catch e, print e, end
try, print bad3(int(9007199254740992),9107199254740000), catch e, print e, end
try, print bad3(-int(9007199254740993),1), catch e, print e, end
try, print bad3(int(1e18)+int(1),1), catch e, print e, end
try, print win(x,c*nan,50), catch e, print e, end
try, print win(x,c+1e17,50), catch e, print e, end
try, print win(x,c*0-0.5,50), catch e, print e, end
function s = mz(r, x)
    s = 0
    for i = 0..1
        for k = -r..r
            x[i] = k
            s += 1/k
        end
        for k = -r..0.5..r
            x[i+2] = k
            s += 1/k
        end
        for k = floor(-0.0*x[5])..r
            x[i+4] = k
            s += 1/k
        end
    end
end
x = ones(9)
print mz(0,x), x

% a loop that runs with many steps is compiled for any step
function s = by(step, n)
    s = 0
    for k = 0..step..n
        s += k
    end
end
sums = zeros(9)
i = 0
for step in {1,2,3,4,5,-1,0.5,0.25,0.75}
    sums[i] = by(step, 20*sign(step))
    i += 1
end
print sums
