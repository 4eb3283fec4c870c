% options: --explain --loops always
% devices: cpu opencl
% exit: 3
% Loops append short vectors to cells, remove, read and change them.
function d = distances(grid)
    [h, w] = size(grid)
    d = -ones(h, w)
    d[0,0] = 0
    queue = {[0,0]}
    moves = [[1,0],[-1,0],[0,1],[0,-1]]
    while numel(queue) > 0
        p = queue.pop(0)
        for k = 0..3
            q = p + moves[k,:]
            if q[0] >= 0 && q[0] < h && q[1] >= 0 && q[1] < w && grid[q[0],q[1]] > 0 && d[q[0],q[1]] < 0
                d[q[0],q[1]] = d[p[0],p[1]] + 1
                queue.append(q)
            end
        end
    end
end
function runs = encode(x)
    runs = {}
    for i = 0..numel(x)-1
        if numel(runs) > 0 && runs[numel(runs)-1][0] == x[i]
            runs[numel(runs)-1][1] += 1
        else
            runs.append([x[i],1])
        end
    end
end
function s = with_stack(n)
    s = 0
    for i = 1..n
        stack = {[i,1]}
        while numel(stack) > 0
            p = stack.pop()
            s += p[0]*p[1]
            if p[0] > 2
                stack.append([floor(p[0]/2),p[1]+1])
            end
        end
    end
end
function a = kept(a, n)
    for i = 1..n
        a.append([i/3,2^25+i])
        if mod(i, 2) == 0
            pop(a, 0)
        end
    end
end
function [a, v] = two_names(n)
    a = {}
    v = [1,2]
    for i = 1..n
        a.append(v)
        v[0] += 1
    end
end
grid = ones(6, 7)
grid[1,0..5] = 0
grid[3,1..6] = 0
print distances(grid)[4,0..6]
for r in encode([1,1,2,2,2,3])
    print r
end
print with_stack(20)
first = [1,2]
second = [3,4]
a = kept({first,second}, 3)
second[0] = 30
for v in a
    print v - 2^25, type(v)
end
[a, v] = two_names(3)
print a[0], v
a = {[1,2]}
try
    for i = 1..9
        a.append([i,i])
        a[i*3][0] += 1
    end
catch e
    print e, " ", numel(a)
end
exit(3)
