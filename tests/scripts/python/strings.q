% needs: python
% devices: one
% Text crosses as UTF-8; invalid bytes and NUL survive a round trip; half a surrogate pair is an error.
py = pyimport("builtins")
m = pyimport("helper")
s = m.ident("žluťoučký 日本語 🙂")
print s, " ", py.len(s), " ", numel(s)
nul = py.chr(pyint(0))
t = m.ident("a" + nul + "b")
print numel(t), " ", py.len(t), " ", t == "a" + nul + "b"
raw = py.bytes.fromhex("ff41").decode("utf-8", "surrogateescape")
print numel(raw), " ", m.ident(raw) == raw
print m.ident("") == "", " ", numel(m.ident(""))
try
    py.chr(pyint(55357))
catch e
    print e
end
