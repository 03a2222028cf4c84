-- Labels and selectors as text.
local json = require "sim.json"

local text = json.text

local texts = {}

-- Sorted by their keys, those of equal keys as they came.
local function by_key(a, b)
  if a.key ~= b.key then return a.key < b.key end
  return a.place < b.place
end

local function set_text(sign, values)
  local sorted = {}
  for i, value in json.each(values) do sorted[i] = text(value) end
  table.sort(sorted)
  return string.format(" %s (%s)", sign, table.concat(sorted, ","))
end

local signs = {
  In = function(key, values) return key .. set_text("in", values) end,
  NotIn = function(key, values) return key .. set_text("notin", values) end,
  Exists = function(key) return key end,
  DoesNotExist = function(key) return "!" .. key end,
}

local function join(labels, expressions)
  local all, shown = {}, {}
  for key, value in json.members(labels) do
    all[#all + 1] = { key = key, place = #all, text = key .. "=" .. text(value) }
  end
  for _, expression in json.each(expressions) do
    local key, sign = text(expression, "key"), signs[text(expression, "operator")]
    if not sign then return end
    all[#all + 1] = { key = key, place = #all, text = sign(key, json.at(expression, "values")) }
  end
  table.sort(all, by_key)
  for i, one in ipairs(all) do shown[i] = one.text end
  return table.concat(shown, ",")
end

-- "a=1,b=2", sorted by key; "" for none.
function texts.labels(labels) return join(labels) end

-- matchLabels and matchExpressions in the canonical form of selectors; nil where an operator is unknown.
function texts.selector(selector)
  return join(json.at(selector, "matchLabels"), json.at(selector, "matchExpressions"))
end

-- A list of which no more than `max` are shown, with how many more there are.
function texts.shown(list, separator, max)
  local more = #list > max and string.format(" + %d more...", #list - max) or ""
  return table.concat(list, separator, 1, math.min(#list, max)) .. more
end

-- The texts, sorted, each once, with commas.
function texts.sorted(list)
  local once = {}
  table.sort(list)
  for _, one in ipairs(list) do
    if one ~= once[#once] then once[#once + 1] = one end
  end
  return table.concat(once, ",")
end

-- The first of two paths that has a text.
function texts.either(object, path, other)
  local given = text(object, path)
  return given ~= "" and given or text(object, other)
end

-- The element of a list whose text at the path is that.
function texts.find(list, path, wanted)
  for _, element in json.each(list) do
    if text(element, path) == wanted then return element end
  end
end

return texts
