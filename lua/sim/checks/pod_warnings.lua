-- Warnings of pods and of the templates of pods, in the order of Kubernetes' pkg/api/pod/warnings.go: functions with
-- the arguments of volumes.lua return a list of texts.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local addresses = require "sim.checks.addresses"
local app_armor = require "sim.app_armor"
local containers = require "sim.checks.container_warnings"
local forms = require "sim.checks.forms"
local json = require "sim.json"
local overlaps = require "sim.checks.overlaps"

local at, text, each, int, get = json.at, json.text, json.each, json.int, json.get

local warnings = {}

local function add(all, form, ...) all[#all + 1] = string.format(form, ...) end

-- --- labels of nodes

local OLD_LABELS = {
  ["beta.kubernetes.io/arch"] = 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  ["beta.kubernetes.io/os"] = 'deprecated since v1.14; use "kubernetes.io/os" instead',
  ["failure-domain.beta.kubernetes.io/region"] = 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  ["failure-domain.beta.kubernetes.io/zone"] = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ["beta.kubernetes.io/instance-type"] = 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  ["app.kubernetes.io/created-by"] = "deprecated since v1.9",
  ["scheduler.alpha.kubernetes.io/preferAvoidPods"] = "deprecated since v1.22; use Taints and Tolerations instead",
  ["node-role.kubernetes.io/master"] = 'use "node-role.kubernetes.io/control-plane" instead',
}

local function add_term(all, path, term, of_values)
  for i, expression in each(at(term, "matchExpressions")) do
    local place, key = string.format("%s.matchExpressions[%d]", path, i - 1), text(expression, "key")
    if OLD_LABELS[key] then add(all, "%s.key: %s is %s", place, key, OLD_LABELS[key]) end
    for v, value in each(of_values and at(expression, "values") or nil) do
      local wrong = forms.value(value)
      for one in ((wrong or "") .. "; "):gmatch "(.-); " do
        if one ~= "" then add(all, "%s.values[%d]: %s is invalid, %s", place, v - 1, value, one) end
      end
    end
  end
end

local function add_labels(all, path, spec)
  for name in json.members(at(spec, "nodeSelector")) do
    if OLD_LABELS[name] then add(all, "%snodeSelector[%s]: %s", path, name, OLD_LABELS[name]) end
  end
  local required = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
  for i, term in each(at(spec, required)) do add_term(all, string.format("%s%s[%d]", path, required, i - 1), term) end
  local preferred = "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
  for i, term in each(at(spec, preferred)) do
    add_term(all, string.format("%s%s[%d].preference", path, preferred, i - 1), at(term, "preference"), true)
  end
  for i, spread in each(at(spec, "topologySpreadConstraints")) do
    local place, key = string.format("%stopologySpreadConstraints[%d]", path, i - 1), text(spread, "topologyKey")
    if OLD_LABELS[key] then add(all, "%s.topologyKey: %s is %s", place, key, OLD_LABELS[key]) end
    if not at(spread, "labelSelector") then
      add(all, "%s.labelSelector: a null labelSelector results in matching no pod", place)
    end
  end
end

-- --- annotations and volumes

local OLD_ANNOTATIONS = {
  { "scheduler.alpha.kubernetes.io/critical-pod",
    'non-functional in v1.16+; use the "priorityClassName" field instead' },
  { "security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead' },
  { "security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead' },
}

local function add_annotations(all, path, annotations)
  for _, old in ipairs(OLD_ANNOTATIONS) do
    if get(annotations, old[1]) then add(all, "%s[%s]: %s", path, old[1], old[2]) end
  end
end

local OLD_VOLUMES = {
  { "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+" },
  { "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+" },
  { "scaleIO", "deprecated in v1.16, non-functional in v1.22+" },
  { "flocker", "deprecated in v1.22, non-functional in v1.25+" },
  { "storageos", "deprecated in v1.22, non-functional in v1.25+", "storageOS" },
  { "quobyte", "deprecated in v1.22, non-functional in v1.25+" },
  { "glusterfs", "deprecated in v1.25, non-functional in v1.26+" },
  { "ephemeral" },
  { "cephfs", "deprecated in v1.28, non-functional in v1.31+" },
  { "rbd", "deprecated in v1.28, non-functional in v1.31+" },
}

local function add_claim(all, path, spec)
  containers.fraction(all, path .. ".resources.requests", at(spec, "resources.requests"), "storage")
  containers.fraction(all, path .. ".resources.limits", at(spec, "resources.limits"), "storage")
end

local function add_volumes(all, path, volumes)
  for i, volume in each(volumes) do
    for _, old in ipairs(OLD_VOLUMES) do
      local place = string.format("%svolumes[%d].%s", path, i - 1, old[3] or old[1])
      local source = at(volume, old[1])
      if source and old[2] then add(all, "%s: %s", place, old[2]) end
      if source and not old[2] then
        add_claim(all, place .. ".volumeClaimTemplate.spec", at(source, "volumeClaimTemplate.spec"))
      end
    end
  end
  overlaps.add(all, volumes)
end

-- --- lists and amounts

local function add_twice(all, path, list, name, what)
  local seen = {}
  for i, one in each(list) do
    local own = text(one, name)
    if seen[own] then add(all, '%s[%d].%s: duplicate %s "%s"', path, i - 1, name, what, own) end
    seen[own] = true
  end
end

local function add_lists(all, path, spec)
  local secrets = at(spec, "imagePullSecrets")
  add_twice(all, path .. "hostAliases", at(spec, "hostAliases"), "ip", "ip")
  add_twice(all, path .. "imagePullSecrets", secrets, "name", "name")
  for i, secret in each(secrets) do
    if text(secret, "name") == "" then
      add(all, '%simagePullSecrets[%d].name: invalid empty name ""', path, i - 1)
    end
  end
  for _, name in ipairs { "memory", "ephemeral-storage" } do
    containers.fraction(all, path .. "overhead", at(spec, "overhead"), name)
  end
end

-- --- affinities and addresses

local function add_affinities(all, path, spec)
  for _, kind in ipairs { "podAffinity", "podAntiAffinity" } do
    for _, list in ipairs { { "requiredDuringSchedulingIgnoredDuringExecution", "labelSelector" },
      { "preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm.labelSelector" } } do
      local place = "affinity." .. kind .. "." .. list[1]
      for i, term in each(at(spec, place)) do
        if not at(term, list[2]) then
          add(all, "%s%s[%d].%s: a null labelSelector results in matching no pod", path, place, i - 1, list[2])
        end
      end
    end
  end
end

local function add_address(all, path, ip)
  local warning = addresses.warning(ip)
  if warning then add(all, "%s: %s", path, warning) end
end

local function add_addresses(all, path, spec)
  for i, server in each(at(spec, "dnsConfig.nameservers")) do
    add_address(all, string.format("%sdnsConfig.nameservers[%d]", path, i - 1), server)
  end
  for i, alias in each(at(spec, "hostAliases")) do
    add_address(all, string.format("%shostAliases[%d].ip", path, i - 1), text(alias, "ip"))
  end
end

-- --- pods and templates

-- `above` is "" of a pod, else the path of a template and a dot.
local function of_pod(all, above, pod)
  local path, spec, annotations = above .. "spec.", at(pod, "spec"), at(pod, "metadata.annotations")
  local place, of_template = above .. "metadata.annotations", above ~= ""
  add_labels(all, path, spec)
  add_annotations(all, place, annotations)
  add_volumes(all, path, at(spec, "volumes"))
  add_lists(all, path, spec)
  containers.containers(all, path, spec, annotations, place, of_template)
  containers.ports(all, path, spec)
  containers.port_names(all, path, spec)
  if int(spec, "terminationGracePeriodSeconds", 0) < 0 then
    add(all, "%sterminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
      path)
  end
  add_affinities(all, path, spec)
  add_addresses(all, path, spec)
  return all
end

function warnings.pod(_, pod) return of_pod({}, "", pod) end

-- Annotations that became fields of a new pod, before all others.
function warnings.synced(_, pod)
  local all = {}
  for _, container in ipairs(app_armor.deprecated(pod)) do
    add(all, "metadata.annotations[%s]: %s", app_armor.key(container), app_armor.OLD)
  end
  return all
end

-- Whether an update left the numbers alone by which a server knows that the spec is another.
local function is_same(object, old)
  local place = "metadata.annotations"
  local count = "deprecated.daemonset.template.generation"
  if not old then return false end
  if text(object, "kind") == "DaemonSet" then return get(at(object, place), count) == get(at(old, place), count) end
  return int(object, "metadata.generation", 0) == int(old, "metadata.generation", 0)
end

-- Of the template that the argument names. (Of an update of a ReplicationController, of the template before it.)
function warnings.template(_, object, _, where, old)
  if is_same(object, old) then return {} end
  local from = old and text(object, "kind") == "ReplicationController" and old or object
  return of_pod({}, where .. ".", at(from, where))
end

local MANY = "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
  .. "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"

-- The argument: where the spec of the job is.
function warnings.job(_, object, _, where, old)
  local all, spec = {}, at(object, where)
  if is_same(object, old) then return all end
  local indexed = text(spec, "completionMode") == "Indexed"
  if indexed and int(spec, "completions", 0) > 100000 and int(spec, "parallelism", 0) > 10000 then
    add(all, "%s: %s", where, MANY)
  end
  return of_pod(all, where .. ".template.", at(spec, "template"))
end

-- Of a name that is no DNS label; the argument says why it should be one.
function warnings.name(path, name, _, why)
  local problems = forms.label(name)
  return problems and { string.format("%s: %s: [%s]", path, why, (problems:gsub("; ", " "))) } or {}
end

-- --- claims

function warnings.claim(path, spec)
  local all = {}
  add_claim(all, path, spec)
  return all
end

-- Of the spec of a StatefulSet. An update names a field as Go does.
function warnings.stateful(path, spec, _, _, old)
  local all = {}
  for i, template in each(at(spec, "volumeClaimTemplates")) do
    local place = string.format("%s.volumeClaimTemplates[%d]%s", path, i - 1, old and ".Spec" or "")
    add_claim(all, place, at(template, "spec"))
  end
  if int(spec, "revisionHistoryLimit", 0) < 0 then
    add(all, "%s.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
      path)
  end
  return all
end

-- --- terms of node selectors

function warnings.terms(path, terms)
  local all = {}
  for i, term in each(terms) do add_term(all, string.format("%s[%d]", path, i - 1), term) end
  return all
end

return warnings
