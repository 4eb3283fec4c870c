% options: --loops always
% Lists that are converted to float64 keep their numbers, in every form that carries them to the conversion.
function y = constants(n)
    y = float64(zeros(n, 2))
    for t = 0..n-1
        y[t,:] = float64([0.1, 1/3])
    end
end
function s = state(n)
    s = float64([0.1, 0.2])
    for t = 1..n
        [x, v] = s
        s = float64([x + 0.1*v, v - 0.01*x])
    end
end
function s = operators(n, c)
    s = 0
    for t = 1..n
        a = float64(-[0.1, t/7]*2 + [0.3, 1/t])
        b = float64([c ? t/3 : t/9, 0.7])
        d = float64([[t/3, 0.1],[0.7, t/11]])
        s += sum(a) + sum(b./[3,7]) + sum(d.*[0.1,0.2]) + float64([t/3])[0]
    end
end
function s = declared(n)
    s = 0
    x : vec[float64] = [0.1, 0.2]
    for t = 1..n
        x = [t/3, 0.7]
        y : vec[float64] = [t/7, 0.9]
        s += sum(x) + sum(y)
    end
end
function s = not_inside(n)
    s = 0
    for t = 1..n
        s += sum(float64(abs([t/3, 0.1]))) + sum(float32([t/3, 0.1])) + sum([t/3, 0.1])
    end
end
printf("%.17g %.17g\n", constants(100)[50,0], constants(100)[50,1])
printf("%.17g %.17g\n", state(1000)[0], state(1000)[1])
printf("%.13g %.13g\n", operators(100, true), operators(100, false))
printf("%.13g\n", declared(100))
printf("%.13g\n", not_inside(100))
