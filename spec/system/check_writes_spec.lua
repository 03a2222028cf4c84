-- `kubelua check` of what scripts write and read live: declarations of k8s.ensure, bodies of YAML and JSON patches,
-- subresources, and methods that are read as values.
local checks = require "spec.support.checks"

describe("kubelua check reads writes", function()
  local place
  before_each(function() place = checks.new() end)
  after_each(function() place:remove() end)

  -- The findings of a command's function, each without its place, by its line: the first is 1.
  local function findings(...)
    place:write("a.lua", [[
local k8s = require "k8s"
local pods = k8s.informer "pods"
local deployments = k8s.informer "deployments"
k8s.reads { "pods:list", "configmaps:get" }
k8s.writes { "*:*" }
k8s.command("go", function(args)
]] .. table.concat({ ... }, "\n") .. "\nend)\n")
    local _, out = place:run("-f", place.path)
    local found = {}
    for line, text in out:gmatch "a%.lua:(%d+): %l+: ([^\n]*)" do
      local at = tonumber(line) - 6
      found[at] = found[at] and found[at] .. "\n" .. text or text
    end
    return found
  end

  it("of k8s.ensure, which reads and creates, too", function()
    place:write("a.lua", [[
local k8s = require "k8s"
k8s.writes { "services:patch" }
k8s.main(function()
  print(k8s.ensure { apiVersion = "v1", kind = "Service", metadata = { name = "a", namespace = "b" } })
end)
]])
    local code, out = place:run("-f", place.path)
    assert.are.equal('a.lua:4: error: k8s.ensure is not declared: add k8s.reads { "services:get" }\n'
      .. 'a.lua:4: error: k8s.ensure is not declared: add k8s.writes { "services:create" }\n', out)
    assert.are.equal(1, code)
  end)

  it("of functions that need a declaration, where there is none", function()
    for name, add in pairs { ensure = 'k8s.reads { "KIND:get" }', scale = 'k8s.writes { "KIND/scale:patch" }',
      evict = 'k8s.writes { "KIND/eviction:create" }', restart = 'k8s.writes { "KIND:patch" }' } do
      place:write("a.lua", ('local k8s = require "k8s"\nk8s.main(function()\n  print(k8s.%s(%s, 1))\nend)\n')
        :format(name, 'k8s.json.decode("{}")'))
      local _, out = place:run("-f", place.path)
      local wanted = ("a.lua:3: error: k8s.%s is not declared for any kind: add "):format(name)
      assert.has_match(wanted, out, 1, true)
      assert.has_match(add, out, 1, true)
    end
  end)

  it("with subresources that the kind has", function()
    local found = findings(
      'print(k8s.scale({ kind = "ConfigMap", name = "a", namespace = args.ns }, 1))',
      'print(k8s.restart({ kind = "CronJob", name = "a", namespace = args.ns }))',
      'print(k8s.patch({ kind = "Pod", name = "a" }, { status = { phase = "Failed" } }, { subresource = "statuss" }))',
      'print(k8s.scale({ kind = "Deployment", name = "a" }, 1), k8s.restart { kind = "DaemonSet", name = "a" })'
    )
    assert.are.same({
      "k8s.scale: configmaps have no subresource scale", "k8s.restart: cronjobs.batch have no pods to restart",
      'k8s.patch: pods have no subresource statuss, did you mean "status"?',
    }, found)
  end)

  it("of a status that an update leaves as it was", function()
    local found = findings(
      'local deployment = deployments:lister():get "a/b"',
      "if not deployment then return end",
      "local copy, other = deployment:copy(), deployment:copy()",
      "copy.status.replicas = 3",
      "print(k8s.update(copy))",
      "other.status.replicas = 3 other.spec.paused = true",
      'print(k8s.update(other), k8s.update(other, { subresource = "status" }))'
    )
    assert.are.same({ [5] = 'status is not changed without { subresource = "status" }' }, found)
  end)

  -- Findings of an update of a copy, behind these lines with it.
  local function updated(...)
    return findings('local deployment = deployments:lister():get "a/b"', "if not deployment then return end",
      "local copy = deployment:copy()", table.concat({ ... }, " "), "print(k8s.update(copy))")[5]
  end

  it("but not of a status that goes, or that others write", function()
    local is_lost = 'status is not changed without { subresource = "status" }'
    local save = 'local function save(one) print(k8s.update(one, { subresource = "status" })) end '
    assert.are.equal(is_lost, updated "copy.status.replicas = 1")
    assert.is_nil(updated "copy.spec.paused = true")
    assert.is_nil(updated "copy.status = nil copy.status = k8s.null")
    assert.is_nil(updated(save .. "copy.status.replicas = 1 save(copy) copy.spec.paused = true"))
    assert.is_nil(updated("copy.status.replicas = 1 local saved = copy",
      'print(k8s.update(saved, { subresource = "status" }))'))
    assert.is_nil(updated "copy.status.replicas = 1 local again = { copy } print(again)")
    assert.is_nil(updated("copy.status.replicas = 1",
      'local function write() return k8s.update(copy, { subresource = "status" }) end print(write())'))
    -- Another variable of the name saves nothing of this one.
    assert.are.equal(is_lost, updated(save .. "do local copy = copy:copy() save(copy) end copy.status.replicas = 1"))
  end)

  it("as JSON patches", function()
    local found = findings(
      'local pod, json = { kind = "Deployment", name = "a" }, { type = "json" }',
      'print(k8s.patch(pod, { { op = "replce", path = "/spec/replicas", value = 1 } }, json))',
      'print(k8s.patch(pod, { { op = "replace", path = "/spec/replcias", value = 1 } }, json))',
      'print(k8s.patch(pod, { { op = "replace", path = "spec.replicas", value = 1 } }, json))',
      'print(k8s.patch(pod, { { op = "add", path = "/spec/template/spec/containers/image", value = 1 } }, json))',
      'print(k8s.patch(pod, { { op = "add", path = "/spec/replicas" }, { op = "remove" } }, json))',
      'print(k8s.patch(pod, { { op = "move", path = "/spec/replicas", form = "/spec/paused" } }, json))',
      'print(k8s.patch(pod, { op = "remove", path = "/spec/replicas" }, json))',
      'print(k8s.patch(args.pod, { { op = "remov", path = "/a" } }, json))',
      'print(k8s.patch(pod, { { op = "add", path = "/metadata/labels/a.b~1c", value = "x" },',
      '  { op = "test", path = "/spec/template/spec/containers/0/image", value = "b" },',
      '  { op = "remove", path = "/status" },',
      '  { op = "add", path = "/spec/template/spec/tolerations/-", value = {} } }, json))'
    )
    assert.has_match('a JSON patch has no operation "replce", did you mean "replace"?', found[2], 1, true)
    assert.has_match('path "/spec/replcias": deployments.apps have no field replcias, did you mean', found[3], 1, true)
    assert.has_match('path "spec.replicas" is not a path of a JSON patch', found[4], 1, true)
    assert.has_match("image follows a list", found[5], 1, true)
    assert.are.equal('an operation of a JSON patch lacks path\n'
      .. 'the operation "add" of a JSON patch lacks value', found[6])
    assert.has_match('a JSON patch has no form, did you mean "from"?', found[7], 1, true)
    assert.has_match("a JSON patch is an array of operations", found[8], 1, true)
    assert.has_match('no operation "remov"', found[9], 1, true)
    for i = 10, 13 do assert.is_nil(found[i]) end
  end)

  it("as templates and YAML", function()
    local found = findings(
      "local values = { name = 'a', size = 3, spec = {} }",
      'local one = k8s.template("apiVersion: v1\\nkind: Service\\nspec: { sellector: {} }", values)',
      'local two = k8s.template("apiVersion: apps/v1\\nkind: Deployment\\nspec: \'${spec}\'", values)',
      'two.metadata = { namespace = "shop" } two.spec.replcas = 1',
      'print(k8s.ensure(one), k8s.create(two), two.metadata.labels.app)',
      'print(k8s.yaml.decode "apiVersion: v1\\nkind: Pod\\nmetadata: { name: a }\\nspec: { hostNetwork: \'yes\' }")',
      'print(k8s.template("apiVersion: v1\\nkind: \'${kind}\'\\nspce: 1", { kind = "Pod" }), k8s.yaml.decode "a: 1")',
      'print(k8s.template("apiVersion: apps/v1\\nkind: Deployment\\nspec:\\n  replicas: ${size}", values))'
    )
    assert.are.equal('services have no field spec.sellector, did you mean "selector"?', found[2])
    assert.are.equal('deployments.apps have no field spec.replcas, did you mean "replicas"?', found[4])
    assert.are.equal('k8s.ensure is not declared: add k8s.reads { "services:get" }', found[5])
    assert.are.equal("spec.hostNetwork must be a boolean, not a string", found[6])
    assert.is_nil(found[3] or found[7] or found[8])
  end)

  it("as field selectors that the server knows", function()
    local found = findings(
      'print(k8s.list("pods", { field_selector = "spec.nodName=x" }))',
      'print(k8s.list("pods", { field_selector = "spec.nodeName=x,status.phase!=Failed,metadata.name=a" }))',
      'print(k8s.list("widgets.example.com", { field_selector = "spec.color=red" }))'
    )
    assert.are.equal('field selector "spec.nodName=x": pods are not selected by spec.nodName, '
      .. 'did you mean "spec.nodeName"?', found[1])
    assert.is_nil(found[2] or (found[3] or ""):match "field selector")
  end)

  it("and what a call, a loop or a field cannot be", function()
    local found = findings(
      'print(k8s.get("pods", "a/b", { namespace = "c" }), k8s.now(1))',
      "for _, one in deployments:lister():list_all() do print(one) end",
      "local count = deployments:lister():count()",
      "print(count.total)",
      'print(k8s.finalizers.add(args.object, "mine"), k8s.finalizers.remove(args.object, "mine"))',
      'print(k8s.finalizers.add(args.object, "example.org/mine"), k8s.finalizers.add(args.object, "orphan"))',
      'print(k8s.finalizers.add(args.object, "kubernetes"), k8s.finalizers.add(args.object, "foregroundDeletion"))',
      "for one in pods:lister():list() do print(one) end",
      "for i, one in ipairs(deployments:lister():list_all()) do print(i, one) end"
    )
    assert.has_match("k8s.get takes 2 arguments", found[1], 1, true)
    assert.has_match("k8s.now takes no arguments", found[1], 1, true)
    assert.are.equal("the loop is over an array, which cannot be called: write ipairs(...)", found[2])
    assert.are.equal("a number has no fields: .total", found[4])
    assert.are.equal('"mine" is not a finalizer: it has the form example.org/name', found[5])
    assert.is_nil(found[3] or found[6] or found[7] or found[8] or found[9])
  end)

  it("and methods that are read as values", function()
    local found = findings(
      "local get, lister = pods:lister().get, pods:lister()",
      'local pod = get(lister, "a/b")',
      "print(pod and pod.spec.nodeName, pod and pod.spec.nodName)",
      "local list = k8s.list",
      'print(list("podz"), get(lister, 5))'
    )
    assert.has_match("nodeName", found[3], 1, true)
    assert.has_match("podz", found[5], 1, true)
    assert.has_match("key must be string, not number", found[5], 1, true)
    assert.is_nil(found[1] or found[2] or found[4])
  end)
end)
