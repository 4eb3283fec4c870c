for [m,n] = 0..[1,2]
    print m, n
end
x = zeros(2,1,2)
for [m,n,p]=0..size(x,0..2)-1
    x[m,n,p] = 100*m + 10*n + p
endfor
print x[1,0,1], " ", sum(x)
