-- Columns, subresources and selectable fields of CustomResourceDefinitions. `path` is where they stand for a server.
local field_paths = require "sim.checks.field_paths"
local found = require "sim.checks.found"
local json = require "sim.json"

local at, text, each = json.at, json.text, json.each

local views = {}

local TYPES = "must be one of boolean,date,integer,number,string"
local is_type = { boolean = true, date = true, integer = true, number = true, string = true }
local FORMATS = "must be one of byte,date,date-time,double,float,int32,int64,password"
local is_format = { byte = true, date = true, ["date-time"] = true, double = true, float = true, int32 = true,
  int64 = true, password = true }

local function check_column(problems, path, column)
  local type, format, place = text(column, "type"), text(column, "format"), text(column, "jsonPath")
  if text(column, "name") == "" then problems:required(path .. ".name") end
  if type == "" then
    problems:required(path .. ".type", TYPES)
  elseif not is_type[type] then
    problems:invalid(path .. ".type", type, TYPES)
  end
  if format ~= "" and not is_format[format] then problems:invalid(path .. ".format", format, FORMATS) end
  if place == "" then problems:required(path .. ".JSONPath") end
  if place ~= "" then problems:form(path .. ".JSONPath", place, "json path") end
end

function views.columns(path, columns)
  local problems = found.new()
  for i, column in each(columns) do check_column(problems, string.format("%s[%d]", path, i - 1), column) end
  return problems
end

local function check_scale_path(problems, path, place, above, detail)
  local before = #problems
  problems:form(path, place, "json path")
  if #problems > before then return end
  for _, prefix in ipairs(above) do
    if place:sub(1, #prefix) == prefix then return end
  end
  problems:invalid(path, place, detail)
end

function views.subresources(path, subresources)
  local problems, scale = found.new(), at(subresources, "scale")
  if not scale then return problems end
  for _, part in ipairs { "spec", "status" } do
    local name = part .. "ReplicasPath"
    local place, own = text(scale, name), path .. ".scale." .. name
    if place == "" then
      problems:required(own)
    else
      check_scale_path(problems, own, place, { "." .. part .. "." }, "should be a json path under ." .. part)
    end
  end
  local selector = text(scale, "labelSelectorPath")
  if selector ~= "" then
    check_scale_path(problems, path .. ".scale.labelSelectorPath", selector, { ".spec.", ".status." },
      "should be a json path under either .spec or .status")
  end
  return problems
end

local selectable = { string = true, boolean = true, integer = true }

local function check_selectable(problems, path, place, schema, seen)
  if place == "" then return problems:required(path) end
  local leaf, names = field_paths.follow(schema, place, false)
  if not leaf then return problems:invalid(path, place, "is an invalid path: " .. names) end
  local name = table.concat(names, ".")
  if names[1] == "metadata" then problems:invalid(path, place, "must not point to fields in metadata") end
  if not selectable[text(leaf, "type")] then
    problems:invalid(path, place, "must point to a field of type string, boolean or integer. "
      .. "Enum string fields and strings with formats are allowed.")
  end
  if seen[name] then problems:duplicate(path, place) else seen.count = seen.count + 1 end
  seen[name] = true
end

function views.selectable(path, fields, schema)
  local problems, seen = found.new(), { count = 0 }
  for i, field in each(fields) do
    check_selectable(problems, string.format("%s[%d].jsonPath", path, i - 1), text(field, "jsonPath"), schema, seen)
  end
  if seen.count > 8 then problems:too_many(path, seen.count, 8) end
  return problems
end

return views
