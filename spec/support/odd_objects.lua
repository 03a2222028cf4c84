-- Objects as nobody should write them, made of good ones: in each copy one value is another than it should be.
local odd_objects = {}

-- JSON texts that take a value's place, in turns, so that each field meets one of them and each kind of field all.
local ODD = { "null", "5", '"x"', "[]", "{}", '[1,null,"x",{}]', "9223372036854775807", "true", "-1.5" }

-- What must be right, as otherwise it is no object of that kind.
local KEPT = { apiVersion = true, kind = true, metadata = true }
local KEPT_IN_METADATA = { name = true, namespace = true }

local function keys_of(value)
  local keys = {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  return keys
end

-- Calls fn(parent, key) for each value below the object that may be replaced.
local function each_place(object, fn)
  local function walk(value, kept)
    for _, key in ipairs(keys_of(value)) do
      if not kept[key] then fn(value, key) end
      if type(value[key]) == "table" then walk(value[key], key == "metadata" and KEPT_IN_METADATA or {}) end
    end
  end
  walk(object, KEPT)
end

-- Calls fn(replace) for each place of each object; replace(text) gives `text` with the odd value in place of the mark
-- that stands in the objects meanwhile.
function odd_objects.each(objects, fn)
  local turn = 0
  for _, object in ipairs(objects) do
    each_place(object, function(parent, key)
      local was = parent[key]
      turn = turn % #ODD + 1
      local value = ODD[turn]
      parent[key] = "@odd@"
      fn(function(text) return (text:gsub('"@odd@"', (value:gsub("%%", "%%%%")))) end)
      parent[key] = was
    end)
  end
end

return odd_objects
