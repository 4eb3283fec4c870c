% The largest number of pairs of complementary letters of a sequence
import "../inputs.q"
function s = inputs(n)
    s = integers(n, 4)
end
function T = nussinov(s)
    n = numel(s)
    T = int(zeros(n, n))
    for i = n-1..-1..0
        for j = i+1..n-1
            T[i,j] = max(T[i,j], T[i,j-1])
            T[i,j] = max(T[i,j], T[i+1,j])
            if i < j-1
                T[i,j] = max(T[i,j], T[i+1,j-1] + (s[i] + s[j] == 3 ? 1 : 0))
            else
                T[i,j] = max(T[i,j], T[i+1,j-1])
            end
            for k = i+1..j-1
                T[i,j] = max(T[i,j], T[i,k] + T[k+1,j])
            end
        end
    end
end
