% exit: 3
% An attribute or setting that does not exist is reported, and so is one that has no effect at its location.
{!adjiont rule}
function y = f(x)
    {!kernel fastmath=true}
    {!kernel target="gpu"; fast_math}
    y = floor(x)
end
{!warnigs off}
{!foo bar}
{!paralel for}
for i = 0..3
end
{!parallel fro}
for i = 0..3
end
{!parallel for}
{!unroll times=4}
for i = 0..3
end
{!adjoint f}
x = f(3)
% Attributes for other compilers are ignored; a hint about tiles says so.
{!author name="A. B."}
{!doc category="x/y"}
{!kernel_tiling dims=[1,2]; mode="global"; target="gpu"}
{!serial for}
for i = 0..3
end
{!parallel for; dim=1}
for i = 0..3
end
{!warnings off}
{!paralel for}
{!warnings on}
{!adjoint f}
function [] = __kernel__ ruled(x : vec, pos : int)
    x[pos] = 1
end
exit(3)
