function y = mapping_forward(a : vec'clamped(256), x : cube)
    y = zeros(size(x))
    for [m,n,p]=0..size(x,0..2)-1
        y[m,n,p] = a[x[m,n,p]]
    endfor
endfunction
a = (0..255)*2
x = 300*ones(1,2,3)
x[0,0,0] = 7
print mapping_forward(a, x)
