import "../inputs.q"
function [price, strike, time] = inputs(n)
    price = 10 + 20*pattern(n, 37, 1021)
    strike = 10 + 20*pattern(n, 53, 1021)
    time = 0.25 + 2*pattern(n, 71, 1021)
end
function [call, put] = black_scholes(price, strike, time)
    s = 0.3*sqrt(time)
    a = (log(price./strike) + (0.02 + 0.045)*time)./s
    b = a - s
    discounted = strike.*exp(-0.02*time)
    normal = x -> 0.5 + 0.5*erf(x/sqrt(2))
    call = price.*normal(a) - discounted.*normal(b)
    put = discounted.*normal(-b) - price.*normal(-a)
end
