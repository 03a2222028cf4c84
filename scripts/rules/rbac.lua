-- Permissions that are wider than needed.
--   kubelua audit -f scripts/rules/rbac.lua --from pods.json
local k8s = require "k8s"
local shapes = require "_shapes"
local uses = require "_uses"
local values = require "_values"

local text, has = values.text, values.has

local ROLES = { "roles.rbac.authorization.k8s.io", "clusterroles.rbac.authorization.k8s.io" }
local BINDINGS = { "rolebindings.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io" }

-- Roles and bindings that the server creates and keeps unchanged.
local function is_own(obj)
  if obj:label "kubernetes.io/bootstrapping" == "rbac-defaults" then
    return "Kubernetes creates it"
  end
  return false
end

-- for i, rule in ...: over the rules of a role, from 0 up, each with its lists.
---@return fun(): integer?, table
local function each_rule(role, where)
  local next_rule = shapes.maps(role, "rules", where)
  local function list(rule, field, i)
    return shapes.expect("list", rule[field], where, "rules[%d].%s", i, field) or {}
  end
  return function()
    local i, rule = next_rule()
    return i, i and {
      apiGroups = list(rule, "apiGroups", i),
      resources = list(rule, "resources", i),
      resourceNames = list(rule, "resourceNames", i),
      verbs = list(rule, "verbs", i),
    }
  end
end

local function name_of(subject)
  local name = text(subject.name) or "?"
  if subject.kind == "ServiceAccount" then
    return ("service account %s/%s"):format(tostring(subject.namespace), name)
  end
  return ("%s %s"):format((text(subject.kind) or "subject"):lower(), name)
end

k8s.rule {
  id = "cluster-admin-binding",
  title = "No subject is bound to cluster-admin",
  severity = "high",
  category = "RBAC",
  why = "A subject with cluster-admin may do everything: read all Secrets and run any program on any node. With a "
    .. "RoleBinding it may do everything in that namespace. No other permission can restrict it.",
  how = "Create a role with the permissions that are needed. For emergencies there is the group system:masters.",
  kinds = BINDINGS,
  skip = is_own,
  check = function(obj, r)
    local role = shapes.map(obj, "roleRef")
    if not role or role.kind ~= "ClusterRole" or role.name ~= "cluster-admin" then
      return
    end
    for i, subject in shapes.maps(obj, "subjects") do
      if subject.kind ~= "Group" or subject.name ~= "system:masters" then
        r:fail(("the %s may do everything"):format(name_of(subject)), {
          path = ("subjects[%d]"):format(i),
          value = text(subject.name),
        })
      end
    end
  end,
}

k8s.rule {
  id = "wildcard-rights",
  title = "Roles name verbs and resources",
  severity = "high",
  category = "RBAC",
  why = "All verbs on all resources are the permissions of an administrator. They include kinds that are installed "
    .. "later.",
  how = "List the resources and the verbs that are needed.",
  kinds = ROLES,
  skip = is_own,
  check = function(obj, r)
    for i, rule in each_rule(obj) do
      if has(rule.verbs, "*") and has(rule.resources, "*") then
        r:fail("all verbs on all resources are allowed", { path = ("rules[%d]"):format(i) })
      end
    end
  end,
}

local READING = { get = true, list = true, watch = true, ["*"] = true }

-- Returns true if a rule allows reading all Secrets.
local function reads_secrets(rule)
  if rule.resourceNames[1] or not (has(rule.apiGroups, "") or has(rule.apiGroups, "*")) then
    return false
  elseif not (has(rule.resources, "secrets") or has(rule.resources, "*")) then
    return false
  end
  for _, verb in ipairs(rule.verbs) do
    if READING[verb] then
      return true
    end
  end
  return false
end

k8s.rule {
  id = "secrets-read-everywhere",
  title = "No role reads the Secrets of all namespaces",
  severity = "high",
  category = "RBAC",
  why = "Some Secrets contain tokens of service accounts with more permissions. A subject that can read the Secrets "
    .. "of all namespaces can use those tokens. The verbs list and watch also return the contents.",
  how = "Bind the role with a RoleBinding in each namespace where it is needed, or list the Secrets in resourceNames.",
  kinds = { "clusterrolebindings.rbac.authorization.k8s.io" },
  uses = { roles = uses.by_name "clusterroles.rbac.authorization.k8s.io" },
  skip = is_own,
  check = function(obj, r, use)
    local reference = shapes.map(obj, "roleRef")
    local name = reference and text(reference.name)
    local role = name and name ~= "cluster-admin" and use.roles(name)[1]
    for _, rule in each_rule(role or {}, "ClusterRole/" .. tostring(name)) do
      if reads_secrets(rule) then
        r:fail(("the ClusterRole %s reads the Secrets of all namespaces"):format(name), {
          path = "roleRef.name",
          value = name,
        })
        return
      end
    end
  end,
}

local ESCALATING = {
  bind = "may bind every subject to any role",
  escalate = "may grant permissions that it does not have",
  impersonate = "may act as another user",
}

k8s.rule {
  id = "escalation-verbs",
  title = "Roles do not allow privilege escalation",
  severity = "high",
  category = "RBAC",
  why = "A subject with the verb bind, escalate or impersonate can get permissions that nobody granted to it, up to "
    .. "those of an administrator.",
  how = "Remove the verb, or restrict it with resourceNames to roles or users with few permissions.",
  kinds = ROLES,
  skip = is_own,
  check = function(obj, r)
    for i, rule in each_rule(obj) do
      if not rule.resourceNames[1] then
        for j, verb in ipairs(rule.verbs) do
          if ESCALATING[verb] then
            r:fail("a subject with this role " .. ESCALATING[verb], {
              path = ("rules[%d].verbs[%d]"):format(i, j - 1),
              value = verb,
            })
          end
        end
      end
    end
  end,
}

local ENTRANCES = { ["pods/exec"] = true, ["pods/attach"] = true, ["pods/*"] = true, ["*/exec"] = true }

k8s.rule {
  id = "pods-exec",
  title = "Roles do not allow commands in pods",
  severity = "medium",
  category = "RBAC",
  why = "A subject that may run commands in pods can read their Secrets, tokens and data.",
  how = "Remove pods/exec and pods/attach, or grant them to few people for a short time.",
  kinds = ROLES,
  skip = is_own,
  check = function(obj, r)
    for i, rule in each_rule(obj) do
      local enters = has(rule.verbs, "create") or has(rule.verbs, "get") or has(rule.verbs, "*")
      for j, resource in ipairs(enters and rule.resources or {}) do
        if ENTRANCES[resource] then
          r:fail("a subject with this role may run commands in pods", {
            path = ("rules[%d].resources[%d]"):format(i, j - 1),
            value = resource,
          })
        end
      end
    end
  end,
}

local ANYBODY = { ["system:anonymous"] = true, ["system:unauthenticated"] = true }

k8s.rule {
  id = "anonymous-binding",
  title = "Anonymous users have no permissions",
  severity = "critical",
  category = "RBAC",
  why = "Everybody who reaches the API server has the permissions of the role, without a password. Programs scan the "
    .. "internet for such clusters and take them over.",
  how = "Delete the binding, and search the audit log for requests of anonymous users.",
  kinds = BINDINGS,
  skip = is_own,
  check = function(obj, r)
    for i, subject in shapes.maps(obj, "subjects") do
      if ANYBODY[subject.name] and subject.kind ~= "ServiceAccount" then
        r:fail(("everybody has the permissions of the role, as %s"):format(subject.name), {
          path = ("subjects[%d].name"):format(i),
          value = subject.name,
        })
      end
    end
  end,
}

k8s.rule {
  id = "default-service-account-bound",
  title = "Default service accounts have no permissions",
  severity = "medium",
  category = "RBAC",
  why = "Every pod in the namespace that names no service account runs as default, so all of them get the permissions "
    .. "that one of them needs.",
  how = "Create a service account for the pods that need the permissions, and bind that one.",
  kinds = BINDINGS,
  skip = is_own,
  check = function(obj, r)
    for i, subject in shapes.maps(obj, "subjects") do
      if subject.kind == "ServiceAccount" and subject.name == "default" then
        r:fail(("the %s has the permissions of the role"):format(name_of(subject)), {
          path = ("subjects[%d]"):format(i),
        })
      end
    end
  end,
}

local FOR_USERS = { ["cluster-admin"] = true, admin = true, edit = true, view = true }

-- Roles that every server creates are not in manifests.
local function is_made(name)
  return FOR_USERS[name] or name:sub(1, 7) == "system:"
end

k8s.rule {
  id = "dangling-binding",
  title = "Roles in bindings exist",
  severity = "low",
  category = "RBAC",
  why = "The binding grants nothing now. If somebody creates a role with that name later, its subjects get the "
    .. "permissions of that role.",
  how = "Delete the binding, or create the role.",
  kinds = BINDINGS,
  uses = {
    roles = uses.by_key "roles.rbac.authorization.k8s.io",
    cluster_roles = uses.by_name "clusterroles.rbac.authorization.k8s.io",
  },
  skip = is_own,
  check = function(obj, r, use)
    local role = shapes.map(obj, "roleRef")
    local name = role and text(role.name)
    if not name then
      return
    end
    local found
    if role.kind == "Role" then
      found = use.roles(values.namespace(obj) .. "/" .. name)[1]
    else
      found = is_made(name) or use.cluster_roles(name)[1]
    end
    if not found then
      r:fail(("the %s %s does not exist"):format(role.kind == "Role" and "Role" or "ClusterRole", name), {
        path = "roleRef.name",
        value = name,
      })
    end
  end,
}
