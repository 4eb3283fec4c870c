% options: --loops always
n = 8
steps = zeros(n)
for i=0..n-1
    c = complex(i/4 - 1.5, 0.25)
    z = 0i
    k = 0
    while k < 20 && abs(z) < 2
        z = z^2 + c
        k += 1
    end
    steps[i] = k
end
print steps
% a complex array, updated in place; a complex sum that enters and leaves the loop
w = complex(0..n-1, 1)
s = 1 + 0i
for i=0..n-1
    w[i] = w[i]/(2 - 1i)
    w[i] *= 2i
    s = s*conj(w[i])
end
print w
printf("%.12g %.12g\n", real(s), imag(s))
print type(s)
% a variable that begins as 0
for i=0..n-1
    u = 0
    for k=1..5
        u = u^2 + (i/8 - 1) + 0.5i
    end
    steps[i] = abs(u)
end
print steps
% combined with real numbers; a choice keeps both parts
for i=0..3
    z = (i > 1 ? 1 + 2i : -z) + i
end
print z, " ", z == 4 + 2i, " ", real(z) + imag(z), " ", angle(-1), " ", imag(3)
% a variable is complex in all iterations, or the interpreter runs the loop
t = 0
for i=0..2
    t = t + 1i
end
print t
