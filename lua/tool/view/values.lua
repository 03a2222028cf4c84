-- Fields of an engine's reply. What it lacks is empty: an engine of another version may say less.
local units = require "tool.units"

local values = {}

-- The text of a field; "" without.
function values.text(value) return type(value) == "string" and value or "" end

-- A dash in place of an empty one.
function values.shown(value) return values.text(value) ~= "" and value or "-" end

function values.int(value) return type(value) == "number" and value or 0 end

-- The array or object of a field; an empty one without.
function values.items(value) return type(value) == "table" and value or {} end

-- Iterates over the fields of an object in their order.
function values.fields(value)
  local names, i = type(value) == "table" and (getmetatable(value) or {}).names or {}, 0
  return function()
    i = i + 1
    if names[i] then return names[i], value[names[i]] end
  end
end

-- How long ago a time was.
function values.age(now, value)
  local at = units.time(value)
  return at ~= 0 and units.duration(now - at) or "-"
end

-- "1 rule", "2 rules"; nothing for 0.
function values.count(value, one, many)
  local n = values.int(value)
  return n ~= 0 and ("%d %s"):format(n, n == 1 and one or many) or nil
end

-- Parts that are there, put together.
function values.join(parts, between)
  local list = {}
  for i = 1, parts.n or #parts do
    if parts[i] and parts[i] ~= "" then list[#list + 1] = parts[i] end
  end
  return table.concat(list, between)
end

return values
