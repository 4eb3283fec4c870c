function [] = ask(text)
    try
        eval(text)
    catch e
        print e
    end
end
ask("expm(1)")
ask("sqrtm(1)")
ask("logm(1)")
ask("sparse(1)")
ask("edge(1)")
ask("prnit(1)")
ask("imred(1)")
ask("zeroes(1)")
ask("ceill(1)")
ask("sizes(1)")
ask("mean2(1)")
ask("xyzzy(1)")
