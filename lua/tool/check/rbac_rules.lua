-- RBAC rules as they are gathered and as YAML: one ClusterRole, and a Role for each namespace.
local permissions = require "tool.check.permissions"

local verb_order, EACH = permissions.verbs, permissions.EACH

local rbac_rules = {}
rbac_rules.__index = rbac_rules

-- `quote` returns a text as JSON.
function rbac_rules.new(quote) return setmetatable({ items = {}, by_key = {}, quote = quote }, rbac_rules) end

-- Adds a permission (tool.check.permissions): `ns` "" is all namespaces; `resource` may name a subresource,
-- "pods/status"; "*" for group and resource stands for all.
function rbac_rules:add(permission)
  local key = table.concat({ permission.ns, permission.group, permission.resource, permission.path }, "\n")
  local rule = self.by_key[key]
  if not rule then
    rule = {
      ns = permission.ns, group = permission.group, resource = permission.resource, path = permission.path, verbs = {},
    }
    self.by_key[key] = rule
    self.items[#self.items + 1] = rule
  end
  for verb in pairs(permission.verbs) do rule.verbs[verb] = true end
end

-- --- the least of them

-- Returns whether `wide` makes `rule` redundant: it holds in every namespace or for every kind.
local function covers(wide, rule)
  if wide == rule or wide.ns ~= "" or wide.path or rule.path then return false end
  if wide.group == "*" and wide.resource == "*" then return true end
  return rule.ns ~= "" and wide.group == rule.group and wide.resource == rule.resource
end

local function drop_covered(items)
  for _, rule in ipairs(items) do
    for _, wide in ipairs(items) do
      if covers(wide, rule) then
        for verb in pairs(wide.verbs) do rule.verbs[verb] = nil end
      end
    end
  end
end

local function comes_before(a, b)
  if a.ns ~= b.ns then return a.ns < b.ns end
  if a.path or b.path then return (a.path or "") < (b.path or "") end
  if a.group ~= b.group then return a.group < b.group end
  return a.resource < b.resource
end

-- --- YAML

local OTHERS = {
  ["true"] = true, ["false"] = true, null = true, yes = true, no = true, on = true, off = true, y = true, n = true,
}

-- Plain where nothing else could be meant.
local function word(self, text)
  return text:find "^[a-z/][a-z0-9./-]*$" and not OTHERS[text] and text or self.quote(text)
end

local function verbs_text(verbs)
  local names = {}
  for _, verb in ipairs(verb_order) do
    if verbs[verb] then names[#names + 1] = verb end
  end
  return table.concat(names, ", ")
end

local head
function head(self, ns, name)
  if ns == EACH then
    return "# To be bound by a RoleBinding in each namespace that has the labels.\n"
      .. head(self, "", name .. "-in-namespaces")
  end
  return ("apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: %s%s\nrules:\n"):format(
    ns ~= "" and "Role" or "ClusterRole", word(self, name), ns ~= "" and "\n  namespace: " .. word(self, ns) or "")
end

-- One rule for all resources of a group that have the same verbs: { ns, group, verbs, resources }, in their order; and
-- one for paths of none.
local function grouped(self)
  local groups, by_key = {}, {}
  for _, rule in ipairs(self.items) do
    local verbs = verbs_text(rule.verbs)
    local key = table.concat({ rule.ns, rule.path and "/" or rule.group, verbs }, "\n")
    if verbs ~= "" and not by_key[key] then
      by_key[key] = { ns = rule.ns, group = rule.group, is_paths = rule.path ~= nil, verbs = verbs, resources = {} }
      groups[#groups + 1] = by_key[key]
    end
    local resources = verbs ~= "" and by_key[key].resources or {}
    resources[#resources + 1] = word(self, rule.path or rule.resource)
  end
  return groups
end

-- Returns the least rules that allow all that was added, by namespace in order: { ns, text of the rules }.
local function by_namespace(self, indent)
  local parts = {}
  drop_covered(self.items)
  table.sort(self.items, comes_before)
  for _, rule in ipairs(grouped(self)) do
    if #parts == 0 or parts[#parts].ns ~= rule.ns then parts[#parts + 1] = { ns = rule.ns, text = "" } end
    local part = parts[#parts]
    local names = table.concat(rule.resources, ", ")
    local what = rule.is_paths and ("- nonResourceURLs: [%s]\n"):format(names)
      or ("- apiGroups: [%s]\n  resources: [%s]\n"):format(word(self, rule.group), names)
    local text = ("%s  verbs: [%s]\n"):format(what, rule.verbs)
    part.text = part.text .. text:gsub("[^\n]+", indent .. "%0")
  end
  return parts
end

local function put_together(parts) return table.concat(parts, "---\n") end

-- YAML documents whose roles have this name; nothing for no rules.
function rbac_rules:yaml(name)
  local out = {}
  for i, part in ipairs(by_namespace(self, "  ")) do out[i] = head(self, part.ns, name) .. part.text end
  return put_together(out)
end

-- Returns whether there are rules for namespaces that only their labels tell.
function rbac_rules:has_each()
  for _, rule in ipairs(self.items) do
    if rule.ns == EACH then return true end
  end
  return false
end

-- The part `rbac` of the chart's values.
function rbac_rules:helm()
  local out = { "# Values of the chart: helm upgrade --values FILE\nrbac:\n  read: false\n" }
  local parts = by_namespace(self, "    ")
  if parts[1] and parts[1].ns == "" then out[#out + 1] = "  rules:\n" .. table.remove(parts, 1).text end
  for i, part in ipairs(parts) do
    if i == 1 then out[#out + 1] = "  roles:\n" end
    out[#out + 1] = ("    - namespace: %s\n      rules:\n%s"):format(word(self, part.ns),
      part.text:gsub("[^\n]+", "    %0"))
  end
  return table.concat(out)
end

local BINDING = [[
---
apiVersion: rbac.authorization.k8s.io/v1
kind: %sBinding
metadata:
  name: %s%s
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: %s
  name: %s
subjects:
  - kind: ServiceAccount
    name: kubelua
    namespace: kubelua
]]

-- The roles, each with its binding to the service account of the base, as a resource of a kustomization.
function rbac_rules:kustomize(name)
  local out = {}
  for i, part in ipairs(by_namespace(self, "  ")) do
    local kind = part.ns ~= "" and "Role" or "ClusterRole"
    local role = head(self, part.ns, name) .. part.text
    out[i] = part.ns == EACH and role or role .. BINDING:format(kind, word(self, name),
      part.ns ~= "" and "\n  namespace: " .. word(self, part.ns) or "", kind, word(self, name))
  end
  return put_together(out)
end

return rbac_rules
