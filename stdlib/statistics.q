% Module: statistics.q
% Statistics of arrays. dim is the dimension along which they are taken, counted from 0; null is the first one longer
% than 1, as in MATLAB: of a vec all elements, of a matrix each column. Results are float64 unless something else is
% said.
import "check.q"

% The dimension, and x as float64.
function [dim, x] = statistic_of(what, x, dim)
    assert(check_real(x), what, ": x must be real numbers, got ", type(x))
    check_filled(strcat(what, ": x"), x)
    if is_default(dim)
        longer = size(x) > 1
        dim = any(longer) ? find_index_max(longer) : 0
    endif
    check_whole(strcat(what, ": dim"), dim, 0)
    x = float64(x)
end

% A number where all of x was reduced to one.
function y = statistic_result(y)
    y = numel(y) == 1 ? sum(y) : y
end

% Function: cummax, cummin
% The largest (smallest) element so far along a dimension, in the type of x; nan does not count, as in MATLAB
% (np.maximum.accumulate keeps it).
%
% Parameters:
% x - an array
% dim - the dimension; null is the first one longer than 1
%
% Returns:
% y - as large as x
% i - where along the dimension it was found first, from 0
function [y, i] = cummax(x, dim = null)
    [y, i] = running_extreme("cummax", x, dim, 1)
end

function [y, i] = cummin(x, dim = null)
    [y, i] = running_extreme("cummin", x, dim, -1)
end

% After the step k, an element is the extreme of the last 2*k ones.
function [y, i] = running_extreme(what, x, dim, sign)
    if numel(x) == 0
        [y, i] = {x, float64(x)}
        return
    endif
    [dim, _] = statistic_of(what, x, dim)
    s = float64(size(x))
    n = size(x, dim)
    before = dim > 0 ? prod(s[0..min(dim,numel(s))-1]) : 1
    y = copy(reshape(x, [before, n, numel(x)/(before*n)]))
    i = zeros_like(float64([0]), size(y)) + reshape(float64(0..n-1), [1,n,1])
    k = 1
    while k < n
        [a, b] = {y[:,0..n-1-k,:], y[:,k..n-1,:]}
        stays = (sign > 0 ? a >= b : a <= b) || (isnan(b) && !isnan(a))
        y[:,k..n-1,:] = stays ? a : b
        i[:,k..n-1,:] = stays ? i[:,0..n-1-k,:] : i[:,k..n-1,:]
        k = 2*k
    end
    [y, i] = {reshape(y, size(x)), reshape(i, size(x))}
end

% Function: skewness
% How much values lean to one side: the third central moment over the third power of the standard deviation.
%
% Parameters:
% x - an array
% flag - 1: of the values as they are, as scipy.stats.skew; 0: corrected for a sample of at least 3 values (bias=False)
% dim - see above
function y = skewness(x, flag = 1, dim = null)
    [dim, x] = statistic_of("skewness", x, dim)
    n = size(x, dim)
    d = x - mean(x, dim)
    y = mean(d.^3, dim)./mean(d.^2, dim).^1.5
    if statistic_flag("skewness", flag) == 0
        y = y*(n > 2 ? sqrt(n*(n-1))/(n-2) : nan)
    endif
    y = statistic_result(y)
end

% Function: kurtosis
% How heavy the tails of values are: the fourth central moment over the square of the variance, about 3 for a normal
% distribution, as in MATLAB. scipy.stats.kurtosis subtracts 3 unless fisher=False is given.
%
% Parameters:
% x - an array
% flag - 1: of the values as they are; 0: corrected for a sample of at least 4 values (bias=False)
% dim - see above
function y = kurtosis(x, flag = 1, dim = null)
    [dim, x] = statistic_of("kurtosis", x, dim)
    n = size(x, dim)
    d = x - mean(x, dim)
    y = mean(d.^4, dim)./mean(d.^2, dim).^2
    if statistic_flag("kurtosis", flag) == 0
        y = n > 3 ? (n-1)/((n-2)*(n-3))*((n+1)*y - 3*(n-1)) + 3 : nan*y
    endif
    y = statistic_result(y)
end

function flag = statistic_flag(what, flag)
    flag = is_default(flag) ? 1 : flag
    assert(isnumeric(flag) && numel(flag) == 1 && (flag == 0 || flag == 1), what, ": flag must be 0 or 1, got ",
           check_got(flag))
end

% Function: mad
% The mean distance of values from their mean, or the median distance from their median.
%
% Parameters:
% x - an array
% flag - 0: means, 1: medians (scipy.stats.median_abs_deviation)
% dim - see above
function y = mad(x, flag = 0, dim = null)
    [dim, x] = statistic_of("mad", x, dim)
    flag = is_default(flag) ? 0 : flag
    y = statistic_flag("mad", flag) == 0 ? mean(abs(x - mean(x, dim)), dim) : median(abs(x - median(x, dim)), dim)
    y = statistic_result(y)
end

% Function: zscore
% How many standard deviations values are above their mean; 0 where all of them are equal.
%
% Parameters:
% x - an array
% flag - 0: the standard deviation of a sample, with n-1, as in MATLAB; 1: with n, the default of scipy.stats.zscore
% dim - see above
%
% Returns:
% z - as large as x
% mu, sigma - the means and standard deviations
function [z, mu, sigma] = zscore(x, flag = 0, dim = null)
    [dim, x] = statistic_of("zscore", x, dim)
    flag = statistic_flag("zscore", is_default(flag) ? 0 : flag)
    mu = mean(x, dim)
    sigma = size(x, dim) > 1 ? std(x, dim, 1 - flag) : 0*mu
    z = (x - mu)./(sigma == 0 ? 1 : sigma)
    [mu, sigma] = {statistic_result(mu), statistic_result(sigma)}
end

% Function: normalize
% Values brought to a common scale.
%
% Parameters:
% x - an array
% dim - see above; the method may take its position
% method - "zscore" (mean 0, standard deviation 1), "center" (mean 0), "scale" (standard deviation 1), "range" (from 0
%     to 1) or "norm" (length 1)
function y = normalize(x, dim = null, method = "zscore")
    if isstring(dim)
        [dim, method] = {null, dim}
    endif
    [dim, x] = statistic_of("normalize", x, dim)
    match method with
    | "zscore" -> y = zscore(x, 0, dim)
    | "center" -> y = x - mean(x, dim)
    | "scale" -> y = x./std(x, dim)
    | "norm" -> y = x./sqrt(sum(x.^2, dim))
    | "range" ->
        low = min(x, [], dim)
        y = (x - low)./(max(x, [], dim) - low)
    | _ -> error("normalize: method must be zscore, center, scale, range or norm, got ", method)
    end
end

% Function: rescale
% The values of an array stretched from `low` for the smallest to `high` for the largest; `low` for all where all are
% equal.
function y = rescale(x, low : scalar = 0, high : scalar = 1)
    check_finite("rescale: x", x)
    assert(low <= high, "rescale: low must not be larger than high, got ", low, " and ", high)
    y = float64(x)
    if numel(x) > 0
        [a, b] = {float64(min(x)), float64(max(x))}
        y = low + (y - a)/(b > a ? b - a : 1)*(high - low)
    endif
end

% Function: prctile
% The values below which p percent of x are, as in MATLAB: the k-th smallest of n values is at 100*(k-0.5)/n percent.
% percentile, as np.percentile, has it at 100*(k-1)/(n-1).
%
% Parameters:
% x - an array
% p - one number or several, which are the rows of the result, or its elements if x is a row
% dim - see above
function y = prctile(x, p, dim = null)
    [dim, x] = statistic_of("prctile", x, dim)
    y = statistic_result(percentile(x, p, dim, "hazen"))
end

% Function: iqr
% The distance of the quartiles, between which the middle half of the values is.
%
% Parameters:
% x - an array
% dim - see above
% method - where the quartiles are, see percentile: "hazen" as in MATLAB, "linear" as in scipy.stats.iqr
function y = iqr(x, dim = null, method : string = "hazen")
    [dim, x] = statistic_of("iqr", x, dim)
    y = statistic_result(percentile(x, 75, dim, method) - percentile(x, 25, dim, method))
end

% Function: histogram2d
% How many points [x, y] are in each field of a grid, as np.histogram2d: the last interval includes its right edge, and
% points outside are not counted.
%
% Parameters:
% x, y - coordinates, of one size
% bins - a number of equal intervals, two numbers, or a cell of edges {xedges, yedges}
% range - {[xlow,xhigh], [ylow,yhigh]}; null is the range of the points
%
% Returns:
% counts - a row for each interval of x, a column for each of y
% xedges, yedges - the edges
function [counts, xedges, yedges] = histogram2d(x, y, bins = 10, range = null)
    check_finite("histogram2d: x", x)
    check_finite("histogram2d: y", y)
    check_alike("histogram2d: x and y", x, y)
    assert(numel(bins) == 2 || (isnumeric(bins) && numel(bins) == 1), _
           "histogram2d: bins must be a number, two numbers or {xedges, yedges}, got ", numel(bins), " of them")
    list = iscell(bins) ? bins : numel(bins) == 1 ? {bins,bins} : {bins[0],bins[1]}
    edges = cell(2)
    for k = 0..1
        edges[k] = list[k]
        if numel(list[k]) == 1
            check_whole("histogram2d: bins", list[k], 1)
            v = k == 0 ? x : y
            ends = !isnull(range) ? range[k] : numel(v) > 0 ? float64([min(v),max(v)]) : [0,1]
            ends = ends[0] == ends[1] ? ends + [-0.5,0.5] : ends
            e = ends[0] + float64(0..list[k])*((ends[1] - ends[0])/list[k])
            e[list[k]] = ends[1]
            edges[k] = e
        endif
    end
    [counts, xedges, yedges] = histcounts2(x, y, edges[0], edges[1])
end

% Function: histcounts2
% How many points [x, y] are between edges; the last interval includes its right edge.
%
% Parameters:
% x, y - coordinates, of one size
% xedges, yedges - edges in ascending order; for a number of intervals see <histogram2d>, as MATLAB chooses round edges
%     for it
%
% Returns:
% counts - a row for each interval of x, a column for each of y
function [counts, xedges, yedges] = histcounts2(x, y, xedges = null, yedges = null)
    check_alike("histcounts2: x and y", x, y)
    inside = ones_like(float64([0]), 1, numel(x)) > 0
    at = cell(2)
    for k = 0..1
        [v, e] = {float64(reshape(k == 0 ? x : y, [1,numel(x)])), k == 0 ? xedges : yedges}
        name = k == 0 ? "xedges" : "yedges"
        assert(check_real(e) && numel(e) > 1, "histcounts2: ", name, " must be edges, got ",
               isnumeric(e) ? numel(e) : type(e),
               "; histogram2d(x, y, bins) takes numbers of intervals")
        e = float64(reshape(e, [1,numel(e)]))
        n = numel(e) - 1
        check_each(strcat("histcounts2: ", name, " must ascend"), e[1..n], e[1..n] > e[0..n-1])
        inside = inside && v >= e[0] && v <= e[n]
        at[k] = clamp(interp1(e, float64(0..n), clamp(v, e[0], e[n]), "previous"), 0, n-1)
    end
    [m, n] = {numel(xedges) - 1, numel(yedges) - 1}
    counts = reshape(bincount(int((at[0]*n + at[1])[inside]), m*n), [m,n])
end
