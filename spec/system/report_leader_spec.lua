-- `kubelua run --report --leader-elect`: of several replicas the leader alone keeps the reports, and the next one goes
-- on with what it finds.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local policy_reports = require "spec.support.policy_reports"
local relay = require "spec.support.relay"
local scripts_folder = require "spec.support.scripts_folder"

local has, is_gone = policy_reports.has, policy_reports.is_gone
local maps, config = policy_reports.maps, policy_reports.config
local LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/kubelua"
local FLAGS = { "--report", "--leader-elect", "--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s",
  "--leader-elect-retry-period=250ms" }

describe("policy reports of replicas that elect a leader", function()
  local w, places
  before_each(function()
    local sim = cluster.sim()
    w, places = { api = sim.api, where = sim.server }, {}
    policy_reports.install(w.api)
  end)
  after_each(function()
    cluster.stop_all()
    for _, place in ipairs(places) do place:remove() end
  end)

  -- A replica with a socket of its own, and perhaps one more script, which is trusted, and another way to the server.
  local function replica(script, where)
    local place, flags = scripts_folder.new(), { unpack(FLAGS) }
    places[#places + 1] = place
    place:write("rules.lua", policy_reports.RULES)
    if script then
      place:write("more.lua", script)
      flags[#flags + 1] = "--trust=" .. place.path .. "/scripts/more.lua"
    end
    return policy_reports.start({ where = where or w.where }, place, flags)
  end

  local function get(namespace) return policy_reports.get(w.api, namespace) end

  -- Has written whatever there was.
  local function await_rest(engine)
    await(function()
      local reports = engine.reports()
      return reports.begun and reports.waiting == 0
    end, function() return engine.ask "status" .. engine:report() end)
  end

  -- Two replicas, of which the first leads and has written what there is of these namespaces, and the second nothing.
  local function start(namespaces, ...)
    for _, name in ipairs(namespaces) do
      policy_reports.namespace(w.api, name)
      w.api:create(maps(name), config(name, "a"))
    end
    local first = replica(...)
    await(function() return first.audit().active end, "the first to lead")
    local second = replica()
    for _, name in ipairs(namespaces) do policy_reports.await(first, w.api, name, has(1, 0)) end
    policy_reports.await(first, w.api, nil, has(#namespaces, 0))
    await_rest(first)
    local audit = second.audit()
    assert.are.same({ false, false, 0, 0 }, { audit.active, audit.reports.begun, audit.reports.reports,
      audit.reports.written })
    return first, second
  end

  it("are gone on with by the next when the leader is killed: what is the same is not written", function()
    local first, second = start { "report-changed", "report-gone", "report-still" }
    local still, of_cluster = get "report-still", get(nil)
    first:kill "KILL"
    first:wait()
    w.api:patch(maps "report-changed" .. "/a", { metadata = { labels = { owner = "me" } } })
    w.api:delete(maps "report-gone" .. "/a")
    policy_reports.await(second, w.api, "report-changed", has(0, 1))
    policy_reports.await(second, w.api, "report-gone", is_gone)
    await_rest(second)
    assert.are.same(still.metadata, get("report-still").metadata)
    assert.are.same(of_cluster.metadata, get(nil).metadata)
    local reports = second.reports()
    assert.are.same({ 1, 1, 0, 3 }, { reports.written, reports.deleted, reports.failed, reports.reports })
  end)

  it("are not written over by a leader that stood still past its lease", function()
    local first, second = start { "report-held" }
    w.api:patch(maps "report-held" .. "/a", { metadata = { labels = { owner = "me" } } })
    await(function() return first.reports().waiting > 0 end, "the first to have something to write")
    local written = first.reports().written
    first:kill "STOP"
    w.api:create(maps "report-held", config("report-held", "b"))
    local report = policy_reports.await(second, w.api, "report-held", has(1, 1))
    await_rest(second)
    first:kill "CONT"
    await(function() return not first.audit().active end, "the first to lead no more")
    assert.are.equal(report.metadata.resourceVersion, get("report-held").metadata.resourceVersion)
    local reports = first.reports()
    assert.are.same({ false, 0, written }, { reports.begun, reports.reports, reports.written })
    assert.is_true(second.audit().active)
  end)

  -- Its other threads lost the lease and got it again meanwhile. The 12 s are CPU time of the engine thread: minutes
  -- where others want the cores as well, and then those who lead in between are as slow.
  it("are listed again by a leader that was too busy to see that another led in between", function()
    local between = relay.start(w.where)
    finally(function() between:stop() end)
    local first, second = start({ "report-back" }, [[
      require("k8s").informer("configmaps"):on_add(function(o)
        if o:name() ~= "stall" then return end
        print "stalls"
        local till = os.clock() + 12
        while os.clock() < till do end
        print "goes on"
      end)
    ]], between.url)
    w.api:create(maps "default", config("default", "stall"))
    first:wait_line "^stalls$"
    between:hold()
    w.api:patch(maps "report-back" .. "/a", { metadata = { labels = { owner = "me" } } })
    policy_reports.await(second, w.api, "report-back", has(0, 1))
    assert.are.equal(0, cluster.terminate(second))
    w.api:patch(maps "report-back" .. "/a", { metadata = { labels = { owner = cjson.null } } })
    between:mend()
    await(function() return w.api:get(LEASE).spec.holderIdentity ~= "" end, "the first to have the lease again")
    assert.has_no_match("goes on", first:out(), 1, true)
    first:wait_line("^goes on$", 300)
    policy_reports.await(first, w.api, "report-back", has(1, 0))
  end)
end)
