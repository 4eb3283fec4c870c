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

% So does a write to the first name, if the second one is read later; a new array is no write.
function x = relaxed(b, n)
    x = zeros(n)
    for k = 1..3
        old = x
        for i = 1..n-2
            x[i] = (b[i] + old[i-1] + old[i+1])/2
        end
    end
end
function x = root(x)
    for k = 1..5
        before = x
        x = x/2 + 1/x
        if x == before
            break
        end
    end
end
print relaxed(ones(5), 5), root(3.0)
first = [1,2]
second = first
first += 1
print second
