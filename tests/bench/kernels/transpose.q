import "measure.q"

function [] = main()
    n = 2048
    x = reshape(pattern(n*n, 37, 1021), [n,n])
    measure(() -> transpose(x))
end
