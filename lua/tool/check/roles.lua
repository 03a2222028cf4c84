-- Roles and bindings of a dump, asked what a user may do, as the server's RBAC authorizer answers.
local roles = {}

local ACCOUNT, GROUP = "system:serviceaccount:", "system:serviceaccounts"

-- Values of a dump may be anything.
local function field(object, ...)
  for _, name in ipairs { ... } do object = type(object) == "table" and object[name] or nil end
  return object
end

local function text(...)
  local value = field(...)
  return type(value) == "string" and value or ""
end

local function items(...)
  local value = field(...)
  return ipairs(type(value) == "table" and value or {})
end

-- --- who

-- A service account has the groups of service accounts besides those named.
local function in_group(user, group)
  for _, own in ipairs(user.groups) do
    if own == group then return true end
  end
  if group == "system:authenticated" then return true end
  local ns = user.name:match("^" .. ACCOUNT .. "([^:]*)")
  return ns ~= nil and (group == GROUP or group == GROUP .. ":" .. ns)
end

-- `own` is the namespace of the binding, which subjects may leave out.
local function is_subject(subject, own, user)
  local kind, name, ns = text(subject, "kind"), text(subject, "name"), text(subject, "namespace")
  if kind == "User" then return name == user.name end
  if kind == "Group" then return in_group(user, name) end
  return kind == "ServiceAccount" and ACCOUNT .. (ns ~= "" and ns or own) .. ":" .. name == user.name
end

local function binds(binding, user)
  for _, subject in items(binding, "subjects") do
    if is_subject(subject, text(binding, "metadata", "namespace"), user) then return true end
  end
  return false
end

-- --- what

local function lists(rule, name, ...)
  for _, one in items(rule, name) do
    if one == "*" then return true end
    for _, wanted in ipairs { ... } do
      if one == wanted then return true end
    end
  end
  return false
end

-- A rule for names alone gives no permission to all.
local function lists_name(rule, name)
  local any = true
  for _, one in items(rule, "resourceNames") do
    any = false
    if name ~= "" and one == name then return true end
  end
  return any
end

-- "*" at the end of a path is all that begins so.
local function lists_path(rule, path)
  for _, one in items(rule, "nonResourceURLs") do
    local prefix = type(one) == "string" and one:match "^(.*)%*$"
    if one == path or prefix and path:sub(1, #prefix) == prefix then return true end
  end
  return false
end

-- "pods/status" is met by that, and by "*/status", too.
local function allows(role, check)
  local part = check.resource:match "/.*$"
  for _, rule in items(role, "rules") do
    if (check.path or "") ~= "" then
      if lists(rule, "verbs", check.verb) and lists_path(rule, check.path) then return true end
    elseif lists(rule, "verbs", check.verb) and lists(rule, "apiGroups", check.group)
      and lists(rule, "resources", check.resource, part and "*" .. part)
      and lists_name(rule, check.name) then
      return true
    end
  end
  return false
end

local function role_of(list, binding)
  local kind, name = text(binding, "roleRef", "kind"), text(binding, "roleRef", "name")
  for _, role in ipairs(list) do
    if role.kind == kind and text(role, "metadata", "name") == name
      and (kind == "ClusterRole" or text(role, "metadata", "namespace") == text(binding, "metadata", "namespace")) then
      return role
    end
  end
end

local function is_allowed(list, user, check)
  if in_group(user, "system:masters") then return true end
  for _, binding in ipairs(list) do
    local applies = binding.kind == "ClusterRoleBinding" or binding.kind == "RoleBinding" and check.ns ~= ""
      and text(binding, "metadata", "namespace") == check.ns
    local role = applies and binds(binding, user) and role_of(list, binding)
    if role and allows(role, check) then return true end
  end
  return false
end

-- Returns a function that reviews checks, as target.review does.
function roles.reviewer(list, user)
  return function(checks)
    local allowed = {}
    for i, check in ipairs(checks) do allowed[i] = is_allowed(list, user, check) end
    return allowed
  end
end

return roles
