-- `kubelua audit --context`: reports name the cluster of each finding, so that those of several can stand together.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local RULE = [[
  require("k8s").rule {
    id = "no-maps", severity = "high", kinds = { "configmaps" },
    check = function(_, r) r:fail "it is there" end,
  }
]]

describe("an audit of a cluster by its context", function()
  local folder, sim

  local function audit(...)
    local p = cluster.kubelua { "audit", "-f", folder .. "/rule.lua", "-n", "default", ... }
    assert.are.equal(1, p:wait(60), p:report())
    return p:out()
  end

  setup(function()
    sim = cluster.sim()
    folder = temp.folder {
      ["rule.lua"] = RULE,
      config = ([[
        apiVersion: v1
        kind: Config
        clusters: [{name: c, cluster: {server: "%s"}}]
        users: [{name: u, user: {}}]
        contexts: [{name: west, context: {cluster: c, user: u}}, {name: "a<b", context: {cluster: c, user: u}}]
        current-context: west
      ]]):format(sim.server),
    }
    sim.api:create("/api/v1/namespaces/default/configmaps", { metadata = { name = "bad" } })
  end)
  teardown(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("is named in each format that people and programs read", function()
    local west = { "--kubeconfig", folder .. "/config" }
    assert.matches("\n +default/bad +ConfigMap +it is there +west\n", audit(unpack(west)))
    local report = cjson.decode(audit("-o", "json", unpack(west)))
    assert.are.equal("west", report.summary.cluster)
    assert.are.equal("west", report.results[1].cluster)
    local page = audit("-o", "html", "--context", "a<b", unpack(west))
    assert.has_match('<p class="soft">cluster a&lt;b · ', page, 1, true)
    assert.has_match("<small>a&lt;b</small></div></li>", page, 1, true)
  end)

  it("is not where it has no name", function()
    local report = cjson.decode(audit("-o", "json", "--server", sim.server))
    assert.is_nil(report.summary.cluster)
    assert.is_nil(report.results[1].cluster)
    assert.matches("\n +default/bad +ConfigMap +it is there\n", audit("--server", sim.server))
    -- The context is of another server.
    report = cjson.decode(audit("-o", "json", "--kubeconfig", folder .. "/config", "--server", sim.server))
    assert.is_nil(report.summary.cluster)
  end)
end)
