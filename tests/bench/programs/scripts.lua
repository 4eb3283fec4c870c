-- The programs of scripts in Lua, with the protocol of ../peers/worker.py: a program gets its size and returns numbers.
local programs = {}
local ffi = require("ffi")

local function fib(n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
end
programs.fib = fib

local function takeuchi(a, b, c)
    if b >= a then return c end
    return takeuchi(takeuchi(a - 1, b, c), takeuchi(b - 1, c, a), takeuchi(c - 1, a, b))
end
function programs.tak(n) return takeuchi(n, math.floor(2 * n / 3), math.floor(n / 3)) end

local function transfer(n, from, to, other)
    if n == 0 then return 0 end
    return transfer(n - 1, from, other, to) + 1 + transfer(n - 1, other, to, from)
end
function programs.hanoi(n) return transfer(n, 1, 3, 2) end

local function place(row, n, columns, up, down)
    if row == n then return 1 end
    local count = 0
    for c = 0, n - 1 do
        if columns[c] == 0 and up[row + c] == 0 and down[row - c + n] == 0 then
            columns[c], up[row + c], down[row - c + n] = 1, 1, 1
            count = count + place(row + 1, n, columns, up, down)
            columns[c], up[row + c], down[row - c + n] = 0, 0, 0
        end
    end
    return count
end
local function list_of(n)
    local t = {}
    for k = 0, n do t[k] = 0 end
    return t
end
function programs.queens(n) return place(0, n, list_of(n), list_of(2 * n), list_of(2 * n)) end

local function squares(k)
    local s = 0
    while k > 0 do
        local digit = k % 10
        s = s + digit * digit
        k = (k - digit) / 10
    end
    return s
end
function programs.happy(n)
    local count = 0
    for k = 1, n do
        local x = k
        while x ~= 1 and x ~= 4 do x = squares(x) end
        if x == 1 then count = count + 1 end
    end
    return count
end

function programs.harmonic(n)
    local s, terms = 0, 0
    for k = 1, n do
        s = s + 1 / k
        if terms == 0 and s > 10 then terms = k end
    end
    return s, terms
end

local function is_prime(k)
    local m = 2
    while m * m <= k do
        if k % m == 0 then return false end
        m = m + 1
    end
    return k > 1
end
function programs.trial_division(n)
    local s = 0
    for k = 0, n - 1 do
        if is_prime(k) then s = s + k end
    end
    return s
end

local function attract(self, other, dt)
    local dx, dy = other.x - self.x, other.y - self.y
    local r = dx * dx + dy * dy
    local w = dt * other.mass / (r * math.sqrt(r))
    self.vx, self.vy = self.vx + w * dx, self.vy + w * dy
end
local function move(self, dt) self.x, self.y = self.x + dt * self.vx, self.y + dt * self.vy end
function programs.orbit(n)
    local sun, planet = {x = 0, y = 0, vx = 0, vy = 0, mass = 1}, {x = 1, y = 0, vx = 0, vy = 1, mass = 0.001}
    for k = 1, n do
        attract(planet, sun, 0.001)
        attract(sun, planet, 0.001)
        move(planet, 0.001)
        move(sun, 0.001)
    end
    return planet.x, planet.y
end

local function adder(k) return function(x) return x + k end end
function programs.closures(n)
    local function compose(f, g) return function(x) return f(g(x)) end end
    local y = 0
    for k = 1, n do
        local h = compose(adder(k), function(x) return 0.5 * x end)
        y = h(y)
    end
    return y
end

function programs.texts(n)
    local total, found = 0, 0
    for k = 1, n do
        local s = "item " .. tostring(k)
        total = total + #s
        if s:find("77", 1, true) then found = found + 1 end
    end
    return total, found
end

local run, size
for line in io.lines() do
    local name, n, path = line:match("^case ([%w_]+):(%d+) %d+ (.+)$")
    if name then
        run, size = programs[name], tonumber(n)
        local results = {run(size)}
        if type(results[1]) == "table" then results = results[1] end
        local file = io.open(path, "wb")
        file:write(ffi.string(ffi.new("double[?]", #results, results), 8 * #results))
        file:close()
        print("ready")
    else
        for k = 1, tonumber(line) do run(size) end
        print("0")
    end
    io.flush()
end
