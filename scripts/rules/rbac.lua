-- Rights that reach further than whoever gave them may have meant.
--   kubelua audit -f scripts/rules/rbac.lua --from pods.json
local k8s = require "k8s"
local shapes = require "_shapes"
local uses = require "_uses"
local values = require "_values"

local text, has = values.text, values.has

local ROLES = { "roles.rbac.authorization.k8s.io", "clusterroles.rbac.authorization.k8s.io" }
local BINDINGS = { "rolebindings.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io" }

-- Roles and bindings that the server makes, and keeps as they are.
local function is_own(obj)
  if obj:label "kubernetes.io/bootstrapping" == "rbac-defaults" then
    return "Kubernetes makes it"
  end
  return false
end

-- for i, rule in ...: over the rules of a role, from 0 up, each with its lists.
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
  title = "Nobody is bound to cluster-admin",
  severity = "high",
  category = "RBAC",
  why = "cluster-admin may do everything: read all secrets, run anything on any node. In a namespace it may do all "
    .. "that there. Who has it cannot be held back by anything else.",
  how = "Make a role with the rights that are needed. For emergencies there is the group system:masters.",
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
  title = "Roles name what they allow",
  severity = "high",
  category = "RBAC",
  why = "All verbs on all resources are the rights of an administrator, also over kinds that are yet to come.",
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

-- Whether a rule lets all secrets be read.
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
  title = "Nobody reads the secrets of all namespaces",
  severity = "high",
  category = "RBAC",
  why = "Among all secrets there are tokens of accounts with more rights, so that reading them is as good as having "
    .. "these. The verbs list and watch show the contents too.",
  how = "Bind the role in the namespaces where it is needed, or name the secrets by resourceNames.",
  kinds = { "clusterrolebindings.rbac.authorization.k8s.io" },
  uses = { roles = uses.by_name "clusterroles.rbac.authorization.k8s.io" },
  skip = is_own,
  check = function(obj, r, use)
    local reference = shapes.map(obj, "roleRef")
    local name = reference and text(reference.name)
    local role = name and name ~= "cluster-admin" and use.roles(name)[1]
    for _, rule in each_rule(role or {}, "ClusterRole/" .. tostring(name)) do
      if reads_secrets(rule) then
        r:fail(("the cluster role %s reads the secrets of all namespaces"):format(name), {
          path = "roleRef.name",
          value = name,
        })
        return
      end
    end
  end,
}

local ESCALATING = {
  bind = "may bind anybody to any role that is allowed here",
  escalate = "may give rights that it does not have",
  impersonate = "may act as somebody else",
}

k8s.rule {
  id = "escalation-verbs",
  title = "Roles do not allow more rights to be gained",
  severity = "high",
  category = "RBAC",
  why = "The verbs bind, escalate and impersonate are how one gets rights that nobody gave: who has one of them may "
    .. "as well be an administrator.",
  how = "Remove the verb, or limit it by resourceNames to roles or users that are harmless.",
  kinds = ROLES,
  skip = is_own,
  check = function(obj, r)
    for i, rule in each_rule(obj) do
      if not rule.resourceNames[1] then
        for j, verb in ipairs(rule.verbs) do
          if ESCALATING[verb] then
            r:fail("who has it " .. ESCALATING[verb], { path = ("rules[%d].verbs[%d]"):format(i, j - 1), value = verb })
          end
        end
      end
    end
  end,
}

local ENTRANCES = { ["pods/exec"] = true, ["pods/attach"] = true, ["pods/*"] = true, ["*/exec"] = true }

k8s.rule {
  id = "pods-exec",
  title = "Roles do not let into pods",
  severity = "medium",
  category = "RBAC",
  why = "Who may exec into pods has what their programs have: their secrets, tokens and data.",
  how = "Remove pods/exec and pods/attach, or give them to few people for a short time.",
  kinds = ROLES,
  skip = is_own,
  check = function(obj, r)
    for i, rule in each_rule(obj) do
      local enters = has(rule.verbs, "create") or has(rule.verbs, "get") or has(rule.verbs, "*")
      for j, resource in ipairs(enters and rule.resources or {}) do
        if ENTRANCES[resource] then
          r:fail("who has it may run commands in pods", {
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
  title = "Who is not logged in has no rights",
  severity = "critical",
  category = "RBAC",
  why = "The role is anybody's who reaches the API server, without any password. This is how clusters are found and "
    .. "taken over by programs that search the internet for them.",
  how = "Delete the binding, and look in the audit log for who has used it.",
  kinds = BINDINGS,
  skip = is_own,
  check = function(obj, r)
    for i, subject in shapes.maps(obj, "subjects") do
      if ANYBODY[subject.name] and subject.kind ~= "ServiceAccount" then
        r:fail(("everybody has its rights: %s"):format(subject.name), {
          path = ("subjects[%d].name"):format(i),
          value = subject.name,
        })
      end
    end
  end,
}

k8s.rule {
  id = "default-service-account-bound",
  title = "Default service accounts have no rights",
  severity = "medium",
  category = "RBAC",
  why = "Each pod of the namespace that names no account runs as default: all of them get what was meant for one.",
  how = "Make an account for the pods that need the rights, and bind that.",
  kinds = BINDINGS,
  skip = is_own,
  check = function(obj, r)
    for i, subject in shapes.maps(obj, "subjects") do
      if subject.kind == "ServiceAccount" and subject.name == "default" then
        r:fail(("the %s has its rights"):format(name_of(subject)), { path = ("subjects[%d]"):format(i) })
      end
    end
  end,
}

local FOR_USERS = { ["cluster-admin"] = true, admin = true, edit = true, view = true }

-- Those that each server makes are not in manifests.
local function is_made(name)
  return FOR_USERS[name] or name:sub(1, 7) == "system:"
end

k8s.rule {
  id = "dangling-binding",
  title = "Roles that bindings name exist",
  severity = "low",
  category = "RBAC",
  why = "Such a binding gives no rights now. Whoever makes a role of that name later gives them to its subjects "
    .. "without knowing.",
  how = "Delete the binding, or make the role.",
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
      r:fail(("the %s %s does not exist"):format(role.kind == "Role" and "role" or "cluster role", name), {
        path = "roleRef.name",
        value = name,
      })
    end
  end,
}
