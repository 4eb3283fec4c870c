% Habits from MATLAB and NumPy that used to do something else silently: each is an error, warns, or does as meant.
m = [[0,1],[2,0]]
v = [3,1,2]

function [] = try_it(text)
    print "> ", text
    try
        print eval(text)
    catch e
        print "  error: ", e
    end
end
function y = pair()
    y = [1,2]
end
function y = three()
    y = [1,2,3]
end
function y : vec2 = declared()
    y = [1,2]
end
function y = box()
    y = {1,2}
end

% several results of one
try_it("[r,c] = find(m); [r,c]")
try_it("[r,c,x] = find(m); x")
try_it("[r,c] = find(ones(2,2,2))")
try_it("[p,S] = polyfit([0,1,2,3],[1,3,5,8],1); S.df")
try_it("[R,info] = chol([[1,2],[2,1]]); info")
try_it("[y,i] = cumsum(v)")
try_it("[y,i] = cumsum([1,2]); y")
try_it("[a,b] = pair(); a")
try_it("[a,b] = three()")
try_it("[a,b] = declared(); b")
try_it("[a,b] = box(); b")
try_it("both = t -> [t,2*t]; [a,b] = both(1); b")
try_it("[a,b] = size(ones(2,3,4)); b")
try_it("y = three(); [a,b] = y; b")
% dimensions
try_it("sum(m, 2)")
try_it("max(m, [], 2)")
try_it("m.sum(2)")
try_it("sum(v, 0)")
try_it("sum(m, 1)")
try_it("size(m, 2)")
try_it("d = 2; sum(m, d)")
try_it("img : cube = ones(2,2); sum(img, 2)")
try_it("sort(v, true)")
% results that are not used
try_it("sort(v); v")
try_it("v.sort(); v")
try_it("sort(v)")
try_it("rand(); 1")
% positions
try_it("numel(find(v > 1))")
try_it("max(find(v > 1))")
try_it("if strfind(""abc"", ""z""); print 1; end")
try_it("strfind(""abc"", ""z"") >= 0")
% names of one array
try_it("y = v; y[0] = 9; v[0]")
try_it("y = copy(v); y[0] = 5; v[0]")

function [] = swap()
    a = [1,2]
    b = a
    b[0] = 5
    print a
    c = [1,2]
    d = c
    d[0] = 5
    print d
end
swap()

% operators and literals
try_it("A = [[2,0],[0,4]]; A\[2,4]")
try_it("True")
try_it("m*[1,2]")
try_it("[1,2]*m")
try_it("m.*m")
try_it("2^3^2")
try_it("-2^2")
try_it("0 < 5 < 3")
try_it("0.1+0.2 == 0.3")
try_it("float32([0.1])[0] == 0.1")
try_it("5 ^ 3")
try_it("5 & 3")
try_it("c = 3; c =+ 1; c")
try_it("""abc"" == ""abd""")
try_it("""a"" + 1")
try_it("1e400")
% ranges and loops
try_it("1:3")
try_it("1..0")
try_it("t = 0; for k = 0..0.1..1; t += 1; end; t")
try_it("for i = 1..0; print i; end")
try_it("2 in v")
% parts
try_it("v[0:2]")
try_it("v[-1..0]")
try_it("v[end-1]")
try_it("size(m[:,1])")
try_it("m[1,5]")
try_it("m[5]")
try_it("v[[true,false,true]]")
% functions
try_it("max(m, 1)")
try_it("sum(m, axis=0)")
try_it("np.sum(m)")
try_it("mod(-7, 3)")
try_it("mod(5, 0)")
try_it("round([0.5,1.5,2.5,-0.5])")
try_it("max([1,nan,2])")
try_it("m^2")
try_it("sprintf(""%d"", 2.5)")
% narrow integers
try_it("uint8(200) + uint8(100)")
try_it("y = uint8([200,100]); y[0] = 300; y")
try_it("y = uint8([200,100]); y - 201")
try_it("int(7)/int(2)")
% conditions
try_it("r = 5; if [1,0] > 0; r = 1; end; r")
try_it("[1,0] && [1,1]")
try_it("r = 5; if [] == []; r = 1; end; r")
% axes, positions, strings and numbers, wide integers
try_it("v[3]")
try_it("w = [3,1,2]; t = 0; for i = 1..numel(w); t += w[i]; end; t")
try_it("v[1..numel(v)]")
try_it("v'")
try_it("int([3])/2")
try_it("7 // 2")
try_it("7 % 2")
try_it("[1,2,3] + transpose([1,2])")
try_it("[1,2,3] + [1,2]")
try_it("ones(3,2) + [1,2,3]")
try_it("size(zeros(3))")
try_it("zeros((2,3))")
try_it("reshape(1..6, 3, 2)")
try_it("[v; v]")
try_it("v(1)")
try_it("""3"" + 4")
try_it("""3"" * 2")
try_it("""12"" == 12")
try_it("int(""3"")")
try_it("w = [[1,2],[3,4]]; y = w[0,:]; y[0] = 7; w")
try_it("w = [1,2]; y = w + 0; y[0] = 9; w")
try_it("cumsum(m, 2)")
try_it("mean(m, 3)")
try_it("sort(v, ""descending"")")
try_it("w = [3,1]; w ~= 1")
try_it("w = [5,0]; w[find(w > 1)] = 0; w")
try_it("floor(-7/2)")
try_it("mod(7, -3)")
try_it("s = ""abc""; strrep(s, ""b"", ""x""); s")
try_it("x = uint8([250]); x[0] += 10; x")
try_it("uint8([3]) - uint8([5])")
try_it("w = [1,2]; w[2] = 4; w")
try_it("round(2.567, 2)")
try_it("linspace(0, 1, 0.25)")
try_it("sprintf(""%d %d"", 1)")
try_it("a.b = 1")
try_it("x = [1,2,3]; x[::2]")
try_it("z = int64([9007199254740993]); z[0] += 1; z")
try_it("z = uint64([0]); z[0] -= 1; z")
try_it("ismember(nan, [nan])")
try_it("[x,n] = mode([3,1,3]); n")
