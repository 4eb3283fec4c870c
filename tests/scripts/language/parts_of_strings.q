% Parts of strings at and between the characters, long and short.
function [] = parts(s)
    for i = 0..strlen(s)-1
        for n = 0..strlen(s)-i-1
            try
                p = s[i..i+n]
                write(strlen(p), p == substr(s, i, n+1), " ")
            catch e
                write("- ")
            end
        end
    end
    print ""
end
parts("aé€𝄞z")
parts("plain text")
s = "naïve"
for i in {0, 2, 3, 4}
    try
        print s[i], " ", s[i..i+1], " ", s[i..i+2]
    catch e
        print e
    end
end
print "plain"[4..-1..0], "|", s[4..4], s[0..5], s[:], "[", s[0..-1], "]"
for i = 4..6
    try
        print s[i..i+1]
    catch e
        print e
    end
end
s : string'safe = "safe"
print s[2..6], "|", s[-2..1]
