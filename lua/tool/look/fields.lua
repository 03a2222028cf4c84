-- Fields of Kubernetes' own kinds: a selector by a path that leads nowhere finds nothing, which looks like an answer.
local fields = {}

-- The name of the type of a resource, "pods" or "deployments.apps"; nil for kinds of others.
local function type_of(schema, resource)
  local plural, group = resource:match "^([^.]+)%.?(.*)$"
  for _, kind in ipairs(schema.schema_kinds()) do
    if kind.plural == plural and kind.group == group then return kind.type end
  end
end

-- The field with this name, or nil and all names.
local function field_of(schema, type, name)
  local names = {}
  for i, field in ipairs(schema.schema_type(type) or {}) do
    if field.name == name then return field end
    names[i] = field.name
  end
  return nil, names
end

local function no_field(schema, within, name, names)
  local near = schema.nearest(name, names)
  return ("%s have no field %s%s"):format(within, name, near and (', did you mean "%s"?'):format(near) or "")
end

-- The problem of a path into objects of the resource; nil: none that the schema knows of. `schema`: the
-- functions schema_kinds, schema_type, path_steps and nearest.
function fields.problem(schema, resource, path)
  local type, within, holder = type_of(schema, resource), resource, "one"
  for _, step in ipairs(type and schema.path_steps(path) or {}) do
    if holder == "list" and step.kind == "field" then
      return ("%s follows a list: write [*] or [0] before it"):format(step.name)
    elseif holder ~= "one" then
      holder = "one" -- an element of the list, or the value of a key
    else
      local field, names = field_of(schema, type, step.name)
      if not field then return no_field(schema, within, step.name, names) end
      if field.form ~= "object" or field.holder == "map of lists" then return nil end
      type, within, holder = field.object, ("%s of %s"):format(step.name, within), field.holder
    end
  end
end

return fields
