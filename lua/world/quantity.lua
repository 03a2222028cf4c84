-- Quantities of resources as numbers: "250m", "1Gi", 2.
local containers = require "world.containers"

local quantity = {}

local units = {
  [""] = 1, n = 1e-9, u = 1e-6, m = 1e-3, k = 1e3, M = 1e6, G = 1e9, T = 1e12, P = 1e15,
  Ki = 2 ^ 10, Mi = 2 ^ 20, Gi = 2 ^ 30, Ti = 2 ^ 40, Pi = 2 ^ 50,
}

function quantity.of(text)
  if type(text) == "number" then return text end
  local number, unit = tostring(text or "0"):match "^([-+%d.eE]-)(%a*)$"
  return (tonumber(number) or 0) * (units[unit] or 1)
end

-- What the containers of a pod ask for, of one resource.
function quantity.asked(pod, name)
  local sum = 0
  for _, container in ipairs(containers.of(pod)) do
    local requests = (container.resources or {}).requests
    sum = sum + quantity.of((requests or {})[name])
  end
  return sum
end

return quantity
