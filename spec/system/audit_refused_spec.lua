-- Objects that the server has and that are refused, as they are too large: nobody may take an audit without them for
-- a whole one.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local engine_at_socket = require "spec.support.engine_at_socket"

local PODS = "/api/v1/namespaces/default/pods"
local LIMIT = { "--max-object-size", "20Ki" }

local ENGINE = [[
local k8s = require "k8s"
local pods = k8s.informer "pods"
k8s.main(function() print "ready" end)
]]

local LOOKS = [[
local k8s = require "k8s"
k8s.rule { id = "looks", severity = "critical", kinds = { "pods" }, check = function(obj, r)
  if obj.spec.hostNetwork then r:fail "host network" end
end }
]]
local USES = [[
local k8s = require "k8s"
k8s.rule { id = "uses", kinds = { "pods" }, uses = { pods = { kind = "pods", index = "key" } },
  check = function(obj, r, use) if #use.pods "default/big" == 0 then r:fail "there is no pod big" end end }
]]

local function pod(name, bytes)
  return { apiVersion = "v1", kind = "Pod",
    metadata = { name = name, namespace = "default", annotations = { text = ("x"):rep(bytes) } },
    spec = { hostNetwork = bytes > 0, containers = { { name = "c", image = "app" } } } }
end

describe("an object that is refused", function()
  local at, looks, uses
  before_each(function()
    at = engine_at_socket.new(ENGINE)
    at.sim.api:create(PODS, pod("small", 0))
    at.sim.api:create(PODS, pod("big", 30000))
    looks, uses = at:write("looks.txt", LOOKS), at:write("uses.txt", USES)
  end)
  after_each(function() at:close() end)

  -- What the first `-f` finds, how the audit ended, and what it said.
  local function result(p)
    local code = p:wait(60)
    local report = cjson.decode(p:out())
    local rules = {}
    for _, row in ipairs(report.results) do rules[#rules + 1] = row.rule end
    return { code = code, complete = report.summary.complete, rules = rules }, p:err()
  end

  local function live(...)
    return result(cluster.kubelua { "audit", "-s", at.sim.server, "-o", "json", ... })
  end

  it("makes the audit of a cluster incomplete, page by page", function()
    local found, err = live("-f", looks, unpack(LIMIT))
    assert.are.same({ code = 3, complete = false, rules = {} }, found)
    assert.has_match("kubelua audit: pods: 1 object is refused: [^\n]*default/big: %d+ bytes of JSON are more than "
      .. "%-%-max%-object%-size 20480", err)
    assert.are.same({ code = 1, complete = true, rules = { "looks" } }, (live("-f", looks)))
  end)

  it("makes the audit of a cluster incomplete where rules use its kind, and these are not asked", function()
    local found, err = live("-f", looks, "-f", uses, unpack(LIMIT))
    assert.are.same({ code = 3, complete = false, rules = {} }, found)
    assert.has_match("kubelua audit: pods: 1 object is refused: [^\n]*default/big: ", err)
    assert.has_match("1 rule was not asked", err, 1, true)
  end)

  it("makes the audit of an engine incomplete, until it is gone", function()
    at:start(LIMIT)
    local function audit(...) return result(at:begin_audit("-o", "json", ...)) end
    local found, err = audit("-f", looks, "-f", uses)
    assert.are.same({ code = 3, complete = false, rules = {} }, found)
    assert.has_match("pods: 1 object is refused: [^\n]*default/big: %d+ bytes of JSON are more than "
      .. "%-%-max%-object%-size 20480; not asked: uses", err)
    at.sim.api:delete(PODS .. "/big")
    await(function() return audit("-f", looks).code == 0 end, "the audit is whole")
    at.sim.api:create(PODS, pod("late", 30000))
    await(function() return audit("-f", looks).code == 3 end, "the audit is incomplete again")
  end)
end)
