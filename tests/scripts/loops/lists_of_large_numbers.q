% A list with an integer that float32 rounds is float64, in compiled loops as outside, and so are values made from it.
function [] = show(name, x)
    printf("%s %.17g", name, x)
end
function v = typed(v : vec)
    v = v*3
end
type place : mutable class
    at : vec
end

function [] = compare(big, third)
    one = 0
    two = 0
    three = 0
    four = 0
    five = 0
    six = 0
    p = place(at:=[0,0])
    kept = [0,0]
    w = [0.1,third]
    for i = 0..9
        v = [big + i*0.5*2, third]
        u = [third, 0.25]
        one = one/3 + v[1] + v[0]
        r = v*3 + u
        two = two/3 + r[1] + max(v[1], u[1]) + sum(v.*u)
        three = three/3 + (sqrt(v))[1] + (v.^2)[1] + (v.^1.5)[1] + (-v)[1] + mod(v, 7.5)[1]
        m = [[v[0],third],[third,1]]
        k = m*m
        four = four/3 + k[1,1] + transpose(m)[0,1] + (v > 3 ? v : u)[1]
        if i > 4
            kept = v
        else
            kept = w
        end
        c = [third,0.25]
        c += v
        d = [big + i*0.5*2,third]
        d[1] = third/2
        d[i-i] = 0.1
        five = five/3 + c[0] + d[1] + d[0] + typed(v)[1] + (1/3.0*v)[1]
        p.at = v
        six = six/3 + p.at[1] + sum(w*third)
        w = v/big
    end
    show("elements ", one)
    show("products ", two)
    show("functions", three)
    show("matrices ", four)
    show("in place ", five)
    show("fields   ", six)
    print type(kept), " ", type(w), " ", type(v), " ", type(u)
end
compare(16777217, 0.1)
compare(3, 0.1)
compare(16777210, 1/3.0)
compare(1e30, 0.7)
