-- Fields of objects as rules read them. A rule that cannot read a field must not pass, so a field of the wrong type is
-- an error that names its path. The server rejects such objects, but a manifest may contain one. An absent, null or
-- empty field is no error. `where` is the path of the holder: a string, an object with a method `path(field)`, or nil
-- for the audited object itself. It is used for errors alone.
local k8s = require "k8s"

local is_view, null, next, type = k8s.object.is_view, k8s.null, next, type

local shapes = {}

local NONE = {}

local FITS = {
  map = function(value)
    return is_view(value) and value[1] == nil
  end,
  list = function(value)
    return is_view(value) and (value[1] ~= nil or next(value) == nil)
  end,
  text = function(value)
    return type(value) == "string"
  end,
  flag = function(value)
    return type(value) == "boolean"
  end,
  number = function(value)
    return type(value) == "number"
  end,
}

local CALLED = { map = "a map", list = "a list", text = "a string", flag = "a boolean", number = "a number" }

local function name_of_type(value)
  if is_view(value) then
    return value[1] ~= nil and "a list" or next(value) ~= nil and "a map" or "an empty map or list"
  end
  local kind = type(value)
  return "a " .. (kind == "userdata" and "number" or kind) -- a k8s.int64
end

local function path_of(where, field)
  if type(where) == "string" then
    return where .. "." .. field
  end
  return where and where:path(field) or field
end

-- Raises "spec.containers is empty". The path is a format with its arguments.
function shapes.refuse(problem, where, format, ...)
  error(("%s %s"):format(path_of(where, format:format(...)), problem), 0)
end

-- Returns the value if it is of the wanted type: "map", "list", "text", "flag" or "number"; nil if it is absent.
function shapes.expect(wanted, value, where, format, ...)
  if value == nil or value == null then
    return nil
  elseif not FITS[wanted](value) then
    shapes.refuse(("must be %s, not %s"):format(CALLED[wanted], name_of_type(value)), where, format, ...)
  end
  return value
end

local expect = shapes.expect

-- Returns the field if it is a map; nil if it or the holder is absent.
function shapes.map(holder, field, where)
  local value = holder and holder[field]
  if value then
    return is_view(value) and value[1] == nil and value or expect("map", value, where, field)
  elseif value == false then
    expect("map", value, where, field)
  end
end

function shapes.list(holder, field, where)
  local value = holder and holder[field]
  if value == nil then
    return NONE
  end
  return expect("list", value, where, field) or NONE
end

function shapes.text(holder, field, where)
  return holder and expect("text", holder[field], where, field)
end

function shapes.flag(holder, field, where)
  if holder then
    return expect("flag", holder[field], where, field)
  end
end

function shapes.number(holder, field, where)
  return holder and expect("number", holder[field], where, field)
end

local function no_element() end

-- for i, element in ...: over the maps of a list, from 0 up, as paths count.
function shapes.maps(holder, field, where)
  local list, i = shapes.list(holder, field, where), -1
  if list == NONE then
    return no_element
  end
  return function()
    while true do
      i = i + 1
      local element = list[i + 1]
      if element == nil then
        return nil
      elseif is_view(element) and element[1] == nil or expect("map", element, where, "%s[%d]", field, i) then
        return i, element
      end
    end
  end
end

-- The spec of an object; an error if it is missing.
function shapes.spec(obj)
  return shapes.map(obj, "spec") or shapes.refuse("is missing", nil, "spec")
end

return shapes
