-- Discovery in the legacy form, one response per group and version, and in the aggregated form. Kinds are maps as
-- sim_kinds_json of api/discovery.c makes them, in the order of a server.
local json = require "sim.json"

local at, text, object, each = json.at, json.text, json.object, json.each

local discovery = {}

-- The kinds of a group (nil: of all), or of a group's version, in a list.
local function kinds_of(kinds, group, version)
  local list = {}
  for _, kind in each(kinds) do
    if (not group or text(kind, "group") == group) and (not version or text(kind, "version") == version) then
      list[#list + 1] = kind
    end
  end
  return list
end

-- The values of a field, each once, in the order in which they come.
local function distinct(kinds, field)
  local list, known = {}, {}
  for _, kind in ipairs(kinds) do
    local value = text(kind, field)
    if not known[value] then list[#list + 1] = value end
    known[value] = true
  end
  return list
end

-- `entry` of each version of a group.
local function versions_of(kinds, group, entry)
  local of_group, versions = kinds_of(kinds, group), {}
  for i, version in ipairs(distinct(of_group, "version")) do versions[i] = entry(group, version) end
  return versions
end

local function version_entry(group, version)
  return object("groupVersion", group .. "/" .. version, "version", version)
end

-- `apiVersion` is left out of the entries of a list of groups.
local function group_entry(kinds, group, alone)
  local versions = versions_of(kinds, group, version_entry)
  return object("kind", alone and "APIGroup" or nil, "apiVersion", alone and "v1" or nil, "name", group,
    "versions", versions, "preferredVersion", versions[1])
end

-- Names of the groups, in their order; the core group is "".
local function groups_of(kinds) return distinct(kinds_of(kinds, nil), "group") end

local function groups(kinds)
  local entries = {}
  for _, group in ipairs(groups_of(kinds)) do
    if group ~= "" then entries[#entries + 1] = group_entry(kinds, group, false) end
  end
  return object("kind", "APIGroupList", "apiVersion", "v1", "groups", entries)
end

-- Of the version in which the objects are stored, by which clients tell that it has changed; nil of what is not stored.
local function storage_hash(kinds, kind)
  if at(kind, "unstored") then return end
  if at(kind, "notStorage") and not at(kind, "stored") then
    for _, other in ipairs(kinds_of(kinds, text(kind, "group"))) do
      if not at(other, "notStorage") and text(other, "plural") == text(kind, "plural") then kind = other end
    end
  end
  local name = at(kind, "stored")
    or string.format("%s/%s/%s", text(kind, "group"), text(kind, "version"), text(kind, "kind"))
  return json.base64(json.sha256(name):sub(1, 8))
end

local function resource_entry(kinds, kind)
  return object("name", text(kind, "plural"), "singularName", text(kind, "singular"),
    "namespaced", at(kind, "namespaced"), "kind", text(kind, "kind"), "verbs", at(kind, "verbs"),
    "shortNames", at(kind, "shortNames"), "categories", at(kind, "categories"),
    "storageVersionHash", storage_hash(kinds, kind))
end

-- Group and version of what a subresource takes, if they are not those of its resource.
local function foreign(kind, sub)
  local group, version = text(sub, "version"):match "^(.-)/(.*)$"
  if group and group ~= text(kind, "group") then return group, version end
end

local function subresource_entry(kind, sub)
  local group, version = foreign(kind, sub)
  return object("name", text(kind, "plural") .. "/" .. text(sub, "name"), "singularName", "",
    "namespaced", at(kind, "namespaced"), "group", group, "version", version, "kind", text(sub, "kind"),
    "verbs", at(sub, "verbs"))
end

-- Returns the resources; nil if nothing is served there.
local function resources(kinds, group, version)
  local list, entries = kinds_of(kinds, group, version), {}
  if #list == 0 then return end
  for _, kind in ipairs(list) do
    entries[#entries + 1] = resource_entry(kinds, kind)
    for _, sub in each(at(kind, "subresources")) do entries[#entries + 1] = subresource_entry(kind, sub) end
  end
  return object("kind", "APIResourceList", "apiVersion", group ~= "" and "v1" or nil,
    "groupVersion", group ~= "" and group .. "/" .. version or version, "resources", entries)
end

local function version_info()
  return object("major", "1", "minor", "36", "emulationMajor", "1", "emulationMinor", "36",
    "minCompatibilityMajor", "1", "minCompatibilityMinor", "35", "gitVersion", "v1.36.3", "gitCommit", "",
    "gitTreeState", "", "buildDate", "1970-01-01T00:00:00Z", "goVersion", "", "compiler", "kubelua sim",
    "platform", "linux/amd64")
end

local function below_apis(kinds, path)
  local group, rest = path:match "^([^/]+)(.*)$"
  if not group then return end
  if rest == "" then return #kinds_of(kinds, group) > 0 and group_entry(kinds, group, true) or nil end
  local version = rest:match "^/([^/]+)$"
  return version and resources(kinds, group, version)
end

-- --- The aggregated form: all groups, or the core group, in one response

local forms = { v2 = 1, v2beta1 = 2 }

-- Returns the version of the aggregated form that an Accept header prefers, nil if it prefers the legacy one.
local function aggregated_form(accept)
  for clause in (accept or ""):gmatch "[^,]+" do
    local words = {}
    for key, value in clause:gmatch "; *([^=; ]+) *= *([^;]*[^; ])" do words[key] = value end
    if clause:match "^%s*([^; ]+)" == "application/json" then
      if not words.as then return end
      if words.as == "APIGroupDiscoveryList" and words.g == "apidiscovery.k8s.io" and forms[words.v] then
        return words.v
      end
    end
  end
end

-- The real server names group and version only for custom kinds; elsewhere they are those of the list's place.
local function response_kind(kind, name)
  local custom = at(kind, "custom")
  return object("group", custom and text(kind, "group") or "", "version", custom and text(kind, "version") or "",
    "kind", name)
end

local function subresource(kind, sub)
  local group, version = foreign(kind, sub)
  local response = group and object("group", group, "version", version, "kind", text(sub, "kind"))
    or response_kind(kind, text(sub, "kind"))
  return object("subresource", text(sub, "name"), "responseKind", response, "verbs", at(sub, "verbs"))
end

local function resource(kind)
  local subresources = {}
  for i, sub in each(at(kind, "subresources")) do subresources[i] = subresource(kind, sub) end
  return object("resource", text(kind, "plural"), "responseKind", response_kind(kind, text(kind, "kind")),
    "scope", at(kind, "namespaced") and "Namespaced" or "Cluster", "singularResource", text(kind, "singular"),
    "verbs", at(kind, "verbs"), "shortNames", at(kind, "shortNames"), "categories", at(kind, "categories"),
    "subresources", #subresources > 0 and subresources or nil)
end

local function aggregated(kinds, core, form)
  local items = {}
  local function entry(group, version)
    local list = kinds_of(kinds, group, version)
    for i, kind in ipairs(list) do list[i] = resource(kind) end
    return object("version", version, "resources", list, "freshness", "Current")
  end
  for _, group in ipairs(groups_of(kinds)) do
    if (group == "") == core then
      items[#items + 1] = object("metadata", object("name", group ~= "" and group or nil),
        "versions", versions_of(kinds, group, entry))
    end
  end
  return object("kind", "APIGroupDiscoveryList", "apiVersion", "apidiscovery.k8s.io/" .. form, "metadata", object(),
    "items", items)
end

-- Returns the response to a path in the legacy form; nil if it is none of discovery's, or nothing is there.
local function legacy(kinds, path, host)
  if path == "/version" then return version_info() end
  if path == "/api" then
    return object("kind", "APIVersions", "versions", { "v1" }, "serverAddressByClientCIDRs",
      { object("clientCIDR", "0.0.0.0/0", "serverAddress", host or "") })
  end
  if path == "/apis" then return groups(kinds) end
  if path:sub(1, 6) == "/apis/" then return below_apis(kinds, path:sub(7)) end
  if path:sub(1, 5) == "/api/" then return resources(kinds, "", path:sub(6)) end
end

-- `host` is where the client has found the server. Returns a list of the response and the number of its content
-- type, 0 that of the legacy form; nil for nothing.
function discovery.respond(kinds, path, accept, host)
  if #path > 1 then path = path:gsub("/$", "") end
  local form = (path == "/api" or path == "/apis") and aggregated_form(accept)
  if form then return { aggregated(kinds, path == "/api", form), forms[form] } end
  local response = legacy(kinds, path, host)
  return response and { response, 0 }
end

return discovery
