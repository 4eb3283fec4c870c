% options: --no-warnings --loops always
% Apparent proofs that an index is in bounds, which are invalid; values that are discarded with the code that made them.
function [] = w1(x, y, k:int)
    for i=0..numel(x)-1
        j = x[i]
        if j>=0 && j<4
            y[max(int(trunc(j)),k)] = 7
        end
    end
end
function [] = w2(x, v, y, k:int)
    for i=0..numel(x)-1
        j = x[i]
        if j>=0 && j<4
            y[i] = v[min(int(trunc(j)),k)]
        end
    end
end
function y = g5(x, v, big:int64)
    y = zeros(numel(x))
    for j=0..numel(x)-1
        if x[j] >= 0 && x[j] < big+numel(v)-big
            y[j] = v[x[j]]
        end
    end
end
function y = many(n)
  y = zeros(n)
  for i=0..n-1
    for j=0..3
      if (((7+7) < abs(n) ? (11+0.5) : abs(i)) + ((64*i)-abs(i))) > abs(abs((0.5+2)))
        y[i] -= abs((abs(n)*(7-11)))
      end
    end
  end
end
function y = reach(x)
    y = 0
    for i=0..numel(x)-1
        if x[i] < 0/0 || x[i] < 1e300
            y += x[i]
        end
    end
end
try
    w1(ones(64),zeros(4),1000000000)
catch e
    print e
end
try
    w2(ones(64),zeros(4),zeros(64),-1)
catch e
    print e
end
try
    print g5(float64([3,199,200,205,230]), 0..199, int64(1152921504606846976))
catch e
    print e
end
print many(9), reach([1,2,3])
function [] = counted(x,y,h,n,k)
  q = 0.5
  for i=0..n
    if 0 <= q+i && q+i <= k
      y[q+i] = x[mod(i,n)]
    end
    if abs(i) < n
      h[abs(i)] += 1
    end
  end
end
y=zeros(20); h=zeros(20)
counted(0..19,y,h,9,7)
print y,h
