-- An operator of custom resources within the default limits: its writes wait for their turns, and none fails (E-4).
local api = require "spec.support.api"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local COUNT, SECONDS, WRITES = 300, 30, 1200
local gadgets = "/apis/operator.example.com/v1/namespaces/default/gadgets"

-- A child that is created, without a look at the cache, one that is applied each time, and a status.
local OPERATOR = [[
  local k8s = require "k8s"
  k8s.writes { "configmaps:create", "gears.operator.example.com:apply", "gadgets.operator.example.com/status:patch" }

  local function child(gadget, object)
    object.metadata = {
      name = gadget:name(), namespace = gadget:namespace(),
      ownerReferences = {
        {
          apiVersion = gadget.apiVersion, kind = gadget.kind, name = gadget:name(), uid = gadget:uid(),
          controller = true,
        },
      },
    }
    return object
  end

  local controller
  controller = k8s.controller {
    of = "gadgets.operator.example.com", owns = { "gears.operator.example.com", "configmaps" }, workers = 4,
    reconcile = function(key)
      local gadget = controller.informer:lister():get(key)
      if not gadget then return end
      local size = gadget.spec.size
      local ok, err = k8s.create(child(gadget, { apiVersion = "v1", kind = "ConfigMap", data = { a = "b" } }))
      if not ok and err.reason ~= "AlreadyExists" then return nil, err end
      local gear = child(gadget, { apiVersion = gadget.apiVersion, kind = "Gear", spec = { teeth = size } })
      ok, err = k8s.apply(gear, gear, { force = true })
      if not ok then return nil, err end
      if gadget:get "status.size" ~= size then
        return k8s.patch(gadget, { status = { size = size } }, { subresource = "status" })
      end
    end,
  }
]]

local function crd(kind)
  local plural = kind:lower() .. "s"
  return {
    apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
    metadata = { name = plural .. ".operator.example.com" },
    spec = {
      group = "operator.example.com", scope = "Namespaced",
      names = { plural = plural, singular = kind:lower(), kind = kind, listKind = kind .. "List" },
      versions = { {
        name = "v1", served = true, storage = true, subresources = { status = {} },
        schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } },
      } },
    },
  }
end

describe("an operator", function()
  after_each(cluster.stop_all)

  it(("of %d custom resources is done in %d s, without a failed write"):format(COUNT, SECONDS), function()
    local sim = cluster.sim()
    for _, kind in ipairs { "Gadget", "Gear" } do
      sim.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd(kind))
    end
    await(function() return sim.api:curl("GET", gadgets) == 200 end, "the kind", 10)
    for i = 1, COUNT do
      sim.api:create(gadgets, {
        apiVersion = "operator.example.com/v1", kind = "Gadget", metadata = { name = "g" .. i }, spec = { size = 3 },
      })
    end
    local socket = temp.name() .. ".sock"
    local engine = cluster.run(sim.server, cluster.script(OPERATOR),
      { "--admin-socket", socket, "--metrics-bind-address", "127.0.0.1:0" })
    local metrics = api.new { server = "http://" .. engine:wait_error 'Serving metrics" address="([^"]+)"' }
    local function done()
      local count = 0
      for _, gadget in ipairs(sim.api:get(gadgets).items) do
        if gadget.status and gadget.status.size == 3 then count = count + 1 end
      end
      return count == COUNT
    end
    await(done, function() return "all of them" .. engine:report() end, SECONDS)
    local status = cluster.kubelua { "status", "--admin-socket", socket }
    assert.equal(0, status:wait())
    assert.not_matches("writes failed", status:out())
    local code, page = metrics:curl("GET", "/metrics")
    assert.equal(200, code)
    local sent = 0
    for count in page:gmatch "kubelua_writes_total{[^}]*} (%d+)" do sent = sent + tonumber(count) end
    assert.is_true(sent >= 3 * COUNT and sent <= WRITES, sent .. " writes")
    cluster.terminate(engine)
  end)
end)
