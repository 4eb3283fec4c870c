s = "héllo"
print s[0], "|", s[1..2], "|", s[3..strlen(s)-1], "|", s[strlen(s)-1..-1..3], "|", s[3..2], "|", s[:], "|", s[[5,0,1,2]]
t = "abcdef"
function y = n2()
    y = 3
end
function [] = try_it(f)
    try
        print f()
    catch e
        print e.line, " ", e
    end
end
try_it(() -> s[1])
try_it(() -> s[5..-1..0])
try_it(() -> s[0..1])
try_it(() -> s[2..5])
try_it(() -> t[6])
try_it(() -> t[-1])
try_it(() -> t[0..6])
try_it(() -> t[0,1])
try_it(() -> t[[[0,1],[2,3]]])
try_it(() -> t["a"])
try_it(() -> t[[1,0] == 1])
try_it(() -> t[nan])
try_it(() -> (t[0] = "x"))
try_it(() -> "abc"[3])
u : string'circular = "abc"
print u[-1..4]
w : string'safe = "abc"
print w[-1..4], w[7]
print t[[1,0,1,0,1,0] == 1]
n = 0
for i = 0..9999
    n += t[mod(i,6)] == "c"
end
print n
text = "one two  three"
start = 0
for i = 0..strlen(text)-1
    if text[i] == " "
        if i > start
            print text[start..i-1]
        end
        start = i + 1
    end
end
print text[start..strlen(text)-1]
try_it(() -> chr(195)[0] == chr(195))
