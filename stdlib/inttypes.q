% Module: inttypes.q
% Between arrays of integers and arrays of scalars.  To integers: rounded to nearest, saturated, nan gives 0.

% Function: uint8_to_float, int8_to_float, uint16_to_float, int16_to_float, uint32_to_float, int32_to_float
% The same values as scalars (float64 from 32 bits on, which holds them exactly).
%
% :function y = uint8_to_float(x : cube[uint8])
function y = uint8_to_float(x)
    y = float(x)
end

function y = int8_to_float(x)
    y = float(x)
end

function y = uint16_to_float(x)
    y = float(x)
end

function y = int16_to_float(x)
    y = float(x)
end

function y = uint32_to_float(x)
    y = float(x)
end

function y = int32_to_float(x)
    y = float(x)
end

% Function: float_to_uint8, float_to_int8, float_to_uint16, float_to_int16, float_to_uint32, float_to_int32
% The nearest values that the integer type holds.
%
% :function y = float_to_uint8(x : cube)
function y = float_to_uint8(x)
    y = uint8(round(x))
end

function y = float_to_int8(x)
    y = int8(round(x))
end

function y = float_to_uint16(x)
    y = uint16(round(x))
end

function y = float_to_int16(x)
    y = int16(round(x))
end

function y = float_to_uint32(x)
    y = uint32(round(x))
end

function y = float_to_int32(x)
    y = int32(round(x))
end
