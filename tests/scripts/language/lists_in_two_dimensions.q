% Lists in two dimensions: elements are in row-major order, the last of several writes counts.
m = reshape(0..999, [50,20])
r = [7,3,3,49,0]
c = [19,2,2,5,1,0,11,2]
p = m[r,c]
q = copy(m)
q[r,c] = reshape(1..40, [5,8])
wrong = 0
for i = 0..4
    for j = 0..7
        wrong += p[i,j] != m[r[i],c[j]]
    end
end
print wrong, " ", q[3,2], " ", q[7,19], " ", q[49,2], " ", sum(q != m)
tall = m[mod(7*(0..199), 50), [3,1]]
print isequal(tall, horzcat(m[mod(7*(0..199), 50),[3]], m[mod(7*(0..199), 50),[1]]))
