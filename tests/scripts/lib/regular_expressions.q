% needs: pcre2
m = regmatch("on 2024-03-17 at noon", "(?<year>\d{4})-(?<month>\d\d)-(\d\d)")
print m.text, " ", m.start, " ", m.stop, " ", m.groups, " ", m.names.year, "/", m.names.month
print isnull(regmatch("abc", "x")), isnull(regmatch("ABC", "b")), regmatch("ABC", "b", "i").text
all_numbers = regmatchall("1, 22 and 333", "\d+")
print numel(all_numbers), " ", all_numbers[2].text
print numel(regmatchall("aaa", "x*")), " ", numel(regmatchall("", "a*"))
print regreplace("john smith", "(\w+) (\w+)", "$2 ${1}"), " ", regreplace("a1b2", "\d", ""), " ", regreplace("aaa", "a", "bb")
print regsplit("a1b22c", "\d+"), " ", regsplit("abc", ""), " ", regsplit("a b", " ")
print regmatch("héllo", "h.l").text
try
    regmatch("a", "(")
catch e
    print e
end
