-- OpenAPI v3 of what is served: the index, and one document for each group and version. Documents are made when they
-- are asked for: the index has hashes, by which clients know whether theirs is still right.
local json = require "sim.json"
local paths = require "sim.openapi_paths"
local schemas = require "sim.openapi_schemas"
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
    parts[#parts + 1] = at(kind, "custom") and json.dump(kind) or text(kind, "kind")
  end
  return json.hash(table.concat(parts, "\n"))
end

-- Documents that say where a group or all groups are found do not change.
local function index_of(kinds)
  local entries = object()
  local function add(place, hash)
    if json.get(entries, place) then return end
    set(entries, place, object("serverRelativeURL", string.format("/openapi/v3/%s?hash=%s", place, hash)))
  end
  for _, place in ipairs { ".well-known/openid-configuration", "api", "apis", "openid/v1/jwks", "version" } do
    add(place, json.hash(place))
  end
  for _, kind in each(kinds) do
    local place, group = place_of(kind), "apis/" .. text(kind, "group")
    if not at(kind, "custom") and group ~= "apis/" then add(group, json.hash(group)) end
    if not json.get(entries, place) then add(place, hash_of(kinds, place)) end
  end
  return object("paths", entries)
end

-- --- a document

local ENCODINGS = { "application/json", "application/yaml", "application/vnd.kubernetes.protobuf" }

-- Adds a path of which nothing but a GET is said.
local function add_get(all, path, tag, id, what, encodings, schema)
  local content = object()
  for _, encoding in ipairs(encodings) do set(content, encoding, object("schema", schema)) end
  local codes = object("200", object("description", "OK", "content", content), "401",
    object("description", "Unauthorized"))
  set(all, path, object("get", object("tags", { tag }, "description", what, "operationId", id, "responses", codes)))
end

local function document(all, parts, place)
  schemas.mark(parts, place)
  local scheme = object("type", "apiKey", "description", "Bearer Token authentication", "name", "authorization", "in",
    "header")
  return object("openapi", "3.0.0", "info", object("title", "Kubernetes", "version", "1.36"), "paths", all,
    "components", object("schemas", json.count(parts) > 0 and parts or nil, "securitySchemes",
      object("BearerToken", scheme)))
end

local function version_document()
  local properties, required = object(), { "major", "minor", "gitVersion", "gitCommit", "gitTreeState", "buildDate",
    "goVersion", "compiler", "platform" }
  for _, name in ipairs(required) do set(properties, name, object("type", "string", "default", "")) end
  for _, name in ipairs { "emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor" } do
    set(properties, name, object("type", "string"))
  end
  local name, all = "io.k8s.apimachinery.pkg.version.Info", object()
  local info = object("description", "Info contains versioning information.", "type", "object", "required", required,
    "properties", properties)
  add_get(all, "/version/", "version", "getCodeVersion", "get the version information for this server",
    { "application/json" }, types.ref(name))
  return document(all, object(name, info), "version")
end

-- Documents of what is no kind.
local fixed = {
  version = version_document,
  [".well-known/openid-configuration"] = function(place)
    local all = object()
    add_get(all, "/.well-known/openid-configuration/", "WellKnown", "getServiceAccountIssuerOpenIDConfiguration",
      "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
      { "application/json" }, object("type", "string"))
    return document(all, object(), place)
  end,
  ["openid/v1/jwks"] = function(place)
    local all = object()
    add_get(all, "/openid/v1/jwks/", "openid", "getServiceAccountIssuerOpenIDKeyset",
      "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
      { "application/jwk-set+json" }, object("type", "string"))
    return document(all, object(), place)
  end,
}

-- A document of what a path of discovery answers.
local function discovery(place, tag, id, what, type)
  local all, parts = object(), object()
  add_get(all, string.format("/%s/", place), tag, id, what, ENCODINGS, types.ref(types.add(parts, "meta/v1." .. type)))
  return document(all, parts, place)
end

function fixed.api(place)
  return discovery(place, "core", "getCoreAPIVersions", "get available API versions", "APIVersions")
end

function fixed.apis(place)
  return discovery(place, "apis", "getAPIVersions", "get available API versions", "APIGroupList")
end

-- The document of a place that has no kinds of its own; nil if there is none.
local function fixed_document(kinds, place)
  if fixed[place] then return fixed[place](place) end
  local group = place:match "^apis/([^/]+)$"
  for _, kind in each(kinds) do
    if group and text(kind, "group") == group and not at(kind, "custom") then
      local words = paths.words(kind)
      return discovery(place, paths.group_tag(kind), string.format("get%sAPIGroup", words),
        "get information of a group", "APIGroup")
    end
  end
end

local function document_of(kinds, place, all_kinds)
  local all, parts, custom = object(), object(), at(kinds[1], "custom")
  if not custom then
    local group, version = paths.words(kinds[1])
    local id = string.format("get%s%sAPIResources", group, version)
    add_get(all, string.format("/%s/", place), paths.tag(kinds[1]), id, "get available resources", ENCODINGS,
      types.ref(types.add(parts, "meta/v1.APIResourceList")))
  end
  for _, kind in ipairs(kinds) do
    local name = schemas.add(parts, kind)
    paths.add(all, kind, {
      place = place, named = schemas.named(kind), own = types.ref(name), refer = schemas.referrer(parts, name, kind),
      other = function(named) return schemas.add_other(parts, named) end,
    })
  end
  schemas.mark_kinds(parts, all_kinds)
  if not custom then return document(all, parts, place) end
  schemas.mark(parts, place, true)
  return object("openapi", "3.0.0", "info", object("title", "Kubernetes CRD Swagger", "version", "v0.1.0"), "paths",
    all, "components", object("schemas", parts))
end

-- Returns a list of code, ETag and, with 200, body of the response to a place below /openapi/v3; nil for nothing. A
-- document that is requested by its hash stays as it is, and is sent once. `type_of` gives a type of the bundle.
function openapi.respond(kinds, place, if_none_match, by_hash, type_of)
  if place == "" then return { 200, "", index_of(kinds) } end
  types.source = type_of
  local list = kinds_at(kinds, place)
  local own = #list == 0 and fixed_document(kinds, place)
  if own == nil then return end
  local etag = string.format('"%s"', own and json.hash(place) or hash_of(kinds, place))
  if if_none_match == etag then return { 304, etag } end
  return { 200, by_hash and etag or "", own or document_of(list, place, kinds) }
end

return openapi
