% A variable that a function assigns is local.
n = 1
total = 0
function [] = count_up()
    n += 1
end
function [] = count_on()
    total = total + 1
end
function y = uses_its_own()
    n = 3
    n += 1
    y = n
end
function y = outer()
    k = 1
    function [] = inner()
        k += 1
    end
    inner()
    y = k
end
print uses_its_own(), " ", n, " ", total
