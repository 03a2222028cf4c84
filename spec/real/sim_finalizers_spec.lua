-- Which finalizers a kind takes: of most kinds a server refuses those without a domain that are not Kubernetes' own.
-- The simulator and the real server say the same.
local both_servers = require "spec.support.both_servers"
local cjson = require "cjson"
local smallest = require "spec.support.smallest_objects"

-- Of the kinds that are not among the smallest objects.
local function others()
  local admission, all = "admissionregistration.k8s.io/v1", {}
  local function add(version, plural, kind, name, fields)
    local object = cjson.decode("{" .. fields .. "}")
    object.apiVersion, object.kind, object.metadata = version, kind, { name = name }
    all[#all + 1] = { name = kind, path = "/apis/" .. version .. "/" .. plural, object = object }
  end
  local matches = [["matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations":
    ["CREATE"], "resources": ["pods"]}]}]]
  add(admission, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", "a", "")
  add(admission, "mutatingadmissionpolicies", "MutatingAdmissionPolicy", "a", [["spec": {]] .. matches .. [[,
    "reinvocationPolicy": "Never", "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression":
    "[JSONPatch{op: 'remove', path: '/x'}]"}}]}]])
  add(admission, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", "a",
    [["spec": {"policyName": "a"}]])
  add("apiregistration.k8s.io/v1", "apiservices", "APIService", "v1.a.b", [["spec": {"group": "a.b", "version": "v1",
    "groupPriorityMinimum": 100, "versionPriority": 100, "service": {"name": "s", "namespace": "n"}}]])
  add("apiextensions.k8s.io/v1", "customresourcedefinitions", "CustomResourceDefinition", "as.b.c", [["spec": {
    "group": "b.c", "scope": "Cluster", "names": {"plural": "as", "kind": "A"}, "versions": [{"name": "v1",
    "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}]])
  add("networking.k8s.io/v1", "ipaddresses", "IPAddress", "10.9.8.7", [["spec": {"parentRef": {"resource": "services",
    "name": "s", "namespace": "default"}}]])
  all[#all + 1] = { name = "Event of events.k8s.io", path = "/apis/events.k8s.io/v1/namespaces/default/events",
    object = { apiVersion = "events.k8s.io/v1", kind = "Event", metadata = { name = "new" }, reason = "R", action = "a",
      regarding = { kind = "Pod", name = "p", namespace = "default" }, type = "Normal", reportingController = "a/b",
      reportingInstance = "i", eventTime = "2026-01-01T00:00:00.000000Z" } }
  return all
end

local PAIR = { "orphan", "foregroundDeletion" }
local NEW, CHANGED = { { "x" }, { "a b" } }, { { "x" }, { "kubernetes", "a/b", "y" }, { "" }, PAIR }

-- A change of revisions with data is refused whatever it changes (docs/sim.md).
local STAYS = { ControllerRevision = true }

-- What a server says of the request: "201", or its code, message and causes.
local function outcome(api, method, path, object)
  local code, text = api:curl(method, path, object, method == "PATCH" and "application/merge-patch+json" or nil)
  if code < 300 then return code end
  local status = cjson.decode(text)
  local lines = { code .. " " .. status.message }
  for _, cause in ipairs((status.details or {}).causes or {}) do
    lines[#lines + 1] = ("%s %s: %s"):format(cause.reason, cause.field, cause.message)
  end
  return table.concat(lines, "\n")
end

describe("finalizers are taken as by a real server:", function()
  local both = both_servers.begin(setup, teardown)

  local function same(...)
    local wanted = outcome(both.real:api(), ...)
    assert.equal(wanted, outcome(both.sim.api, ...))
    return wanted
  end

  local function check(case)
    local object = cjson.decode(cjson.encode(case.object))
    local place = case.path .. "/" .. object.metadata.name
    for _, names in ipairs(NEW) do
      object.metadata.finalizers = names
      same("POST", case.path .. "?dryRun=All", object)
    end
    object.metadata.finalizers = { "a.b/c" }
    assert.equal(201, same("POST", case.path, object))
    if STAYS[case.name] then return end
    local has_status = both.real:api():curl("GET", place .. "/status") == 200
    for _, names in ipairs(CHANGED) do
      local patch = { metadata = { finalizers = names } }
      same("PATCH", place .. "?dryRun=All", patch)
      if has_status then same("PATCH", place .. "/status?dryRun=All", patch) end
    end
  end

  for _, cases in ipairs { smallest, others() } do
    for _, case in ipairs(cases) do
      it(case.name, function() check(case) end)
    end
  end
end)
