% options: --loops always --explain
% Elements of integer types that are only added to: as for floats, each chunk of iterations has a copy.
function h = hist1(x)
    h = vec[int](10)
    for i = 0..numel(x)-1
        h[mod(i,10)] += 1
    end
end
function h = hist2(x)
    h = vec[int](10)
    {!parallel for}
    for i = 0..numel(x)-1
        h[max(0,min(9,int(x[i])))] += 1
    end
end
function h = hist3(x)
    h = zeros(10)
    {!parallel for}
    for i = 0..numel(x)-1
        h[max(0,min(9,int(x[i])))] += 1
    end
end
function h = hist4(x)
    h = zeros(10)
    for i = 0..numel(x)-1
        h[int(x[i])] += 1
    end
end
function h = hist5(x)
    h = vec[int](10)
    for i = 0..numel(x)-1
        h[clamp(floor(x[i]*10),9)] += 1
    end
end
x = mod((0..3000)*0.7548776662466927, 1)*10

print hist1(x)

print hist2(x)


print hist3(x)

print hist4(x)
print hist5(x/10)
x = mod((0..3000)*0.7548776662466927, 1)*10
h = uint8(zeros(10))
for i = 0..3000
  h[int(x[i])] += 1
end
print h, " ", type(h)
g = int8(zeros(10))
for i = 0..3000
  g[int(x[i])] -= mod(i,3)
end
print g
u = vec[int](10)
for i = 0..3000
  u[int(x[i])] += x[i] > 5
  u[mod(i,10)] += 2
end
print u
u = vec[int](10)
for i = 0..3000
  u[int(x[i])] += mod(i,3)-1
end
print u
u = vec[int](10)
u[3] = 2147483000
for i = 0..3000
  u[int(x[i])] += 1
end
print u
y = zeros(3001)
u = vec[int](10)
for i = 0..3000
  y[i] = x[i]*2
  u[max(0,min(9,int(x[i])))] += 1
end
print u, sum(y)
m = mat[int](4,4)
for i = 0..2999
  m[int(x[i]/3),int(x[i+1]/3)] += 1
end
print m
