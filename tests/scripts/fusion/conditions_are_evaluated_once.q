% The condition of ?: is evaluated once, whether it is a number or an array.
function [] = show_next(f)    % the random number that follows those that f takes
    randseed(1)
    f()
    printf("%.6f", rand())
end
show_next(() -> rand())
show_next(() -> rand() == 2 ? 0.5 : 0.25)
show_next(() -> [rand(), rand()])
show_next(() -> rand()+1 > 2*rand() ? 1 : 2)
show_next(() -> rand(1,3))
show_next(() -> rand(1,3) > 0.5 ? 1 : 2)
show_next(() -> [sum(rand(1,3)), rand()])
show_next(() -> (rand(1,3) > 0.5 ? rand() : 2) + 1)
