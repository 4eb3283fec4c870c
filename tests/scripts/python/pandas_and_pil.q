% needs: python numpy pandas PIL
% Tables of pandas and images of PIL are ordinary Python objects.
pd = pyimport("pandas")
np = pyimport("numpy")
py = pyimport("builtins")
df = pd.DataFrame(py.dict(a:=[1,2,3], b:={"x","y","x"}))
print df
print df.a.sum(), " ", df["a"].mean(), " ", df.shape[0], " ", py.len(df), " ", df.columns.tolist()
df["c"] = df["a"]*2 + 1
print df[df["a"] > 1]
print df.loc[1,"c"], " ", df.iloc[0,0], " ", df["c"].to_numpy().from_py(), " ", type(from_py(df["a"]))
for name = df.columns
    printf("column %s", name)
end
print df.groupby("b").agg(py.dict(a:="sum")).a.tolist()
s = pd.Series([1,2,4], index:={"p","q","r"})
t = s
s -= 1
print s["q"], " ", s.r, " ", t.tolist(), " ", (s > 0).sum()
try
    df["zz"]
catch e
    print e
end
Image = pyimport("PIL.Image")
x = zeros(4,6,3)
x[1,2,0] = 255
u : cube[uint8] = x
im = Image.fromarray(u.to_py())
print im.size, " ", im.mode, " ", im.getpixel(py.tuple({2,1}))
half = im.resize(py.tuple({3,2}))
print half.size, " ", size(from_py(np.asarray(half))), " ", type(from_py(im))
grey = from_py(np.asarray(im.convert("L")))
print grey[1,2], " ", sum(grey) == grey[1,2]
