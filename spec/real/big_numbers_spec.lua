-- Integers beyond 64 bits in custom resources of the real API server, which writes large doubles as integers (H-19).
local apiserver = require "spec.support.apiserver"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local SHOPS = "/apis/big.example.com/v1/namespaces/default/shops"

local CRD = {
  apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
  metadata = { name = "shops.big.example.com" },
  spec = {
    group = "big.example.com", scope = "Namespaced",
    names = { plural = "shops", singular = "shop", kind = "Shop", listKind = "ShopList" },
    versions = { {
      name = "v1", served = true, storage = true,
      schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } },
    } },
  },
}

local MANIFEST = [[
apiVersion: big.example.com/v1
kind: Shop
metadata: { name: big, namespace: default }
numbers: [18446744073709551615, 1e20, -99999999999999999999, 9223372036854775807]
]]

local SHOW = [[
  local function show(numbers)
    local words = {}
    for i, n in ipairs(numbers) do words[i] = type(n) == "number" and ("%.0f"):format(n) or tostring(n) end
    print(table.concat(words, " "))
  end
]]
local SHOWN = "18446744073709551616 100000000000000000000 -100000000000000000000 9223372036854775807"

describe("integers beyond 64 bits of the real API server", function()
  local server

  setup(function()
    server = apiserver.start()
    server:apply(CRD)
    await(function() return server:api():curl("GET", SHOPS) == 200 end, "the kind", 60)
    local file = temp.name()
    temp.write(file, MANIFEST)
    server:kubectl("apply --filename " .. file)
    os.remove(file)
  end)
  teardown(function() server:stop() end)
  after_each(cluster.stop_all)

  it("are in caches, whatever their fields, and in live reads (H-19)", function()
    local _, body = server:api():curl("GET", SHOPS .. "/big")
    assert.has_match("18446744073709552000", body, 1, true)
    local script = SHOW .. [[
      local k8s = require "k8s"
      k8s.reads { "shops.big.example.com:*" }
      local all = k8s.informer "shops.big.example.com"
      local part = k8s.informer("shops.big.example.com", { fields = { "metadata.labels" } })
      k8s.main(function()
        show(all:lister():get("default/big").numbers)
        print(part:lister():get("default/big"):name())
        show(k8s.get("shops.big.example.com", "default/big").numbers)
        show(k8s.list("shops.big.example.com")[1].numbers)
      end)
    ]]
    local engine = cluster.kubelua { "exec", "--kubeconfig=" .. server.kubeconfig, cluster.script(script) }
    assert.are.equal(0, engine:wait(60), engine:report())
    assert.are.equal(SHOWN .. "\nbig\n" .. SHOWN .. "\n" .. SHOWN .. "\n", engine:out())
  end)

  it("are written back as they were read (H-19)", function()
    local script = SHOW .. [[
      local k8s = require "k8s"
      k8s.reads { "shops.big.example.com:get" }
      k8s.writes { "shops.big.example.com:update" }
      k8s.main(function()
        local shop = k8s.get("shops.big.example.com", "default/big"):copy()
        shop.more = shop.numbers
        assert(k8s.update(shop))
        show(k8s.get("shops.big.example.com", "default/big").more)
      end)
    ]]
    local engine = cluster.kubelua { "exec", "--kubeconfig=" .. server.kubeconfig, cluster.script(script) }
    assert.are.equal(0, engine:wait(60), engine:report())
    assert.are.equal(SHOWN .. "\n", engine:out())
  end)
end)
