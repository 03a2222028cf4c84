-- `kubelua check` of fields that objects may lack: reads that raise an error for some objects only.
local checks = require "spec.support.checks"

describe("kubelua check warns of fields that objects may lack", function()
  local place
  before_each(function() place = checks.new() end)
  after_each(function() place:remove() end)

  -- The findings of a handler of pods, each without its place, by its line: the first is 1.
  local function findings(lines, ...)
    place:write("a.lua", 'local k8s = require "k8s"\nlocal pods = k8s.informer "pods"\npods:on_add(function(pod)\n'
      .. table.concat(lines, "\n") .. "\nend)\n")
    local _, out = place:run("-f", place.path, ...)
    local found = {}
    for line, text in out:gmatch "a%.lua:(%d+): %l+: ([^\n]*)" do found[tonumber(line) - 3] = text end
    return found
  end

  local function absent(path)
    return "pods may lack " .. path .. ", which is nil then: check it, or write (... or {})"
  end

  it("and of elements that no array has, and loops that call what they are over", function()
    local found = findings {
      "print(pod.spec.containers[0])",
      "for _, one in pod.spec.containers do print(one) end",
      "for _, one in pod.metadata.labels do print(one) end",
      "print(pod:copy().spec.containers[0].name, pod.spec.containers[1])",
      "for _, one in ipairs(pod.spec.containers) do print(one) end",
      "for name, one in pairs(pod.metadata.labels or {}) do print(name, one) end",
      "local counts = {} counts[0] = 1 print(counts[0])",
    }
    local first = "[0] is nil: the first element of an array is [1]"
    assert.are.same({
      first, "the loop is over an array, which cannot be called: write ipairs(...)",
      "the loop is over a map, which cannot be called: write pairs(...)", first,
    }, found)
  end)

  it("where one is indexed, walked over, counted, or gets a variable", function()
    local found = findings {
      "print(pod.status.containerStatuses[1])",
      "for _, one in ipairs(pod.spec.initContainers) do print(one) end",
      "print(#pod.metadata.ownerReferences)",
      "local labels = pod.metadata.labels",
      "print(labels.app)",
      "print(pod.spec.containers[1].securityContext.privileged)",
      'print((pod:get "spec.affinity").nodeAffinity)',
      "local copy = pod:copy() copy.metadata.annotations.seen = 'yes'",
    }
    assert.are.same({
      absent "status.containerStatuses", absent "spec.initContainers", absent "metadata.ownerReferences",
      [5] = absent "metadata.labels", [6] = absent "spec.containers[*].securityContext",
      [7] = absent "spec.affinity", [8] = absent "metadata.annotations",
    }, found)
  end)

  it("but not where the script looks, or sets it, or what each object has", function()
    local found = findings {
      "if pod.status.containerStatuses then print(pod.status.containerStatuses[1]) end",
      "if pod.spec.affinity == nil then return end print(pod.spec.affinity.podAffinity ~= nil)",
      "for _, one in ipairs(pod.spec.initContainers or {}) do print(one) end",
      "local owners = pod.metadata.ownerReferences",
      "if owners then print(#owners, owners[1]) end",
      "local app = pod.metadata.labels and pod.metadata.labels.app",
      "local copy = pod:copy() copy.metadata.annotations = { a = 'b' } copy.metadata.annotations.c = app",
      "print(pod.spec.containers[1].image, pod.status.phase, pod.metadata.name:upper(), pod.spec.volumes[1])",
    }
    assert.are.same({}, found)
  end)

  it("nor where a script looks at it by its number of items, its path, its type or assert", function()
    local found = findings {
      "for i = 1, #(pod.status.containerStatuses or {}) do print(pod.status.containerStatuses[i].name) end",
      'if pod:get "spec.affinity.nodeAffinity" then',
      "  print(pod.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution ~= nil)",
      "end",
      'if not k8s.object.get(pod, "status.initContainerStatuses[0].ready") then return end',
      "print(pod.status.initContainerStatuses[1])",
      "assert(pod.metadata.ownerReferences)",
      "print(pod.metadata.ownerReferences[1])",
      'if type(pod.metadata.annotations) == "table" then print(pod.metadata.annotations.a) end',
      'local name = assert(pod:get "status.conditions")[1].type .. pod.status.conditions[1].type',
      "print(name, pod.spec.dnsConfig.options)",
    }
    assert.are.same({ [11] = absent "spec.dnsConfig" }, found)
  end)

  it("nor of what a server demands or writes", function()
    place:write("a.lua", [[
local k8s = require "k8s"
k8s.informer("persistentvolumeclaims"):on_add(function(pvc)
  print(pvc.spec.resources.requests.storage, pvc.spec.accessModes[1])
end)
k8s.informer("persistentvolumes"):on_add(function(pv) print(pv.spec.capacity.storage, pv.spec.accessModes[1]) end)
k8s.informer("deployments"):on_add(function(one)
  print(one.spec.template.metadata.labels.app, one.spec.selector.matchLabels.app)
end)
k8s.informer("statefulsets"):on_add(function(one)
  print(one.spec.template.metadata.labels.app, one.spec.selector.matchLabels.app)
end)
k8s.informer("daemonsets"):on_add(function(one)
  print(one.spec.template.metadata.labels.app, one.spec.selector.matchLabels.app)
end)
k8s.informer("replicasets"):on_add(function(one)
  print(one.spec.template.metadata.labels.app, one.spec.selector.matchLabels.app)
end)
k8s.informer("jobs"):on_add(function(one)
  print(one.spec.template.metadata.labels.app, one.spec.selector.matchLabels.app)
end)
k8s.informer("cronjobs"):on_add(function(one) print(one.spec.jobTemplate.metadata.labels.app) end)
]])
    local _, out = place:run("-f", place.path)
    assert.has_match("^a.lua:21: warning: cronjobs.batch may lack spec.jobTemplate.metadata[^\n]*\n$", out)
  end)

  it("and not of objects that a condition chooses, or that the script names", function()
    place:write("a.lua", [[
local k8s = require "k8s"
local REASON = "status.containerStatuses[*].state.waiting.reason"
local maps = k8s.informer "configmaps"
k8s.informer("pods"):add_event_handler {
  where = { [REASON] = { "ErrImagePull" } },
  OnAdd = function(pod) print(pod.status.containerStatuses[1].state.waiting.reason) end,
}
k8s.main(function()
  local map = maps:lister():get "shop/settings"
  print(map and map.data.url)
end)
]])
    local code, out = place:run("-f", place.path)
    assert.are.same({ 0, "" }, { code, out })
  end)

  it("of custom kinds, as their definitions say", function()
    place:write("crd.yaml", [[
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: jars.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: jars, singular: jar, kind: Jar }
  versions:
  - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, properties: {
      spec: { type: object, required: [lid], properties: {
        lid: { type: object, properties: { color: { type: string } } },
        size: { type: object, default: {}, properties: { liters: { type: integer } } },
        labels: { type: array, items: { type: string } } } },
      status: { type: object, properties: { full: { type: boolean } } } } } } }
]])
    place:write("a.lua", [[
require("k8s").informer("jars.example.com"):on_add(function(jar)
  print(jar.spec.lid.color, jar.spec.size.liters)
  print(jar.spec.labels[1])
  print(jar.status.full)
end)
]])
    local _, out = place:run("-f", place.path .. "/a.lua", "--against", place.path .. "/crd.yaml")
    assert.are.equal("a.lua:3: warning: jars.example.com may lack spec.labels, which is nil then: check it, or write "
      .. "(... or {})\na.lua:4: warning: jars.example.com may lack status, which is nil then: check it, or write "
      .. "(... or {})\n", out)
  end)
end)
