-- Fields of objects as rules read them. A rule that cannot look at a field must not pass, so that one of another type
-- than it should be is an error that names its path. The server takes no such object, but a manifest may be one. What
-- is absent, null or empty is no error. `where` is the path of the holder: a text, what has a method `path(field)`, or
-- nil for an object itself. It is looked at for an error alone.
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

local CALLED = { map = "a map", list = "a list", text = "a text", flag = "true or false", number = "a number" }

local function name_of_type(value)
  if is_view(value) then
    return value[1] ~= nil and "list" or next(value) ~= nil and "map" or "map or list without anything"
  end
  local kind = type(value)
  return kind == "string" and "text" or kind == "userdata" and "number" or kind -- a k8s.int64
end

local function path_of(where, field)
  if type(where) == "string" then
    return where .. "." .. field
  end
  return where and where:path(field) or field
end

-- Raises "spec.containers is empty, so nothing can be said of it". The path comes as a format with what it takes.
function shapes.refuse(problem, where, format, ...)
  error(("%s is %s, so nothing can be said of it"):format(path_of(where, format:format(...)), problem), 0)
end

-- The value when it is what is wanted: a "map", "list", "text", "flag" or "number". Nil when there is none.
function shapes.expect(wanted, value, where, format, ...)
  if value == nil or value == null then
    return nil
  elseif not FITS[wanted](value) then
    shapes.refuse(("a %s, not %s"):format(name_of_type(value), CALLED[wanted]), where, format, ...)
  end
  return value
end

local expect = shapes.expect

-- The field when it is of that type, nil where it is absent. An absent holder has no fields.
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

-- The spec of an object that needs one.
function shapes.spec(obj)
  return shapes.map(obj, "spec") or shapes.refuse("not there", nil, "spec")
end

return shapes
