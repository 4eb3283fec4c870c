% options: --loops always
% Functions and operators give bitwise the results of the interpreter.
function [] = sums()
    s = 0
    p = 0
    for i=-20..20
        x = i*0.37 + 0.11
        s = s*0.5 + x*x + mod(x,0.7) + mod(i,-3) + mod(x,0)*0
        if isnan(s)
            s = 0.1
        end
        p = p*0.25 + x^3 + x^(-5) + abs(x)^0.3 + x^i + mod(i,i)
        if isnan(p)
            p = 0
        end
    end
    printf("%.17g %.17g", s, p)
end
sums()

function [] = transcendental()
    y = zeros(40)
    for i=0..39
        y[i] = sin(i*0.3)*exp(i*0.01) + atan2(i,3)*log(i+1) - i*0.1*(i*0.3)
    end
    printf("%.17g %.17g", y[7], y[39])
    z = float64(zeros(40))
    for i=0..39
        z[i] = sin(i*0.3)*exp(i*0.01) + atan2(i,3)*log(i+1) - i*0.1*(i*0.3)
    end
    printf("%.17g %.17g", z[7], z[39])
end
transcendental()

function [] = far_away(x : vec'circular, y)
    s = 0
    for i=0..3
        s = s*10 + x[2.0^62*i*3] + x[-2.0^61*i]
    end
    print s
    try
        for i=0..3
            y[1/(i-3)*0 + 1e300*i] = 1
        end
    catch e
        print e
    end
    try
        for i=0..3
            y[i/0] = 1
        end
    catch e
        print e
    end
    try
        for i=1..3
            y[-i/0] = 1
        end
    catch e
        print e
    end
end
far_away([1,2,3], [1,2,3])

function [] = the_least_int()
    k = int(-9.3e18)
    try
        for i=0..3
            k = -k
        end
    catch e
        print e
    end
end
the_least_int()
