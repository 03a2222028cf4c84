-- k8s.template(text, values): an object from a YAML text with ${name} in it. A scalar that is ${name} alone becomes the
-- value itself, whatever its type; inside other text it is written as text. $${ stands for ${. There is no code in it.
local raw = ...

local SCALARS = { string = true, number = true, boolean = true }
local VALUES = { table = true, userdata = true }

local function value_of(values, name, place)
  local value = values[name]
  if value == nil then
    require "k8s.unknown"("k8s.template: " .. place, name, values, "value")
  elseif not SCALARS[type(value)] and not VALUES[type(value)] and value ~= raw.null then
    raw.raise("k8s.template: " .. place .. ": ${" .. name .. "} is a " .. type(value) .. ", which objects cannot have")
  elseif value ~= value or value == math.huge or value == -math.huge then
    raw.raise("k8s.template: " .. place .. ": ${" .. name .. "} is " .. tostring(value) .. ", which is no JSON number")
  end
  return value
end

local function text_of(values, name, place)
  local value = value_of(values, name, place)
  if not SCALARS[type(value)] then
    raw.raise("k8s.template: " .. place .. ": ${" .. name .. "} is a " .. type(value) .. " inside text")
  end
  return tostring(value)
end

local function fill_text(text, values, place)
  if not string.find(text, "${", 1, true) then
    return text
  end
  local whole = string.match(text, "^%${([%w_]+)}$")
  if whole then
    return value_of(values, whole, place)
  end
  local parts, from = {}, 1
  while true do
    local at = string.find(text, "${", from, true)
    if not at then
      parts[#parts + 1] = string.sub(text, from)
      return table.concat(parts)
    elseif at > 1 and string.sub(text, at - 1, at - 1) == "$" then
      parts[#parts + 1], from = string.sub(text, from, at - 2) .. "${", at + 2
    else
      local name = string.match(text, "^%${([%w_]+)}", at)
      if not name then
        raw.raise("k8s.template: " .. place .. ': "' .. string.sub(text, at, at + 20) .. '" is not ${name}')
      end
      parts[#parts + 1] = string.sub(text, from, at - 1) .. text_of(values, name, place)
      from = at + #name + 3
    end
  end
end

local fill

local function fill_table(node, values, place)
  local out = #node > 0 and raw.json.array() or {}
  for key, value in pairs(node) do
    local is_index = type(key) == "number"
    local at = is_index and place .. "[" .. key - 1 .. "]" or place == "" and key or place .. "." .. key
    out[is_index and key or tostring(fill_text(key, values, at))] = fill(value, values, at)
  end
  return next(out) ~= nil and out or node
end

function fill(node, values, place)
  if type(node) == "string" then
    return fill_text(node, values, place)
  end
  return type(node) == "table" and fill_table(node, values, place) or node
end

-- In [ ] and { } YAML reads ${name} as the beginning of a map, unless it is in quotes.
local function hint_of(text)
  local bare = string.gsub(string.gsub(text, "'[^'\n]*'", ""), '"[^"\n]*"', "")
  bare = string.gsub(bare, "%${([%w_]+)}", "\1%1\1")
  local name = string.match(bare, "[%[{][^\n]*\1([%w_]+)\1")
  return name and '; within [ ] and { } write "${' .. name .. '}" in quotes' or ""
end

return function(text, values)
  if type(text) ~= "string" then
    raw.raise("k8s.template: the text must be a string, not " .. type(text))
  elseif values ~= nil and type(values) ~= "table" then
    raw.raise("k8s.template: the values must be a table, not " .. type(values))
  end
  local object, problem = raw.yaml.decode(text)
  if problem then
    raw.raise("k8s.template: " .. problem.message .. hint_of(text))
  end
  return fill(object, values or {}, "")
end
