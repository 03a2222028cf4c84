-- `kubelua audit -l SELECTOR`: only objects whose labels match are looked at, in files, a cluster and an engine; what
-- rules reach by `uses` is not filtered.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local engine_at_socket = require "spec.support.engine_at_socket"

local ENGINE = [[
local k8s = require "k8s"
k8s.informer "pods"
k8s.main(function() print "ready" end)
]]

-- Which labels there are does not stand in the code: what is packed has no labels but for the selector's sake.
local LOOKS = [[
local k8s = require "k8s"
k8s.rule { id = "looks", kinds = { "pods" }, check = function(obj, r)
  local name = "node" .. "Name"
  r:warn(obj.spec[name])
end }
]]
local USES = [[
local k8s = require "k8s"
k8s.rule { id = "uses", kinds = { "pods" },
  uses = { pods = { kind = "pods", index = function(_, emit) emit "all" end } },
  check = function(_, r, use) r:warn("of " .. #use.pods "all") end }
]]

local function pod(name, labels)
  return { apiVersion = "v1", kind = "Pod", metadata = { name = name, namespace = "default", labels = labels },
    spec = { nodeName = "on-" .. name, containers = { { name = "c", image = "app" } } } }
end

local PODS = {
  pod("bare"), pod("db", { app = "db", tier = "back" }), pod("web-1", { app = "web", tier = "front" }),
  pod("web-2", { app = "web" }),
}

describe("kubelua audit --selector", function()
  local at
  before_each(function()
    at = engine_at_socket.new(ENGINE)
    for _, object in ipairs(PODS) do at.sim.api:create("/api/v1/namespaces/default/pods", object) end
    at:write("looks.txt", LOOKS)
    at:write("uses.txt", USES)
    local items = { { apiVersion = "v1", kind = "Secret", metadata = { name = "s", namespace = "default" } } }
    for i, object in ipairs(PODS) do items[i + 1] = object end
    at:write("in.json", cjson.encode { apiVersion = "v1", kind = "List", items = items })
  end)
  after_each(function() at:close() end)

  local function run(...)
    local p = cluster.kubelua { "audit", "-o", "json", ... }
    local code = p:wait(60)
    local report = p:out() ~= "" and cjson.decode(p:out()) or nil
    local found = {}
    for i, row in ipairs(report and report.results or {}) do found[i] = row.name .. " " .. row.message end
    table.sort(found)
    return { code = code, found = table.concat(found, ", "), err = p:err(), report = report }
  end

  local function ways()
    return {
      files = { "--from", at.folder .. "/in.json" },
      cluster = { "--server", at.sim.server },
      engine = { "--engine", "--admin-socket", at.socket, "--children", "2" },
    }
  end

  -- The same of each way.
  local function finds(rules, selector, expected, objects)
    for way, flags in pairs(ways()) do
      local words = { "-l", selector }
      for _, name in ipairs(rules) do words[#words + 1] = "-f" .. at.folder .. "/" .. name end
      for _, word in ipairs(flags) do words[#words + 1] = word end
      local audit = run(unpack(words))
      assert.are.same({ 0, expected }, { audit.code, audit.found }, ("%s, %s: %s"):format(way, selector, audit.err))
      assert.are.equal(objects, audit.report.summary.objects, way)
    end
  end

  it("audits only objects whose labels match, whatever way they come", function()
    at:start()
    for selector, expected in pairs {
      ["app=web"] = { "web-1 on-web-1, web-2 on-web-2", 2 },
      ["app in (web,db),tier"] = { "db on-db, web-1 on-web-1", 2 },
      ["tier notin (front)"] = { "bare on-bare, db on-db, web-2 on-web-2", 3 },
      ["!app"] = { "bare on-bare", 1 },
      [""] = { "bare on-bare, db on-db, web-1 on-web-1, web-2 on-web-2", 4 },
    } do
      finds({ "looks.txt" }, selector, expected[1], expected[2])
    end
  end)

  it("does not filter objects that rules use, also where their kind is audited in the same cache", function()
    at:start()
    finds({ "uses.txt" }, "app=web", "web-1 of 4, web-2 of 4", 2)
    finds({ "looks.txt", "uses.txt" }, "app=db", "db of 4, db on-db", 1)
  end)

  it("counts what does not match neither as audited nor as of a kind that no rule matches", function()
    local audit = run("-f", at.folder .. "/looks.txt", "--from", at.folder .. "/in.json", "-l", "app=db")
    assert.are.same({ 1, 1 }, { audit.report.summary.objects, audit.report.summary.unlooked })
    audit = run("-f", at.folder .. "/uses.txt", "--from", at.folder .. "/in.json", "-l", "app=db")
    assert.are.same({ 1, 1 }, { audit.report.summary.objects, audit.report.summary.unlooked })
  end)

  it("passes rules labels as they are, however they read them", function()
    at:write("labels.txt", [[
local k8s = require "k8s"
k8s.rule { id = "labels", kinds = { "pods" }, check = function(obj, r)
  local all = {}
  for k, v in pairs(obj.metadata["la" .. "bels"]) do all[#all + 1] = k .. v end
  table.sort(all)
  r:warn(table.concat(all, "+") .. tostring(obj:label("ti" .. "er")))
end }
]])
    at:start()
    finds({ "labels.txt" }, "app", "db appdb+tierbackback, web-1 appweb+tierfrontfront, web-2 appwebnil", 3)
  end)

  it("mends what matches alone", function()
    at:write("fix.txt", [[
local k8s = require "k8s"
k8s.rule { id = "fix", kinds = { "pods" }, check = function(_, r) r:fail "bad" end,
  fix = function() return { metadata = { labels = { good = "yes" } } } end }
]])
    local p = cluster.kubelua { "audit", "-f", at.folder .. "/fix.txt", "--server", at.sim.server, "--apply",
      "-l", "tier=front" }
    assert.are.equal(1, p:wait(60))
    assert.matches("^pod/web%-1 patched[^\n]*\n$", p:out())
    assert.are.equal("yes", at.sim.api:get("/api/v1/namespaces/default/pods/web-1").metadata.labels.good)
  end)

  it("reports it when nothing matches", function()
    at:start()
    for way, flags in pairs(ways()) do
      local audit = run("-f", at.folder .. "/looks.txt", "-l", "app=none", unpack(flags))
      assert.are.equal(2, audit.code, way)
      assert.has_match('kubelua audit: nothing was audited: no object of a kind that the rules match '
        .. 'has labels that match --selector "app=none"; use --allow-empty to allow this\n', audit.err, 1, true)
      assert.are.equal(0, run("-f", at.folder .. "/looks.txt", "-l", "app=none", "--allow-empty", unpack(flags)).code)
    end
  end)

  it("reports it when nothing matches and not all rules could be evaluated", function()
    at:write("lacks.txt", 'require("k8s").rule { id = "lacks", kinds = { "pods" }, check = function() end,\n'
      .. '  uses = { x = { kind = "widgets.example.com" } } }')
    local flags = { "-f", at.folder .. "/looks.txt", "-f", at.folder .. "/lacks.txt", "--server", at.sim.server }
    local audit = run("-l", "app=none", unpack(flags))
    assert.are.equal(3, audit.code)
    assert.has_match("kubelua audit: nothing was audited: no object that could be retrieved of a kind that the rules "
      .. 'match has labels that match --selector "app=none"\n', audit.err, 1, true)
  end)

  it("names the flag, the text and the place of what is no selector, before anything is read", function()
    for text, told in pairs {
      ["app in (web"] = "character 12: found '', expected: ',' or ')'",
      ["app=web,,tier"] = "character 9: found ',', expected: identifier after ','",
      ["app=a$"] = "character 5: value 'a$' of 'app': ",
    } do
      for way, flags in pairs {
        files = { "--from", "/nowhere.json" }, cluster = { "--server", "http://127.0.0.1:1" },
        engine = { "--engine", "--admin-socket", "/nowhere.sock" },
      } do
        local audit = run("-f", at.folder .. "/looks.txt", "--selector", text, unpack(flags))
        local start = ('kubelua audit: --selector: selector "%s": %s'):format(text, told)
        assert.are.same({ 2, start }, { audit.code, audit.err:sub(1, #start) }, way)
        assert.is_nil(audit.report)
        assert.matches("^[^\n]+\n$", audit.err)
      end
    end
  end)
end)
