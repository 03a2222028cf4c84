-- Objects within custom objects (x-kubernetes-embedded-resource): their types and metadata.
local forms = require "sim.checks.forms"
local found = require "sim.checks.found"
local json = require "sim.json"
local values = require "sim.values"

local get, text, each = json.get, json.text, json.each

local embedded = {}

local function below(path, name) return path == "" and name or path .. "." .. name end

local function check_names(problems, path, metadata)
  local function check(name, form)
    local value = text(metadata, name)
    if value ~= "" then problems:form(below(path, name), value, form) end
  end
  check("generateName", "path segment prefix")
  check("name", "path segment")
  check("namespace", "label")
end

local function check_metadata(problems, path, metadata)
  check_names(problems, path, metadata)
  local labels, annotations = get(metadata, "labels"), get(metadata, "annotations")
  for _, name in ipairs(values.names(labels)) do
    problems:form(below(path, "labels"), name, "key")
    problems:form(below(path, "labels"), get(labels, name), "value")
  end
  for _, name in ipairs(values.names(annotations)) do
    problems:form(below(path, "annotations"), name:lower(), "key", name)
  end
  for i, owner in each(get(metadata, "ownerReferences")) do
    for _, name in ipairs { "apiVersion", "kind", "name", "uid" } do
      if text(owner, name) == "" then
        problems:invalid(string.format("%s.ownerReferences[%d].%s", path, i - 1, name), "",
          name == "apiVersion" and "version must not be empty" or "must not be empty")
      end
    end
  end
  for _, name in each(get(metadata, "finalizers")) do problems:form(below(path, "finalizers"), name, "key") end
end

local function check_type(problems, path, value, name)
  local own, place = get(value, name), below(path, name)
  if own == nil then return problems:required(place) end
  if type(own) ~= "string" then return problems:invalid(place, own, "must be a string") end
  if own == "" then return problems:invalid(place, own, "must not be empty") end
  local wrong = name == "kind" and forms["DNS-1035 label"](own:lower())
  if wrong then
    problems:invalid(place, own, "may have mixed case, but should otherwise match: " .. wrong:gsub("; ", ","))
  elseif name == "apiVersion" and select(2, own:gsub("/", "")) > 1 then
    problems:invalid(place, own, "unexpected GroupVersion string: " .. own)
  end
end

-- Of a value that is a resource.
function embedded.of_resource(path, value)
  local problems = found.new()
  for _, name in ipairs { "apiVersion", "kind" } do check_type(problems, path, value, name) end
  local metadata = get(value, "metadata")
  if json.type(metadata) == "object" then check_metadata(problems, below(path, "metadata"), metadata) end
  return problems
end

local function visit(problems, path, value, schema)
  local type = json.type(value)
  if json.type(schema) ~= "object" then return end
  if type == "object" and get(schema, "x-kubernetes-embedded-resource") == true then
    problems:append(embedded.of_resource(path, value))
  end
  for _, name in ipairs(type == "object" and values.names(value) or {}) do
    local own = get(get(schema, "properties"), name)
    if own then
      visit(problems, below(path, name), get(value, name), own)
    else
      visit(problems, string.format("%s[%s]", path, name), get(value, name), get(schema, "additionalProperties"))
    end
  end
  for i, element in each(type == "array" and value or nil) do
    visit(problems, string.format("%s[%d]", path, i - 1), element, get(schema, "items"))
  end
end

-- Of all resources in a value of the schema.
function embedded.problems(path, value, schema)
  local problems = found.new()
  visit(problems, path, value, schema)
  return problems
end

return embedded
