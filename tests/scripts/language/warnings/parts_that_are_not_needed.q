% Statements that run together evaluate the slices of both sides of ?: first.  Only those that are needed warn.
function c = not_needed(x, t, n)
    a = (n > 5 ? x[t..t+2] : x[0..2])*2
    b = a*2 + 1
    c = b + a
end
function c = needed(x, t, n)
    a = (n > 5 ? x[t..t+2] : x[0..2])*2
    b = a*2 + 1
    c = b + a
end
x = 0..99999
for k = 1..3
    print not_needed(x, 0.5, k), not_needed(x, -20, k)
    print needed(x, 1.5, 2*k)
end
