% More habits of a newcomer: each is right, warns, or is an error that says what to write.
x = [10,20,30,40]
c = {1}

function [] = try_it(text)
    print "> ", text
    try
        print eval(text)
    catch e
        print "  error: ", e.message
    end
end

try_it("x[..1]")
try_it("x[1..]")
try_it("x[1..,0]")
try_it("print(""x = %d"" % 3)")
try_it("(7 % 2)")
try_it("7 // 2")
try_it("7 div 2")
try_it("nil")
try_it("c + 2")
try_it("abs -3")
try_it("x + sum")

function [] = __kernel__ into_argument(x : vec, y : vec, pos : int)
    y = x
end
function [] = __kernel__ into_number(x : vec, s : scalar, pos : int)
    s += x[pos]
end
function [] = __kernel__ fine(x : vec, y : vec, s : scalar, pos : int)
    s = s*x[pos]
    y[pos] = s
end
s = 0
y = zeros(4)
parallel_do(4, x, y, into_argument)
parallel_do(4, x, s, into_number)
parallel_do(4, x, y, 2, fine)
print y, s

function [] = __kernel__ dots(x : mat, pos : ivec2)
    x[pos.x,pos.y] = 1
end
function [] = __kernel__ cell_inside(x : vec, pos : int)
    l = {1,2}
    x[pos] = l[0]
end
function [] = __kernel__ captured(x : vec, pos : int)
    x[pos] = o.v
end
o = object()
o.v = 1
function [] = attempt(k, x)
    try
        parallel_do(size(x), x, k)
    catch e
        print e.message
    end
end
attempt(dots, zeros(2,2))
attempt(cell_inside, zeros(2))
attempt(captured, zeros(2))
