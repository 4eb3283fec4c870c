function [] = ask(text)
    try
        eval(text)
    catch e
        print e
    end
end
ask("f = expm")
ask("f = sqrtm")
ask("f = logm")
ask("f = sparse")
ask("f = edge")
ask("prnit(1)")
ask("imred(1)")
ask("zeroes(1)")
ask("ceill(1)")
ask("sizes(1)")
ask("mean2(1)")
ask("xyzzy(1)")
