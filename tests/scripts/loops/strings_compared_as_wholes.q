% options: --loops always
% Whole strings are compared in compiled loops, which are compiled for their contents.
function y = f(x, m)
  y = zeros(numel(x))
  for i = 0..numel(x)-1
    match m with
    | "abs" -> y[i] = abs(x[i])
    | "neg" -> y[i] = -x[i]
    | _ -> y[i] = 7
    end
    if m != "neg" && (m == "q" || i > 2)
       y[i] += 100
    end
  end
end
function y = g(v, kind : string)
  y = kind == "a" ? v : -v
end
function y = h(x)
  y = zeros(numel(x))
  o = object()
  o.name = "a"
  for i = 0..numel(x)-1
    y[i] = g(x[i], "a") + g(1, o.name) + g(2,"b")
  end
end
x = -2..3
for m = {"abs","neg","q","",  "abs"}
  print f(x, m)
end
print h(x)
function n = lengths(s, t)
  n = 0
  for i = 0..3
    if s == t
      n += 100
    end
    n += strlen(s) + numel(t) + strlen("four") + (s != "ä") + (t == "a")
  end
end
for s = {"a", "ab", "", "ä", "long text"}
  for t = {"a", "ab", "", "ä", "long text"}
    write(lengths(s, t), " ")
  end
end
print ""
