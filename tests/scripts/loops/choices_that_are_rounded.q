% options: --loops always
% A choice that is only stored in a float32 array is rounded when it is made; one that is read otherwise is not.
function y = table(a, b, w)
    y = zeros(numel(a))
    for i = w..numel(a)-1
        y[i] = a[i] > b[i] ? y[i-w]*a[i] + 1 : max([y[i-1], b[i] - a[i], -y[i-w]])
    end
end
function y = nested(a, b)
    y = zeros(numel(a))
    for i = 0..numel(a)-1
        if a[i] < 0
            v = -b[i]*a[i]
        elseif a[i] > 1
            v = a[i] > 2 ? min(a[i]/3, b[i]) : b[i] > 0 ? a[i] - b[i] : abs(b[i]*0.7)
        else
            v = sqrt(b[i])
        end
        y[i] = v
    end
end
function s = read_twice(a, y)
    s = 0
    for i = 0..numel(a)-1
        v = a[i] > 1 ? a[i]*a[i] : a[i]/7
        y[i] = v
        s = s*0.5 + v
    end
end
function y = carried(a)
    y = zeros(numel(a))
    v = 0.1
    for i = 0..numel(a)-1
        y[i] = v
        v = a[i] > 1 ? a[i]*a[i] : 1/7
    end
    y[0] = v - float32(v)
end
a = [0.1,-1.7,2.9,1.3,nan,-0.0,1e30,5.5,1.1,0.3]
b = [0.7,0.3,-0.1,1/3,0.1,-0.0,3e30,-1e30,0,1e-40]
y = zeros(3)
printf("%.9g", table(a, b, 2))
printf("%.9g", nested(a, b))
printf("%.17g", read_twice([0.1,1.7,2.9], y))
printf("%.9g", y)
printf("%.9g", carried(a))
printf("%.9g", 1/nested([-0.0,-1], [-0.0,-0.0]))
