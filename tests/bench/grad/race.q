% What the programs here share: a value and its gradient, timed one beside the other.
import "../kernels/measure.q"

% Prints both times.  With a path as argument of the program: writes the gradient there and answers lines "value n" and
% "grad n" on the standard input with the shortest of n calls, in milliseconds; "peak" with the most memory, in MiB.
function [] = race(value, gradient)
    first = gradient()
    if numel(args()) == 0
        a = shortest(10, value)
        b = shortest(10, gradient)
        printf("%.4f ms, gradient %.4f ms: %.2f", a, b, b/a)
        return
    endif
    fwrite(fopen(args()[0], "wb"), float32(first))
    say("ready")
    lines = fopen("/dev/stdin")
    line = fgets(lines)
    while line != null
        words = strsplit(line, " ")
        if words[0] == "value"
            say(sprintf("%.6f", shortest(str2num(words[1]), value)))
        else
            say(sprintf("%.6f", shortest(str2num(words[1]), gradient)))
        end
        line = fgets(lines)
    end
end
