-- Objects within custom objects (x-kubernetes-embedded-resource): their types and metadata. What was loaded may have
-- values of any type, which is not looked at here: a request with such is refused as it is read (embedded.coerce).
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
    local value = get(labels, name)
    if type(value) == "string" then problems:form(below(path, "labels"), value, "value") end
  end
  for _, name in ipairs(values.names(annotations)) do
    problems:form(below(path, "annotations"), name:lower(), "key", name)
  end
  for _, owner in each(get(metadata, "ownerReferences")) do -- a server does not say of which
    for _, name in ipairs { "apiVersion", "kind", "name", "uid" } do
      local own, place = text(owner, name), below(path, "ownerReferences." .. name)
      if name ~= "apiVersion" and own == "" then problems:invalid(place, own, "must not be empty") end
      if name == "apiVersion" and not own:find "^[^/]*/?[^/]+$" then
        problems:invalid(place, own, "version must not be empty")
      end
    end
  end
  for _, name in each(get(metadata, "finalizers")) do
    if type(name) == "string" then problems:form(below(path, "finalizers"), name, "key") end
  end
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

-- Calls `see` with all resources in a value of the schema, those above first, until it returns something, which is
-- returned. `is_resource`: the value itself is one in any case.
local function walk(path, value, schema, is_resource, see)
  local type = json.type(value)
  if json.type(schema) ~= "object" then return end
  if type == "object" and (is_resource or get(schema, "x-kubernetes-embedded-resource") == true) then
    local result = see(path, value)
    if result then return result end
  end
  for _, name in ipairs(type == "object" and values.names(value) or {}) do
    local own = get(get(schema, "properties"), name)
    local place = own and below(path, name) or string.format("%s[%s]", path, name)
    local result = walk(place, get(value, name), own or get(schema, "additionalProperties"), false, see)
    if result then return result end
  end
  for i, element in each(type == "array" and value or nil) do
    local result = walk(string.format("%s[%d]", path, i - 1), element, get(schema, "items"), false, see)
    if result then return result end
  end
end

-- Of all resources in a value of the schema.
function embedded.problems(path, value, schema, is_resource)
  local problems = found.new()
  walk(path, value, schema, is_resource, function(place, resource)
    problems:append(embedded.of_resource(place, resource))
  end)
  return problems
end

-- --- types

local function add_unknown(unknown, path, fields)
  for _, field in each(fields) do unknown[#unknown + 1] = field:gsub('"', '"' .. path:gsub("%%", "%%%%") .. ".", 1) end
end

-- Reads the resources in a value as a server does, and makes their metadata what Go makes of it. Returns the problem
-- that ends this, of a value of a wrong type, and unknown fields of metadata. `read` is C: of metadata, it returns what
-- is wrong with it, what Go makes of it, and its unknown fields.
function embedded.coerce(path, value, schema, is_resource, read)
  local unknown = {}
  local wrong = walk(path, value, schema, is_resource, function(place, resource)
    local problems, metadata = found.new(), get(resource, "metadata")
    for _, name in ipairs { "apiVersion", "kind" } do
      local own = get(resource, name)
      if own ~= nil and type(own) ~= "string" then
        problems:invalid(below(place, name), own, "must be a string")
        return problems[1]
      end
    end
    if metadata == nil then return end
    local at = below(place, "metadata")
    local why, typed, fields = read(metadata)
    if why then
      problems:invalid(at, values.sorted(metadata), why)
      return problems[1]
    end
    add_unknown(unknown, at, fields)
    json.set(resource, "metadata", typed)
  end)
  return wrong, unknown
end

-- Of the body of a request: returns the message that refuses it, or nil. Unknown fields are added to the list.
function embedded.read_body(object, schema, fields, read)
  local wrong, unknown = embedded.coerce("", object, schema, false, read)
  for _, field in ipairs(unknown) do values.append(fields, field) end
  return wrong and found.line(wrong)
end

return embedded
