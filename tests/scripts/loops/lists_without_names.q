% options: --loops always --explain
% The report on loops with cell literals, and on objects that a variable holds in turn.
type Pt : mutable class
    x : scalar
end

function s = items(n)
    s = 0
    for i=0..n-1
        s += {1,2,3}[1]
    end
end

function y = second(p)
    y = p[1]
end

function s = items_of_a_parameter(n)
    s = 0
    for i=0..n-1
        s += second({1,2,3})
    end
end

function y = chosen(p, k)
    y = p[k]
end

function s = chosen_items(n)
    s = 0
    k = 2
    for i=0..n-1
        s += chosen({1,2,3}, k)
    end
end

function s = over_items()
    s = 0
    for x in {1,2,3}
        s += x
    end
end

function s = over_objects()
    s = 0
    for p in {Pt(x:=1),Pt(x:=2)}
        s += p.x
    end
end

function s = one_object(n)
    a = Pt(x:=1)
    s = 0
    for i=0..n-1
        b = a
        s += b.x
        a = b
    end
end

function best = kept(pts, n)
    for i=0..n-1
        p = pts[i]
        if i == 1
            printf("%g\n", p[0])
        end
    end
    best = n
end

print [items(100), items_of_a_parameter(100), chosen_items(100)]
print [over_items(), over_objects(), one_object(100)]
print kept({[1,2],[3,4],[5,6]}, 3)
