-- Policy reports that `kubelua run --report` keeps in a cluster: what holds on the simulator and on the real API
-- server. A world has `api` (spec.support.api), `where` (a server's address, or a flag), and writes(), how many
-- requests asked to change a policy report so far.
local assert = require "luassert"
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"

local M = {}

M.GROUP = "/apis/wgpolicyk8s.io/v1alpha2"

M.RULES = [[
local k8s = require "k8s"
k8s.rule {
  id = "labelled", title = "Things have an owner", severity = "critical", category = "meta",
  kinds = { "configmaps", "namespaces" },
  skip = function(o)
    local ns = o.metadata.namespace or o:name()
    return not ns:match "^report%-"
  end,
  check = function(o, r)
    if not o:label "owner" then r:fail("no label owner", { path = "metadata.labels" }) end
  end,
}
]]

function M.config(namespace, name, labels)
  return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = namespace, labels = labels } }
end

function M.maps(namespace) return "/api/v1/namespaces/" .. namespace .. "/configmaps" end

function M.namespace(api, name)
  api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = name } })
end

local function crd(group, version, plural, kind, scope)
  return {
    apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
    metadata = { name = plural .. "." .. group },
    spec = {
      group = group, scope = scope, names = { plural = plural, kind = kind, singular = kind:lower() },
      versions = { {
        name = version, served = true, storage = true,
        schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } },
      } },
    },
  }
end

-- The kinds of reports on a simulator, those of wgpolicyk8s.io unless told.
function M.install(api, group, version, one, many)
  local crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
  group, version = group or "wgpolicyk8s.io", version or "v1alpha2"
  one, many = one or "PolicyReport", many or "policyreports"
  api:create(crds, crd(group, version, many, one, "Namespaced"))
  api:create(crds, crd(group, version, "cluster" .. many, "Cluster" .. one, "Cluster"))
end

-- The report of a namespace, of the cluster without one; nil when there is none.
function M.get(api, namespace, group)
  group = group or M.GROUP
  local code, text = api:curl("GET", namespace
    and ("%s/namespaces/%s/policyreports/kubelua-audit"):format(group, namespace)
    or group .. "/clusterpolicyreports/kubelua-audit")
  if code == 404 then return nil end
  assert(code == 200, text)
  return cjson.decode(text)
end

-- Waits until it is as `good` says.
function M.await(engine, api, namespace, good)
  return await(function()
    local report = M.get(api, namespace)
    return good(report) and (report or true)
  end, function()
    return ("the report of %s: %s"):format(namespace, cjson.encode(M.get(api, namespace) or "none")) .. engine:report()
  end, 60)
end

-- For M.await: it says that so many objects fail and pass.
function M.has(fails, passes)
  return function(report)
    return report and report.summary.fail == fails and report.summary.pass == passes and #report.results == fails
  end
end

function M.is_gone(report) return report == nil end

function M.start(world, place, args)
  local engine = place:start({ server = world.where }, nil, args or { "--report" })
  function engine.audit() return cjson.decode((engine.ask("status", "-ojson"))).audit end
  function engine.reports() return engine.audit().reports end
  return engine
end

-- Calls `fn` with a folder of scripts that has the rules; ends what it has started.
function M.with_place(fn)
  local place = scripts_folder.new()
  place:write("rules.lua", M.RULES)
  local ok, err = pcall(fn, place)
  cluster.stop_all()
  place:remove()
  if not ok then error(err, 0) end
end

function M.specify(it, world)
  local function each(title, fn)
    it(title, function()
      M.with_place(function(place) fn(world(), place) end)
    end)
  end

  each("appear, change when an object is mended, and go with their objects", function(w, place)
    for _, name in ipairs { "report-mended", "report-gone", "report-kept" } do
      M.namespace(w.api, name)
      w.api:create(M.maps(name), M.config(name, "a"))
    end
    w.api:create(M.maps "report-kept", M.config("report-kept", "b", { owner = "me" }))
    local engine = M.start(w, place)
    local kept = M.await(engine, w.api, "report-kept", M.has(1, 1))
    local result = kept.results[1]
    assert.are.same({ "rules", "labelled", "high", "critical", "fail", "no label owner" },
      { result.policy, result.rule, result.severity, result.properties.severity, result.result, result.message })
    assert.are.same({ "ConfigMap", "a", "report-kept", "metadata.labels" }, { result.resources[1].kind,
      result.resources[1].name, result.resources[1].namespace, result.resources[1].fieldPath })
    assert.is_true(result.timestamp.seconds > 0)
    assert.are.equal("kubelua", kept.metadata.labels["app.kubernetes.io/managed-by"])
    assert.is_nil(kept.metadata.annotations["kubelua/incomplete"])
    local apply = kept.metadata.managedFields[1]
    assert.are.same({ "kubelua", "Apply" }, { apply.manager, apply.operation })
    M.await(engine, w.api, "report-mended", M.has(1, 0))
    M.await(engine, w.api, "report-gone", M.has(1, 0))
    M.await(engine, w.api, nil, M.has(3, 0))

    w.api:patch(M.maps "report-mended" .. "/a", { metadata = { labels = { owner = "me" } } })
    w.api:delete(M.maps "report-gone" .. "/a")
    M.await(engine, w.api, "report-mended", M.has(0, 1))
    M.await(engine, w.api, "report-gone", M.is_gone)
    assert.are.equal(kept.metadata.resourceVersion, M.get(w.api, "report-kept").metadata.resourceVersion)
    local reports = engine.reports()
    assert.are.same({ 5, 1, 0, 3 }, { reports.written, reports.deleted, reports.failed, reports.reports })
    assert.has_match("\nreports: 3 PolicyReports\n", (engine.ask "status"))
    cluster.terminate(engine)
  end)

  each("are not written while nothing changes in them, nor by the next process, which cleans up", function(w, place)
    for _, name in ipairs { "report-still", "report-left" } do
      M.namespace(w.api, name)
      w.api:create(M.maps(name), M.config(name, "a"))
    end
    local engine = M.start(w, place)
    M.await(engine, w.api, "report-left", M.has(1, 0))
    M.await(engine, w.api, "report-still", M.has(1, 0))
    M.await(engine, w.api, nil, function(report) return report end)
    await(function() return engine.reports().waiting == 0 end, "nothing to be written")
    local still, writes = M.get(w.api, "report-still"), w.writes()
    -- What rules do not look at; and something else, by which one sees that the writer has had its turn.
    w.api:patch(M.maps "report-still" .. "/a", { data = { x = "y" } })
    w.api:create(M.maps "report-left", M.config("report-left", "b"))
    M.await(engine, w.api, "report-left", M.has(2, 0))
    assert.are.equal(writes + 1, w.writes())

    cluster.terminate(engine)
    w.api:delete(M.maps "report-left" .. "/a")
    w.api:delete(M.maps "report-left" .. "/b")
    writes = w.writes()
    local second = M.start(w, place)
    M.await(second, w.api, "report-left", M.is_gone)
    await(function()
      local reports = second.reports()
      return reports.begun and reports.waiting == 0
    end, "the second to have looked at all")
    assert.are.equal(writes + 1, w.writes())
    assert.are.equal(still.metadata.resourceVersion, M.get(w.api, "report-still").metadata.resourceVersion)
    assert.are.same({ 0, 1 }, { second.reports().written, second.reports().deleted })
    cluster.terminate(second)
  end)
end

return M
