A = reshape(0..5, [2,3])
print A, " ", reshape(A, 3, 2)
print transpose(A), " ", transpose([1,2]), " ", herm_transpose([[1+2j, 3]])
C = reshape(0..23, [2,3,4])
print size(transpose(C)), " ", size(permute(C, [2,0,1])), " ", permute(C, [2,0,1])[1,1,2], C[1,2,1]
print numel(C), " ", ndims(C), " ", ndims(5), " ", numel("text"), " ", size("text"), " ", size(C, 0..1), " ", size(C, 2), size(C, 5), size(C, [2,0])
print isempty([]), isempty([1]), isempty(null), isempty(""), isempty(zeros(0,3))
print squeeze(zeros(1,1,3)), " ", size(squeeze(zeros(2,1,3)))
print vertcat([1,2],[3,4]), " ", horzcat([1,2],[3]), " ", horzcat([[1],[2]],[[3],[4]]), " ", vertcat([], [1,2])
print size(cat(2, ones(2,2), zeros(2,2))), " ", cat(0, [1,2], [3,4], [5,6])
print vertcat({1,"a"}, {2}), " ", type(horzcat(int([1]), [2.5]))
print repmat([1,2], [2,2]), " ", repmat([[1],[2]], [1,3]), " ", repmat(7, [1,3]), " ", repmat([1,2], 2)
print size(repmat(ones(2,2,3), [1,2,2]))
print circshift([1,2,3,4], 1), circshift([1,2,3,4], -1), circshift([1,2,3,4], [0,2]), " ", circshift(A, [1,1])
print circshift(A, 1), " ", circshift(A, 1, 1), " ", circshift([1,2,3], 7)
print fliplr(A), flipud(A), flip([1,2,3], 1), flip([1,2,3]), flip(A)
b = copy(A); b[0,0] = 99
print A[0,0], " ", b[0,0], " ", copy({1,2}), copy("s")
print reshape(1..6,[2,-1]), size(reshape(rand(4,5,3),-1,3)), reshape([[1,2],[3,4]],-1), size(reshape({1,2,3,4},[2,-1])), size(reshape(zeros(0,3),-1,3))
for sizes = {[-1,-1], [4,-1], [0,-1], [-2,-1]}
    try
        reshape(1..6, sizes)
    catch e
        print e
    end
end
