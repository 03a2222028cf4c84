-- Classes of Kubernetes' own kinds, from the schema bundle.
local writer = require "tool.types.writer"

local function class_name(type) return (type:gsub("/", ".")) end

local FORMS = { quantity = "string" }

local add_type

local function type_of(target, out, field)
  local type = FORMS[field.form] or field.form
  if field.form == "object" then
    type = class_name(field.object)
    add_type(target, out, field.object)
  elseif #field.enums > 0 then
    type = writer.values(field.enums)
  end
  if field.holder == "list" then return writer.list_of(type) end
  if field.holder == "map" then return writer.map_of(type) end
  if field.holder == "map of lists" then return writer.map_of(writer.list_of(type)) end
  return type
end

-- `parent`: the class of all objects, for those of kinds.
function add_type(target, out, name, parent)
  local fields = target.schema_type(name)
  local class = out:class(class_name(name), parent, fields and fields.description)
  if not class or not fields then return end
  for _, field in ipairs(fields) do
    writer.add_field(class, field.name, type_of(target, out, field), field.description)
  end
end

-- Adds the kinds that `is_wanted` accepts.
return function(target, out, is_wanted)
  for _, kind in ipairs(target.schema_kinds()) do
    if is_wanted(kind) then add_type(target, out, kind.type, "k8s.Object") end
  end
end
