% Module: inttypes.q
% Between arrays of integers and arrays of scalars.  To integers: rounded to nearest, saturated, nan gives 0.

% Function: uint8_to_float, int8_to_float, uint16_to_float, int16_to_float, uint32_to_float, int32_to_float
% The same values as scalars (float64 from 32 bits on, which holds them exactly).
%
% :function y = uint8_to_float(x : cube[uint8])
uint8_to_float = x -> float(x)
int8_to_float = x -> float(x)
uint16_to_float = x -> float(x)
int16_to_float = x -> float(x)
uint32_to_float = x -> float(x)
int32_to_float = x -> float(x)

% Function: float_to_uint8, float_to_int8, float_to_uint16, float_to_int16, float_to_uint32, float_to_int32
% The nearest values that the integer type holds.
%
% :function y = float_to_uint8(x : cube)
float_to_uint8 = x -> uint8(round(x))
float_to_int8 = x -> int8(round(x))
float_to_uint16 = x -> uint16(round(x))
float_to_int16 = x -> int16(round(x))
float_to_uint32 = x -> uint32(round(x))
float_to_int32 = x -> int32(round(x))
