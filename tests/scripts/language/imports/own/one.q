% part
scale = 2
table = [1,2]
function y = scaled(x)
    y = scale*x
end
limit = 10
function y = inside(x)
    y = x <= limit
end
