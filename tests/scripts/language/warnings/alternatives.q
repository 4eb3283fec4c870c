function r = kind(x)
    match x with
    | {1,3} -> r = "never"
    | 5 || 7 -> r = "one"
    | [8,9] -> r = "a list"
    | 1 | 3 -> r = "one or three"
    | "a" | "b" -> r = "a letter"
    | _ -> r = "other"
    end
end
print kind(3), ", ", kind("b"), ", ", kind([8,9]), ", ", kind(5)
match [1,2] with
| [1,2] -> print "equal"
end
match {1,2} with
| {1,2} -> print "equal"
end
