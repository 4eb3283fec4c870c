% options: --loops always
% A function whose file has rewrite rules is called, because the rules do not apply to the caller.
import "rules_of_products.q" as products
function y = doubled(x)
    y = products.square_plus_one(x) + x.*x
end
print doubled([1.0,2,3])
