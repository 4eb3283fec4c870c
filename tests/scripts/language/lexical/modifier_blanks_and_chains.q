function y = f(x : vec' clamped'hwtex_const)
    y = x[9]
end
print f([1,2,3])
