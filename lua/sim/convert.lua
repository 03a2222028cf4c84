-- Conversion between versions by the rows of kinds.json, of which each has the version's own path, and the stored one.
-- The object is changed in place.
local json = require "sim.json"
local values = require "sim.values"

local at, text, each, element = json.at, json.text, json.each, json.element
local set_at, take = values.set_at, values.take

local OWN, STORED = 0, 1

local function path_of(row, side) return text(element(row, side)) end

local function move_fields(rows, from, to, side)
  for _, row in each(rows) do
    local value = take(from, path_of(row, side))
    if value ~= nil then set_at(to, path_of(row, 1 - side), value) end
  end
end

local function default_type(target)
  values.default(target, "type", at(target, "averageUtilization") ~= nil and "Utilization"
    or at(target, "averageValue") ~= nil and "AverageValue" or "Value")
end

-- Elements of a list have their fields below a name: `{"type": "Pods", "pods": {...}}`.
local function convert_elements(forms, list, side)
  for _, one in each(list) do
    for name, rows in json.members(forms) do
      local old, now = json.get(one, name), json.object()
      if old ~= nil then
        move_fields(rows, old, now, side)
        if side == OWN and at(now, "target") ~= nil then default_type(at(now, "target")) end
        json.set(one, name, now)
      end
    end
  end
end

-- Fields that the version does not have are JSON in its annotations.
local function to_annotations(rows, object)
  for _, row in each(rows) do
    local value = take(object, path_of(row, STORED))
    convert_elements(element(row, 2), value, STORED)
    if json.count(value) > 0 then
      json.set(values.submap(at(object, "metadata"), "annotations"), path_of(row, OWN), json.write(value))
    end
  end
end

local function from_annotations(rows, object)
  local annotations = at(object, "metadata.annotations")
  for _, row in each(rows) do
    local given = json.get(annotations, path_of(row, OWN))
    local value = type(given) == "string" and json.parse(given) or nil
    convert_elements(element(row, 2), value, OWN)
    if value ~= nil then set_at(object, path_of(row, STORED), value) end
    if given ~= nil then json.remove(annotations, path_of(row, OWN)) end
  end
  if annotations ~= nil and json.count(annotations) == 0 then json.remove(at(object, "metadata"), "annotations") end
end

-- One number of the version is an element of a list in the stored one: row 2 is the element, row 3 the path of the
-- number in it. With row 4 the list has it, too.
local function add_element(row, object)
  local list, value = at(object, path_of(row, STORED)), take(object, path_of(row, OWN))
  if value == nil or (element(row, 4) == true and list ~= nil) then return end
  if json.type(list) ~= "array" then
    set_at(object, path_of(row, STORED), {})
    list = at(object, path_of(row, STORED))
  end
  local one = json.copy(element(row, 2))
  set_at(one, path_of(row, 3), value)
  values.append(list, one)
end

local function take_element(row, object)
  local list, path = at(object, path_of(row, STORED)), path_of(row, 3)
  for i, one in each(list) do
    if text(one, "resource.name") == "cpu" and at(one, path) ~= nil then
      set_at(object, path_of(row, OWN), at(one, path))
      if element(row, 4) ~= true then json.remove(list, i - 1) end
      return
    end
  end
end

local convert = {}

function convert.to_stored(data, object)
  move_fields(at(data, "fields"), object, object, OWN)
  from_annotations(at(data, "annotations"), object)
  for _, row in each(at(data, "elements")) do add_element(row, object) end
end

function convert.from_stored(data, object)
  for _, row in each(at(data, "elements")) do take_element(row, object) end
  to_annotations(at(data, "annotations"), object)
  move_fields(at(data, "fields"), object, object, STORED)
end

return convert
