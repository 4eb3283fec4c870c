% options: --loops always --explain
% Fast math in loops: float32 elements are computed in float32, by {!fast_math} before a loop, or in a function.
n = 1000
x = 1/(1 + (0..n-1))
y = zeros(n)
{!fast_math}
for i = 0..n-1
    y[i] = exp(-x[i])*0.5 + sqrt(x[i])
end
print round(1000*sum(y))
function s = total(x)
    {!fast_math}
    s = 0
    for i = 0..numel(x)-1
        s += x[i]*x[i]
    end
end
print round(10000*total(x))
z = float64(x)                       % float64 elements stay so
{!fast_math}
for i = 0..n-1
    z[i] = z[i]/3
end
print z[1]*3 == 0.5
u = uint8(200*ones(n))               % sums of small integers stay exact
t = 0
{!parallel for; fast_math=true}
for i = 0..n-1
    t += u[i]*u[i]
end
print t
