% Module: system.q
% Functions on types, cells and text of the original language, and
% the eight rules that make conditional assignment of matrices part of the language: A[A < 0] = 0.
% They do what indexing with a mask does; if the VM supports masks itself the result is the same, inf and nan included.

type matrix_type : [vec|mat|cube|cvec|cmat|ccube]

% Function: assign_where
% Gives c to the elements of x at which mask is true.
function [] = assign_where(x, mask, c)
    x[mask] = c
end

reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a > b] = c) = assign_where(x, a > b, c)
reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a < b] = c) = assign_where(x, a < b, c)
reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a >= b] = c) = assign_where(x, a >= b, c)
reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a <= b] = c) = assign_where(x, a <= b, c)
reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a == b] = c) = assign_where(x, a == b, c)
reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a != b] = c) = assign_where(x, a != b, c)
reduction (x : matrix_type, a : matrix_type, b : matrix_type, c) -> (x[a && b] = c) = assign_where(x, a && b, c)
reduction (x : matrix_type, a : matrix_type, b : matrix_type, c) -> (x[a || b] = c) = assign_where(x, a || b, c)

% The numeric type with this name; t may be a type, too, or a type of arrays, whose elements count.
function f = numeric_type(what, t)
    name = sprintf("%s", t)
    name = regreplace(regreplace(name, "^function ", ""), "^.*\[(\w+)\]$", "$1")
    name = regreplace(name, "^i(vec|mat|cube).*$", "int")
    name = regreplace(regreplace(name, "^c(vec|mat|cube).*$", "cscalar"), "^(vec|mat|cube)([^\[]*)$", "scalar")
    if name == "float32" || name == "single" || name == "double"
        f = name == "double" ? float64 : float32 % scalar is the name that one of them prints
        return
    endif
    for f = {int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64, scalar, _
             complex64, complex128, cscalar}
        if sprintf("%s", f) == name || (name == "float" && sprintf("%s", f) == "scalar")
            return
        end
    end
    error("%s: t must be a numeric type, got %s", what, name)
end

% Function: cast
% Converts x to a numeric type, which is given by itself or by its name: cast(x, uint8), cast(x, "uint8").
function y = cast(x, t)
    f = numeric_type("cast", t)
    y = f(x)
end

% Function: maxvalue
% The largest number of a type: maxvalue(uint8) is 255. A float type gives its largest finite number.
function y = maxvalue(t)
    y = extreme_value("maxvalue", t, 1)
end

% Function: minvalue
% The smallest number of a type: minvalue(int8) is -128. A float type gives its smallest finite number.
function y = minvalue(t)
    y = extreme_value("minvalue", t, -1)
end

function y = extreme_value(what, t, sign)
    f = numeric_type(what, t)
    y = f([sign/0])[0]
    assert(isreal(y), what, ": complex numbers have no order, got ", f)
    for m = {1.7976931348623157e308, 3.4028234663852886e38, 3.3895313892515355e38, 65504}
        {!warnings off}
        if isinf(y) && !isinf(f(float64([m]))[0])
            y = sign*m
        end
        {!warnings on}
    end
end

% Function: deepcopy
% A copy of x with copies of the arrays, cells and objects in it. An object that occurs twice is copied twice; one that
% contains itself is an error.
function y = deepcopy(x)
    y = deepcopy_at(x, 0)
end

function y = deepcopy_at(x, depth)
    assert(depth < 1000, "deepcopy: x contains itself, or is nested more than 1000 deep")
    if iscell(x)
        y = copy(x)
        for k = 0..numel(y)-1
            y[k] = deepcopy_at(y[k], depth+1)
        end
    elseif isobject(x)
        y = copy(x)
        for key = keys(x)
            setfield(y, key, deepcopy_at(getfield(x, key), depth+1))
        end
    elseif isreal(x) || iscomplex(x)
        y = copy(x)
    else
        y = x
    end
end

% Function: cell2mat
% One matrix of the matrices in a cell: a row of the cell is joined side by side, and its rows are joined one below the other.
function m = cell2mat(c)
    assert(iscell(c), "cell2mat: c must be a cell, got ", c)
    m = []
    if numel(c) > 0
        [height, width] = size(c, 0..1)
        rows = cell(height)
        for i = 0..height-1
            row = cell(width)
            for j = 0..width-1
                row[j] = height == 1 ? c[j] : c[i,j]
            end
            rows[i] = horzcat(...row)
        end
        m = vertcat(...rows)
    end
end

% Function: mat2cell
% A matrix cut into blocks: a cell of numel(rows) x numel(columns) matrices with these numbers of rows and columns.
function c = mat2cell(m, rows, columns = [])
    rows = reshape([rows], [1,numel(rows)])
    columns = isempty(columns) ? [size(m,1)] : reshape([columns], [1,numel(columns)])
    assert(sum(rows) == size(m,0) && all(rows >= 0) && all(rows == floor(rows)), _
           "mat2cell: rows must be integers whose sum is ", size(m,0), ", got ", rows)
    assert(sum(columns) == size(m,1) && all(columns >= 0) && all(columns == floor(columns)), _
           "mat2cell: columns must be integers whose sum is ", size(m,1), ", got ", columns)
    c = cell(numel(rows), numel(columns))
    at = ivec(2)
    for i = 0..numel(rows)-1
        at[1] = 0
        for j = 0..numel(columns)-1
            part = m[at[0]..1..at[0]+rows[i]-1, at[1]..1..at[1]+columns[j]-1]
            if numel(rows) == 1
                c[j] = part
            else
                c[i,j] = part
            end
            at[1] += columns[j]
        end
        at[0] += rows[i]
    end
end

% Function: irealfft1
% The real part of ifft1(x): the inverse of fft1 of real x.
function y = irealfft1(x)
    y = real(ifft1(x))
end

% Function: irealfft2
% The real part of ifft2(x): the inverse of fft2 of real x.
function y = irealfft2(x)
    y = real(ifft2(x))
end

% Function: irealfft3
% The real part of ifft3(x): the inverse of fft3 of real x.
function y = irealfft3(x)
    y = real(ifft3(x))
end

% Function: sscanf
% The values in a text, read by a format: %d and %x (integers), %f %e %g (numbers), %s (a word), %c (a character), %%,
% and %* for what is skipped; blanks stand for any blanks, other characters for themselves. Reading ends at the first
% difference. Without words the result is a vec[float64], else a cell.
function v = sscanf(text : string, format : string)
    number = "[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf|nan)"
    kinds = object(d := "^\s*([+-]?\d+)", x := "^\s*((?:0x)?[0-9a-f]+)", s := "^\s*(\S+)", c := "^(.)")
    for name = {"f", "e", "g"}
        setfield(kinds, name, strcat("^\s*(", number, ")"))
    end
    values = {}
    texts = false
    for part = regmatchall(format, "%%|%(\*?)([a-zA-Z]?)|\s+|[^%\s]+", "s")
        kind = part.groups[1]
        pattern = "^(\s*)"
        if part.text == "%%" || (!startswith(part.text, "%") && regmatch(part.text, "\s") == null)
            literal = part.text == "%%" ? "%" : part.text
            if !startswith(text, literal)
                break
            end
            text = substr(text, strlen(literal))
            continue
        elseif startswith(part.text, "%")
            assert(isfield(kinds, kind), "sscanf: format must have only %d %x %f %e %g %s %c %% and %*, got ", part.text)
            pattern = getfield(kinds, kind)
        end
        found = regmatch(text, pattern, "is")
        if found == null
            break
        end
        text = substr(text, strlen(found.text))
        if startswith(part.text, "%") && part.groups[0] == ""
            word = found.groups[0]
            is_text = kind == "s" || kind == "c"
            texts = texts || is_text
            value = is_text ? word : kind == "x" ? hex_value(word) : str2num(word)
            values = horzcat(values, {value})
        end
    end
    v = values
    if !texts
        v = vec[float64](numel(values))
        for k = 0..numel(values)-1
            v[k] = values[k]
        end
    end
end

function x = hex_value(word)
    x = 0
    for digit = toascii(regreplace(lcase(word), "^0x", ""))
        x = 16*x + (digit >= 97 ? digit - 87 : digit - 48)
    end
end

% Function: fscanf
% The values in the next line of a file, read by a format as sscanf does; null after the last line.
function v = fscanf(f, format : string)
    line = fgets(f)
    v = line == null ? null : sscanf(line, format)
end
