-- Changing maps in place: what the functions of core/sim/text/tree.c do.
local json = require "sim.json"

local values = {}

-- Returns the map under a name; makes it if it is missing or no map.
function values.submap(map, name)
  local inner = json.get(map, name)
  if json.type(inner) == "object" then return inner end
  inner = json.object()
  json.set(map, name, inner)
  return inner
end

-- Likewise a list.
function values.sublist(map, name)
  if json.type(json.get(map, name)) ~= "array" then json.set(map, name, {}) end
  return json.get(map, name)
end

-- Sets a member only where it is missing or null.
function values.default(map, name, value)
  local there = json.get(map, name)
  if there == nil or there == json.null then json.set(map, name, value) end
end

-- Sets the value at a path, and makes the maps above it.
function values.set_at(map, path, value)
  local above, name = path:match "^(.*)%.(.-)$"
  for part in (above or ""):gmatch "[^.]+" do map = values.submap(map, part) end
  json.set(map, name or path, value)
end

-- Takes the value at a path away; nil if there is none.
function values.take(map, path)
  local above, name = path:match "^(.*)%.(.-)$"
  local holder = json.at(map, above or "")
  local value = json.get(holder, name or path)
  if value ~= nil then json.remove(holder, name or path) end
  return value
end

function values.append(list, value) json.insert(list, json.count(list), value) end

-- Returns a list of the names of a map's members, sorted.
function values.names(map)
  local names = {}
  for name in json.members(map) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- Returns the value with the members of all maps sorted, as Go shows those that are no structs.
function values.sorted(value)
  local type = json.type(value)
  return (type == "object" or type == "array") and json.parse(json.dump(value)) or value
end

return values
