-- JSON merge patch (RFC 7386) as Kubernetes applies it: nulls are taken out of what is new, also of maps in lists; in
-- maps that the patch goes into, names are sorted; all else stays as it is.
local json = require "sim.json"
local values = require "sim.values"

local merge = {}

local function is_map(value) return json.type(value) == "object" end

local function pruned(value)
  local kind = json.type(value)
  if kind == "array" then
    local list = {}
    for i, element in json.each(value) do list[i] = pruned(element) end
    return list
  end
  if kind ~= "object" then return value end
  local map = json.object()
  for _, name in ipairs(values.names(value)) do
    local inner = json.get(value, name)
    if inner ~= json.null then json.set(map, name, pruned(inner)) end
  end
  return map
end

-- Changes `there`. A list takes a map's place as it is.
local function merged(there, given)
  if not is_map(there) then return pruned(given) end
  if not is_map(given) then return json.copy(given) end
  for name, value in json.members(given) do
    local old = json.get(there, name)
    if value ~= json.null then
      json.set(there, name, merged(old, value))
    elseif old ~= nil then
      json.remove(there, name)
    end
  end
  local sorted = json.object()
  for _, name in ipairs(values.names(there)) do json.set(sorted, name, json.get(there, name)) end
  return sorted
end

-- Returns the value with the patch applied, which shares nothing with either.
function merge.apply(target, patch) return merged(json.copy(target), patch) end

return merge
