% Letters beyond ASCII change their case by Unicode's tables, in any locale.
print ucase("Grüße, çà et là, łódź, ÿ ı ſ"), "|", lcase("GRÜSSE ÇÀ ŁÓDŹ Ÿ İ ẞ Ǆ")
print ucase("ελληνικά, ϊ ύ ς ὀ ᾧ"), "|", lcase("ΕΛΛΗΝΙΚΆ ΣΟΦΟΣ Σ ΑΣ. ΣΑΣ'Σ")
print ucase("привет, ёжик, ґ ѓ ӏ"), "|", lcase("ПРИВЕТ ЁЖИК Ґ Ѓ Ӏ")
print ucase("日本 ★ ½ Ꞵ ﬁ 𐐨"), "|", lcase("日本 ★ ½ ꞵ 𐐀"), "|", ucase("ա ა"), "|", ucase("")
for n = {1, 4094, 4095, 4096, 8191, 8192}
    s = ""
    for i = 1..n
        s += "a"
    end
    t = ucase(s + "éß" + s + "σ")
    write(strlen(t), " ", lcase(t) == s + "éss" + s + "ς", " ", ucase(s) == lcase(s), "; ")
end
print ""
