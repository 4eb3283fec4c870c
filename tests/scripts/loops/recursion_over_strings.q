% Functions that call themselves read strings and pass characters on; parameters may be declared as arrays of a type.
% options: --loops always
function c = largest(s, i, c)
    if i < strlen(s)
        c = largest(s, i + 1, s[i] > c ? s[i] : c)
    end
end
function n = count(s, i, what)
    n = 0
    if i < strlen(s)
        n = (s[i] == "a" ? 1 : 0) + (what == "codes" ? ord(s[i]) : 0) + count(s, i + 1, what)
    end
end
function [v, at] = atom(s : string, at)
    if s[at] == "("
        [v, at] = total(s, at + 1)
        at += 1
    else
        v = 0
        while at < strlen(s) && s[at] >= "0" && s[at] <= "9"
            v = 10*v + ord(s[at]) - ord("0")
            at += 1
        end
    end
end
function [v, at] = total(s : string, at)
    [v, at] = atom(s, at)
    while at < strlen(s) && (s[at] == "+" || s[at] == "-")
        op = s[at]
        [w, at] = atom(s, at + 1)
        v += op == "+" ? w : -w
    end
end
function y = climb(memo : vec[int], w : mat, k : int)
    y = memo[k]
    if y < 0
        y = climb(memo, w, k - 1) + climb(memo, w, k - 2)
        memo[k] = y
        w[k] += y
    end
end
for text = {"banana", "", "a", "hello world"}
    print largest(text, 0, " "), " ", count(text, 0, "codes"), " ", count(text, 0, "others")
end
print total("12+(34-(5+6))-7", 0)
print total("((((1))))+2", 0)
memo = -int(ones(42))
memo[0..1] = 1
w = zeros(42)
print climb(memo, w, 41), " ", memo[40], " ", w[41]
function message = error_of(f)
    message = "no error"
    try
        f()
    catch e
        message = f"{e} in line {e.line}"
    end
end
print error_of(() -> total("1+(", 0))
print error_of(() -> count("café", 0, "codes"))
print error_of(() -> count("banana", 1.5, "codes"))
print error_of(() -> climb(memo, w, 42))
c = ""
words = "banana"
other = "quasarquasar"
for k = 0..9
    c = k < 3 ? words[k] : k < 6 ? "-" : other[k]
    w[k] = ord(c)
end
print c, " ", w[0..9]
