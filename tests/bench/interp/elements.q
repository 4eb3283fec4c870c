function [] = main()
    n = 1000000
    x = zeros(n)
    for k = 1..10
        for i = 1..n-1
            x[i] = x[i-1]*0.5 + i
        end
    end
    print x[n-1] > 0
end
