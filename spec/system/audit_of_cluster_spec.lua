-- `kubelua audit` of a cluster keeps nothing of a kind that no rule uses: it lists it page by page, with the fields
-- that rules read. Results are those of whole objects in a cache.
local await = require "spec.support.await"
local checks = require "spec.support.checks"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"

local MiB = 2 ^ 20
local is_measured = (os.getenv "KUBELUA_PRESET" or "release") == "release"
local place, sim, last_report

-- Ways to look at an object of which only the fields that stand in the code are there at first.
local ways = {
  plain = "r:warn(obj.spec.nodeName)",
  absent = "r:warn(tostring(obj.spec.nothing))",
  computed = 'local name = "node" .. "Name" r:warn(obj.spec[name])',
  computed_twice = 'local a, b = "sta" .. "tus", "pha" .. "se" r:warn(tostring(obj[a][b]))',
  pairs = "local all = {} for k, v in pairs(obj.metadata.labels) do all[#all + 1] = k .. v end "
    .. 'table.sort(all) r:warn(table.concat(all, ","))',
  json = "r:warn(tostring(#obj:json()))",
  value = 'r:warn("value", { path = "spec.containers[0]", value = obj.spec.containers[1] })',
}

local function rule(name, body)
  return ('require("k8s").rule { id = "%s", kinds = { "pods" }, check = function(obj, r) %s end }\n')
    :format((name:gsub("_", "-")), body)
end

local function all_rules()
  local names, all = {}, {}
  for name in pairs(ways) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do all[i] = rule(name, ways[name]) end
  return table.concat(all), #names
end

-- Whoever uses pods has whole ones in a cache.
local joined = [[
require("k8s").rule { id = "zz-joined", kinds = { "nodes" }, uses = { pods = { kind = "pods" } },
  check = function() end }
]]

local function audit(rules, ...)
  place:write("rules.lua", rules)
  local p = cluster.kubelua { "audit", "-s", sim.server, "-f", place.path .. "/rules.lua", "-o", "json", ... }
  local code = p:wait(60)
  local out = p.streams.out.text
  last_report = out ~= "" and cjson.decode(out) or nil
  local results = last_report and last_report.results or {}
  for _, row in ipairs(results) do row.message = row.message:gsub('"resourceVersion":"%d+"', "") end
  return results, code, p.streams.err.text, p.most_rss
end

describe("an audit of a cluster", function()
  before_each(function() place = checks.new "audit" end)
  after_each(function()
    place:remove()
    cluster.stop_all()
  end)

  it("loads a script that takes part in an election", function()
    sim = cluster.sim { "--pods", "2" }
    local results, code, err = audit('require("k8s").leader { lease = "mine" }\n' .. rule("one", 'r:warn "seen"'))
    assert.are.same({ 2, 0, "" }, { #results, code, err })
  end)

  it("evaluates rules on complete objects, page by page", function()
    sim = cluster.sim { "--pods", "1200" }
    local rules, count = all_rules()
    local paged, code, err = audit(rules)
    assert.are.same({ 0, "" }, { code, err })
    assert.are.equal(1200 * count, #paged)
    assert.are.same(audit(rules .. joined), paged)
  end)

  it("keeps all where rules read ever other names", function()
    sim = cluster.sim { "--pods", "60" }
    local body = 'for i = 1, 200 do local _ = obj.spec["x" .. i] end r:warn(obj.spec["no" .. "deName"])'
    local paged = audit(rule("many", body))
    assert.are.equal(60, #paged)
    assert.are.same(audit(rule("many", body) .. joined), paged)
  end)

  it("evaluates each object once where a list begins again", function()
    sim = cluster.sim { "--pods", "1200" }
    sim:play { ["do"] = "fault", verb = "list", resource = "pods", what = "status", code = 410, reason = "Expired",
      skip = 2 }
    local paged, code = audit(rule("plain", ways.plain))
    assert.are.same({ 0, 1200 }, { code, #paged })
    local seen = {}
    for _, row in ipairs(paged) do seen[row.namespace .. "/" .. row.name] = true end
    local count = 0
    for _ in pairs(seen) do count = count + 1 end
    assert.are.equal(1200, count)
  end)

  -- The token is over when a page is wanted once more, for a field that a rule turns out to read: in the middle of
  -- the list, and on its last page.
  for page, name in pairs { [2] = "p0700", [3] = "p1150" } do
    it("begins again where a page cannot be listed again: page " .. page, function()
      local items = {}
      for i = 1, 1200 do
        items[i] = { apiVersion = "v1", kind = "Pod", metadata = { name = ("p%04d"):format(i), namespace = "default" },
          spec = { nodeName = "n" .. i, containers = { { name = "c", image = "app" } } } }
      end
      place:write("pods.json", cjson.encode { apiVersion = "v1", kind = "List", items = items })
      sim = cluster.sim { "--load", place.path .. "/pods.json" }
      sim:play { ["do"] = "fault", verb = "list", resource = "pods", what = "status", code = 410, reason = "Expired",
        skip = page }
      local found, code, err = audit(rule("late", ('if obj.metadata.name == "%s" then local n = "node" .. "Name" '
        .. "r:warn(obj.spec[n]) end"):format(name)), "--allow-empty")
      assert.are.same({ 0, "" }, { code, err })
      assert.are.same({ name, "n" .. tonumber(name:sub(2)) }, { found[1].name, found[1].message })
      assert.are.same({ 1, 1200 }, { #found, last_report.summary.objects })
    end)
  end

  -- It was the last of the first page; one that came before it pushes it to the next, which is listed later.
  it("evaluates an object that slips to the next page while its page is listed again", function()
    local items = {}
    for i = 1, 501 do
      items[i] = { apiVersion = "v1", kind = "Pod", metadata = { name = ("p%03d"):format(i), namespace = "default" },
        spec = { hostNetwork = i == 500, containers = { { name = "c", image = "app" } } } }
    end
    place:write("pods.json", cjson.encode { apiVersion = "v1", kind = "List", items = items })
    sim = cluster.sim { "--load", place.path .. "/pods.json" }
    local body = [[
      if obj.metadata.name == "p500" then
        if not told then for i = 1, 2e8 do told = i % 7 ~= 8 end end
        local name = "node" .. "Name"
        local _ = obj.spec[name]
      end
      if obj.spec.hostNetwork then r:fail "host" end
    ]]
    place:write("rules.lua", "local told\n" .. rule("slow", body))
    local p = cluster.kubelua { "audit", "-s", sim.server, "-f", place.path .. "/rules.lua", "-o", "json",
      "--handler-cpu", "50s" }
    await(function() return sim.api:get("/sim/stats").lists > 0 end, "the first page is listed")
    sim.api:create("/api/v1/namespaces/default/pods", { apiVersion = "v1", kind = "Pod",
      metadata = { name = "a", namespace = "default" }, spec = { containers = { { name = "c", image = "app" } } } })
    local code = p:wait(60)
    local report = cjson.decode(p.streams.out.text:match "{.*")
    assert.are.same({ 1, 1, 502, true }, { code, #report.results, report.summary.objects, report.summary.complete })
    assert.are.equal("p500", report.results[1].name)
  end)

  it("reports what breaks off, and goes on with other kinds", function()
    sim = cluster.sim { "--pods", "20" }
    sim:forbid("pods", "nobody may")
    local found, code, err = audit(rule("plain", ways.plain)
      .. 'require("k8s").rule { id = "n", kinds = { "nodes" }, check = function(_, r) r:warn "node" end }\n')
    assert.are.equal(3, code)
    assert.is_true(#found > 0)
    for _, row in ipairs(found) do assert.are.equal("Node", row.kind) end
    assert.matches("kubelua audit: pods: .*nobody may", err)
  end)

  it("does not list a kind that only rules need that are not evaluated", function()
    sim = cluster.sim { "--pods", "5" }
    sim:forbid("configmaps", "nobody may")
    local found, code, err = audit(rule("plain", ways.plain) .. [[
require("k8s").rule { id = "left", kinds = { "configmaps", "pods" }, uses = { w = { kind = "servicez" } },
  check = function() end }
]])
    assert.are.same({ 3, 5 }, { code, #found })
    assert.matches("kubelua audit: 1 rule was not evaluated because [^\n]*: left\n", err)
    assert.not_matches("configmaps", err, 1, true)
  end)

  it("audits one namespace", function()
    sim = cluster.sim { "--pods", "60" }
    local everywhere = audit(rule("plain", ways.plain))
    local ns, expected = everywhere[1].namespace, 0
    for _, row in ipairs(everywhere) do if row.namespace == ns then expected = expected + 1 end end
    local found = audit(rule("plain", ways.plain), "-n", ns)
    assert.are.equal(expected, #found)
    assert.is_true(expected < 60)
  end)

  it("passes a rule nothing of an object that it kept from an earlier call", function()
    sim = cluster.sim { "--pods", "5" }
    local body = 'first = first or obj; local _ = first.spec["no" .. "ne"]'
    local found, code = audit("local first\n" .. rule("late", body))
    assert.are.equal(3, code)
    assert.matches("an object of an earlier call, which is no longer complete", found[1].message, 1, true)
  end)

  it("takes little memory for 20,000 pods", function()
    sim = cluster.sim { "--pods", is_measured and "20000" or "2000" }
    local rules = rule("label", 'if obj.metadata.labels["none"] then r:fail "it has" end')
      .. rule("host", 'if obj.spec.hostNetwork then r:fail "the node\'s" end')
    local paged, code, _, few = audit(rules)
    local cached, _, _, many = audit(rules .. joined)
    assert.are.same({ 0, cached }, { code, paged })
    if is_measured then
      assert.is_true(few < 40 * MiB and few < many / 2, ("%.1f and %.1f MiB"):format(few / MiB, many / MiB))
    end
  end)

  it("takes no more memory for a list that begins again", function()
    sim = cluster.sim { "--pods", is_measured and "20000" or "2000" }
    local rules = rule("whole", 'if #obj:json() == 0 then r:fail "it is nothing" end')
    local _, _, _, once = audit(rules)
    sim:play { ["do"] = "fault", verb = "list", resource = "pods", what = "status", code = 410, reason = "Expired",
      skip = 3 }
    local paged, code, err, again = audit(rules)
    assert.are.same({ {}, 0, "" }, { paged, code, err })
    if is_measured then
      assert.is_true(again < once * 1.2, ("%.1f and %.1f MiB"):format(again / MiB, once / MiB))
    end
  end)
end)
