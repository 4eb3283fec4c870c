% A convolution of large arrays uses transforms: compared with the sum of convolutions with parts of the second one,
% which are too small for that.
function y = by_parts(a, b)
    n = numel(b)
    y = 0*float64(zeros(numel(a) + n - 1))*(a[0]*b[0])
    for k = 0..16..n-1
        last = min(k + 15, n - 1)
        y[k..numel(a)+last-1] = y[k..numel(a)+last-1] + conv(a, b[k..last])
    end
end
function [] = check(what, a, b)
    wanted = by_parts(a, b)
    apart = max(abs(conv(a, b) - wanted))
    print what, ": ", apart < 1e-15*norm(a)*norm(b), " ", max(abs(conv(b, a) - wanted)) < 1e-15*norm(a)*norm(b)
end
x = float64(rand(9001)) - 0.5
h = float64(rand(2500)) - 0.5
check("as long as each other", x, x)
check("a long one and a short one", x, h)
check("just long enough", x, h[0..2047])
check("complex", complex(x[0..2999], x[3000..5999]), complex(h, 3*h))
check("of different size", 1e100*x, 1e-100*h)

w = round(1000*x)
f = round(100*h)
print "integers: ", max(abs(conv(w, f) - by_parts(w, f))), " ", type(conv(float32(w), float32(f))) == type(float32(w))
full = by_parts(w, f)
print "modes: ", max(abs(conv(w, f, "same") - full[1250..1250+9000])), " ", max(abs(conv(w, f, "valid") - full[2499..9000]))
x[4000] = nan
h[7] = inf
y = conv(x, h)
print "nan: ", sum(isnan(y)) == 2500, " inf: ", sum(isinf(y)) + sum(isnan(y)) == 9001

% Matrices
function y = by_rows(a, b)
    [m, n] = {size(a,0), size(a,1)}
    y = 0*float64(zeros(m + size(b,0) - 1, n + size(b,1) - 1))*(a[0,0]*b[0,0])
    for i = 0..size(b,0)-1
        for j = 0..16..size(b,1)-1
            last = min(j + 15, size(b,1) - 1)
            y[i..i+m-1,j..n+last-1] = y[i..i+m-1,j..n+last-1] + conv2(a, b[i,j..last])
        end
    end
end
function [] = check2(what, a, b)
    full = by_rows(a, b)
    limit = 1e-15*norm(a)*norm(b)
    print what, ": ", max(abs(conv2(a, b) - full)) < limit, " ", max(abs(conv2(b, a) - full)) < limit
    [top, left] = {floor(size(b,0)/2), floor(size(b,1)/2)}
    same = full[top..top+size(a,0)-1,left..left+size(a,1)-1]
    valid = full[size(b,0)-1..size(a,0)-1,size(b,1)-1..size(a,1)-1]
    print "    ", max(abs(conv2(a, b, "same") - same)) < limit, " ", max(abs(conv2(a, b, "valid") - valid)) < limit
end
a = float64(rand(110,90)) - 0.5
b = float64(rand(40,50)) - 0.5
check2("matrices of equal size", a[0..63,0..63], a[20..83,20..83])
check2("a large one and a small one", a, b)
check2("a tall one", a, transpose(b))
check2("a column", a, b[:,0..0])
check2("complex matrices", complex(a, 2*a), complex(b, -b))
check2("several blocks", float64(rand(400,300)), b[0..19,0..17])
b[3,3] = inf
print "inf: ", sum(isinf(conv2(a, b))) == numel(a)
w = round(1000*a)
f = round(100*transpose(conj(a)))
print "integers: ", max(abs(conv2(w, f) - by_rows(w, f))), " ", type(conv2(float32(w), float32(f))) == type(float32(w))
g = float64(rand(149,139))
[da, db] = grad((x, y) -> sum(conv2(x, y).*g), a, a[0..39,0..49])
print "gradients: ", max(abs(da - flipud(fliplr(by_rows(flipud(fliplr(g)), a[0..39,0..49])))[39..148,49..138])) < 1e-9, " ", size(db)
wide = float64(rand(30,900)) - 0.5 % short columns: these are the lines of the vector that is transformed
k = float64(rand(25,41)) - 0.5
check2("a wide one", wide, k[:,0..39])
check2("a tall one of few columns", transpose(wide), transpose(k[:,0..39]))
check2("wide complex ones", complex(wide, -wide), complex(k[:,0..39], k[:,1..40]))
