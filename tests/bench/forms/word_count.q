% Counts words and lines of a text, given as bytes.
function x = inputs()
    x = uint8(mod((0..399999)*7919, 96) + 10)
end
function n = with_flag(x)
    n = 0
    inside = false
    lines = 0
    for i = 0..numel(x)-1
        c = x[i]
        if c == 32 || c == 10 || c == 13
            inside = false
            if c == 10
                lines += 1
            end
        elseif !inside
            inside = true
            n += 1
        end
    end
    n += lines
end
function n = with_state(x)
    n : int = 0
    lines : int = 0
    state : int = 0
    for i = 0..numel(x)-1
        c : int = x[i]
        match state with
        | 0 ->
            if c != 32 && c != 10 && c != 13
                state = 1
                n += 1
            end
        | _ ->
            if c == 32 || c == 10 || c == 13
                state = 0
            end
        end
        if c == 10
            lines += 1
        end
    end
    n += lines
end
function space = is_space(c)
    space = c == 32 || c == 10 || c == 13
end
function n = with_function(x)
    n = int(0)
    lines = int(0)
    before = true
    for i = 0..numel(x)-1
        space = is_space(x[i])
        n += !space && before
        lines += x[i] == 10
        before = space
    end
    n += lines
end
function n = with_elements(x)
    n = 0
    lines = 0
    for i = 0..numel(x)-1
        if !is_space(x[i]) && (i == 0 || is_space(x[i-1]))
            n += 1
        end
        if x[i] == 10
            lines += 1
        end
    end
    n += lines
end
function n = with_items(x)
    count : uint32 = 0
    inside : bool = false
    for c = x
        if c == 10
            count += 1
        end
        word : bool = !(c == 32 || c == 10 || c == 13)
        if word && !inside
            count += 1
        end
        inside = word
    end
    n = count
end
