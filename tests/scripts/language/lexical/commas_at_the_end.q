% A comma may follow the last element, entry or argument.
x = [1,
     2,
    ]
y = {1,"a",}
d = {
  "a": 1,
  "b": [[1,2,],[3,4,],],
}
print(x, " ", y, " ", d,
)
f = (a, b) -> a + b
print f(1, b:=2,), " ", max(3, 4,), " ", object(a := 1,), " ", {1,}, [1,]
