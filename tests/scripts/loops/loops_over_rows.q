% options: --loops always
% Inner loops over the rows of a matrix, which are vectors; changes of a row do not change the matrix.
function y = weights(x, T)
    y = zeros(numel(x))
    for i = 4..numel(x)-5
        for k in T
            y[i] += x[i+k[0]]*k[1]
        end
    end
end
function y = literal(x)
    y = zeros(numel(x))
    for i = 4..numel(x)-5
        for [a, b] in [[0,1],[1,-1],[2,2]]
            y[i] += x[i+a]*b
        end
        for k in [[0,1],[1,-1],[2,2]]
            y[i] += x[i+k[0]]*k[1]
        end
    end
end
function [y, T] = changed(x, T)
    y = 0
    for i = 0..numel(x)-1
        for k in T
            k[0] = x[i]
            k += 1
            y += k[0]*k[1]
        end
    end
end
function y = nested(A, B)
    y = 0
    for i = 0..3
        for a in A
            for b in B
                if a[0] > b[0]
                    continue
                end
                y += sum((a - b).^2)
            end
        end
    end
end
x = mod((0..99)*37, 101)/8
T = [[0,1],[1,-1],[1,2],[-4,0.5]]
print weights(x, T)[0..9]
print weights(x, float64(T))[90..99]
print weights(x, T[:,1..-1..0]*2)[0..9]
print literal(x)[0..9]
[y, S] = changed(x, T)
print y, " ", S, " ", T
print nested(ones(5,3), T[:,[0,1,0]])
try
    print weights(x, [[0,1],[60,2]])[0..9]
catch e
    print e
end
