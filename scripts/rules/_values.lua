-- Values of objects, whatever their type: a null, a number or a list instead of a map must not end a rule.
local k8s = require "k8s"

local is_view, selects = k8s.object.is_view, k8s.selects

local values = {}

local NONE = {}

-- Returns the value if it has fields, else nil.
function values.map(value)
  if is_view(value) then
    return value
  end
end

-- Returns the value for ipairs, or an empty list. Its elements may be anything.
function values.list(value)
  if is_view(value) then
    return value
  end
  return NONE
end

-- Elements of a list that are maps, with their number from 0 up, as in paths.
local function next_map(list, i)
  while true do
    i = i + 1
    local value = list[i + 1]
    if value == nil then
      return nil
    elseif is_view(value) then
      return i, value
    end
  end
end

function values.maps(value)
  return next_map, is_view(value) and value or NONE, -1
end

-- Returns the first of them; nil without one.
function values.first(value)
  local _, found = next_map(values.list(value), -1)
  return found
end

-- Returns the value if it is a string that is not empty, else nil.
function values.text(value)
  if type(value) == "string" and value ~= "" then
    return value
  end
end

function values.has(list, wanted)
  for _, value in ipairs(values.list(list)) do
    if value == wanted then
      return true
    end
  end
  return false
end

-- Returns the value as a quantity, nil if it is not one.
function values.quantity(value)
  local kind = type(value)
  if kind == "string" or kind == "number" then
    return (k8s.quantity(value))
  end
end

-- The namespace of the object; default for manifests without one, as in kubectl.
function values.namespace(obj)
  local namespace = obj:namespace()
  return namespace ~= "" and namespace or "default"
end

function values.key(obj)
  return values.namespace(obj) .. "/" .. obj:name()
end

-- Keys and values of labels consist of these characters; a selector with others is invalid.
local function is_key(key)
  return type(key) == "string" and key:find "^[%w._/-]+$" ~= nil
end

local function is_value(value)
  return type(value) == "string" and value:find "^[%w._-]*$" ~= nil
end

-- Appends a requirement for each label; returns false if one is invalid.
local function add_labels(parts, labels)
  for key, value in pairs(values.list(labels)) do
    if not is_key(key) or not is_value(value) then
      return false
    end
    parts[#parts + 1] = key .. "=" .. value
  end
  return true
end

local FORMS = { In = "%s in (%s)", NotIn = "%s notin (%s)", Exists = "%s", DoesNotExist = "!%s" }

local function add_expression(parts, expression)
  local form, given = FORMS[expression.operator], {}
  for _, value in ipairs(values.list(expression.values)) do
    if not is_value(value) then
      return false
    end
    given[#given + 1] = value
  end
  if not form or not is_key(expression.key) then
    return false
  end
  parts[#parts + 1] = form:format(expression.key, table.concat(given, ","))
  return true
end

-- Returns the labels that a Service selects as a selector string, which is compared faster than a map. Returns nil for
-- no labels and for invalid ones, which select nothing.
function values.labels_selector(labels)
  local parts = {}
  return add_labels(parts, labels) and parts[1] and table.concat(parts, ",") or nil
end

-- Returns a LabelSelector as a selector string: "" for an empty one, which selects everything; nil for an invalid one.
function values.label_selector(selector)
  local parts = {}
  if not is_view(selector) or not add_labels(parts, selector.matchLabels) then
    return nil
  end
  for _, expression in values.maps(selector.matchExpressions) do
    if not add_expression(parts, expression) then
      return nil
    end
  end
  return table.concat(parts, ",")
end

-- Returns true if a selector of values.labels_selector or values.label_selector selects the labels.
function values.selects(selector, labels)
  local ok, is_selected = pcall(selects, selector, is_view(labels) and labels or NONE)
  return selector ~= nil and ok and is_selected == true
end

return values
