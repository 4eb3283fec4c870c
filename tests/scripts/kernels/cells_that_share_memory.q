% Entries of a cell that a kernel writes must not share memory: the kernel gets copies.
{!kernel}
function [] = both(c : vec[vec3], s : vec3, pos : int)
    c[pos][0] += 1
    s[pos] += 10
end
{!kernel}
function [] = one(c : vec[vec3], pos : int)
    c[pos][0] += 1
end
{!kernel}
function [] = reads(c : vec[vec3], s : vec3, pos : int)
    s[pos] = c[pos][0]
end
s = [2,2,2]
c = {s, copy(s)}
d = {copy(s), copy(s)}
for tried = {() -> parallel_do(2,c,s,both), () -> parallel_do(2,{s,s},one)}
    try
        tried()
    catch e
        print e
    end
end
parallel_do(2, d, s, both)
parallel_do(2, {s, copy(s)}, one)
print s, d
parallel_do(2, {s, s}, s, reads)
print s
m = zeros(2,3)
parallel_do(2, {m[0,:], m[1,:]}, one)
print m
