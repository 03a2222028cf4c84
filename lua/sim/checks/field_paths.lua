-- Paths that name a field of a schema: ".spec.color", and with brackets ".spec.labels['a.b']".
local json = require "sim.json"

local get = json.get

local field_paths = {}

-- The tokens: ".", "[", "]", a text in single quotes, and what is between.
local function tokens(path)
  local list, at = {}, 1
  while at <= #path do
    local token = path:match("^'[^']*'", at) or path:match("^[%.%[%]]", at) or path:match("^[^%.%[%]]+", at)
    list[#list + 1], at = token, at + #token
  end
  return list
end

local function step(schema, name)
  local properties, others = get(schema, "properties"), get(schema, "additionalProperties")
  if json.count(properties) > 0 then return get(properties, name) end
  return json.type(others) == "object" and others or nil
end

-- Returns the schema of the field and the names that lead to it; nil and what is wrong with the path.
function field_paths.follow(schema, path, brackets)
  local list, at, names = tokens(path), 1, {}
  while list[at] do
    local token, name = list[at], list[at + 1]
    if token ~= "." and token ~= "[" then return nil, "expected [ or . but got: " .. token end
    if token == "[" and not brackets then return nil, "array notation is not allowed" end
    if not name then return nil, "unexpected end of JSON path" end
    if token == "[" then
      if not name:find "^'.*'$" then return nil, "expected single quoted string but got " .. name end
      name = name:sub(2, -2)
    end
    schema = step(schema, name)
    if not schema then return nil, "does not refer to a valid field" end
    if token == "[" and list[at + 2] ~= "]" then return nil, "expected ] but got " .. tostring(list[at + 2]) end
    names[#names + 1], at = name, at + (token == "[" and 3 or 2)
  end
  return schema, names
end

return field_paths
