-- k8s.each_kind and informers of a running script on the real API server: definitions that come, go and come back, by
-- an account that has the roles that `kubelua rbac` prints and no others.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local crds = require "spec.support.crds"
local rights = require "spec.support.rights"

local script = [[
  local k8s = require "k8s"
  k8s.reads { "*.example.com:watch", "configmaps:watch" }
  k8s.each_kind({ group = "*.example.com", verb = "watch" }, function(kind)
    local objects = k8s.informer(kind.name)
    objects:on_add(function(object) print("add " .. kind.name .. " " .. object:name()) end)
    local ok, err = objects:wait_for_sync()
    print((ok and "synced " or "ended " .. tostring(err)) .. kind.name .. " " .. kind.version)
  end, { every = "1s" })
  k8s.main(function()
    local maps = k8s.informer("configmaps", { namespace = "kube-system" })
    print("maps " .. tostring(maps:wait_for_sync()) .. " " .. tostring(maps:lister():count() > 0))
    maps:stop()
  end)
]]

describe("each kind of the real API server", function()
  local nobody, api

  setup(function()
    nobody = rights.start(script)
    api = nobody.server:api()
    crds.create(api, "widgets", "example.com")
    crds.create(api, "gadgets", "shop.example.com")
  end)
  after_each(cluster.stop_all)
  teardown(function()
    if nobody then nobody:stop() end
  end)

  it("is followed with the permissions that kubelua rbac prints", function()
    local json = rights.with_file(nobody:printed(), function(file)
      return nobody.server:kubectl("create --dry-run=client -o json -f " .. file)
    end)
    local role = cjson.decode(json)
    for _, rule in ipairs(role.rules) do
      assert.are.equal("list watch", table.concat(rule.verbs, " "))
      assert.are_not.equal("*", rule.apiGroups[1])
    end
    nobody:put(role, role.rules)
    nobody:bind(role)
    await(function() return nobody.server:api("nobody"):curl("GET", crds.objects("gadgets", "shop.example.com")) == 200
    end, "the permission", 30)
    crds.add(api, "widgets", "example.com", "w1")
    local engine = cluster.run("--kubeconfig=" .. nobody.server.kubeconfig, nobody.path,
      { "--context", "nobody", "--informer-grace", "0" })
    await(function()
      local out = engine:out()
      return out:find("maps true true", 1, true) and out:find("add widgets.example.com w1", 1, true)
        and out:find("synced widgets.example.com v1", 1, true)
        and out:find("synced gadgets.shop.example.com v1", 1, true)
    end, "the kinds that are there", 60)
    crds.remove(api, "gadgets", "shop.example.com")
    crds.create(api, "parts", "example.com")
    engine:wait_line("^synced parts.example.com v1$", 60)
    crds.create(api, "gadgets", "shop.example.com")
    crds.add(api, "gadgets", "shop.example.com", "g1")
    engine:wait_line("^add gadgets.shop.example.com g1$", 60)
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match(" errors=0 ", engine:err(), 1, true)
  end)
end)
