-- `kubelua run --report` on the real API server, with the CRD that is published as a Go module: the server checks each
-- field of what is applied.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local policy_reports = require "spec.support.policy_reports"
local readers = require "spec.support.readers"
local rights = require "spec.support.rights"
local scripts_folder = require "spec.support.scripts_folder"

describe("on the real API server policy reports of kubelua run", function()
  local nobody, server, missing

  setup(function()
    nobody = rights.start(policy_reports.RULES)
    server = nobody.server
    local crds, why = readers.run("crds", "wgpolicyk8s")
    missing = not crds and why
    if missing then return end
    server:kubectl("apply --filename " .. crds:match "[^\n]+")
    server:kubectl("wait --for condition=established --timeout 20s "
      .. "crd/policyreports.wgpolicyk8s.io crd/clusterpolicyreports.wgpolicyk8s.io")
  end)
  teardown(function()
    if nobody then nobody:stop() end
  end)
  after_each(cluster.stop_all)

  local function writes()
    local count = 0
    for _, resource in ipairs { "policyreports", "clusterpolicyreports" } do
      for _, verb in ipairs { "create", "update", "patch", "delete" } do
        count = count + #server:requests { resource = resource, verb = verb }
      end
    end
    return count
  end

  local function it_does(title, fn)
    it(title, function()
      if missing then return pending(missing) end
      fn()
    end)
  end

  policy_reports.specify(it_does, function()
    return { api = server:api(), where = "--kubeconfig=" .. server.kubeconfig, writes = writes }
  end)

  it_does("need the rights that kubelua rbac --report prints, and say so", function()
    local place = scripts_folder.new()
    place:write("rules.lua", policy_reports.RULES)
    local api, role = server:api(), { kind = "ClusterRole", metadata = { name = "kubelua" } }
    local function grant(...)
      rights.with_file(nobody:printed(...), function(file) server:kubectl("apply --filename " .. file) end)
    end
    policy_reports.namespace(api, "report-rights")
    api:create(policy_reports.maps "report-rights", policy_reports.config("report-rights", "a"))
    grant()
    nobody:bind(role)
    local world = { where = "--kubeconfig=" .. server.kubeconfig }
    local engine = policy_reports.start(world, place, { "--report", "--context", "nobody" })
    local warning = "Policy reports are not written because listing them is forbidden, retrying; "
      .. "see kubelua rbac %-%-report"
    await(function() return engine.streams.err.text:find(warning) end, function() return engine:report() end)
    grant "--report"
    policy_reports.await(engine, api, "report-rights", function(report) return report and #report.results == 1 end)
    local reports = engine.reports()
    assert.are.same({ 0, "" }, { reports.failed, reports.error })
    assert.are.equal(1, select(2, engine.streams.err.text:gsub("Policy reports are not written", "")))
    cluster.terminate(engine)
    place:remove()
  end)
end)
