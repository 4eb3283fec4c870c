% What the programs here share: inputs that every language can make alike, and the clock.

function [] = __kernel__ fill(x : vec, a : int, m : int, pos : int)
    x[pos] = mod(mod(pos*a, m)*a, m)/m
end

% x[i] = mod(i*a*a, m)/m, in scrambled order and from 0 to below 1; exact where n*a and m*a are below 2^31.
function x = pattern(n : int, a : int, m : int)
    x = zeros(n)
    parallel_do(n, x, a, m, fill)
end

function best = shortest(times : int, work)
    best = 1/0
    for k = 1..times
        tic()
        work()
        best = min(best, toc(""))
    end
end

% Prints at once: a reader waits at the other end of the pipe.
function [] = say(text)
    fprint(fopen("/dev/stdout", "w"), text)
end

% Prints the shortest of ten calls.  With a path as argument of the program: writes the result of the first call there
% and answers each number n on the standard input with the shortest of n calls, in milliseconds.
function [] = measure(work)
    first = work()
    if numel(args()) == 0
        printf("%.4f ms", shortest(10, work))
        return
    endif
    fwrite(fopen(args()[0], "wb"), first)
    say("ready")
    answer(fopen("/dev/stdin"), work)
end

% Answers each number n of the file `rounds` with the shortest of n calls, in milliseconds.
function [] = answer(rounds, work)
    n = fgets(rounds)
    while n != null
        say(sprintf("%.6f", shortest(str2num(n), work)))
        n = fgets(rounds)
    end
end
