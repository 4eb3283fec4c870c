% args: first second
print args(), " ", getenv("QUASAR_SURELY_NOT_SET"), "|"
try
    toc()
catch e
    print e
end
tic()
sleep(5)
ms = toc("")
print ms >= 5 && ms < 2000, " ", time() > 1.6e9
print eval("1 + 2"), " ", collect_garbage()
