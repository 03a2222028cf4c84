-- `kubelua rbac`: the least permissions that scripts need, as YAML, for the chart or for a kustomization. They were
-- loaded, and never started.
local place = require "tool.check.place"
local rbac_rules = require "tool.check.rbac_rules"
local permissions = require "tool.check.permissions"

local OK, USAGE, INCOMPLETE = 0, 2, 3

local function complain(...) io.stderr:write("kubelua rbac: ", (...):format(select(2, ...)), "\n") end

local function complain_of_kind(script, unknown)
  local at = place.text(place.find(script, unknown.place, '"' .. unknown.kind))
  local assumed = unknown.assumed
  if assumed then
    complain('%s: %s; assumed to be the resource "%s" of the API group "%s", in namespaces', at, unknown.why,
      assumed.plural, assumed.group)
  else
    complain("%s: %s%s", at, unknown.why, unknown.is_unsure
      and "; use --server, --kubeconfig or --context to select a server that has it, or --against a dump" or "")
  end
end

-- RBAC has no patterns of groups, so that only those are written which are known.
local function complain_of_groups(script, target)
  if target.is_whole then return end
  for class, declared in pairs { read = script.reads, write = script.writes } do
    for _, one in ipairs(declared) do
      local at = one.group and place.at(script, class, one.text, '"' .. one.text)
      if at then
        complain('%s: groups below "%s" are not known, and have no rules; use --server, --kubeconfig or --context to '
          .. "select a server that has them, or --against a dump", place.text(at), one.group)
      end
    end
  end
end

-- Returns whether the script loaded, and its kinds are known, or have their group in their name.
local function add_script(rules, script, target, facts)
  if script.error then
    complain("%s", script.error)
    return false
  end
  local is_publisher, is_worker = facts.whose == "publish", facts.whose == "worker"
  local list, unknown
  if is_publisher then
    list, unknown = permissions.of_publisher(script, target, facts.default_namespace)
  else
    list, unknown = permissions.of(script, target, facts.namespaced)
    complain_of_groups(script, target)
  end
  for _, permission in ipairs(list) do
    if not (is_worker and permission.is_cached) then rules:add(permission) end
  end
  local of_fixes = facts.with_fixes and permissions.of_fixes(script, target) or {}
  for _, permission in ipairs(of_fixes) do rules:add(permission) end
  local known = true
  for _, one in ipairs(unknown) do
    complain_of_kind(script, one)
    known = known and one.assumed ~= nil
  end
  return known
end

-- Kinds of kubelua publish. Returns whether all are known.
local function add_published(rules, target, facts)
  local ok = true
  for _, kind in ipairs(facts.published) do
    local permission, why = permissions.of_published(kind, target, facts.default_namespace)
    if permission then rules:add(permission) else complain("--kind: %s", why) end
    ok = ok and permission ~= nil
  end
  return ok
end

-- Kinds that `kubelua run --report` writes. Those of the cluster too: a rule may match objects without a namespace.
local function add_reports(rules, reports, namespace)
  local verbs = { list = true, create = true, patch = true, delete = true }
  rules:add { ns = namespace, group = reports.group, resource = reports.plural, verbs = verbs }
  rules:add { ns = "", group = reports.group, resource = reports.cluster_plural, verbs = verbs }
end

-- Reviews of the tokens of those who scrape metrics.
local function add_reviews(rules)
  for group, resource in pairs {
    ["authentication.k8s.io"] = "tokenreviews", ["authorization.k8s.io"] = "subjectaccessreviews",
  } do
    rules:add { ns = "", group = group, resource = resource, verbs = { create = true } }
  end
end

-- The uid of this namespace identifies a cluster. A request for a namespace is one within it.
local function add_identity(rules)
  rules:add { ns = "kube-system", group = "", resource = "namespaces", name = "kube-system", verbs = { get = true } }
end

local function add_clusters(rules, from)
  local verbs = { list = true, watch = true }
  rules:add { ns = from:match "^[^/]*", group = "", resource = "secrets", verbs = verbs }
end

-- Rights of a member of a sharded group: Leases of all members, and the table.
local function add_shards(rules, shard)
  local ns, group = shard.namespace, "coordination.k8s.io"
  local leases = { get = true, list = true, create = true, update = true, delete = true }
  rules:add { ns = ns, group = group, resource = "leases", verbs = leases }
  rules:add { ns = ns, group = "", resource = "configmaps", verbs = { create = true } }
  local name = "kubelua-shard-" .. shard.group
  local verbs = { get = true, list = true, watch = true, update = true }
  rules:add { ns = ns, group = "", resource = "configmaps", name = name, verbs = verbs }
end

-- Returns the exit code. `target` resolves kinds, as for tool.check.
return function(target, facts)
  local rules, ok = rbac_rules.new(target.quote), true
  for _, script in ipairs(facts.scripts) do ok = add_script(rules, script, target, facts) and ok end
  ok = add_published(rules, target, facts) and ok
  if facts.reports then add_reports(rules, facts.reports, facts.namespace) end
  if facts.reviews_tokens then add_reviews(rules) end
  if facts.clusters_from ~= "" then add_clusters(rules, facts.clusters_from) end
  if facts.shard then add_shards(rules, facts.shard) end
  if facts.identifies_cluster then add_identity(rules) end
  if facts.form == "helm" and rules:has_each() then
    complain "the values of the chart have no place for the rights of --namespaced; use -o yaml or -o kustomize"
    return USAGE
  end
  local text = ok and rules[facts.form](rules, facts.name) or ""
  if ok and text == "" then text = "# These scripts need no permissions.\n" end
  if io.stdout:write(text) and io.stdout:flush() then return ok and OK or USAGE end
  complain "stdout: cannot be written"
  return INCOMPLETE
end
