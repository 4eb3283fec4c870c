% A call of a library function loads its file; only the called function becomes visible.
function y = rms(x)
    y = "our own"
end
function y = smooth(x)
    y = imfilter(x, ones(1,3)/3)
end
function y = shift_twice(x)
    shift = 2          % a variable of this name does not call the library's function
    y = x + shift
end
print hann(5)
print smooth([[3,6,9]])
print shift_twice(1), " ", shift([1,2,3], [0,1])
print rms([3,4])
f = x -> norm(hamming(3) - x)
print f([0.08, 1, 0.08]) < 1e-6
print gcd(12, 18), " ", lcm(4, 6)
y = zeros(3)
for i = 0..2
    y[i] = nchoosek(4, i)
end
print y
function [] = outcome(text)
    try
        eval(text)
    catch e
        print e
    end
end
outcome("print hann(2)")
outcome("print gcd")               % visible here only as a call
outcome("print region_steps(1,2,4)")  % private to regions.q
outcome("print hann(1, 2, 3, 4)")
function [] = __kernel__ squash(x : vec, y : vec, pos : int)
    y[pos] = sigmoid(x[pos])
end
parallel_do(3, [-1000,0,1000], y, squash)
print y
