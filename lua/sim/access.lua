-- RBAC: which rules a user has, and what they allow; and how a refusal is worded. Attributes are verb, group, resource,
-- subresource, namespace, name and path of a request; `stored` has the parsed objects by their keys.
local json = require "sim.json"
local values = require "sim.values"

local at, text, each, get = json.at, json.text, json.each, json.get

local access = {}

-- --- rules

local function has(list, ...)
  for _, entry in each(list) do
    for i = 1, select("#", ...) do
      if entry == select(i, ...) then return true end
    end
  end
  return false
end

-- "pods", "pods/log", "*" with all its subresources, or one subresource of all: "*/scale".
local function has_resource(list, a)
  if a.subresource == "" then return has(list, "*", a.resource) end
  return has(list, "*", a.resource .. "/" .. a.subresource, "*/" .. a.subresource)
end

-- A "*" at the end stands for any rest.
local function has_path(list, path)
  for _, entry in each(list) do
    if entry == path or entry:sub(-1) == "*" and path:sub(1, #entry - 1) == entry:sub(1, -2) then return true end
  end
  return false
end

local function rule_allows(rule, a)
  if not has(at(rule, "verbs"), "*", a.verb) then return false end
  if a.resource == "" then return has_path(at(rule, "nonResourceURLs"), a.path) end
  local names = at(rule, "resourceNames")
  return has(at(rule, "apiGroups"), "*", a.group) and has_resource(at(rule, "resources"), a)
    and (json.count(names) == 0 or a.name ~= "" and has(names, a.name))
end

-- --- bindings

local subject_kinds = {
  User = function(name, _, _, user) return name == user.name end,
  Group = function(name, _, _, user) return has(user.groups, name) end,
  ServiceAccount = function(name, subject, binding, user)
    local namespace = text(subject, "namespace")
    if namespace == "" then namespace = text(binding, "metadata.namespace") end
    return string.format("system:serviceaccount:%s:%s", namespace, name) == user.name
  end,
}

local function is_bound(binding, user)
  for _, subject in each(at(binding, "subjects")) do
    local fits = subject_kinds[text(subject, "kind")]
    if fits and fits(text(subject, "name"), subject, binding, user) then return true end
  end
  return false
end

-- The rules of the role that a binding gives.
local function rules_of(binding, stored)
  local name = text(binding, "roleRef.name")
  if text(binding, "roleRef.kind") == "ClusterRole" then return at(get(stored.cluster_roles, name), "rules") end
  return at(get(stored.roles, text(binding, "metadata.namespace") .. "/" .. name), "rules")
end

-- Calls `visit` with each rule that the user has in the namespace, or everywhere with "", until it returns something.
local function each_rule(user, namespace, stored, visit)
  user = { name = text(user, "username"), groups = at(user, "groups") }
  for _, bindings in ipairs { stored.cluster_bindings, stored.bindings } do
    for _, binding in json.members(bindings) do
      local place = text(binding, "metadata.namespace")
      if (place == "" or place == namespace) and is_bound(binding, user) then
        for _, rule in each(rules_of(binding, stored)) do
          local result = visit(rule, binding)
          if result then return result end
        end
      end
    end
  end
end

local function attributes_of(given)
  local a = { verb = "", group = "", resource = "", subresource = "", namespace = "", name = "", path = "" }
  for name, value in json.members(given) do a[name] = value end
  return a
end

-- Returns why the user may do it; nil if nothing allows it.
function access.allowed(user, given, cluster_bindings, bindings, cluster_roles, roles)
  local a, stored = attributes_of(given), { cluster_bindings = cluster_bindings, bindings = bindings,
    cluster_roles = cluster_roles, roles = roles }
  return each_rule(user, a.resource ~= "" and a.namespace or "", stored, function(rule, binding)
    if not rule_allows(rule, a) then return end
    local namespace = text(binding, "metadata.namespace")
    return string.format('RBAC: allowed by %s "%s%s%s" of %s "%s" to User "%s"',
      namespace ~= "" and "RoleBinding" or "ClusterRoleBinding", text(binding, "metadata.name"),
      namespace ~= "" and "/" or "", namespace, text(binding, "roleRef.kind"), text(binding, "roleRef.name"),
      text(user, "username"))
  end)
end

-- Returns the rules that the user has in a namespace.
function access.rules(user, namespace, cluster_bindings, bindings, cluster_roles, roles)
  local found, stored = {}, { cluster_bindings = cluster_bindings, bindings = bindings,
    cluster_roles = cluster_roles, roles = roles }
  if has(at(user, "groups"), "system:masters") then
    found[1] = json.object("verbs", { "*" }, "apiGroups", { "*" }, "resources", { "*" })
  end
  each_rule(user, namespace, stored, function(rule) found[#found + 1] = rule end)
  return found
end

-- --- refusals

local function why_not(name, a)
  local resource = a.resource .. (a.subresource ~= "" and "/" .. a.subresource or "")
  if a.resource == "" then return string.format('User "%s" cannot %s path "%s"', name, a.verb, a.path) end
  return string.format('User "%s" cannot %s resource "%s" in API group "%s" %s', name, a.verb, resource, a.group,
    a.namespace ~= "" and string.format('in the namespace "%s"', a.namespace) or "at the cluster scope")
end

-- The message of a 403.
function access.refusal(user, given)
  local a = attributes_of(given)
  local why, resource = why_not(text(user, "username"), a), a.resource .. (a.group ~= "" and "." .. a.group or "")
  if a.resource == "" then return "forbidden: " .. why end
  return string.format(a.name ~= "" and '%s "%s" is forbidden: %s' or "%s%s is forbidden: %s", resource, a.name, why)
end

-- --- what a request wants

-- Finds resource, namespace and name as kube-apiserver's RequestInfo does, of kinds that are not served, too.
local function read_resource(parts, first, a)
  local below = parts[first + 2] or ""
  if parts[first] == "namespaces" and parts[first + 1] then
    a.namespace = parts[first + 1]
    if below ~= "" and below ~= "status" and below ~= "finalize" then first = first + 2 end
  end
  a.resource, a.name, a.subresource = parts[first] or "", parts[first + 1] or "", parts[first + 2] or ""
end

-- Fills `a` by the path, and returns the first part behind the version.
local function read_path(path, a)
  local parts = {}
  for part in path:gmatch "[^/]+" do parts[#parts + 1] = part end
  local first = parts[1] == "api" and 3 or parts[1] == "apis" and 4 or #parts + 1
  if first == 4 and parts[first] then a.group = parts[2] end
  if parts[first] then read_resource(parts, first, a) end
  return parts[first]
end

local lasting = { attach = true, exec = true, log = true, portforward = true, proxy = true }

-- Whether a request is one that a server gives no time to end; `watches`: a watch if it names no object.
function access.lasts(path, watches)
  local a = { resource = "", name = "", subresource = "" }
  local first = read_path(path, a)
  return lasting[a.subresource] or first == "watch" or first == "proxy" or path:find "^/debug/pprof/" ~= nil
    or watches and a.resource ~= "" and a.name == ""
end

-- The attributes of a request. A list or a watch of one name counts as one of that object. `named` is the verb where
-- the path names an object, `unnamed` where it names none.
function access.attributes(method, path, fields, named, unnamed)
  local a = { resource = "", name = "", path = path, verb = method:lower() }
  read_path(path, a)
  if a.resource ~= "" then a.verb = a.name ~= "" and named or unnamed end
  if a.resource ~= "" and a.name == "" then a.name = (fields or ""):match "^metadata%.name=([^,]*)$" or "" end
  local given = json.object()
  for name, value in pairs(a) do json.set(given, name, value) end
  return given
end

-- --- users

local ACCOUNT, AUTHENTICATED = "system:serviceaccount:", "system:authenticated"
local AUTHENTICATION = "authentication.k8s.io"
local ANONYMOUS, UNAUTHENTICATED = "system:anonymous", "system:unauthenticated"

-- A user with those of the groups that are no repetition.
local function user_of(name, uid, groups)
  local all, known = {}, {}
  for _, group in ipairs(groups) do
    if not known[group] then all[#all + 1] = group end
    known[group] = true
  end
  return json.object("username", name, "groups", all, "uid", uid and uid ~= "" and uid or nil)
end

-- Adds the groups of a service account "system:serviceaccount:NAMESPACE:NAME".
local function add_account_groups(groups, name)
  if name:sub(1, #ACCOUNT) ~= ACCOUNT then return end
  groups[#groups + 1] = "system:serviceaccounts"
  groups[#groups + 1] = "system:serviceaccounts:" .. name:sub(#ACCOUNT + 1):match "^[^:]*"
end

-- The user that a token of a service account is of; `id` is a part of the token.
function access.account(namespace, name, uid, id)
  local full, groups = ACCOUNT .. namespace .. ":" .. name, {}
  add_account_groups(groups, full)
  groups[#groups + 1] = AUTHENTICATED
  local user = user_of(full, uid, groups)
  json.set(user, "extra", json.object("authentication.kubernetes.io/credential-id", { "JTI=" .. id }))
  return user
end

-- Permissions of a user who acts as another one.
local function needed_for(name)
  local namespace, account = name:match("^" .. ACCOUNT .. "([^:]*):(.*)$")
  if not namespace then return json.object("verb", "impersonate", "resource", "users", "name", name) end
  return json.object("verb", "impersonate", "resource", "serviceaccounts", "namespace", namespace, "name", account)
end

-- Go's struct of a user without a name.
local function nameless(uid, groups, extra)
  local function list_of(list) return "[]string{" .. table.concat(list, ", ") .. "}" end
  local quoted, words = {}, {}
  for i, group in ipairs(groups) do quoted[i] = json.dump(group) end
  for _, name in ipairs(extra and values.names(extra) or {}) do
    local own = {}
    for i, value in each(get(extra, name)) do own[i] = json.dump(value) end
    words[#words + 1] = json.dump(name) .. ":" .. list_of(own)
  end
  return string.format('&user.DefaultInfo{Name:"", UID:%s, Groups:%s, Extra:map[string][]string%s}',
    json.dump(uid or ""), #groups > 0 and list_of(quoted) or "[]string(nil)",
    extra and "{" .. table.concat(words, ", ") .. "}" or "(nil)")
end

-- The permission for a part of a user.
local function part_of(resource, name, group, subresource)
  return json.object("verb", "impersonate", "resource", resource, "name", name, "group", group or "",
    "subresource", subresource or "")
end

-- Whoever has no group that says whether he is known gets the one of his name.
local function add_authentication(groups, name)
  for _, group in ipairs(groups) do
    if group == UNAUTHENTICATED or group == AUTHENTICATED and name ~= ANONYMOUS then return end
  end
  groups[#groups + 1] = name == ANONYMOUS and UNAUTHENTICATED or AUTHENTICATED
end

-- A list of the user that the headers name, and of what one needs to be allowed for it; of a text if they name none but
-- something of him; an empty one if they name nothing.
function access.impersonated(headers)
  local name, uid, groups, extra, needed, for_extra = nil, nil, {}, nil, {}, {}
  for _, header in each(headers) do
    local key, value = json.element(header, 0):lower(), json.element(header, 1)
    local extra_key = key:match "^impersonate%-extra%-(.*)$"
    if key == "impersonate-user" then name = name or value end
    if key == "impersonate-uid" then uid = uid or value end
    if key == "impersonate-group" then
      groups[#groups + 1] = value
      needed[#needed + 1] = part_of("groups", value)
    end
    if extra_key then
      extra_key = extra_key:gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end)
      for_extra[#for_extra + 1] = part_of("userextras", value, AUTHENTICATION, extra_key)
      extra = extra or json.object()
      if not get(extra, extra_key) then json.set(extra, extra_key, {}) end
      json.insert(get(extra, extra_key), json.count(get(extra, extra_key)), value)
    end
  end
  if (name or "") == "" then
    if (uid or "") == "" and #groups == 0 and not extra then return {} end
    return { string.format("requested %s without impersonating a user name", nameless(uid, groups, extra)) }
  end
  if #groups == 0 then add_account_groups(groups, name) end
  add_authentication(groups, name)
  for _, part in ipairs(for_extra) do needed[#needed + 1] = part end
  if (uid or "") ~= "" then needed[#needed + 1] = part_of("uids", uid, AUTHENTICATION) end
  local user = user_of(name, uid, groups)
  json.set(user, "extra", extra)
  return { user, needed_for(name), unpack(needed) }
end

-- --- files of tokens: lines of token,user,uid,"group1,group2"

-- The fields of a line; one in quotes may have commas.
local function fields_of(line)
  local fields, from = {}, 1
  while from do
    local quoted, behind = line:match('^"([^"]*)"?()', from)
    if not quoted then quoted, behind = line:match("^([^,]*)()", from) end
    fields[#fields + 1] = quoted
    from = behind <= #line and behind + 1 or nil
  end
  return fields
end

-- Returns a list of true and the users by their tokens, or of false and the number of the line that is none.
function access.users(source)
  local users, number = json.object(), 0
  for line in (source .. "\n"):gmatch "([^\n]*)\n" do
    line, number = line:match "^%s*(.-)%s*$", number + 1
    if line ~= "" and line:sub(1, 1) ~= "#" then
      local token, name, uid, given = unpack(fields_of(line), 1, 4)
      local groups, known = {}, {}
      if token == "" or (name or "") == "" or not uid then return { false, number } end
      for group in ((given or "") .. ",system:authenticated"):gmatch "[^,]+" do
        group = group:match "^ *([^ ]*)"
        if group ~= "" and not known[group] then groups[#groups + 1] = group end
        known[group] = true
      end
      json.set(users, token, json.object("username", name, "groups", groups, "uid", uid ~= "" and uid or nil))
    end
  end
  return { true, users }
end

return access
