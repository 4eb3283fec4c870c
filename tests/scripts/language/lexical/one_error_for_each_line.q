% exit: 1
% A line with characters that no program has gives one error, which explains the others.
print("d[\"count\"] += x[i]", 2, n)
print("a\"b")
x = “abc”
y = 3 § 4 + §
z = [1,,2] § 3
q = a\b + ’c’
w = "open
v = (1 + ) + "open
