% A list or range inside a conversion, or assigned to a typed variable, has exactly the numbers that are written.
print float64([0.1])[0] == 0.1, float64([[1,2],[3,0.1]])[1,1] == 0.1, complex128([0.1])[0] == 0.1
print float64(0..0.1..1)[3] == 3*0.1, float64([0.1,0.2]*2 - [0.3,0.1])[0] == 0.1*2 - 0.3, float64(-[0.1]/3)[0] == -0.1/3
print int([16777217]), int64([123456789,1]), int64(16777216..16777218)
x = 0.1
print float64([x,x/3])[1] == x/3
a : vec[float64] = [0.1,0.2]
print a[0] == 0.1
function y = first(a : vec[float64] = [0.1])
    y = a[0]
end
print first() == 0.1
long = float64([x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x])
print long[39] == 0.1, size(long)
print type(float64([])), type(float32([0.1])), [0.1][0] == 0.1
print float64(sin([0.1]))[0] == sin(0.1)      % a function in between has its own argument
print float64(x > 0 ? [x] : [0.3])[0] == x, float64(x > 1 ? [x] : [0.3])[0] == 0.3
