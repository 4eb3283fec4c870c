% options: --loops always
% An update of an array reads columns, rows and planes of it before any element changes.  Each value is compared with one
% that is computed from a copy, and with the interpreter by the expectation.
function y = by_column(y), y -= 2*y[:,0], end
function y = by_quotient(y), y ./= y[:,0] + 1, end
function y = by_row(y), y -= 2*y[0,:], end
function y = by_last(y), y .*= y[:,3] - y[:,1..1], end
function y = by_element(y), y += y[1,1]*2, end
function y = of_part(y), y[:,0..2] -= 2*y[:,0], end
function y = assigned(y), y[:,:] = y - 2*y[:,0].*1, end
function y = by_alias(y)
    t = y[:,0]
    y -= 2*t
end
function y = of_expression(y)
    c = y.*2
    y[:,:] = c - 2*y[:,0]
end
function y = by_plane(y), y -= 2*y[:,:,0], end
function y = by_first_row(y), y ./= y[0,:,:] + 3, end
m = reshape((1..12)*1.0, [3,4])
for f = {by_column, by_quotient, by_row, by_last, by_element, of_part, assigned, by_alias, of_expression}
    print f(copy(m))
end
for f = {by_plane, by_first_row}
    print f(reshape((1..12)*1.0, [2,3,2]))
end
large = reshape(mod(0..599999, 7) + 1.0, [600,1000])
for f = {by_column, by_quotient, by_row, by_last, of_part, by_alias}
    y = f(copy(large))
    print sum(y), " ", y[599,0..3]
end
