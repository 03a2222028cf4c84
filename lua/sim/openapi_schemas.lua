-- Schemas of kinds in OpenAPI v3: those of Kubernetes' own, of custom ones by their definitions, of their lists, and
-- of what subresources take.
local json = require "sim.json"
local marks = require "sim.openapi_marks"
local types = require "sim.openapi_types"

local at, text, object, each, set = json.at, json.text, json.object, json.each, json.set

local schemas = {}

local META = "io.k8s.apimachinery.pkg.apis.meta.v1."
local GVK = "x-kubernetes-group-version-kind"

function schemas.named(kind)
  return object("group", text(kind, "group"), "version", text(kind, "version"), "kind", text(kind, "kind"))
end

-- The fields by which objects of a custom kind can be selected; nil for none.
local function selectable_of(kind)
  local fields = {}
  for i, path in each(at(kind, "selectableFields")) do fields[i] = object("fieldPath", path) end
  return #fields > 0 and fields or nil
end

-- Adds what every object has to its properties.
local function add_object_fields(all, schema, described)
  local properties = at(schema, "properties")
  if json.type(properties) ~= "object" then
    properties = object()
    set(schema, "properties", properties)
  end
  for _, name in ipairs { "apiVersion", "kind" } do
    set(properties, name, object("description", described[name], "type", "string"))
  end
  local meta = types.ref(types.add(all, "meta/v1.ObjectMeta"))
  set(properties, "metadata", object("description", described.metadata, "allOf", { meta }))
end

-- Adds what a server says beside what the definition says, to a schema and those in it.
local function complete(all, schema)
  for _, property in json.members(at(schema, "properties")) do complete(all, property) end
  for _, key in ipairs { "items", "additionalProperties" } do
    if json.type(at(schema, key)) == "object" then complete(all, at(schema, key)) end
  end
  if at(schema, "x-kubernetes-int-or-string") == true and not at(schema, "anyOf") then
    set(schema, "anyOf", { object("type", "integer"), object("type", "string") })
  end
  if at(schema, "x-kubernetes-embedded-resource") ~= true then return end
  add_object_fields(all, schema, marks.embedded)
  local required, known = {}, {}
  for _, name in each(at(schema, "required")) do required[#required + 1], known[name] = name, true end
  for _, name in ipairs { "kind", "apiVersion" } do
    if not known[name] then required[#required + 1] = name end
  end
  set(schema, "required", required)
end

-- Adds the schema of a custom kind; returns its name, in which the parts of the group stand in reverse: example.com is
-- com.example.
local function add_custom(all, kind)
  local parts, structural = {}, at(kind, "structural")
  for part in text(kind, "group"):gmatch "[^.]+" do table.insert(parts, 1, part) end
  local name = string.format("%s.%s.%s", table.concat(parts, "."), text(kind, "version"), text(kind, "kind"))
  local schema = structural and json.copy(structural) or object("type", "object")
  if structural then
    complete(all, schema)
    add_object_fields(all, schema, marks.described)
  end
  set(schema, GVK, { schemas.named(kind) })
  set(schema, "x-kubernetes-selectable-fields", selectable_of(kind))
  set(all, name, schema)
  return name
end

-- Adds the schema of a kind to `all`; returns its name.
function schemas.add(all, kind)
  return at(kind, "type") and types.add(all, text(kind, "type")) or add_custom(all, kind)
end

-- Adds that of the list of a kind whose schema has that name; returns the list's name.
local function add_list(all, name, kind)
  local word, custom, described = text(kind, "listKind"), at(kind, "custom"), marks.described
  local list, named = name:gsub("[^.]+$", word), schemas.named(kind)
  set(named, "kind", word)
  local items = types.ref(name)
  local meta = object("description", described.list, "allOf", { types.ref(types.add(all, "meta/v1.ListMeta")) })
  if not custom then
    set(meta, "default", object())
    items = object("allOf", { items }, "default", object())
  end
  local properties = object("apiVersion", object("description", described.apiVersion, "type", "string"),
    "items", object("description", string.format(described.items, text(kind, "plural")), "type", "array",
      "items", items),
    "kind", object("description", described.kind, "type", "string"), "metadata", meta)
  set(all, list, object("description", string.format("%s is a list of %s", word, text(kind, "kind")), "type", "object",
    "required", { "items" }, "properties", properties, GVK, { named }, "x-kubernetes-selectable-fields",
    selectable_of(kind)))
  return list
end

-- Returns a function that gives the reference of the schema of a type; "list" is the list of the kind whose schema has
-- that name.
function schemas.referrer(all, name, kind)
  return function(type)
    if type == "list" then return types.ref(add_list(all, name, kind)) end
    if type == "meta/v1.Patch" then
      set(all, META .. "Patch", object("description", "Patch is provided to give a concrete name and type to the "
        .. "Kubernetes PATCH request body.", "type", "object"))
      return types.ref(META .. "Patch")
    end
    return types.ref(types.add(all, type))
  end
end

-- Adds the type of a kind that has no resource, such as Scale of autoscaling/v1; returns its reference.
function schemas.add_other(all, named)
  local package = text(named, "group"):match "^[^.]+" or "core"
  local name = types.add(all, string.format("%s/%s.%s", package, text(named, "version"), text(named, "kind")))
  local schema = json.get(all, name)
  if schema then set(schema, GVK, { named }) end
  return types.ref(name)
end

-- Types that are of no group are of each: the document of a place says so of its own, that of custom kinds of all.
function schemas.mark(all, place, custom)
  local group, version = place:match "^apis/(.*)/(.*)$"
  for _, name in ipairs { "APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "DeleteOptions", "Status",
    "WatchEvent" } do
    local schema, list = json.get(all, META .. name), {}
    local function add(of, version_of)
      list[#list + 1] = object("group", of, "version", version_of, "kind", name)
    end
    if name == "DeleteOptions" and custom then
      for of, version_of in marks.versions:gmatch "([^ ]*)/([^ ]+)" do add(of, version_of) end
    else
      add("", "v1")
      if group and (name == "DeleteOptions" or name == "WatchEvent") then add(group, version) end
    end
    if schema then set(schema, GVK, list) end
  end
end

-- Kinds of other groups are in a document as parts, such as the claims of StatefulSets.
function schemas.mark_kinds(all, kinds)
  for _, kind in each(kinds) do
    local schema = at(kind, "type") and json.get(all, types.name_of(text(kind, "type")))
    if schema then set(schema, GVK, { schemas.named(kind) }) end
  end
end

return schemas
