print strcat("a", "b", 3), " ", strjoin({"a","b","c"}, "-"), strjoin({"x","y"}), " ", strsplit("a,b,,c", ","), " ", numel(strsplit("", ","))
print strlen("hello"), " ", strfind("hello", "l"), strfind("hello", "z"), strfind("hello", "l", 3), " ", strrep("aXbXc", "X", "--"), " ", strrep("abc", "", "x")
print substr("hello", 1, 3), substr("hello", 3), substr("hi", 9), "|", strtrim("  a b "), "|", ucase("abc"), lcase("ABC")
print startswith("hello", "he"), startswith("h", "hello"), endswith("hello", "lo")
print str2num("3.5") + 1, " ", str2num(" -2e3 "), " ", num2str(2.5) + "x", " ", num2str(pi, "%.3f"), " ", num2str([1,2])
print ord("A"), " ", chr(66)
print sprintf("%d-%05.2f-%s-%g", 3, 2.5, "x", 0.5)
printf("%d %d", 1, 2)
try
    print str2num("three")
catch e
    print e
end
try
    error("failed: %d of %d", 2, 3)
catch e
    print e
end
try
    assert(strlen("ab") > 2, "not so")
catch e
    print e
end
