% part
reduction (x, y) -> x.*y = plus(x, y)
function z = plus(x, y)
    z = x + y
end
function y = square_plus_one(x)
    y = x.*x + 1
end
