function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
day = "%Y-%m-%d %H:%M:%S"
print strftime(day, 0, true), " ", strftime(day, 1e9, true), " ", strftime(day, -0.5, true), " ", strftime("%j", [86400], true)
print strftime("", 0), "|", strftime("now"), " ", strlen(strftime(day)), " ", str2num(strftime("%Y")) > 2000
print strptime("2001-09-09 01:46:40", day, true), " ", strptime("1970-01-02", "%Y-%m-%d", true)
print strptime(strftime(day, 1e9), day) == 1e9, " ", strptime("2000-02-29", "%Y-%m-%d", true)
attempt(() -> strftime(5))
attempt(() -> strftime(day, nan))
attempt(() -> strftime(day, inf))
attempt(() -> strftime(day, "now"))
attempt(() -> strptime("yesterday", day))
attempt(() -> strptime("1970-01-02 and more", "%Y-%m-%d"))
attempt(() -> strptime("", "%Y"))
attempt(() -> strptime(1, day))
