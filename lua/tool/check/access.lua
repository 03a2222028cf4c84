-- Permissions that scripts need and do not have.
local place = require "tool.check.place"
local permissions = require "tool.check.permissions"
local roles = require "tool.check.roles"

-- Returns the permissions of all scripts that loaded, with where they say so; kinds that are unknown are left out.
local function gather(scripts, target)
  local needed = {}
  for number, script in ipairs(scripts) do
    for _, permission in ipairs(script.error and {} or permissions.of(script, target)) do
      local what = permission.what
      local implied, is_declared = what:match "^k8s(%..*)$", what:find "^/" or what:find(":", 1, true)
      permission.at = place.find(script, permission.place, implied or is_declared and '"' .. what .. '"' or nil)
      permission.is_implied, permission.script = implied ~= nil, number
      needed[#needed + 1] = permission
    end
  end
  return needed
end

-- Adds `checks` to each permission, by its verbs, and returns all of them: each once, however many scripts have it.
-- The server may make the name of what is created.
local function checks_of(needed)
  local all, known = {}, {}
  for _, permission in ipairs(needed) do
    local ns, group, resource, path, own = permission.ns, permission.group, permission.resource, permission.path, {}
    for _, verb in ipairs(permissions.verbs) do
      if permission.verbs[verb] then
        local name = verb == "create" and "" or permission.name
        local key = table.concat({ verb, resource, ns, group, name, path }, "\n")
        if not known[key] then
          known[key] = { ns = ns, group = group, resource = resource, name = name, path = path or "", verb = verb }
          all[#all + 1] = known[key]
        end
        own[#own + 1] = known[key]
      end
    end
    permission.checks = own
  end
  return all
end

-- "pods/status", "deployments.apps", "every kind", "every kind of example.com".
local function resource_text(permission)
  if permission.path then return permission.path end
  local resource, subresource = permission.resource:match "^([^/]*)(.*)$"
  if permission.of_group then return "every kind" .. subresource .. " of " .. permission.group end
  if resource == "*" then return "every kind" .. subresource end
  return resource .. (permission.group ~= "" and "." or "") .. permission.group .. subresource
end

local function namespace_text(permission)
  if not permission.is_namespaced then return "" end
  return permission.ns ~= "" and " in namespace " .. permission.ns or " in all namespaces"
end

-- Rights may be of one object only; the server asks for no name where one is created.
local function name_text(permission)
  return (permission.name or "") ~= "" and (' "%s"'):format(permission.name) or ""
end

-- "get", "get and list", "get, list and watch".
local function list_text(words)
  local last = table.remove(words)
  return words[1] and table.concat(words, ", ") .. " and " .. last or last
end

local function check_permission(permission, diagnostics)
  local missing = {}
  for _, check in ipairs(permission.checks) do
    if not check.allowed then missing[#missing + 1] = check.verb end
  end
  if not missing[1] then return end
  diagnostics.script = permission.script
  local text = ("missing permission: %s %s%s%s%s"):format(list_text(missing), resource_text(permission),
    name_text(permission), namespace_text(permission), permission.is_implied and ", for " .. permission.what or "")
  if permission.follows then
    diagnostics:warning(permission.at, "%s; each namespace is watched instead, where that is allowed", text)
  else
    diagnostics:error(permission.at, "%s", text)
  end
end

-- Asks the server or the roles of the dump, and adds a diagnostic for each permission that is missing. Returns false
-- and why if there was no answer.
return function(scripts, target, diagnostics)
  local needed = gather(scripts, target)
  local checks = checks_of(needed)
  local review = target.review or roles.reviewer(target.roles, target.user)
  if checks[1] then
    local allowed, why = review(checks)
    if not allowed then return false, why end
    for i, check in ipairs(checks) do check.allowed = allowed[i] end
  end
  for _, permission in ipairs(needed) do check_permission(permission, diagnostics) end
  return true
end
