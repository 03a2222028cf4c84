-- Elements of lists, as a CustomResourceDefinition's schema wants them: a set has each once, a list of maps each key
-- once. A server looks at it after all that the schema says of values.
local json = require "sim.json"

local each, text, get = json.each, json.text, json.get

local list_types = {}

-- Names an element's second appearance; a third is not told of.
local function repeated(keys, path, found)
  local count = {}
  for i, key in ipairs(keys) do
    local shown = json.dump(key)
    count[shown] = (count[shown] or 0) + 1
    if count[shown] == 2 then
      found[#found + 1] = { "FieldValueDuplicate", string.format("%s[%d]", path, i - 1), "", key }
    end
  end
end

local function keys_of(schema, element)
  local key = json.object()
  for _, name in each(get(schema, "x-kubernetes-list-map-keys")) do
    local value = get(element, name)
    if value ~= nil then json.set(key, name, value) end
  end
  return key
end

local function list_problems(schema, list, path, found)
  local type, keys = text(schema, "x-kubernetes-list-type"), {}
  if type ~= "set" and type ~= "map" then return end
  for i, element in each(list) do
    local of_element = json.type(element)
    if type == "map" and of_element ~= "object" and of_element ~= "null" then
      found[#found + 1] = { "FieldValueInvalid", string.format("%s[%d]", path, i - 1),
        "must be an object for an array of list-type map", element }
      return
    end
    keys[i] = type == "set" and element or keys_of(schema, element)
  end
  repeated(keys, path, found)
end

local function visit(schema, value, path, found)
  local type = json.type(value)
  if json.type(schema) ~= "object" then return end
  if type == "array" then
    list_problems(schema, value, path, found)
    for i, element in each(value) do
      visit(get(schema, "items"), element, string.format("%s[%d]", path, i - 1), found)
    end
  elseif type == "object" then
    for name, member in json.members(value) do
      local own = get(get(schema, "properties"), name)
      if own ~= nil then
        visit(own, member, path == "" and name or path .. "." .. name, found)
      else
        visit(get(schema, "additionalProperties"), member, string.format("%s[%s]", path, name), found)
      end
    end
  end
end

-- Problems of an object, as in crds.lua; one that follows another with problems has none.
function list_types.problems(schema, object, old)
  local found, before = {}, {}
  visit(schema, object, "", found)
  if #found > 0 and old then visit(schema, old, "", before) end
  return #before > 0 and {} or found
end

return list_types
