-- Cells of Tables, as the real server's printers show each kind, by the name that a column has as `cell`; columns
-- of custom kinds have none, and show by their type. See kinds/table.h.
local ages = require "sim.ages"
local json = require "sim.json"
local jsonpath = require "sim.jsonpath"
local texts = require "sim.texts"

local at, text, int, each, count = json.at, json.text, json.int, json.each, json.count

local cells = {}

-- The value at the column's path, or at the first of its paths that leads to a text.
local function value_of(object, column)
  local paths = at(column, "jsonPath")
  if type(paths) == "string" then return jsonpath.first(object, paths) end
  for _, path in each(paths) do
    local value = jsonpath.first(object, path)
    if text(value) ~= "" then return value end
  end
end

local function text_or(given, column) return given and given ~= "" and given or text(column, "otherwise") end

function cells.text(object, column) return text_or(text(value_of(object, column)), column) end

function cells.number(object, column)
  return int(value_of(object, column), "", int(column, "otherwise", 0))
end

function cells.age(object, column, now)
  local value = value_of(object, column)
  if value == nil and text(column, "otherwise") ~= "" then return text(column, "otherwise") end
  return ages.of(text(value), now)
end

-- How many entries the maps at the paths have together.
function cells.size(object, column)
  local entries = 0
  for _, path in each(at(column, "jsonPath")) do entries = entries + count(jsonpath.first(object, path)) end
  return entries
end

-- One field of each element of a list, of which `max` are shown.
function cells.list(object, column)
  local list, shown, max = value_of(object, column), {}, int(column, "max", math.huge)
  for _, element in each(list) do
    local one = text(element, text(column, "field"))
    if one ~= "" and #shown < max then shown[#shown + 1] = one end
  end
  local cell = table.concat(shown, ",")
  if #shown == max and count(list) > max then cell = cell .. string.format(" + %d more...", count(list) - max) end
  return text_or(cell, column)
end

function cells.count(object, column) return count(value_of(object, column)) end

function cells.flag(object, column)
  local value = value_of(object, column)
  if type(value) == "boolean" then return value end
  return at(column, "otherwise") == true
end

cells["flag text"] = function(object, column) return value_of(object, column) == true and "True" or "False" end

-- `template` with the values of {paths}; a missing number is 0, and without any value `otherwise` is shown.
function cells.format(object, column)
  local found = false
  local cell = text(column, "template"):gsub("{(.-)}", function(path)
    local value = at(object, path)
    found = found or (value ~= nil and value ~= json.null)
    return type(value) == "string" and value or string.format("%d", type(value) == "number" and value or 0)
  end)
  return found and cell or text_or("", column)
end

function cells.labels(object, column) return text_or(texts.labels(value_of(object, column)), column) end

function cells.selector(object, column)
  local cell = texts.selector(value_of(object, column))
  return cell and text_or(cell, column) or "<invalid>"
end

-- --- Cells of custom kinds, by the type of the column

-- The shortest number that reads back equal, with Go's choice between 1.5 and 1.5e+06.
local function real_text(value)
  local digits, shown = 0, string.format("%.0e", value)
  while tonumber(shown) ~= value and digits < 17 do
    digits = digits + 1
    shown = string.format(string.format("%%.%de", digits), value)
  end
  local exponent = tonumber(shown:match "e(.*)")
  if exponent < -4 or exponent >= 6 then return shown end
  return string.format(string.format("%%.%df", math.max(digits - exponent, 0)), value)
end

local types = {}

-- A value as Go prints it: strings bare, maps and lists as JSON.
function types.string(value, kind)
  if value == json.null then return "<no value>" end
  if kind == "string" then return value end
  return kind == "real" and real_text(json.number(value)) or json.dump(value)
end

function types.date(value, kind, now)
  if kind ~= "string" then return end
  local seconds = json.seconds(value)
  return seconds and ages.format(now - seconds) or "<invalid>"
end

function types.integer(value, kind)
  if kind == "integer" then return value end
  local real = kind == "real" and json.number(value)
  if real and real > -9e18 and real < 9e18 then return json.integer(real) end
end

function types.number(value, kind) return (kind == "integer" or kind == "real") and value or nil end

function types.boolean(value, kind)
  if kind == "boolean" then return value end
end

-- Null for a value of another type than the column's, as on the real server.
local function typed(object, column, now)
  local value, cell = value_of(object, column), nil
  local show = types[text(column, "type")]
  if value ~= nil and show then cell = show(value, json.type(value), now) end
  if cell == nil then return json.null end
  return cell
end

for _, name in ipairs { "pods", "clusters", "workloads" } do
  for cell, show in pairs(require("sim.cells_" .. name)) do cells[cell] = show end
end

-- `known` is for what several columns of one object have to find out.
return {
  of = function(object, column, now, known)
    return (cells[text(column, "cell")] or typed)(object, column, now, known)
  end,
}
