-- `kubelua run --report`: policy reports in the cluster. On the real API server: spec/real/report_writer_spec.lua.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local policy_reports = require "spec.support.policy_reports"
local temp = require "spec.support.temp"

describe("policy reports of kubelua run", function()
  local sim, own
  after_each(cluster.stop_all)

  local function install(...) policy_reports.install(sim.api, ...) end

  -- Writes of the spec itself are not counted: all that the engine writes are reports.
  local function world(args)
    sim, own = cluster.sim(args), 0
    local w = { api = sim.api, where = sim.server }
    w.api = setmetatable({}, { __index = function(_, name)
      if name == "get" or name == "curl" then return function(_, ...) return sim.api[name](sim.api, ...) end end
      return function(_, ...)
        own = own + 1
        return sim.api[name](sim.api, ...)
      end
    end })
    function w.writes() return sim.api:get("/sim/stats").writes - own end
    return w
  end

  policy_reports.specify(it, function()
    local w = world()
    install()
    own = 2
    return w
  end)

  it("wait for their CRD, which is reported once", function()
    policy_reports.with_place(function(place)
      local w = world()
      policy_reports.namespace(w.api, "report-a")
      w.api:create(policy_reports.maps "report-a", policy_reports.config("report-a", "a"))
      local engine = policy_reports.start(w, place)
      await(function()
        return engine.streams.err.text:find('Policy reports are not written because their CRD is not installed, '
          .. 'retrying; [^\n]* resource="%l*policyreports" group="wgpolicyk8s.io" version="v1alpha2"')
      end, "a warning")
      await(function() return engine.reports().waiting == 2 end, "reports to wait")
      local line = "\nreports: 0 PolicyReports, 2 to be written[^\n]*; the server could not find"
      assert.has_match(line, (engine.ask "status"))
      install()
      policy_reports.await(engine, w.api, "report-a", function(report) return report end)
      local _, told = engine.streams.err.text:gsub("Policy reports are not written", "")
      assert.are.equal(1, told)
      engine:wait_error 'Policy reports can be written" resource="policyreports"'
    end)
  end)

  it("report that objects are missing which the engine refuses", function()
    policy_reports.with_place(function(place)
      local w = world()
      install()
      policy_reports.namespace(w.api, "report-a")
      w.api:create(policy_reports.maps "report-a", policy_reports.config("report-a", "a"))
      local big = policy_reports.config("report-a", "big")
      big.data = { text = ("x"):rep(30000) }
      w.api:create(policy_reports.maps "report-a", big)
      local engine = policy_reports.start(w, place, { "--report", "--max-object-size", "20Ki" })
      policy_reports.await(engine, w.api, "report-a", function(report)
        return report and report.metadata.annotations["kubelua/incomplete"]
          == "Objects are missing because the engine refused them (see kubelua status): configmaps"
      end)
      w.api:delete(policy_reports.maps "report-a" .. "/big")
      policy_reports.await(engine, w.api, "report-a", function(report)
        return not (report.metadata.annotations or {})["kubelua/incomplete"]
      end)
    end)
  end)

  it("go with a namespace", function()
    policy_reports.with_place(function(place)
      local w = world()
      install()
      policy_reports.namespace(w.api, "report-a")
      w.api:create(policy_reports.maps "report-a", policy_reports.config("report-a", "a"))
      local engine = policy_reports.start(w, place)
      policy_reports.await(engine, w.api, "report-a", function(report) return report end)
      policy_reports.await(engine, w.api, nil, function(report) return report and #report.results == 1 end)
      w.api:delete "/api/v1/namespaces/report-a"
      policy_reports.await(engine, w.api, "report-a", function(report) return not report end)
      policy_reports.await(engine, w.api, nil, function(report) return not report or #report.results == 0 end)
      await(function()
        local reports = engine.reports()
        return reports.waiting == 0 and reports.reports <= 1
      end, function() return engine.ask "status" end)
      assert.is_nil(engine.streams.err.text:find "Failed to write policy report")
    end)
  end)

  it("come in parts, none of which is large, and are Reports of openreports.io when requested", function()
    policy_reports.with_place(function(place)
      local maps = { { apiVersion = "v1", kind = "Namespace", metadata = { name = "report-many" } } }
      for i = 1, 1500 do maps[i + 1] = policy_reports.config("report-many", "c-" .. i) end
      for i, map in ipairs(maps) do maps[i] = cjson.encode(map) end
      temp.write(place.path .. "/maps.json", table.concat(maps, "\n"))
      local w = world { "--load", place.path .. "/maps.json" }
      install("openreports.io", "v1alpha1", "Report", "reports")
      local engine = policy_reports.start(w, place, { "--report=openreports" })
      local parts, results, names
      await(function()
        parts = w.api:get "/apis/openreports.io/v1alpha1/namespaces/report-many/reports".items
        results, names = 0, 0
        local seen = {}
        for _, part in ipairs(parts) do
          assert.are.equal(part.summary.fail, #part.results)
          results = results + #part.results
          for _, result in ipairs(part.results) do
            local name = result.resources[1].name
            names = names + (seen[name] and 0 or 1)
            seen[name] = true
          end
        end
        return results == 1500
      end, function() return results .. " results" .. engine:report() end)
      assert.are.equal(1500, names)
      assert.is_true(#parts >= 4)
      assert.are.equal("critical", parts[1].results[1].severity)
      -- A change of one object is a change of one part.
      await(function() return engine.reports().waiting == 0 end, "nothing to be written")
      local writes = engine.reports().written
      w.api:patch(policy_reports.maps "report-many" .. "/c-7", { metadata = { labels = { owner = "me" } } })
      await(function() return engine.reports().written > writes end, "a write", 60)
      assert.is_true(engine.reports().written - writes <= 2) -- and of the first, which counts passes
    end)
  end)

  it("are not written with --report=metrics, nor under --dry-run=client, which is logged", function()
    policy_reports.with_place(function(place)
      local w = world()
      install()
      for said, flags in pairs { [false] = { "--report=metrics" }, [true] = { "--report", "--dry-run=client" } } do
        local engine = policy_reports.start(w, place, flags)
        await(function() return engine.ask("status"):find "\naudit: 1 rule," end, "the audit")
        assert.is_nil(engine.ask("status"):find "\nreports: ")
        local told = engine:err():find("Policy reports are disabled by --dry-run=client", 1, true)
        assert.are.equal(said, told ~= nil)
        cluster.terminate(engine)
      end
    end)
  end)

  it("are only checked by the server under --dry-run=server, as the log and the status report", function()
    policy_reports.with_place(function(place)
      local w = world()
      install()
      for _, name in ipairs { "report-left", "report-new" } do policy_reports.namespace(w.api, name) end
      w.api:create(policy_reports.maps "report-left", policy_reports.config("report-left", "a"))
      local engine = policy_reports.start(w, place)
      local left = policy_reports.await(engine, w.api, "report-left", policy_reports.has(1, 0))
      local of_cluster = policy_reports.await(engine, w.api, nil, policy_reports.has(2, 0))
      cluster.terminate(engine)
      w.api:delete(policy_reports.maps "report-left" .. "/a")
      w.api:create(policy_reports.maps "report-new", policy_reports.config("report-new", "a"))
      local writes = w.writes()
      local dry = policy_reports.start(w, place, { "--report", "--dry-run=server" })
      dry:wait_until(function()
        return dry:err():find("Policy reports are not persisted because of --dry-run=server", 1, true)
      end, "a word about it")
      await(function()
        local reports = dry.reports()
        return reports.begun and reports.waiting == 0 and reports.written + reports.deleted == 2
      end, function() return dry.ask "status" .. dry:report() end)
      assert.is_true(dry.reports().dryRun)
      assert.has_match("\nreports: 2 PolicyReports (not persisted: --dry-run=server)\n", (dry.ask "status"), 1,
        true)
      assert.are.equal(writes + 2, w.writes()) -- they were sent
      assert.is_nil(policy_reports.get(w.api, "report-new"))
      assert.are.same(left, policy_reports.get(w.api, "report-left"))
      assert.are.same(of_cluster, policy_reports.get(w.api))
      cluster.terminate(dry)
    end)
  end)
end)
