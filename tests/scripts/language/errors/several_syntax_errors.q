% exit: 1
x = = 3
y = (1 + 2
print 4
if x
z = ]
end
for = 3
end
