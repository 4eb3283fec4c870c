% Fields of a class, constants of an enumeration and results of a function must have distinct names.
texts = {"type c : mutable class\nx : scalar\ny : int\nx : int\nend", "type e : enum\nred\ngreen\nred\nend",
         "function [y, n, y] = f(x)\ny = x\nend"}
for text = texts
    try
        eval(sprintf(text))
    catch e
        print e
    end
end
