% read_block, write_block, block_size, npy_create: parts of arrays and of files, with every access mode at the border.
% devices: one
folder = "out/lib/block_files"
makedir(folder)
file = strcat(folder, "/x.npy")
x = reshape(0..23, [4,6])
print read_block(x, [1,2], [2,3])
print read_block(x, [-1,-2], [3,5], "mirror")
print read_block(x, [-1,-2], [3,5], "circular")
print read_block(x, [3,4], [2,4], "clamped")
print read_block(x, [3,4], [2,4], "safe")
print read_block(x, [4,6], [0,0]), read_block(x, [9,9], [1,2], "safe")

% a file behaves like the array, also far outside, in any dimension
cube_of = reshape(0..119, [4,5,6])
save(file, cube_of)
for mode = {"mirror", "circular", "clamped", "safe"}
    for from = {[-5,-13,-7], [3,-1,5], [0,0,0]}
        a = read_block(file, from, [14,31,20], mode)
        assert(isequal(a, read_block(cube_of, from, [14,31,20], mode)))
        v : cube'safe = cube_of
        if mode == "safe"
            assert(isequal(a, v[from[0]..from[0]+13, from[1]..from[1]+30, from[2]..from[2]+19]))
        end
    end
end
strided = transpose(x)
assert(isequal(read_block(strided, [1,1], [3,2]), strided[1..3,1..2]))

% writing
npy_create(file, [3,4,5], "uint8")
[dims, element] = block_size(file)
print dims, element
write_block(file, [1,1,1], uint8(7*ones(2,2,2)))
write_block(file, [2,0,0], uint8(reshape(0..59, [3,4,5])), [1,1,1], [1,1,3])
print load(file)[1..2,:,:]
y = zeros(3,4)
write_block(y, [1,0], [1,2,3])
write_block(y, [2,1], x, [1,0], [1,3])
print y
[dims, element] = block_size(float64([1,2,3]))
print dims, element

% errors
function [] = why(f, args)
    try
        print apply(f, args)
    catch e
        print strrep(sprintf("%s", e), folder, "")
    end
end
npy_create(strcat(folder, "/short.npy"), [3,4])
filewrite(strcat(folder, "/short.npy"), substr(fileread(strcat(folder, "/short.npy")), 0, 150))
filewrite(strcat(folder, "/no.npy"), "no")
why(read_block, {x, [1,2], [4,3]})
why(read_block, {x, [-1,2], [1,3]})
why(read_block, {x, [0.5,2], [1,3]})
why(read_block, {x, [0,2,1], [1,3]})
why(read_block, {x, [0,2], [1,-3]})
why(read_block, {x, [0,2], [1,3], "unchecked"})
why(read_block, {3, [0], [1]})
why(read_block, {strcat(folder, "/none.npy"), [0], [1]})
why(read_block, {strcat(folder, "/short.npy"), [0,0], [1,1]})
why(read_block, {strcat(folder, "/no.npy"), [0,0], [1,1]})
why(write_block, {y, [2,1], x})
why(write_block, {y, [0,0], int(x)})
why(write_block, {y, [0,0], x, [3,0], [2,2]})
why(write_block, {y, [0,0], 3})
why(npy_create, {file, [3,4], "bfloat16"})
why(npy_create, {file, [3,4], "number"})
why(npy_create, {strcat(folder, "/no/x.npy"), [3,4]})
