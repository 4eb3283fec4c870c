% medfilt counts bytes and ranks other pixels: the medians must be the same.
function [] = compare(what, x)
    for r = [3,4,20,127,128]
        y = medfilt(x, r)
        print what, ", r = ", r, ": ", isequal(float32(y), medfilt(float32(x), r)), " ", type(y) == type(x)
    end
end
x = randi(256, 37, 150) % columns of two tiles
compare("uint8", uint8(x))
compare("int8", int8(x - 128))
compare("bool", x > 100)
compare("a row", uint8(reshape(x, [1,numel(x)])[0..1199]))
compare("a column", uint8(reshape(x, [numel(x),1])[0..699,:]))
compare("channels", uint8(reshape(x, [37,50,3])))
print isequal(medfilt(uint8(255*ones(300,3)), 5), uint8(255*ones(300,3)))
