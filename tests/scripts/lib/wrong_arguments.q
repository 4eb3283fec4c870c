function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
attempt(() -> print(sqrt("x")))
attempt(() -> print(sum("x")))
attempt(() -> print(zeros(-3)))
attempt(() -> print(zeros("a")))
attempt(() -> print(reshape([1,2,3], [2,2])))
attempt(() -> print(eye(1.5)))
attempt(() -> print(sum([1,2], 9)))
attempt(() -> print(vertcat([1,2],[1,2,3])))
attempt(() -> print(repmat({1}, 2)))
attempt(() -> print(strlen(5)))
attempt(() -> print(dotprod([1,2],[1,2,3])))
attempt(() -> print(permute([1,2], [0,0])))
attempt(() -> print(sort([1,2], "up")))
attempt(() -> print(strsplit("a", "")))
attempt(() -> print(chr(300)))
attempt(() -> print(randi(0)))
attempt(() -> print(mod("a", 2)))
attempt(() -> print(int("a")))
attempt(() -> print(imread("nowhere.png")))
attempt(() -> print(abs({1})))
attempt(() -> print(type(1, "nosuch")))
