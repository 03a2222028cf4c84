-- Servers that let down those who list by a watch-list: the engine has synced within its deadline, and `kubelua status`
-- says how (B-1, B-7, R-37).
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local deadline_seconds = 1
local unended = ("initial events did not end within %d s"):format(deadline_seconds)

describe("kubelua status #threads", function()
  local folder, sim

  before_each(function()
    folder = temp.folder()
    sim = cluster.sim { "--pods", "10" }
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function status(output)
    local p = cluster.kubelua { "status", "--admin-socket", folder .. "/admin.sock", "--output", output }
    assert.are.equal(0, p:wait())
    return p:out()
  end

  -- What the status says of the informer of pods, and the seconds until it was synced.
  local function synced(args)
    local all = { "--admin-socket", folder .. "/admin.sock", "--watch-list-deadline", deadline_seconds .. "s" }
    for _, word in ipairs(args) do all[#all + 1] = word end
    local began = proc.now()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local pods = k8s.informer("pods")
      k8s.main(function() print("synced", pods:lister():count()) end)
    ]], all)
    engine:wait_line("^synced\t10$", 60)
    local took = proc.now() - began
    local informer = cjson.decode(status "json").informers[1]
    assert.are.equal("synced", informer.state)
    return informer, took
  end

  it("reports that a watch-list has synced it, or a list that was requested", function()
    local informer = synced { "--watch-list", "on" }
    assert.are.equal("watch-list", informer.syncedHow)
    assert.is_nil(informer.noWatchListUntil)
    cluster.stop_all()
    sim = cluster.sim { "--pods", "10" }
    assert.are.equal("list in 1 page", (synced { "--watch-list", "off" }).syncedHow)
  end)

  for what, why in pairs {
    ["no-end-bookmark"] = "never sends the end bookmark",
    ["ignore-initial-events"] = "ignores sendInitialEvents",
    ["silence"] = "drops connections silently",
  } do
    it("reports how it got over a server that " .. why, function()
      sim:play { ["do"] = "fault", verb = "watch", resource = "pods", what = what, times = 1 }
      local informer, took = synced { "--watch-list", "auto" }
      assert.are.equal("list in 1 page; watch-list: " .. unended, informer.syncedHow)
      assert.has_match("^%d+-%d+-%d+T%d+:%d+:%d+Z$", informer.noWatchListUntil) -- B-1
      assert.has_match("\n    list in 1 page; [^\n]+; watch%-list disabled for [%dhms]+\n", status "wide")
      assert.is_true(took < deadline_seconds + 10, ("took %.1f s"):format(took))
    end)
  end
end)
