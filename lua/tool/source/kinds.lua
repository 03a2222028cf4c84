-- Kinds with the fields of their objects, from the schema bundle and from custom resource definitions. A node is a
-- value in an object: { form, of, enums }; one of the form "object" has fields, which are read when they are asked for.
local schemas = require "tool.types.schemas"

local kinds = {}
kinds.__index = kinds

local ANY = { form = "any" }
kinds.ANY = ANY

-- --- the bundle

local node_of_types

local function node_of_field(self, field, objects)
  local one
  if field.form == "object" then
    one = node_of_types(self, objects)
  else
    one = { form = field.form, enums = #field.enums > 0 and field.enums or nil }
  end
  if field.holder == "list" then return { form = "list", of = one } end
  if field.holder == "map" then return { form = "map", of = one } end
  if field.holder == "map of lists" then return { form = "map", of = { form = "list", of = one } } end
  return one
end

-- Nodes of several types have the fields of all of them: those of the versions of a kind.
function node_of_types(self, types)
  local key = table.concat(types, " ")
  local node = self.nodes[key]
  if not node then
    node = { form = "object", types = types }
    self.nodes[key] = node
  end
  return node
end

local function add_values(into, field)
  if #field.enums == 0 then into.free = true end
  for _, value in ipairs(field.enums) do into.enums[#into.enums + 1] = value end
end

local function fields_of_types(self, node)
  local found, order = {}, {}
  for _, type in ipairs(node.types) do
    for _, field in ipairs(self.target.schema_type(type) or {}) do
      local one = found[field.name]
      if not one then
        one = { form = field.form, holder = field.holder, enums = {}, objects = {}, may_lack = true }
        found[field.name] = one
        order[#order + 1] = field.name
      end
      add_values(one, field)
      one.may_lack = one.may_lack and field.may_lack
      one.objects[#one.objects + 1] = field.object
    end
  end
  local fields = {}
  node.absent = {}
  for name, one in pairs(found) do
    if one.free then one.enums = {} end
    fields[name] = node_of_field(self, one, one.objects)
    node.absent[name] = one.may_lack or nil
  end
  table.sort(order)
  return fields, order
end

-- --- custom resource definitions

local function is_list(value) return type(value) == "table" and value[1] ~= nil end

local function node_of_schema(schema)
  if type(schema) ~= "table" or schema["x-kubernetes-preserve-unknown-fields"] == true then return ANY end
  if schema["x-kubernetes-int-or-string"] == true then return { form = "integer|string" } end
  if schema.type == "array" then return { form = "list", of = node_of_schema(schema.items) } end
  if type(schema.properties) == "table" then
    return { form = "object", properties = schema.properties, required = schema.required or {} }
  end
  if schema.type == "object" then
    local of = schema.additionalProperties
    return type(of) == "table" and { form = "map", of = node_of_schema(of) } or ANY
  end
  local enums = is_list(schema.enum) and schema.enum or nil
  return schema.type and { form = schema.type, enums = enums } or ANY
end

local HOLDERS = { list = true, map = true, object = true }

local function fields_of_properties(node)
  local fields, order = {}, {}
  node.absent = {}
  for name, schema in pairs(node.properties) do
    fields[name] = node_of_schema(schema)
    order[#order + 1] = name
    local is_set = not node.required or type(schema) ~= "table" or schema.default ~= nil
    if not is_set and HOLDERS[fields[name].form] then node.absent[name] = true end
  end
  for _, name in ipairs(is_list(node.required) and node.required or {}) do node.absent[name] = nil end
  table.sort(order)
  return fields, order
end

-- Paths as field selectors have them, without the dot before.
local function selectable_fields(list)
  local labels = {}
  for _, one in ipairs(is_list(list) and list or {}) do
    local path = type(one) == "table" and one.jsonPath
    if type(path) == "string" then labels[#labels + 1] = path:gsub("^%.", "") end
  end
  return labels
end

local function add_definition(self, definition)
  local spec = schemas.spec_of(definition)
  for _, version in ipairs(spec and spec.versions or {}) do
    version = type(version) == "table" and version or {}
    local schema = type(version.schema) == "table" and version.schema.openAPIV3Schema
    local node = node_of_schema(schema or nil)
    local kind = {
      group = spec.group, version = version.name, kind = spec.names.kind, plural = spec.names.plural, node = node,
      subresources = type(version.subresources) == "table" and version.subresources or {},
      field_labels = selectable_fields(version.selectableFields),
    }
    if node.form == "object" then
      node.metadata = true
      self.list[#self.list + 1] = kind
    end
  end
end

-- --- custom kinds of a server, from its OpenAPI v3

local function is_table(value) return type(value) == "table" end

local function kind_of_schema(schema)
  local list = is_table(schema) and schema["x-kubernetes-group-version-kind"]
  local one = is_table(list) and #list == 1 and list[1]
  return is_table(one) and type(one.kind) == "string" and one or nil
end

local function parts_of(document, plural)
  local parts, before = {}, "/" .. plural .. "/{name}/"
  for path in pairs(is_table(document.paths) and document.paths or {}) do
    local _, last = path:find(before, 1, true)
    if last then parts[path:sub(last + 1)] = true end
  end
  return parts
end

local function add_document(self, document, resource)
  local all = is_table(document.components) and document.components.schemas
  for _, schema in pairs(is_table(all) and all or {}) do
    local kind = kind_of_schema(schema)
    if kind and kind.group == resource.group and self.target.plural(kind.kind) == resource.plural then
      local node = node_of_schema(schema)
      node.metadata = node.form == "object"
      self.list[#self.list + 1] = {
        group = resource.group, plural = resource.plural, node = node,
        subresources = parts_of(document, resource.plural),
      }
    end
  end
end

-- Asks the server for the documents of a group. Without them its kinds have any field.
local function ask_server(self, resource)
  if not self.target.fetch then return end
  self.index = self.index or self.target.fetch "/openapi/v3" or {}
  local prefix, paths = "apis/" .. resource.group .. "/", is_table(self.index) and self.index.paths
  for path, entry in pairs(is_table(paths) and paths or {}) do
    local url = is_table(entry) and type(entry.serverRelativeURL) == "string" and entry.serverRelativeURL
    local document = url and path:sub(1, #prefix) == prefix and self.target.fetch(url)
    if is_table(document) then add_document(self, document, resource) end
  end
end

-- --- both

local COMMON_LABELS = { "metadata.name", "metadata.namespace" }

local function metadata(self) return node_of_types(self, { "meta/v1.ObjectMeta" }) end

local function add_identity(self, fields, order)
  for _, name in ipairs { "apiVersion", "kind" } do fields[name] = { form = "string" } end
  fields.metadata = metadata(self)
  for _, name in ipairs { "apiVersion", "kind", "metadata" } do order[#order + 1] = name end
end

-- Returns the fields of a node by name, and their names.
function kinds:fields(node)
  if not node.fields then
    if node.types then
      node.fields, node.names = fields_of_types(self, node)
    else
      node.fields, node.names = fields_of_properties(node)
    end
    if node.metadata then add_identity(self, node.fields, node.names) end
  end
  return node.fields, node.names
end

-- Returns the node of a field; ANY where nobody knows; nil where there is none.
function kinds:field(node, name)
  if node.form == "any" then return ANY end
  if node.form == "map" then return node.of end
  if node.form ~= "object" then return nil end
  return (self:fields(node))[name]
end

-- Whether an object may lack the list, the map or the object that a field has.
function kinds:may_lack(node, name)
  if node.form ~= "object" then return false end
  self:fields(node)
  return node.absent[name] == true
end

-- The fields of all versions of a custom kind; what several have may differ, and is not known.
local function merge(found)
  if #found == 1 then return found[1].node end
  local properties = {}
  for _, kind in ipairs(found) do
    if kind.node.form ~= "object" then return ANY end
    for name, schema in pairs(kind.node.properties) do
      properties[name] = properties[name] and {} or schema -- {} is anything
    end
  end
  return { form = "object", properties = properties, metadata = true }
end

-- All versions, from definitions rather than from the bundle.
local function find(self, resource)
  local found, defined = {}, {}
  for _, kind in ipairs(self.list) do
    if kind.group == resource.group and kind.plural == resource.plural then
      local list = kind.node and defined or found
      list[#list + 1] = kind
    end
  end
  return defined[1] and defined or found
end

local function types_of(found)
  local types = {}
  for i, kind in ipairs(found) do types[i] = kind.type end
  return types
end

-- Subresources and fields of selectors of any version; no fields if nobody knows them.
local function features_of(found)
  local subresources, labels = {}, { unpack(COMMON_LABELS) }
  for _, kind in ipairs(found) do
    for name in pairs(kind.subresources) do subresources[name] = true end
    for _, label in ipairs(kind.field_labels or {}) do labels[#labels + 1] = label end
    if not kind.field_labels then labels.free = true end
  end
  return subresources, not labels.free and labels or nil
end

local function look(self, resource)
  local found = find(self, resource)
  if #found == 0 then
    ask_server(self, resource)
    found = find(self, resource)
  end
  local is_own = found[1] and found[1].type
  local root = not found[1] and ANY or is_own and node_of_types(self, types_of(found)) or merge(found)
  local name = resource.plural .. (resource.group ~= "" and "." .. resource.group or "")
  local subresources, labels = features_of(found)
  return {
    name = name, group = resource.group, root = root, subresources = subresources, is_own = is_own ~= nil,
    is_known = found[1] ~= nil, field_labels = found[1] and labels, is_namespaced = resource.namespaced,
  }
end

-- Returns { name, group, root, subresources, field_labels } of any name of a kind; nil if nobody knows it. Of one that
-- is not `is_known` nobody has the schema; `is_own`: it is one of Kubernetes itself.
function kinds:of(name)
  local resource = self.target.resolve(name)
  if not resource then return nil end
  local key = resource.group .. "/" .. resource.plural
  self.found[key] = self.found[key] or look(self, resource)
  return self.found[key]
end

-- The values of a list that has them, without those of what is not a text.
function kinds.values(node)
  local values = {}
  for _, value in ipairs(node.enums or {}) do
    if type(value) == "string" then values[#values + 1] = value end
  end
  return #values > 0 and values or nil
end

function kinds.new(target)
  local self = setmetatable({ target = target, nodes = {}, found = {}, list = {} }, kinds)
  for _, kind in ipairs(target.schema_kinds()) do self.list[#self.list + 1] = kind end
  for _, definition in ipairs(target.definitions or {}) do add_definition(self, definition) end
  return self
end

return kinds
