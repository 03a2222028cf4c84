-- RBAC rules as they are gathered and as YAML: one ClusterRole, and a Role for each namespace.
local permissions = require "tool.check.permissions"

local verb_order, EACH = permissions.verbs, permissions.EACH

local rbac_rules = {}
rbac_rules.__index = rbac_rules

-- `quote` returns a text as JSON.
function rbac_rules.new(quote) return setmetatable({ items = {}, by_key = {}, quote = quote }, rbac_rules) end

-- Returns the rule for the object `name` of what the permission is for; "": for any.
local function rule_for(self, permission, name)
  local key = table.concat({ permission.ns, permission.group, permission.resource, name, permission.path }, "\n")
  local rule = self.by_key[key]
  if not rule then
    rule = {
      ns = permission.ns, group = permission.group, resource = permission.resource, path = permission.path,
      name = name, verbs = {},
    }
    self.by_key[key] = rule
    self.items[#self.items + 1] = rule
  end
  return rule
end

-- Adds a permission (tool.check.permissions): `ns` "" is all namespaces; `resource` may name a subresource,
-- "pods/status"; "*" for group and resource stands for all. To RBAC an object has no name before it is created.
function rbac_rules:add(permission)
  for verb in pairs(permission.verbs) do
    local name = verb ~= "create" and permission.name or ""
    rule_for(self, permission, name).verbs[verb] = true
  end
end

-- --- the least of them

-- Returns whether `wide` makes `rule` redundant: it holds in every namespace, for every kind, or for every object.
local function covers(wide, rule)
  if wide == rule or wide.path or rule.path then return false end
  if wide.ns ~= "" and wide.ns ~= rule.ns or wide.name ~= "" and wide.name ~= rule.name then return false end
  if wide.ns == "" and wide.group == "*" and wide.resource == "*" then return true end
  return wide.group == rule.group and wide.resource == rule.resource
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
  if a.resource ~= b.resource then return a.resource < b.resource end
  return a.name < b.name
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

-- Adds to the words of a rule what `item` has of its own: its name where the rule is for names, else its resource.
local function add_words(self, rule, item)
  local list = rule.names or rule.resources
  if rule.names and not rule.resources[1] then rule.resources[1] = word(self, item.resource) end
  list[#list + 1] = word(self, rule.names and item.name or item.path or item.resource)
end

-- One rule for all resources of a group that have the same verbs, or for all names of one resource: { ns, group, verbs,
-- resources, names }, in their order; and one for paths of none.
local function grouped(self)
  local groups, by_key = {}, {}
  for _, item in ipairs(self.items) do
    local verbs, is_named = verbs_text(item.verbs), item.name ~= ""
    local of, only = item.path and "/" or item.group, is_named and item.resource or ""
    local key = table.concat({ item.ns, of, verbs, only }, "\n")
    if verbs ~= "" and not by_key[key] then
      by_key[key] = { ns = item.ns, group = item.group, is_paths = item.path ~= nil, verbs = verbs, resources = {} }
      by_key[key].names = is_named and {} or nil
      groups[#groups + 1] = by_key[key]
    end
    if verbs ~= "" then add_words(self, by_key[key], item) end
  end
  return groups
end

local function group_text(self, group)
  local resources = table.concat(group.resources, ", ")
  if group.is_paths then return ("- nonResourceURLs: [%s]\n  verbs: [%s]\n"):format(resources, group.verbs) end
  local names = group.names and ("  resourceNames: [%s]\n"):format(table.concat(group.names, ", ")) or ""
  return ("- apiGroups: [%s]\n  resources: [%s]\n%s  verbs: [%s]\n"):format(word(self, group.group), resources, names,
    group.verbs)
end

-- Returns the least rules that allow all that was added, by namespace in order: { ns, text of the rules }.
local function by_namespace(self, indent)
  local parts = {}
  drop_covered(self.items)
  table.sort(self.items, comes_before)
  for _, rule in ipairs(grouped(self)) do
    if #parts == 0 or parts[#parts].ns ~= rule.ns then parts[#parts + 1] = { ns = rule.ns, text = "" } end
    local part = parts[#parts]
    part.text = part.text .. group_text(self, rule):gsub("[^\n]+", indent .. "%0")
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
