-- Quantities of resources as numbers that can be compared: "250m", "1Gi", "2e3", 2.
jit.off(true, true) -- as in pods.lua

local quantities = {}

local units = {
  [""] = 1, n = 1e-9, u = 1e-6, m = 1e-3, k = 1e3, M = 1e6, G = 1e9, T = 1e12, P = 1e15, E = 1e18,
  Ki = 2 ^ 10, Mi = 2 ^ 20, Gi = 2 ^ 30, Ti = 2 ^ 40, Pi = 2 ^ 50, Ei = 2 ^ 60,
}

-- 0 of what is none.
function quantities.number(value)
  if type(value) ~= "string" then return tonumber(value) or 0 end
  local number, unit = value:match "^([-+.%d]+)(%a*)$"
  if units[unit] then return (tonumber(number) or 0) * units[unit] end
  return tonumber(value) or 0
end

function quantities.is_whole(value)
  local number = quantities.number(value)
  return number == math.floor(number)
end

local decimal, binary = { "", "k", "M", "G", "T", "P", "E" }, { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" }

local function shortest(number, step, suffixes)
  local i = 1
  while number % step == 0 and number ~= 0 and suffixes[i + 1] do number, i = number / step, i + 1 end
  return string.format("%.0f%s", number, suffixes[i])
end

-- Returns the shortest text, in powers of 1024 if the text that it is like has such a unit.
local function shown(number, like)
  if like:find "i$" and math.abs(number) >= 1024 then return shortest(math.ceil(number), 1024, binary) end
  if number == math.floor(number) then return shortest(number, 1000, decimal) end
  return string.format("%.0fm", math.ceil(number * 1000 - 1e-6))
end

-- The unit is that of the first, unless it is 0.
function quantities.sum(a, b)
  local first, second = quantities.number(a), quantities.number(b)
  return shown(first + second, first == 0 and b or a)
end

return quantities
