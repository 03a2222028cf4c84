-- Paths of OpenAPI v3: of each what can be done there, as generated clients and kubectl read it. A kind of Kubernetes'
-- own has its old paths of watches, too, and more encodings.
local json = require "sim.json"
local parameters = require "sim.openapi_parameters"

local at, text, object, each, set = json.at, json.text, json.object, json.each, json.set

local paths = {}

local META = "meta/v1."
local PLAIN, OWN = { "application/json", "application/yaml" }, "application/vnd.kubernetes.protobuf"
local PATCHES = { "application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json",
  "application/strategic-merge-patch+json" }
local STREAMED = "deprecated: use the 'watch' parameter with a list operation instead"

-- By their action: method, word of the id, and codes of success.
local actions = {
  list = { "get", "list" }, get = { "get", "read" }, watch = { "get", "watch" }, watchlist = { "get", "watch" },
  post = { "post", "create", "Created", "Accepted" }, put = { "put", "replace", "Created" },
  patch = { "patch", "patch", "Created" }, delete = { "delete", "delete", nil, "Accepted" },
  deletecollection = { "delete", "delete" },
}

-- "rbac.authorization.k8s.io", "v1" are "RbacAuthorization" and "V1"; the core group is "Core".
function paths.words(kind)
  local group, words = text(kind, "group"):gsub("%.k8s%.io$", ""), {}
  for word in (group == "" and "core" or group):gmatch "[^.]+" do words[#words + 1] = word:gsub("^%l", string.upper) end
  return table.concat(words), (text(kind, "version"):gsub("^%l", string.upper))
end

-- "rbacAuthorization"
function paths.group_tag(kind) return (paths.words(kind):gsub("^%u", string.lower)) end

-- "rbacAuthorization_v1"
function paths.tag(kind) return string.format("%s_%s", paths.group_tag(kind), text(kind, "version")) end

-- The purpose of an operation. `of` has kind, action, subresource, and whether it is of all namespaces.
local function description_of(of)
  local name, sub = text(of.kind, "kind"), of.subresource
  local article = name:find "[^s]s$" and "" or name:find "^[AEIOU]" and "an " or "a "
  local object_of = (sub and sub .. " of " or "") .. "the specified " .. name
  local one = sub and string.format("%s of %s%s", sub, article, name) or article .. name
  return ({
    list = (of.watched and not of.custom and "list or watch" or "list") .. " objects of kind " .. name,
    get = "read " .. object_of, put = "replace " .. object_of, patch = "partially update " .. object_of,
    post = "create " .. one, delete = "delete " .. one, deletecollection = "delete collection of " .. name,
    watchlist = string.format("watch individual changes to a list of %s. %s.", name, STREAMED),
    watch = string.format("watch changes to an object of kind %s. %s, filtered to a single item with the "
      .. "'fieldSelector' parameter.", name, STREAMED),
    connect = string.format("connect %s requests to %s of %s", (of.method or ""):upper(), sub or "", name),
  })[of.action]
end

local function id_of(of)
  local group, version = paths.words(of.kind)
  local connect = of.action == "connect"
  return table.concat {
    connect and "connect" or actions[of.action][2], group, version,
    connect and of.method:gsub("^%l", string.upper) or "",
    of.action == "deletecollection" and "Collection" or "",
    of.inside and "Namespaced" or "", text(of.kind, "kind"),
    (of.subresource or ""):gsub("^%l", string.upper),
    of.action == "watchlist" and "List" or "", of.everywhere and "ForAllNamespaces" or "",
  }
end

-- Responses with their schema; `add` gives the reference of a type.
local function responses_of(of, schema)
  local content, custom = object(), of.custom
  local function add(type) set(content, type, object("schema", schema)) end
  local streams = of.action == "list" and of.watched or of.action == "watch" or of.action == "watchlist"
  if of.action == "connect" then
    add "*/*"
  else
    for _, type in ipairs(PLAIN) do add(type) end
    if not custom then add(OWN) end
    if streams and not custom then
      add "application/json;stream=watch"
      add(OWN .. ";stream=watch")
    end
    if of.subresource == "log" then add "text/plain" end
  end
  local codes, action = object("200", object("description", "OK", "content", content)), actions[of.action] or {}
  local created = not (custom and of.action == "patch") and action[3]
  if created then set(codes, "201", object("description", created, "content", content)) end
  if action[4] then set(codes, "202", object("description", action[4], "content", content)) end
  set(codes, "401", object("description", "Unauthorized"))
  return codes
end

local function body_of(of, own, refer)
  local content, action = object(), of.action
  local function add(types, schema)
    for _, type in ipairs(types) do set(content, type, object("schema", schema)) end
    return content
  end
  local taken = of.custom and PLAIN or { "*/*" }
  if action == "patch" then
    local count = of.custom and #PATCHES - 1 or #PATCHES
    return object("content", add({ unpack(PATCHES, 1, count) }, refer(META .. "Patch")), "required", true)
  elseif action == "post" or action == "put" then
    return object("content", add(taken, own), "required", true)
  elseif action == "delete" or (action == "deletecollection" and not of.custom) then
    return object("content", add(taken, refer(META .. "DeleteOptions")))
  end
end

-- The schema of what an operation returns.
local function returned(of, own, refer)
  local action = of.action
  if action == "connect" or of.subresource == "log" then return object("type", "string") end
  if action == "watch" or action == "watchlist" then return refer(META .. "WatchEvent") end
  if action == "deletecollection" then return refer(META .. "Status") end
  if action == "delete" then return at(of.kind, "returnsDeleted") and own or refer(META .. "Status") end
  return action == "list" and refer "list" or own
end

local function operation(of, own, refer)
  return object("tags", { paths.tag(of.kind) }, "description", description_of(of), "operationId", id_of(of),
    "x-kubernetes-action", of.action, "x-kubernetes-group-version-kind", of.named, "requestBody",
    body_of(of, own, refer), "responses", responses_of(of, returned(of, own, refer)))
end

-- Sets the operations of a path. What all of them take stands there once.
local function add_path(all, path, operations, own, refer)
  if #operations == 0 then return end
  local entry, count = object(), {}
  for _, of in ipairs(operations) do
    of.custom = at(of.kind, "custom")
    of.names = { unpack(parameters.names(of.action, of.subresource, of.custom)) }
    for _, name in ipairs(of.names) do count[name] = (count[name] or 0) + 1 end
  end
  local common = operations[1].action ~= "connect" and { "pretty" } or {}
  for _, name in ipairs(operations[1].names) do
    if count[name] == #operations then common[#common + 1] = name end
  end
  for _, of in ipairs(operations) do
    local own_names, made = {}, operation(of, own, refer)
    for _, name in ipairs(of.names) do
      if count[name] < #operations then own_names[#own_names + 1] = name end
    end
    set(made, "parameters", #own_names > 0 and parameters.list(own_names) or nil)
    set(entry, of.method, made)
  end
  set(entry, "parameters", parameters.list(common, path, text(operations[1].named, "kind")))
  set(all, path, entry)
end

local function verbs_of(value)
  local verbs = {}
  for _, verb in each(at(value, "verbs")) do verbs[verb] = true end
  return verbs
end

-- Methods by the verbs of a resource, and of one object.
local COLLECTION = { { "deletecollection", "deletecollection" }, { "list", "list" }, { "create", "post" } }
local ONE = { { "delete", "delete" }, { "get", "get" }, { "patch", "patch" }, { "update", "put" } }

-- The operations of those verbs; `base` has what they share.
local function operations_of(rows, verbs, base)
  local list = {}
  for _, row in ipairs(rows) do
    if verbs[row[1]] then
      local of = { action = row[2], method = actions[row[2]][1] }
      for key, value in pairs(base) do of[key] = value end
      list[#list + 1] = of
    end
  end
  return list
end

local CONNECT = { attach = true, exec = true, portforward = true }
local SUBRESOURCE = { { "get", "get" }, { "patch", "patch" }, { "create", "post" }, { "update", "put" } }

-- Group, version and kind of what a subresource takes.
local function named_by(kind, sub)
  local group, version = text(sub, "version"):match "^(.-)/(.*)$"
  return object("group", group or text(kind, "group"), "version", version or text(kind, "version"), "kind",
    text(sub, "kind"))
end

-- `to` is what paths.add has. Subresources of a custom kind are said to be of the kind itself.
local function add_subresources(all, kind, to, path)
  for _, sub in each(at(kind, "subresources")) do
    local name, taken = text(sub, "name"), named_by(kind, sub)
    local list = operations_of(SUBRESOURCE, verbs_of(sub), { kind = kind, subresource = name,
      named = at(kind, "custom") and to.named or taken, inside = at(kind, "namespaced") })
    for _, of in ipairs(list) do
      if CONNECT[name] then of.action = "connect" end
    end
    local own = text(taken, "kind") == text(kind, "kind") and to.own or not CONNECT[name] and to.other(taken)
    add_path(all, string.format("%s/{name}/%s", path, name), list, own, to.refer)
  end
end

-- Adds the paths of a kind. `to` has its `place`, "apis/apps/v1"; `named`, its group, version and kind; `own`, the
-- reference of its schema; `refer`, which gives that of a type, "list" being the kind's list; and `other`, which gives
-- that of the kind of a subresource.
function paths.add(all, kind, to)
  local verbs, inside, plural = verbs_of(kind), at(kind, "namespaced"), text(kind, "plural")
  local spot = (inside and "namespaces/{namespace}/" or "") .. plural
  local function add(path, rows, everywhere)
    local base = { kind = kind, named = to.named, inside = inside and not everywhere, everywhere = everywhere,
      watched = verbs.watch }
    add_path(all, string.format("/%s/%s", to.place, path), operations_of(rows, verbs, base), to.own, to.refer)
  end
  add(spot, COLLECTION)
  add(spot .. "/{name}", ONE)
  if inside then add(plural, { { "list", "list" } }, true) end
  if not at(kind, "custom") then
    add("watch/" .. spot, { { "watch", "watchlist" } })
    add(string.format("watch/%s/{name}", spot), { { "watch", "watch" } })
    if inside then add("watch/" .. plural, { { "watch", "watchlist" } }, true) end
  end
  add_subresources(all, kind, to, string.format("/%s/%s", to.place, spot))
end

return paths
