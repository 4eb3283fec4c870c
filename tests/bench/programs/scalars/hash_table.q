% Inserts keys into a table with open addressing, then looks others up
function n = inputs(size)
    n = size
end
function found = hash_table(n)
    slots = 2*n + 1
    table = int(zeros(slots))
    key = 17
    for k = 1..n
        key = mod(key*1103 + 12347, 1000003)
        at = mod(key*31, slots)
        while table[at] != 0 && table[at] != key
            at += 1
            if at == slots
                at = 0
            end
        end
        table[at] = key
    end
    found = 0
    for k = 1..n
        at = mod(k*31, slots)
        while table[at] != 0 && table[at] != k
            at += 1
            if at == slots
                at = 0
            end
        end
        if table[at] == k
            found += 1
        end
    end
end
