% exit: 1
function [] = shift(x, y)
    {!parallel for}
    for i=0..6
        x[i] = y[i+1]
    end
end
a = 0..7
shift(zeros(8), a)
shift(a, a)
