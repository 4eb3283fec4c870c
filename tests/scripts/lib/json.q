function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
x = jsondecode("{""name"": ""caf\u00e9 \ud83d\ude00\n"", ""n"": [1, 2.5, null], ""m"": [[1,2],[3,4]], ""on"": true, ""none"": null, ""list"": [1, ""a"", [2], {}]}")
print x.n, " ", x.m, " ", x.on, " ", isnull(x.none), " ", x.list, " ", type(x.n), " ", type(x.m), " ", type(x.list)
printf("%s %d", x.name, strlen(x.name))
print jsonencode(x)
print jsondecode("[]"), " ", jsondecode("[[],[]]"), " ", jsondecode("[[1],[2]]"), " ", jsondecode("[true,false]"), " ", jsondecode("[[1,2],[3]]"), " ", jsondecode("[null]")
print jsondecode("-0.5e-2"), " ", jsondecode(" """" "), " ", jsondecode("9007199254740993"), " ", jsondecode("[NaN, -Infinity]"), " ", jsondecode("1e999")
print jsondecode("[9007199254740993, 1]"), " ", type(jsondecode("9007199254740993")), " ", type(jsondecode("12"))
print json_loads("{""a"":1,""a"":2}").a, " ", fieldnames(jsondecode("{""two words"":1,"""":2}"))
u : vec[uint8] = [1,255]
o = object()
setfield(o, "a b", {1,"x",null})
print json_dumps(o), " ", jsonencode(u), " ", jsonencode([1/3, 0.1]), " ", jsonencode(1/3), " ", jsonencode(nan), " ", jsonencode([1,inf])
print jsonencode([]), " ", jsonencode({}), " ", jsonencode(sprintf("a%s\\\t%sé", chr(34), chr(1))), " ", jsonencode([1,2] < 2), " ", jsonencode(int(9007199254740993)), " ", jsonencode(zeros(2,1))
print jsonencode(object()), " ", jsonencode(null), " ", jsonencode(1e21), " ", jsonencode(cell(2,2))
setfield(o, "m", [[1,2],[3,4]])
o.inner = object()
print jsonencode(o, 2)
print getfield(o, "a b"), " ", getfield(o, "zz", 7), " ", isequal(jsondecode(jsonencode(x.m)), x.m)
deep = ""
for i = 1..600
    deep = strcat(deep, "[")
end
type node : mutable class
    next : ??
end
loop = node()
loop.next = loop
attempt(() -> jsondecode(deep))
attempt(() -> jsonencode(loop))
attempt(() -> jsondecode(""))
attempt(() -> jsondecode("[1, 2"))
attempt(() -> jsondecode("{""a"": 1,\n  ""b"" 2}"))
attempt(() -> jsondecode("[1,]"))
attempt(() -> jsondecode("01"))
attempt(() -> jsondecode("1."))
attempt(() -> jsondecode("""a"))
attempt(() -> jsondecode("""\\q"""))
attempt(() -> jsondecode("""\u12g4"""))
attempt(() -> jsondecode("nul"))
attempt(() -> jsondecode("{a: 1}"))
attempt(() -> jsondecode(3))
attempt(() -> jsonencode(1j))
attempt(() -> jsonencode([1j]))
attempt(() -> jsonencode(sin))
attempt(() -> jsonencode(1, -1))
attempt(() -> jsonencode(1, 99))
attempt(() -> getfield(o, "mm"))
attempt(() -> getfield(1, "m"))
attempt(() -> setfield([1], "m", 1))
attempt(() -> jsonencode(zeros(2^62, 0)))
attempt(() -> jsonencode(zeros(2^61, 0), 2))
