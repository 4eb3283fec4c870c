% options: --loops always --explain
% devices: cpu
% exit: 1
% --explain says which statements became one kernel, and why others did not.
function y = together(x)
    a = x.*2
    b = a + x
    y = b.*a
end
function y = kept(x)
    t = exp(x)
    y = t./sum(t, 1)
end
function y = costly(x)
    t = exp(x)
    u = atan(x)
    y = t./sum(t, 1) + u./sum(u, 1)
end
y = together(reshape(0..99, [10,10]))
z = kept(y)
print size(z)
y = costly(y)
error("ends here")
