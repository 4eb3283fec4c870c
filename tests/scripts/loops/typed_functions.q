% devices: ref cpu
% options: --loops always --explain
% Functions whose parameters and results have types, matrices made in a function, a row in several variables.
function r:scalar = h2(m:mat)
    r = m[0,0]*m[1,1] - m[0,1]*m[1,0]
end
function r = h3(m)
    r = m[0,0]*m[1,1] - m[0,1]*m[1,0]
end
function r:vec = h4(v:vec3, k:scalar)
    r = v*k
end
function res = h5(a)
    res = mat(3,3)
    res[0,0] = a
    res[1,1] = 2*a
    res[2,2] = 3
end
function res:mat = h6(a:scalar)
    res = zeros(3,3)
    for i=0..2
        res[i,i] = a
    end
end
function y = l1(x)
  y = zeros(numel(x))
  for i=0..numel(x)-1
    y[i] = h2([[x[i],1],[2,3]])
  end
end
function y = l2(x)
  y = zeros(numel(x))
  for i=0..numel(x)-1
    y[i] = h3([[x[i],1],[2,3]])
  end
end
function y = l3(x)
  y = zeros(numel(x))
  for i=0..numel(x)-1
    y[i] = sum(h4([x[i],1,2], 3))
  end
end
function y = l4(x)
  y = zeros(numel(x))
  for i=0..numel(x)-1
    m = h5(x[i])
    y[i] = m[0,0]+m[1,1]
  end
end
function y = l5(x)
  y = zeros(numel(x))
  for i=0..numel(x)-1
    m = h6(x[i])
    y[i] = m[0,0]+m[1,1]
  end
end
function y = l6(x)
  y = zeros(numel(x))
  for i=0..numel(x)-1
    m = mat(2,2)
    m[0,1] = x[i]
    v = vec(3)
    v[1] = x[i]
    y[i] = sum(m) + v[1]
  end
end
function n = flood(img, seed)
  [H,W] = size(img,0..1)
  stack = zeros(H*W*4+1,2)
  seen = zeros(H,W)
  stack[0,:] = seed
  top = 1
  n = 0
  while top > 0
    top -= 1
    [cy,cx] = stack[top,:]
    if cy>=0 && cy<H && cx>=0 && cx<W
      if !seen[cy,cx] && img[cy,cx] > 0
        seen[cy,cx] = 1
        n += 1
        stack[top,:] = [cy+1,cx]
        stack[top+1,:] = [cy-1,cx]
        stack[top+2,:] = [cy,cx+1]
        stack[top+3,:] = [cy,cx-1]
        top += 4
      end
    end
  end
end
function y = cplx(z)
  y = complex(zeros(numel(z)))
  for i=0..numel(z)-1
    y[i] = log(z[i]) + sin(z[i])
  end
end
function s = h7(m:mat)
    s = 0.0
    for i=0..size(m,1)-1
        s += m[0,i]
    end
end
function y = l7(v, n)
  y = 0.0
  for i=0..n-1
    y = y/2 + h7(v)
  end
end
function y = l8(x)
  y = zeros(numel(x))
  for i=0..numel(x)-1
    m : mat = [[x[i],1],[2,3]]
    w : vec = [x[i],2]
    y[i] = h2(m) + h7(w) + h7([x[i],5,6])
  end
end
function r = h9(v:vec2)
  r = v[0]
end
function y = l9(x)
  y = zeros(numel(x))
  for i=0..numel(x)-1
    y[i] = h9([[x[i],1],[2,3]])
  end
end
x = [0.5,-1,2.25,1/3,7]
z = complex(x, 1-x)
print l1(x), l2(x), l3(x), l4(x), l5(x), l6(x)
print flood([[1,1,0,1],[0,1,0,1],[1,1,1,0]], [0,0])
print cplx(z)
print l7(x, 3), l8(x)
try
  print l9(x)
catch e
  print e
end
