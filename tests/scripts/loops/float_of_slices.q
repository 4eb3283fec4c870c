% float(x) of a slice of integers is float64 from 32 bits on, as outside loops; float32(x) rounds a slice of float64.
function y = converted(x)
    y = float64(zeros(2,3))
    for i = 0..1
        y[i,:] = float(x)*0.1
    end
end
function y = sums(x)
    y = float64(zeros(2,3))
    for i = 0..1
        y[i,0] = sum(float(x[0..1])/3)
        y[i,1] = sum(float32(x)/3)
        y[i,2] = sum(float64(x)/3)
    end
end
function [] = show(name, x)
    printf("%s %.17g %.17g %.17g\n", name, x[0], x[1], x[2])
end
x = [6,67,16777217]
for t = {int64(x), int32(x), uint32(x), uint16(x), x > 7, float64(x)/3, x/3}
    show("converted", converted(t)[1,:])
    show("sums", sums(t)[1,:])
end
