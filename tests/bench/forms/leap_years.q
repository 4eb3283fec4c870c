% Days of many months, by the calendar.
function [y, m] = inputs()
    y = int(mod((0..199999)*7919, 3000))
    m = int(mod((0..199999)*104729, 12))
end
function d = with_conditions(y, m)
    lengths = [31,28,31,30,31,30,31,31,30,31,30,31]
    d = zeros(1, numel(y))
    for i = 0..numel(y)-1
        n = lengths[m[i]]
        if m[i] == 1 && mod(y[i], 4) == 0 && (mod(y[i], 100) != 0 || mod(y[i], 400) == 0)
            n += 1
        end
        d[i] = n
    end
end
function leap = is_leap(y)
    leap = mod(y, 4) == 0 && (mod(y, 100) != 0 || mod(y, 400) == 0)
end
function d = with_function(y, m)
    lengths = [31,28,31,30,31,30,31,31,30,31,30,31]
    d = zeros(1, numel(y))
    for i = 0..numel(y)-1
        d[i] = lengths[m[i]] + (m[i] == 1 && is_leap(y[i]))
    end
end
function leap:bool = is_leap_typed(y : int)
    leap = false
    if mod(y, 4) == 0
        leap = true
        if mod(y, 100) == 0
            leap = false
            if mod(y, 400) == 0
                leap = true
            end
        end
    end
end
function days:int = days_of(year : int, m : int)
    if m == 1
        days = is_leap_typed(year) ? 29 : 28
    elseif m == 3 || m == 5 || m == 8 || m == 10
        days = 30
    else
        days = 31
    end
end
function d = with_typed_functions(y, m)
    d = zeros(1, numel(y))
    for i = 0..numel(y)-1
        d[i] = days_of(y[i], m[i])
    end
end
function d = with_match(y, m)
    d = zeros(1, numel(y))
    for i = 0..numel(y)-1
        year : int = y[i]
        n : int = 31
        match m[i] with
        | 1 -> n = 28
        | 3 -> n = 30
        | 5 -> n = 30
        | 8 -> n = 30
        | 10 -> n = 30
        | _ -> n = 31
        end
        leap = mod(year, 400) == 0 || (mod(year, 4) == 0 && mod(year, 100) != 0)
        if leap && m[i] == 1
            n = n + 1
        end
        d[i] = n
    end
end
