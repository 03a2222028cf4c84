-- Owners of the number of replicas: what writes of a Scale leave in the managedFields of its object. A server makes the
-- entries of the Scale from those of the object, has the write change them, and puts them back (scalehandler.go).
local json = require "sim.json"

local each, get, set, text = json.each, json.get, json.set, json.text

local scale_managers = {}

local SCALE, PATH = "autoscaling/v1", "spec.replicas"

-- Of a list of JSON, or of Lua.
local function items(list)
  if type(list) == "table" then return ipairs(list) end
  return each(list)
end

local function names_of(path)
  local names = {}
  for name in path:gmatch "[^.]+" do names[#names + 1] = "f:" .. name end
  return names
end

local function has(fields, names)
  for _, name in ipairs(names) do fields = fields and get(fields, name) end
  return fields ~= nil
end

-- The fields without the one at the end of the names from the i-th on; nil if no others are left.
local function without(fields, names, i)
  local kept
  for name, below in json.members(fields) do
    if name == names[i] then below = i < #names and without(below, names, i + 1) or nil end
    if below then
      kept = kept or json.object()
      set(kept, name, below)
    end
  end
  return kept
end

local function only(names)
  local fields = json.object()
  for i = #names, 1, -1 do fields = json.object(names[i], fields) end
  return fields
end

-- The entry with another version and other fields.
local function entry_with(entry, version, fields, time)
  local one = json.object("manager", text(entry, "manager"), "operation", text(entry, "operation"), "apiVersion",
    version, "fieldsType", "FieldsV1", "fieldsV1", fields)
  if time then set(one, "time", time) end
  if text(entry, "subresource") ~= "" then set(one, "subresource", text(entry, "subresource")) end
  return one
end

-- Who an entry is of: the version does not tell it of entries that apply.
local function id_of(entry)
  local operation = text(entry, "operation")
  return table.concat({ text(entry, "manager"), operation, text(entry, "subresource"),
    operation == "Apply" and "" or text(entry, "apiVersion") }, "\n")
end

-- The entries of the Scale of an object with these entries, whose number is at `path`.
function scale_managers.of_scale(entries, path)
  local list, names = {}, names_of(path)
  for _, entry in each(entries) do
    if has(get(entry, "fieldsV1"), names) then
      list[#list + 1] = entry_with(entry, SCALE, only(names_of(PATH)), get(entry, "time"))
    end
  end
  return list
end

-- Applies before updates, the oldest first, as a server has them.
local function in_order(list)
  local places = {}
  for i, entry in ipairs(list) do places[entry] = i end
  local function compare(a, b)
    for _, name in ipairs { "operation", "time", "manager", "apiVersion", "subresource" } do
      local x, y = text(a, name), text(b, name)
      if x ~= y then return x < y end
    end
    return places[a] < places[b]
  end
  table.sort(list, compare)
  return list
end

-- The entries of an object of this version with `entries` whose Scale has those of `scale` now. Whoever owns the number
-- by an update has another version there, so that a server takes him for two.
function scale_managers.of_object(entries, path, version, scale)
  local list, names, given, in_scale = {}, names_of(path), {}, names_of(PATH)
  for _, entry in items(scale) do given[id_of(entry)] = entry end
  for _, entry in each(entries) do
    local fields, id = get(entry, "fieldsV1"), id_of(entry)
    if not has(fields, names) or given[id] then
      list[#list + 1] = entry
      if has(fields, names) then given[id] = nil end
    else
      local rest = without(fields, names, 1)
      if rest then list[#list + 1] = entry_with(entry, text(entry, "apiVersion"), rest, get(entry, "time")) end
    end
  end
  for _, entry in items(scale) do
    if given[id_of(entry)] and has(get(entry, "fieldsV1"), in_scale) then
      list[#list + 1] = entry_with(entry, version, only(names))
    end
  end
  return in_order(list)
end

-- The entries of the object after a PUT or PATCH of its Scale by a manager. Updates of what nobody owns are not
-- tracked, and 0 is not in a Scale.
function scale_managers.updated(entries, path, version, manager, changed, number)
  local scale = scale_managers.of_scale(entries, path)
  if changed and #scale > 0 then
    local author = json.object("manager", manager, "operation", "Update", "subresource", "scale")
    scale = number ~= 0 and { entry_with(author, SCALE, only(names_of(PATH))) } or {}
  end
  return scale_managers.of_object(entries, path, version, scale)
end

return scale_managers
