% Module: check.q
% Checks of the arguments of the library.  `what` names the function and the argument, as in "boxfilter: r"; the error
% message states the expected and the actual value.

function good = check_real(x)
    good = isnumeric(x) && isreal(x)
end

% Describes a value as text; a string is not quoted.
function text = check_got(x)
    text = isnumeric(x) ? x : type(x)
end

% Checks for finite numbers of at least `least`.
function [] = check_least(what, x, least)
    assert(isnumeric(x), what, " must be a number, got ", type(x))
    finite = check_real(x) && all(x < inf)
    assert(finite && all(x >= least), what, " must be at least ", least, finite ? "" : " and finite", ", got ", check_got(x))
end

% Checks for real numbers without nan and inf.
function [] = check_finite(what, x)
    assert(isnumeric(x), what, " must have finite elements, got ", type(x))
    assert(isreal(x), what, " must be real, got complex numbers")
    check_each(strcat(what, " must have finite elements"), x, isfinite(x))
end

% Checks that `good`, of the size of x, is true everywhere; the message `rule` is followed by the first element that breaks it.
function [] = check_each(rule, x, good)
    if !all(good)
        error(rule, ", got ", numel(x) == 1 ? sum(x) : reshape(x, [1,numel(x)])[find_index_max(reshape(!good, [1,numel(x)]))])
    endif
end

% The elements that are finite numbers; x itself if all are.
function y = finite_part(x)
    finite = isfinite(x)
    y = all(finite) ? x : x[finite]
end

% Checks for one integer, or `count` of them, of at least `least`.
function [] = check_whole(what, x, least, count = 1)
    if !(isnumeric(x) && isreal(x) && numel(x) == count && all(x == floor(x) && x >= least && x < inf))
        number = count == 1 ? "an integer" : sprintf("%d integers", count)
        error(what, " must be ", number, least > -inf ? sprintf(" of at least %d", least) : "", ", got ", check_got(x))
    endif
end

% Returns height and width; size(img) of an image with channels has a third number.
function s = check_plane(what, dims)
    s = numel(dims) == 3 ? dims[0..1] : dims
    check_whole(what, s, 1, 2)
end

function [] = check_filled(what, x)
    assert(numel(x) > 0, what, " must have elements, got size ", size(x))
end

% Checks that two arguments, which `what` names, have the same size.
function [] = check_alike(what, x, y)
    assert(isequal(size(x), size(y)), what, " must have one size, got ", size(x), " and ", size(y))
end

% Checks that x fits data that was created for the size s.
function [] = check_size(what, x, s)
    assert(isequal(size(x), s), what, " must have size ", s, ", got ", size(x))
end

% Returns the grey value of white, or another number in grey values, that is `otherwise` unless it is given.  A white of
% 1 in x then gives a warning.
function y = scale_of(what, x, given, otherwise)
    y = isnull(given) ? otherwise : given
    if isnull(given)
        check_scale(what, x, 255)
    else
        assert(check_real(given), what, ": the scale must be real, got ", check_got(given))
    endif
end

function [] = check_colors(what, img)
    assert(size(img,2) == 3, what, " must be height x width x 3, got size ", size(img))
end

% Returns the values of pairs "Name", value, as MATLAB has them, in the order of `names`; null for those that are
% missing. The last elements of given may be null.
function values = named_values(what, names, ...given)
    n = numel(given)
    while n > 0 && isnull(given[n-1])
        n -= 1
    end
    values = cell(numel(names))
    for k = 0..numel(names)-1
        values[k] = null
    end
    for i = 0..2..n-1
        assert(isstring(given[i]), what, ": the name of an option must be a string, got ", type(given[i]))
        found = -1
        for k = 0..numel(names)-1
            if lcase(names[k]) == lcase(given[i])
                found = k
            endif
        end
        assert(found >= 0, what, ": no option ", given[i], "; there are ", strjoin(names, ", "))
        assert(i+1 < n, what, ": the option ", given[i], " must have a value")
        values[found] = given[i+1]
    end
end

% Whether an argument is left out: null, or [] as in MATLAB.
function y = is_default(x)
    y = isnull(x) || (isnumeric(x) && numel(x) == 0)
end

% Checks that no arguments are left over where options are not given by names.
function [] = check_no_more(what, more)
    assert(numel(more) == 0, what, ": ", numel(more), numel(more) == 1 ? " argument" : " arguments", " too many")
end

% A number or an array as a vec[float64], which Python sees with one dimension.
function v = float64_vec(x)
    v = reshape(isscalar(x) ? float64([x]) : float64(x), numel(x))
end

% Whether the caller gives a function, which may be one of Python.
function y = is_given_function(f)
    y = isfunction(f) || type(f, "pyvalue")
end

% The result of a function that the caller gives: an array, list or number of Python becomes one of the language.
function y = value_of(v)
    y = v
    if type(v, "pyvalue")
        y = v.from_py()
        if iscell(y)
            y = horzcat(...y)
        endif
    endif
end
