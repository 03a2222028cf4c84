-- Values as JSON has them: comparing, copying, merge patches, members in a fixed order.
local raw = require "world.raw"

local values = {}

local function is_array(t) return getmetatable(t) ~= nil or #t > 0 end

function values.equal(a, b)
  if a == b then return true end
  if type(a) ~= "table" or type(b) ~= "table" then return false end
  for key, value in pairs(a) do
    if not values.equal(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

-- Also of what is inside.
function values.copy(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, member in pairs(value) do copy[key] = values.copy(member) end
  return setmetatable(copy, getmetatable(value))
end

-- `base` with the members of `more` in their place; both may be nil.
function values.merged(base, more)
  local result = {}
  for key, value in pairs(base or {}) do result[key] = value end
  for key, value in pairs(more or {}) do result[key] = value end
  return result
end

-- The merge patch that turns `old` into `new`; nil if they are equal. Arrays are replaced.
function values.diff(old, new)
  local patch = {}
  for key, value in pairs(new) do
    local before = old[key]
    if type(value) == "table" and type(before) == "table" and not is_array(value) and not is_array(before) then
      patch[key] = values.diff(before, value)
    elseif not values.equal(before, value) then
      patch[key] = value
    end
  end
  for key in pairs(old) do
    if new[key] == nil then patch[key] = raw.null end
  end
  return next(patch) ~= nil and patch or nil
end

-- The names of a table's members, sorted: Lua's own order is another one in each process.
function values.names(t)
  local names = {}
  for name in pairs(t or {}) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- The members in the order of their names: for name, value in values.sorted(t) do ... end
function values.sorted(t)
  local names, at = values.names(t), 0
  return function()
    at = at + 1
    return names[at], t and t[names[at]]
  end
end

function values.filter(list, keep)
  local result = {}
  for _, item in ipairs(list) do
    if keep(item) then result[#result + 1] = item end
  end
  return result
end

-- A short name for a value: equal values have the same one.
function values.hash(value)
  local letters, hash = "bcdfghjklmnpqrstvwxz2456789", 2166136261
  local text, parts = raw.json(value), {}
  for i = 1, #text do hash = bit.tobit(bit.bxor(hash, text:byte(i)) * 16777619 % 4294967296) end
  hash = hash % 4294967296
  for i = 1, 8 do
    local at = hash % #letters + 1
    parts[i], hash = letters:sub(at, at), math.floor(hash / #letters)
  end
  return table.concat(parts):gsub("b+$", "") .. "b"
end

return values
