% slices of a few elements whose indices decrease
% options: --loops always
function y = f(x, n, lo)
    y = zeros(numel(x))
    for k = lo..numel(x)-1
        u = x[k..-1..k-n+1]
        y[k] = sum(u.*[1,2,3]) + u[0]*100
    end
end
function y = g(x, lo)
    y = copy(x)
    for k = lo..numel(x)-3
        y[k+1..-1..k-1] = x[k-1..k+1]*2
    end
end
function y = h(x : vec'mirror)
    y = zeros(numel(x))
    for k = 0..numel(x)-1
        u = x[k+2..-1..k]
        y[k] = u[0]*4 + u[1]*2 + u[2]
    end
end
function s = m(x)
    s = 0
    for i=0..size(x,0)-2
        for j=1..size(x,1)-1
            b = x[i+1..-1..i, j..-1..j-1]
            s = s*0.5 + b[0,0]*3 + b[1,0]*2 - b[0,1] + b[1,1]*7
        end
    end
end
x = mod((0..11)*7, 11)
print f(x, 3, 2)
try
  f(x, 3, 1)
catch e
  print e
end
try
  f(x, 3, 20)
  print g(x, 1)
  g(x, 0)
catch e
  print e
end
try
  for k=5..12
    u = x[k..-1..k-2]
  end
catch e
  print e, " ", k
end
print h(x)
print m(reshape(mod((0..29)*7,11),[5,6]))
