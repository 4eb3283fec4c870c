% Steps of diffusion, which read one array and write another.
function [x, steps] = inputs()
    x = mod((0..199)*7919, 101)/101
    steps = 500
end
function a = with_exchange(x, steps)
    a = copy(x)
    b = copy(x)
    n = numel(x)
    for k = 1..steps
        for i = 1..n-2
            b[i] = 0.25*a[i-1] + 0.5*a[i] + 0.25*a[i+1]
        end
        t = a
        a = b
        b = t
    end
end
function a = with_list(x, steps)
    a = copy(x)
    b = copy(x)
    n = numel(x)
    for k = 1..steps
        for i = 1..n-2
            b[i] = 0.25*a[i-1] + 0.5*a[i] + 0.25*a[i+1]
        end
        [a, b] = [b, a]
    end
end
function a = with_copy(x, steps)
    a = copy(x)
    n = numel(x)
    for k = 1..steps
        b = copy(a)
        for i = 1..n-2
            b[i] = 0.25*a[i-1] + 0.5*a[i] + 0.25*a[i+1]
        end
        a = b
    end
end
function a = with_elements(x, steps)
    a = copy(x)
    b = copy(x)
    n = numel(x)
    for k = 1..steps
        for i = 1..n-2
            b[i] = 0.25*a[i-1] + 0.5*a[i] + 0.25*a[i+1]
        end
        for i = 1..n-2
            a[i] = b[i]
        end
    end
end
function a = with_slices(x, steps)
    a = copy(x)
    n = numel(x)
    for k = 1..steps
        a[1..n-2] = 0.25*a[0..n-3] + 0.5*a[1..n-2] + 0.25*a[2..n-1]
    end
end
function a = with_while(x, steps)
    a = copy(x)
    b = copy(x)
    n = numel(x)
    k = 0
    while k < steps
        i = 1
        while i < n - 1
            b[i] = 0.25*a[i-1] + 0.5*a[i] + 0.25*a[i+1]
            i += 1
        end
        t = a
        a = b
        b = t
        k += 1
    end
end
