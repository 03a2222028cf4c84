-- Paths that name no resource and are no discovery: health, metrics, the list of all paths, and where tokens of service
-- accounts could be verified. A response is a list of code, content type and text.
local json = require "sim.json"

local at, text, each = json.at, json.text, json.each

-- Content types, as paths.c numbers them.
local PLAIN, JSON, METRICS, KEYS, OPENAPI = 0, 1, 2, 3, 4

local paths = {}

-- --- health

local CHECKS = { "ping", "log", "etcd" }

local function has(list, value)
  for _, one in ipairs(list) do
    if one == value then return true end
  end
  return false
end

-- /livez says "ok", with ?verbose what it looked at; /livez/ping is one of its checks.
local function health(path, query)
  local name, check = path:match "^/(%l+)/?([%w-]*)$"
  if name ~= "healthz" and name ~= "livez" and name ~= "readyz" then return end
  if path ~= "/" .. name and not has(CHECKS, check) then return end
  if check ~= "" or not json.get(query, "verbose") then return { 200, PLAIN, "ok" } end
  local lines = {}
  for i, one in ipairs(CHECKS) do lines[i] = string.format("[+]%s ok\n", one) end
  return { 200, PLAIN, string.format("%s%s check passed\n", table.concat(lines), name) }
end

-- --- metrics

local function sample(lines, name, kind, help, rows)
  lines[#lines + 1] = string.format("# HELP %s [STABLE] %s\n# TYPE %s %s\n", name, help, name, kind)
  for _, row in ipairs(rows) do lines[#lines + 1] = string.format("%s%s %d\n", name, row[1], row[2]) end
end

local COUNTERS = { "gets", "lists", "watches", "writes" }

-- Few of a server's families, with fewer labels.
local function metrics(stats)
  local lines, objects, requests, watches = {}, {}, {}, {}
  for name, resource in json.members(at(stats, "resources")) do
    objects[#objects + 1] = { string.format('{resource="%s"}', name), at(resource, "objects") }
    watches[#watches + 1] = { string.format('{resource="%s"}', name), at(resource, "watches") }
  end
  for i, name in ipairs(COUNTERS) do requests[i] = { string.format('{kind="%s"}', name), at(stats, name) } end
  sample(lines, "apiserver_request_total", "counter", "Requests by what they did.", requests)
  sample(lines, "apiserver_resource_objects", "gauge", "Objects of each resource that has some.", objects)
  sample(lines, "apiserver_longrunning_requests", "gauge", "Open watches of each resource.", watches)
  sample(lines, "kubernetes_build_info", "gauge", "Version that the simulator is like.",
    { { '{git_version="v1.36.3",major="1",minor="36"}', 1 } })
  return { 200, METRICS, table.concat(lines) }
end

-- --- the list of all

local ALWAYS = {
  "/.well-known/openid-configuration", "/api", "/api/v1", "/apis", "/apis/", "/healthz", "/livez", "/metrics",
  "/openapi/v3", "/openid/v1/jwks", "/readyz", "/version",
}

local function index(kinds)
  local all, seen = {}, {}
  local function add(path)
    if not seen[path] then all[#all + 1] = path end
    seen[path] = true
  end
  for _, path in ipairs(ALWAYS) do add(path) end
  for _, name in ipairs { "healthz", "livez", "readyz" } do
    for _, check in ipairs(CHECKS) do add(string.format("/%s/%s", name, check)) end
  end
  for _, kind in each(kinds) do
    local group = text(kind, "group")
    if group ~= "" then
      add("/apis/" .. group)
      add(string.format("/apis/%s/%s", group, text(kind, "version")))
    end
  end
  table.sort(all)
  return { 200, JSON, json.write(json.object("paths", all)) }
end

-- --- tokens of service accounts, which are no JWTs here: there are no keys

local ISSUER = "https://kubernetes.default.svc"

local function configuration()
  return { 200, JSON, json.write(json.object("issuer", ISSUER, "jwks_uri", ISSUER .. "/openid/v1/jwks",
    "response_types_supported", { "id_token" }, "subject_types_supported", { "public" },
    "id_token_signing_alg_values_supported", { "ES256" })) }
end

-- A real server fails to divide these.
local function cut_off(path, uri)
  local slashes = select(2, path:gsub("/", ""))
  local ends = path:match "/watch$" or path:match "/proxy$"
  if not path:match "^/api" or not ends or slashes ~= (path:match "^/apis/" and 4 or 3) then return end
  return { 500, PLAIN, string.format('Internal Server Error: "%s": failed to create RequestInfo: unable to determine '
    .. "kind and namespace from url, %s\n", uri, uri) }
end

-- --- OpenAPI v2, of no kinds: kubectl asks it about those that v3 does not know

local SWAGGER, TITLE, VERSION = "2.0", "Kubernetes", "v1.36.3"

-- A field of a message of protobuf that is a text or a message of less than 128 bytes.
local function field(number, bytes) return string.char(number * 8 + 2, #bytes) .. bytes end

local function openapi_v2(as_protobuf)
  if as_protobuf then
    return { 200, OPENAPI, field(1, SWAGGER) .. field(2, field(1, TITLE) .. field(2, VERSION)) }
  end
  local info = json.object("title", TITLE, "version", VERSION)
  return { 200, JSON, json.write(json.object("swagger", SWAGGER, "info", info, "paths", json.object(), "definitions",
    json.object())) }
end

-- Returns the response to any method; nil of a path that is not known. `uri` is the path as it came, `kinds` and
-- `stats` are functions.
function paths.respond(path, uri, query, as_protobuf, kinds, stats)
  if path == "/openapi/v2" then return openapi_v2(as_protobuf) end
  if path == "/" or path == "/index.html" then return index(kinds()) end
  if path == "/metrics" then return metrics(stats()) end
  if path == "/.well-known/openid-configuration" then return configuration() end
  if path == "/openid/v1/jwks" then return { 200, KEYS, '{"keys":[]}' } end
  return cut_off(path, uri) or health(path, query)
end

-- The path of the collection that a path of its watch names, and a selector of fields, which
-- is for /api/v1/watch/namespaces/default/pods/a. nil of every other path.
function paths.watched(path)
  local before, rest = path:match "^(/api/[^/]+/)watch/(.+)$"
  if not before then before, rest = path:match "^(/apis/[^/]+/[^/]+/)watch/(.+)$" end
  if not before then return end
  local parts = {}
  for part in rest:gmatch "[^/]+" do parts[#parts + 1] = part end
  local placed = parts[1] == "namespaces" and #parts >= 3
  local name = parts[placed and 4 or 2]
  if #parts > (placed and 4 or 2) then return end
  if name then rest = rest:match "^(.*)/[^/]+/*$" end
  return { before .. rest, name and "metadata.name=" .. name or "" }
end

return paths
