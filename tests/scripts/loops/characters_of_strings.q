% options: --loops always
% Characters of strings in loops.
function d = distance(s, t)
    n = strlen(t)
    before = float32(0..n)
    row = zeros(n+1)
    for i = 1..strlen(s)
        row[0] = i
        for j = 1..n
            cost = s[i-1] == t[j-1] ? 0 : 1
            row[j] = min(min(before[j] + 1, row[j-1] + 1), before[j-1] + cost)
        end
        before[:] = row
    end
    d = before[n]
end
function [n, last] = count(s, c)
    n = 0
    last = ""
    for i = 0..strlen(s)-1
        if s[i] == c || s[i] == "x"
            n += 1
            last = s[i]
        elseif c != s[i] && s[i] >= "m"
            n += 100
        end
    end
end
function w = words(s)
    w = 0
    i = 0
    before = " "
    while i < numel(s)
        c = s[i]
        match c with
            | " " -> w += 0
            | "." -> w += 1000
            | _ -> w += before == " "
        end
        before = c
        i += 1
    end
end
function y = is_vowel(c)
    y = c == "a" || c == "e" || c == "i" || c == "o" || c == "u"
end
function n = vowels(s)
    n = 0
    for i = 0..strlen(s)-1
        n += is_vowel(s[i])
    end
end
function n = around(s : string'circular)
    n = 0
    for i = -3..2
        n += s[i] == "c"
    end
end
function n = far(s)
    n = 0
    for i = 0..40
        n += s[i] == "a"
    end
end
function n = palindromes(s)
    n = 0
    for i = 0..numel(s)-1
        a = i
        b = i
        while a >= 0 && b < numel(s) && s[a] == s[b]
            n += 1
            a -= 1
            b += 1
        end
    end
end
s = ""
for i = 0..39
    s = s + "abc xyz. "[mod(i*i*7, 9)]
end
print s
print distance(s, "abc abc abc. xyz"), distance("kitten", "sitting"), distance("", "abc"), distance("abc", "")
for c = {"a", "b", "zz", "", " "}
    [n, last] = count(s, c)
    print n, "|", last, "|"
end
print words(s), words(""), words(" one two  three. ")
print vowels("the quick brown fox jumps over the lazy dog")
try
    print vowels("e ö")
catch e
    print e.line, " ", e
end
print around("abc")
print palindromes("abacabadabacaba")
for t = {s, "abc"}
    try
        print far(t)
    catch e
        print e.line, " ", e
    end
end
