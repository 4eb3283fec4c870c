type node : mutable class
    value : scalar
    next : ^node
end
list = nullptr
for k = 1..4
    n = node(value:=k)
    n.next = list
    list = n
end
total = 0
while list != nullptr
    total = 10*total + list.value
    list = list.next
end
print total
