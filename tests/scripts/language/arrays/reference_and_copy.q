a = [1,2,3]
b = a
b[0] = 9
c = copy(a)
c[1] = 9
print a, c
d = a + 0
d[2] = 9
print a
s = a[0..1]
s[0] = 77
print a

% An assignment with an operator writes into an array of two names; a number is a value.
function [] = updated(n)
    all_of = 1..4
    half = all_of
    half *= 0.5
    print half, all_of
    first = n
    last = first
    last += 3
    print first, last
end
updated(2)
