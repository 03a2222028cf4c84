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

return quantities
