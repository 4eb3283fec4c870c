function r = kind(x)
    match x with
    | "mirror" ->
        r = "mirrored"
        r = r + "!"
    | "zeros" -> r = "zero"
    | 3 -> r = "three"
    | (1, 2) -> r = "one or two"
    | _ -> r = "unknown"
    end
end
print kind("mirror"), " ", kind("zeros"), " ", kind(3), " ", kind("x")
