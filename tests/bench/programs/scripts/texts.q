% Numbers as texts: how long they are, and how many contain 77
function n = inputs(size)
    n = size
end
function [total, found] = texts(n)
    total = 0
    found = 0
    for k = 1..n
        s = strcat("item ", num2str(k))
        total += strlen(s)
        if strfind(s, "77") >= 0
            found += 1
        end
    end
end
