-- OpenAPI v3 of what is served: the index, and one document for each group and version. Documents are made when they
-- are asked for: the index has hashes, by which clients know whether theirs is still right.
local json = require "sim.json"
local types = require "sim.openapi_types"

local at, text, object, each, set = json.at, json.text, json.object, json.each, json.set

local openapi = {}

-- "api/v1" or "apis/apps/v1"
local function place_of(kind)
  local group, version = text(kind, "group"), text(kind, "version")
  return group ~= "" and string.format("apis/%s/%s", group, version) or "api/" .. version
end

-- The kinds of a group and version.
local function kinds_at(kinds, place)
  local list = {}
  for _, kind in each(kinds) do
    if place_of(kind) == place then list[#list + 1] = kind end
  end
  return list
end

-- Changes with what the document has: kinds of the bundle are what they are.
local function hash_of(kinds, place)
  local parts = {}
  for _, kind in ipairs(kinds_at(kinds, place)) do
    local structural = at(kind, "structural")
    parts[#parts + 1] = text(kind, "kind") .. " " .. (structural and json.dump(structural) or "")
  end
  return json.hash(table.concat(parts, "\n"))
end

-- The version of the server, which no kind has.
local VERSION = "version"

local function version_document()
  local properties, required = object(), { "major", "minor", "gitVersion", "gitCommit", "gitTreeState", "buildDate",
    "goVersion", "compiler", "platform" }
  for _, name in ipairs(required) do set(properties, name, object("type", "string", "default", "")) end
  for _, name in ipairs { "emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor" } do
    set(properties, name, object("type", "string"))
  end
  local name = "io.k8s.apimachinery.pkg.version.Info"
  local content = object("application/json", object("schema", types.ref(name)))
  local get = object("tags", { VERSION }, "description", "get the version information for this server", "operationId",
    "getCodeVersion", "responses", object("200", object("description", "OK", "content", content)))
  local info = object("description", "Info contains versioning information.", "type", "object", "required", required,
    "properties", properties)
  return object("openapi", "3.0.0", "info", object("title", "Kubernetes", "version", "v1.36.3"), "paths",
    object("/version/", object("get", get)), "components", object("schemas", object(name, info)))
end

local function index_of(kinds)
  local paths = object(VERSION, object("serverRelativeURL",
    string.format("/openapi/v3/%s?hash=%s", VERSION, json.hash(VERSION))))
  for _, kind in each(kinds) do
    local place = place_of(kind)
    if not json.get(paths, place) then
      local url = string.format("/openapi/v3/%s?hash=%s", place, hash_of(kinds, place))
      set(paths, place, object("serverRelativeURL", url))
    end
  end
  return object("paths", paths)
end

-- --- a document

local function group_version_kind(kind)
  return object("group", text(kind, "group"), "version", text(kind, "version"), "kind", text(kind, "kind"))
end

-- Adds the schema of a custom kind, with what every object has; returns its name, in which the parts of the group stand
-- in reverse: example.com is com.example.
local function add_custom(schemas, kind)
  local parts, structural = {}, at(kind, "structural")
  for part in text(kind, "group"):gmatch "[^.]+" do table.insert(parts, 1, part) end
  local name = string.format("%s.%s.%s", table.concat(parts, "."), text(kind, "version"), text(kind, "kind"))
  local meta = types.add(schemas, "meta/v1.ObjectMeta")
  local schema = structural and json.copy(structural) or object("type", "object")
  local properties = at(schema, "properties")
  if json.type(properties) ~= "object" then
    properties = object()
    set(schema, "properties", properties)
  end
  set(properties, "apiVersion", object("type", "string"))
  set(properties, "kind", object("type", "string"))
  set(properties, "metadata", object("allOf", { types.ref(meta) }))
  set(schema, "x-kubernetes-group-version-kind", { group_version_kind(kind) })
  set(schemas, name, schema)
  return name
end

local function add_builtin(schemas, kind)
  local name = types.add(schemas, text(kind, "type"))
  if name == "" then return name end
  set(json.get(schemas, name), "x-kubernetes-group-version-kind", { group_version_kind(kind) })
  return name
end

local function query(name)
  return object("name", name, "in", "query", "schema", object("type", "string", "uniqueItems", true))
end

local function operation(kind, action, schema)
  local content = object("application/json", object("schema", types.ref(schema)))
  local parameters = action == "get" and {}
    or { query "dryRun", query "fieldManager", query "fieldValidation" }
  return object("x-kubernetes-action", action, "x-kubernetes-group-version-kind", group_version_kind(kind),
    "parameters", parameters, "responses", object("200", object("description", "OK", "content", content)))
end

local function add_paths(paths, kind, schema)
  local inside = at(kind, "namespaced") and "namespaces/{namespace}/" or ""
  local all = string.format("/%s/%s%s", place_of(kind), inside, text(kind, "plural"))
  local function add(path, ...)
    local operations = object()
    for _, action in ipairs { ... } do set(operations, action, operation(kind, action, schema)) end
    set(paths, path, operations)
  end
  add(all, "get", "post")
  if not at(kind, "unstored") then add(all .. "/{name}", "get", "put", "patch") end
end

local function document_of(kinds)
  local paths, schemas = object(), object()
  for _, kind in ipairs(kinds) do
    add_paths(paths, kind, (at(kind, "type") and add_builtin or add_custom)(schemas, kind))
  end
  return object("openapi", "3.0.0", "info", object("title", "Kubernetes", "version", "v1.36.3"), "paths", paths,
    "components", object("schemas", schemas))
end

-- Returns a list of code, ETag and, with 200, body of the response to a place below /openapi/v3; nil for nothing. A
-- document that is requested by its hash stays as it is, and is sent once. `type_of` gives a type of the bundle.
function openapi.respond(kinds, place, if_none_match, by_hash, type_of)
  if place == "" then return { 200, "", index_of(kinds) } end
  local list = kinds_at(kinds, place)
  if #list == 0 and place ~= VERSION then return end
  local etag = string.format('"%s"', place == VERSION and json.hash(VERSION) or hash_of(kinds, place))
  if if_none_match == etag then return { 304, etag } end
  if place == VERSION then return { 200, by_hash and etag or "", version_document() } end
  types.source = type_of
  return { 200, by_hash and etag or "", document_of(list) }
end

return openapi
