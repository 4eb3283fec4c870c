% Fast math in a loop whose inner loop, or a function that it calls, excludes it: the results are exact.
% options: --loops always
function y = h(x)
  {!fast_math false}
  y = 0.0
  for k=0..numel(x)-1
    y = y*0.9 + sin(x[k])/3.3
  end
end
function [] = g(x, y)
  t = 0
  {!fast_math}
  for i=0..numel(x)-1
      s = y[max(i-1,0)]*3.1
      {!fast_math false}
      for k=0..10
        s = s/7.3 + sin(s) + x[i]
      end
      y[i] = s + h(x)
  end
end
x = linspace(0,1,37)
y = zeros(37)
g(x,y)
printf("%.17g", sum(y))
