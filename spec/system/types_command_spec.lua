-- `kubelua types`: classes of kinds for editors.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local checks = require "spec.support.checks"
local cluster = require "spec.support.cluster"
local read_stubs = require "tool.source.stubs"

local WIDGETS = "spec/planted/widgets.yaml"

describe("kubelua types", function()
  local place
  before_each(function() place = checks.new "types" end)
  after_each(function() place:remove() end)

  -- The classes that it prints, as `kubelua check` reads stubs.
  local function classes(...)
    local code, out, err = place:run(...)
    assert.are.same({ 0, "" }, { code, err })
    return read_stubs({ out }).classes, out
  end

  -- A simulator with the kind of gadgets.
  local function sim_with_gadgets()
    local sim = cluster.sim {}
    local gloss = { type = "object", properties = { gloss = { type = "string", enum = { "matt", "silk" } } } }
    local schema = { type = "object", properties = { spec = gloss, status = { type = "object" } } }
    sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
      metadata = { name = "gadgets.example.com" },
      spec = {
        group = "example.com", scope = "Namespaced",
        names = { plural = "gadgets", singular = "gadget", kind = "Gadget" },
        versions = { {
          name = "v1", served = true, storage = true, subresources = { status = {} },
          schema = { openAPIV3Schema = schema },
        } },
      },
    })
    return sim
  end

  it("prints the kinds of Kubernetes, or those that are named", function()
    local all = classes()
    assert.are.equal("k8s.Object", all["core.v1.Pod"].parent)
    assert.are.equal("core.v1.Container", all["core.v1.PodSpec"].fields.containers.type.of.name)
    assert.truthy(all["apps.v1.Deployment"] and all["rbac.v1.ClusterRole"])
    local some, out = classes("po", "deployments.apps", "Secret")
    assert.truthy(some["core.v1.Pod"] and some["apps.v1.Deployment"] and some["core.v1.Secret"])
    assert.is_nil(some["core.v1.Service"])
    assert.truthy(out:find('---@field restartPolicy? "Always"|', 1, true))
  end)

  it("prints kinds of definitions", function()
    local own = classes("--from", WIDGETS)
    assert.are.equal("k8s.Object", own["example.com.v1.Widget"].parent)
    local paint = own["example.com.v1.Widget.spec.paint"].fields
    assert.are.same({ "red", "blue" }, { paint.color.type[1].value, paint.color.type[2].value })
    assert.are.equal("array", own["example.com.v1.Widget.spec"].fields.parts.type.tag)
  end)

  it("prints kinds of a server, with the names that the others have", function()
    local sim = cluster.sim {}
    local theirs = classes("--from", "cluster", "-s", sim.server, "deployments", "pods")
    local own = classes("deployments", "pods")
    for name, class in pairs(own) do
      for field in pairs(class.fields) do
        local other = theirs[name]
        assert.truthy(other and other.fields[field], name .. "." .. field)
      end
    end
  end)

  it("takes documents that are no schemas for what they have", function()
    place:write("odd.json", [[{ "openapi": "3.0.0", "components": { "schemas": {
      "a": 5, "b": { "x-kubernetes-group-version-kind": [ 7 ] }, "c": [],
      "io.x.W": { "x-kubernetes-group-version-kind": [ { "group": "x.io", "version": "v1", "kind": "W" } ],
        "properties": { "spec": 7, "a-b": { "type": "integer" }, "metadata": { "$ref": "#/x/a" },
          "list": { "type": "array" }, "o": { "properties": [ 1 ] } } } } } }]])
    local own, out = classes("--from", place.path .. "/odd.json")
    assert.are.equal("number", own["x.io.v1.W"].fields["a-b"].type.tag)
    assert.truthy(out:find("---@field list? any[]\n", 1, true))
    place:write("none.json", '{ "openapi": "3.0.0", "components": 5 }')
    assert.are.same({}, (classes("--from", place.path .. "/none.json")))
  end)

  it("says what a server does not have", function()
    local p = cluster.kubelua { "types", "--from", "cluster", "-s", cluster.sim({}).server .. "/nothing" }
    assert.are.equal(2, p:wait())
    assert.truthy(p.streams.err.text:find("kubelua types: GET /openapi/v3: ", 1, true), p.streams.err.text)
  end)

  it("says what is wrong", function()
    local function refuses(message, ...)
      local code, out, err = place:run(...)
      assert.are.same({ 2, "" }, { code, out })
      assert.truthy(err:find(message, 1, true), err)
    end
    refuses('kubelua types: no kind "podz", did you mean "pods"?', "podz")
    refuses('no kind "ingress-rule" in ' .. WIDGETS .. "\n", "--from", WIDGETS, "ingress-rule")
    refuses('no kind "pods" in ' .. WIDGETS, "--from", WIDGETS, "pods")
    place:write("none.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n")
    refuses("no CustomResourceDefinitions and no OpenAPI v3 document", "--from", place.path .. "/none.yaml")
    refuses("missing.yaml", "--from", place.path .. "/missing.yaml")
    refuses("127.0.0.1:1", "--from", "cluster", "-s", "http://127.0.0.1:1")
  end)

  it("agrees with check about fields, those of custom kinds of a server too", function()
    local sim = sim_with_gadgets()
    local own = classes("--from", "cluster", "-s", sim.server, "gadgets")["example.com.v1.Gadget.spec"]
    assert.truthy(own.fields.gloss)
    place:write("a.lua", [[
local k8s = require "k8s"
k8s.informer("gadgets.example.com"):on_add(function(gadget)
  print(gadget.spec.gloss == "silk", gadget.spec.glos, gadget.spec.gloss == "silkk")
end)
]])
    local checked = cluster.kubelua { "check", "-f", place.path .. "/a.lua", "-s", sim.server }
    assert.are.equal(1, checked:wait())
    local out = checked.streams.out.text
    local lines = select(2, out:gsub("\n", ""))
    assert.are.equal(2, lines, out)
    local unknown = 'a.lua:3: error: gadgets.example.com have no field spec.glos, did you mean "gloss"?'
    assert.truthy(out:find(unknown, 1, true))
    assert.truthy(out:find('spec.gloss is never "silkk", did you mean "silk"?', 1, true))
  end)

  it("agrees with check about fields of built-in kinds", function()
    local own, script = classes(), { 'local k8s = require "k8s"' }
    for kind, class in pairs { pods = "core.v1.PodSpec", deployments = "apps.v1.DeploymentSpec" } do
      script[#script + 1] = ('k8s.informer("%s"):on_add(function(o)'):format(kind)
      for field in pairs(own[class].fields) do script[#script + 1] = ("  print(o.spec.%s)"):format(field) end
      script[#script + 1] = "end)"
    end
    place:write("a.lua", table.concat(script, "\n"))
    local checked = cluster.kubelua { "check", "-f", place.path .. "/a.lua" }
    assert.are.same({ 0, "" }, { checked:wait(), checked.streams.out.text })
    assert.is_true(#script > 40)
  end)
end)
