% exit: 3
{!paralel for}
for i=0..3
    x = i
end
exit(3)
