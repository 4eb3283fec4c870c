% devices: one
% Functions of the original language that system.q defines, and those that are built in under a second name.
import "system.q"
function [] = attempt(f)
    try
        f()
        print "no error"
    catch e
        print e
    end
end
print cast([1.5,300], uint8), " ", cast(2.7, "int"), " ", cast([1,2], vec[float64]), type(cast([1,2], "float64"))
print cast(300, uint8), cast(2, float), type(cast([1,2], "cscalar"))
print maxvalue(uint8), " ", minvalue(int8), " ", maxvalue(int), " ", minvalue("int16"), " ", maxvalue(int64)
for x = {int([1]), int([[1],[2]]), [1], float64([1]), uint8(zeros(2,2,2,2))}
    printf("%.9g %.9g", minvalue(type(x)), maxvalue(type(x)))
end
printf("%.9g %.9g %.17g %g %g", maxvalue(float32), minvalue(scalar), minvalue(float64), maxvalue(float16), minvalue(uint32))
attempt(() -> cast(1, "string"))
attempt(() -> maxvalue(cscalar))

o = object(a := [1,2], c := {[3], object(b := [4])})
p = deepcopy(o)
q = copy(o)
p.a[0] = 9
p.c[1].b[0] = 8
q.c[0] = 7
print o, " ", p
o.a = o
attempt(() -> deepcopy(o))

m = reshape(0..11, [3,4])
c = mat2cell(m, [1,2], [3,1])
print size(c), c[1,0], " ", isequal(cell2mat(c), m), mat2cell([1,2,3], 1, [2,1]), cell2mat({[1,2],[3]}), cell2mat({})
attempt(() -> mat2cell(m, [1,1], [3,1]))
attempt(() -> cell2mat(m))

x = [1,2,3,4,5]
print max(abs(irealfft1(fft1(x)) - x)) < 1e-5, max(abs(irealfft2(fft2(m)) - m)) < 1e-5
cubes = reshape(0..23, [2,3,4])
print max(abs(irealfft3(fft3(cubes)) - cubes)) < 1e-5, isreal(irealfft1(fft1(x)))

print sscanf("3 4.5 -1e3", "%d %f %g"), sscanf("12,  0xff;7", "%d,%x;%d"), sscanf("1 2 x", "%d %d %d"), sscanf("", "%d")
print sscanf("name: value 7", "%s %s %d"), sscanf("a5%", "%c%d%%"), sscanf("1 2 3", "%d %*d %d"), type(sscanf("1", "%d"))
attempt(() -> sscanf("1", "%q"))

chdir(getenv("QUASAR_TEST_DIR"))
makedir("out/lib")
path = "out/lib/original_names.txt"
filewrite(path, sprintf("1 2\n3 4.5\nend"))
f = fopen(path)
print fscanf(f, "%d %d"), fgetpos(f)
at = fgetpos(f)
print fscanf(f, "%f %f"), fscanf(f, "%s"), fscanf(f, "%s")
fsetpos(f, at)
print fscanf(f, "%f %f")
attempt(() -> fsetpos(f, -1))
fclose(f)
attempt(() -> fgetpos(f))
folder = "out/lib"
print isequal(dir(folder), listdir(folder)), int2pos([3,4], 7), isequal(int2pos([3,4], 7), ind2pos([3,4], 7))
disp("text ", [1,2])

print toascii("aZ 9"), fromascii([72,105]), tounicode("é€𝄞a"), fromunicode([233,8364,119070,97]), toascii(""), fromascii([])
attempt(() -> toascii("é"))
attempt(() -> fromascii([200]))
attempt(() -> fromunicode([55296]))
attempt(() -> fromunicode([1.5]))
attempt(() -> tounicode(chr(255)))
attempt(() -> tounicode(strcat("b", chr(224), chr(128), chr(128))))
attempt(() -> tounicode(strcat(chr(237), chr(160), chr(128))))
attempt(() -> tounicode(strcat(chr(244), chr(144), chr(128), chr(128))))
attempt(() -> fromascii("text"))

s = struct("a", 1, "b c", {2})
print s, struct(), isfield(s, "b c")
attempt(() -> struct("a"))
attempt(() -> struct(1, 2))

% lists as arguments
g = (a, b, c) -> a + 10*b + 100*c
list = {2, 3}
print g(1, ...list), " ", g(...[1,2], 3), " ", g(...{1}, ...list), " ", max(...{[1,5], [4,2]})
function [] = many(...all)
    print numel(all), all
end
many(...{}, 1, ...[2,3], "x")
[u, v] = max(...{[3,7,1]})
print u, v
attempt(() -> g(...list))
attempt(() -> g(1, ...(2)))
print type(cast([1,2], "float32")), " ", type(cast([1,2], "single")), " ", type(cast([1,2], "double")), " ", maxvalue("float32")
