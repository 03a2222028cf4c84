-- k8s.kinds: the kinds that the server serves, of groups and definitions that come and go.
local cluster = require "spec.support.cluster"
local crds = require "spec.support.crds"

describe("k8s.kinds", function()
  local sim
  before_each(function() sim = cluster.sim() end)
  after_each(cluster.stop_all)

  local function exec(text)
    local p = cluster.kubelua { "exec", "-s", sim.server, cluster.script(
      'local k8s = require "k8s"\nk8s.main(function()\n' .. text .. "\nend)\n") }
    assert.are.equal(0, p:wait(60), p:report())
    return p:out()
  end

  it("has what a group serves, and those below it", function()
    crds.create(sim.api, "widgets", "example.com")
    crds.create(sim.api, "gadgets", "shop.example.com")
    crds.create(sim.api, "gadgets", "anexample.com")
    assert.are.equal([[
widgets.example.com	v1	Widget	true
gadgets.shop.example.com	v1	Gadget	true
]], exec [[
      local kinds = assert(k8s.kinds { group = "*.example.com", verb = "list" })
      table.sort(kinds, function(a, b) return a.group < b.group end)
      for _, kind in ipairs(kinds) do print(kind.name, kind.version, kind.kind, kind.namespaced) end
    ]])
  end)

  it("has a kind in its preferred version once, and only what has the verb", function()
    local out = exec [[
      local seen = {}
      for _, kind in ipairs(assert(k8s.kinds())) do
        assert(not seen[kind.name], kind.name)
        seen[kind.name] = kind
      end
      print(seen.pods.name, seen["deployments.apps"].version, seen["horizontalpodautoscalers.autoscaling"].version)
      print(seen["subjectaccessreviews.authorization.k8s.io"] ~= nil)
      for _, kind in ipairs(assert(k8s.kinds { verb = "watch" })) do
        assert(kind.group ~= "authorization.k8s.io", kind.name)
      end
      for _, kind in ipairs(assert(k8s.kinds { group = "", namespaced = false })) do
        assert(kind.group == "" and not kind.namespaced)
      end
    ]]
    assert.are.equal("pods\tv1\tv2\ntrue\n", out)
  end)

  it("follows definitions that come and go", function()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local before
      k8s.every("100ms", function()
        local names = {}
        for i, kind in ipairs(assert(k8s.kinds { group = "example.com" })) do names[i] = kind.name end
        local text = table.concat(names, " ")
        if text ~= before then print("[" .. text .. "]") end
        before = text
      end)
    ]])
    engine:wait_line "^%[%]$"
    crds.create(sim.api, "widgets", "example.com")
    engine:wait_line "^%[widgets.example.com%]$"
    crds.remove(sim.api, "widgets", "example.com")
    engine:wait_line "^%[%]$"
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("is an error where the server cannot be asked", function()
    sim:play { ["do"] = "fault", path = "/api", what = "status", code = 503, times = 1000 }
    local p = cluster.kubelua { "exec", "-s", sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.main(function()
        local kinds, err = k8s.kinds()
        print(kinds, err.code)
      end)
    ]] }
    assert.are.equal(0, p:wait(60), p:report())
    assert.are.equal("nil\t503\n", p:out())
  end)
end)
