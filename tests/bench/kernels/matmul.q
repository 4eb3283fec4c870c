% The operator; the peer in C calls OpenBLAS.
import "measure.q"

function [] = main()
    n = 1024
    a = reshape(pattern(n*n, 37, 1021), [n,n])
    b = reshape(pattern(n*n, 53, 1019), [n,n])
    measure(() -> a*b)
end
