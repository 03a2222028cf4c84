-- `kubelua audit` of files: what rules say, what becomes of it, and how it ends.
local cjson = require "cjson"
local checks = require "spec.support.checks"
local cluster = require "spec.support.cluster"

local place

local function audit(...) return place:run(...) end

local function audited(...)
  local code, out, err = audit("-f", place.path .. "/rules.lua", "-o", "json", ...)
  return code, out ~= "" and cjson.decode(out) or nil, err
end

local tag = [[
local k8s = require "k8s"
k8s.rule {
  id = "image-tag", title = "Images have a tag", severity = "medium", category = "images", kinds = { "pods" },
  check = function(obj, r)
    for i, container in ipairs(obj.spec.containers) do
      if not container.image:match(":[^/]*$") then
        local path = "spec.containers[" .. i - 1 .. "].image"
        r:fail("no tag", { path = path, value = container.image })
      end
    end
  end,
  fix = function(obj) return { metadata = { labels = { image = obj.spec.containers[1].image } } } end,
}
]]

local function pod(name, image, annotation)
  return ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: shop\n%sspec:\n  containers:\n  - name: c\n"
    .. "    image: %s\n---\n"):format(name, annotation and "  annotations:\n    " .. annotation .. "\n" or "", image)
end

describe("kubelua audit", function()
  before_each(function()
    place = checks.new "audit"
    place:write("rules.lua", tag)
  end)
  after_each(function() place:remove() end)

  it("reports what rules find, and ends with 1", function()
    place:write("pods.yaml", pod("web", "registry:5000/app") .. pod("db", "db:1"))
    local code, report, err = audited("--from", place.path .. "/pods.yaml")
    assert.are.same({ 1, "" }, { code, err })
    local row = report.results[1]
    assert.matches("^%x+$", row.fingerprint)
    row.file, row.line, row.fingerprint = nil, nil, nil
    assert.are.same({ rule = "image-tag", severity = "medium", category = "images", result = "fail", apiVersion = "v1",
      kind = "Pod", namespace = "shop", name = "web", message = "no tag", path = "spec.containers[0].image",
      value = "registry:5000/app" }, row)
    assert.are.same({ 1, 2, 1 }, { #report.results, report.summary.objects, report.summary.results.pass })
  end)

  it("ends with 0 without findings, and below the severity of --fail-on", function()
    place:write("good.yaml", pod("web", "app:1"))
    place:write("bad.yaml", pod("web", "app"))
    assert.are.equal(0, (audited("--from", place.path .. "/good.yaml")))
    assert.are.equal(0, (audited("--from", place.path .. "/bad.yaml", "--fail-on", "high")))
    assert.are.equal(1, (audited("--from", place.path .. "/bad.yaml", "--fail-on", "medium")))
  end)

  it("never reports success when nothing was checked", function()
    place:write("none.yaml", "apiVersion: v1\nkind: Node\nmetadata: { name: n }\n")
    local code, _, err = audited("--from", place.path .. "/none.yaml")
    assert.are.equal(2, code)
    assert.matches("nothing was audited: no object has a kind that a rule matches", err, 1, true)
    assert.are.equal(0, (audited("--from", place.path .. "/none.yaml", "--allow-empty")))
  end)

  it("reports that the input contains no objects", function()
    local expected = "nothing was audited: the input contains no objects; use --allow-empty to allow this\n"
    for _, text in ipairs { "", "# soon\n---\n", "apiVersion: v1\nkind: List\nitems: []\n" } do
      place:write("none.yaml", text)
      local code, _, err = audited("--from", place.path .. "/none.yaml")
      assert.are.equal(2, code)
      assert.has_match(expected, err, 1, true)
    end
    place:write("empty/README.md", "later")
    local _, _, err = audited("--from", place.path .. "/empty")
    assert.has_match(expected, err, 1, true)
    place:write("empty/pod.json", '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}')
    _, _, err = audited("--from", place.path .. "/empty", "--exclude", "*.json")
    assert.has_match("the input contains no objects in files that --exclude allows;", err, 1, true)
  end)

  it("reports it when every rule skipped every object", function()
    place:write("skip.txt", 'require("k8s").rule { id = "skip", kinds = { "pods" }, check = function() end,\n'
      .. "  skip = function() return true end }")
    place:write("pods.yaml", pod("web", "app"))
    local p = cluster.kubelua { "audit", "-f", place.path .. "/skip.txt", "--from", place.path .. "/pods.yaml" }
    assert.are.equal(0, p:wait(20))
    assert.are.equal("kubelua audit: nothing was audited: every rule skipped every object\n", p:err())
    local _, _, err = audited("--from", place.path .. "/pods.yaml")
    assert.is_nil(err:find "nothing was audited")
  end)

  it("reads the items of lists, whatever they are called", function()
    local item = '{"metadata":{"name":"web","namespace":"shop"},"spec":{"containers":[{"name":"c","image":"app"}]}}'
    local whole = '{"apiVersion":"v1","kind":"Pod",' .. item:sub(2)
    place:write("list.json", '{"apiVersion":"v1","kind":"List","items":[' .. whole .. "]}")
    place:write("pods.json", '{"apiVersion":"v1","kind":"PodList","items":[' .. item .. "]}")
    for _, name in ipairs { "list.json", "pods.json" } do
      local code, report = audited("--from", place.path .. "/" .. name)
      assert.are.same({ 1, 1, "Pod" }, { code, #report.results, report.results[1].kind })
    end
  end)

  it("names file and line, reads directories, and reports what it cannot read", function()
    place:write("input/sub/pods.yaml", "# first\n---\n" .. pod("web", "app") .. pod("db", "db"))
    place:write("input/broken.json", '{"kind":"Pod"}\n{"apiVersion":"v1","kind":"Pod",')
    local code, report, err = audited("--from", place.path .. "/input", "-R")
    local told = {}
    for i, row in ipairs(report.results) do told[i] = { row.name, row.file:match("[^/]*/[^/]*$"), row.line } end
    assert.are.equal(2, code)
    assert.are.same({ { "db", "sub/pods.yaml", 13 }, { "web", "sub/pods.yaml", 3 } }, told)
    assert.matches("broken.json:1: Pod: missing apiVersion\n", err, 1, true)
    assert.matches("broken.json:2: unexpected end of input in the object that starts here\n", err, 1, true)
    assert.are.equal(2, (audited("--from", place.path .. "/input")))
  end)

  it("reads a file once, however often it is named", function()
    place:write("input/pods.yaml", pod("web", "app"))
    local file = place.path .. "/input/pods.yaml"
    local code, report = audited("--from", file, "--from", place.path .. "/input", "--from", file)
    assert.are.same({ 1, 1 }, { code, #report.results })
  end)

  it("names the line where JSON is wrong", function()
    place:write("pod.json", '{\n  "kind": "Pod",\n  "spec": {\n    "a": [1, 2}\n  }\n}\n')
    local code, _, err = audited("--from", place.path .. "/pod.json")
    assert.are.equal(2, code)
    assert.matches("pod.json:4: invalid JSON: malformed structure, in the object that starts at line 1", err, 1,
      true)
  end)

  it("skips what the object's owner accepted, until the day of the annotation", function()
    place:write("pods.yaml", pod("web", "app", 'kubelua/ignore.image-tag: "until=2999-01-31 the vendor is told"')
      .. pod("db", "db", 'kubelua/ignore.image-tag: "until=2020-01-31 soon"'))
    local code, report = audited("--from", place.path .. "/pods.yaml")
    local told = {}
    for _, row in ipairs(report.results) do told[row.name] = { row.result, row.message, row.reason, row.path } end
    assert.are.equal(1, code)
    local path = "spec.containers[0].image"
    assert.are.same({ web = { "skip", "no tag", "accepted until 2999-01-31: the vendor is told", path },
      db = { "fail", "no tag", "accepted until 2020-01-31, which has passed: soon", path } }, told)
  end)

  it("takes neither a malformed day nor an empty text for a reason", function()
    place:write("pods.yaml", pod("a", "app", 'kubelua/ignore.image-tag: "Until=2020-01-01 told"')
      .. pod("b", "app", 'kubelua/ignore.image-tag: ""'))
    local code, out = audit("-f", place.path .. "/rules.lua", "--from", place.path .. "/pods.yaml")
    assert.are.equal(1, code)
    assert.matches('no tag (not accepted: "Until=2020-01-01" in kubelua/ignore.image-tag is not a date; use '
      .. 'until=2027-01-31: told)', out, 1, true)
    assert.matches("no tag (not accepted: kubelua/ignore.image-tag gives no reason)", out, 1, true)
  end)

  it("keeps what was found in what is accepted", function()
    place:write("pods.yaml", pod("web", "app"))
    local _, before = audited("--from", place.path .. "/pods.yaml")
    place:write("pods.yaml", pod("web", "app", "kubelua/ignore.image-tag: ours"))
    local code, after = audited("--from", place.path .. "/pods.yaml")
    local was, is = before.results[1], after.results[1]
    assert.are.same({ 0, "skip", "accepted: ours" }, { code, is.result, is.reason })
    assert.are.same({ was.message, was.path, was.value, was.fingerprint }, { is.message, is.path, is.value,
      is.fingerprint })
    local _, wide = audit("-f", place.path .. "/rules.lua", "--from", place.path .. "/pods.yaml", "-o", "wide")
    assert.matches("no tag (accepted: ours)  spec.containers[0].image", wide, 1, true)
  end)

  it("takes no error of a rule for a pass, and ends with 3", function()
    place:write("rules.lua", tag .. [[
k8s.rule { id = "broken", kinds = { "pods" }, check = function(obj) return obj.spec.none.more end }
k8s.rule { id = "endless", kinds = { "pods" }, check = function() while true do end end }
]])
    place:write("pods.yaml", pod("web", "app:1"))
    local code, report = audited("--from", place.path .. "/pods.yaml")
    local told = {}
    for _, row in ipairs(report.results) do told[row.rule] = row.result .. ": " .. row.message end
    assert.are.equal(3, code)
    assert.matches("error: .*rules.lua:14: .*none", told.broken)
    assert.matches("error: .*over the limit handler%-cpu", told.endless)
    assert.is_nil(told["image-tag"])
  end)

  it("lets rules read other objects of the same input", function()
    place:write("rules.lua", [[
require("k8s").rule { id = "selects-nothing", kinds = { "services" },
  uses = { pods = { kind = "pods", index = "namespace" } },
  check = function(obj, r, use)
    for _, pod in ipairs(use.pods(obj:namespace())) do
      if pod.metadata.name == obj.spec.selector.name then return end
    end
    r:fail("no pod")
  end }
]])
    local function service(name)
      local metadata = ("metadata: { name: %s, namespace: shop }\n"):format(name)
      return "apiVersion: v1\nkind: Service\n" .. metadata .. ("spec: { selector: { name: %s } }\n---\n"):format(name)
    end
    place:write("a.yaml", service "web" .. service "db")
    place:write("b.yaml", pod("web", "app"))
    local code, report = audited("--from", place.path .. "/a.yaml", "--from", place.path .. "/b.yaml")
    assert.are.same({ 1, 1, "db" }, { code, #report.results, report.results[1].name })
  end)

  it("audits the objects of a namespace, and those without one, with -n", function()
    place:write("rules.lua", [[
require("k8s").rule { id = "seen", kinds = { "pods", "nodes" }, check = function(obj, r) r:fail "seen" end }
]])
    local node = "apiVersion: v1\nkind: Node\nmetadata: { name: one }\n---\n"
    local other = pod("far", "app"):gsub("shop", "bank")
    place:write("a.yaml", node .. pod("near", "app") .. other)
    local _, report = audited("--from", place.path .. "/a.yaml", "-n", "shop")
    local names = {}
    for i, row in ipairs(report.results) do names[i] = row.name end
    table.sort(names)
    assert.are.same({ "near", "one" }, names)
  end)

  it("takes an object of a manifest without a namespace for one of default, where its kind has them", function()
    place:write("rules.lua", [[
require("k8s").rule { id = "of-default", kinds = { "pods", "nodes", "cronjobs.batch" }, namespaces = { "default" },
  check = function(obj, r) r:fail("told") end }
require("k8s").rule { id = "of-others", kinds = { "pods", "nodes" }, namespaces = { "shop" },
  check = function(obj, r) r:fail("told") end }
]])
    place:write("all.yaml", pod("web", "app"):gsub("  namespace: shop\n", "") .. pod("of-shop", "app")
      .. "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n---\n"
      .. "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata:\n  name: old\n")
    local _, report = audited("--from", place.path .. "/all.yaml")
    local told = {}
    for _, row in ipairs(report.results) do told[#told + 1] = row.rule .. " " .. row.name end
    assert.are.same({ "of-default old", "of-default web", "of-others of-shop" }, told)
  end)

  it("refuses an index that is nearly one of those that there are", function()
    place:write("pods.yaml", pod("web", "app:1"))
    for name, near in pairs { namespaces = "namespace", Namespace = "namespace", keys = "key" } do
      place:write("rules.lua", ([[require("k8s").rule { id = "a", kinds = { "pods" },
        uses = { others = { kind = "pods", index = "%s" } }, check = function() end }]]):format(name))
      local code, _, err = audited("--from", place.path .. "/pods.yaml")
      assert.are.equal(2, code)
      assert.matches(('others: index: objects have no field "%s", did you mean "%s"?'):format(name, near), err, 1, true)
    end
    for _, path in ipairs { "type", "kind", "roleRef.name", "reason", "data", "spec", "value" } do
      place:write("rules.lua", ([[require("k8s").rule { id = "a", kinds = { "pods" },
        uses = { others = { kind = "pods", index = "%s" } }, check = function() end }]]):format(path))
      assert.are.equal(0, (audited("--from", place.path .. "/pods.yaml")))
    end
  end)

  it("counts findings as it prints them, and results for each object and rule", function()
    place:write("rules.lua", [[
require("k8s").rule { id = "two", kinds = { "pods" }, severity = "high",
  check = function(obj, r) r:fail("one") r:fail("other") r:warn("third") end }
]])
    place:write("pods.yaml", pod("web", "app"))
    local _, report = audited("--from", place.path .. "/pods.yaml")
    local summary = report.summary
    assert.are.same({ 1, 2, 1, 3 }, { summary.results.fail, summary.findings.fail, summary.findings.warn,
      summary.severities.high })
    local _, out = audit("-f", place.path .. "/rules.lua", "--from", place.path .. "/pods.yaml")
    assert.matches("\n3 findings (3 high), 1 of them a warning\n", out, 1, true)
  end)

  it("takes what the group extensions had for what has moved, in what rules use too", function()
    place:write("rules.lua", [[
require("k8s").rule { id = "used", kinds = { "pods" }, uses = { d = { kind = "deployments", index = "namespace" } },
  check = function(obj, r, use) r:fail(#use.d(obj:namespace()) .. " deployments") end }
]])
    local old = "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: { name: d, namespace: shop }\n---\n"
    place:write("a.yaml", pod("web", "app") .. old)
    local _, report = audited("--from", place.path .. "/a.yaml")
    assert.are.equal("1 deployments", report.results[1].message)
  end)

  it("lets rules use custom kinds of the input, and reports kinds that are none", function()
    place:write("rules.lua", [[
local k8s = require "k8s"
k8s.rule { id = "used", kinds = { "pods" }, uses = { w = { kind = "widgets", index = "namespace" } },
  check = function(obj, r, use) r:fail(#use.w(obj:namespace()) .. " widgets") end }
]])
    local widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: w, namespace: shop }\n---\n"
    place:write("a.yaml", pod("web", "app") .. widget)
    local code, report = audited("--from", place.path .. "/a.yaml")
    assert.are.same({ 1, "1 widgets" }, { code, report.results[1].message })
    place:write("b.yaml", pod("web", "app"))
    local err
    code, report, err = audited("--from", place.path .. "/b.yaml")
    assert.are.same({ 3, 0 }, { code, #report.results })
    assert.matches('rules.lua:2: rule used: "widgets" is not a built-in kind', err, 1, true)
    place:write("rules.lua", 'require("k8s").rule { id = "typo", kinds = { "podz" }, check = function() end }')
    code, report, err = audited("--from", place.path .. "/b.yaml")
    assert.are.same({ 3, 0 }, { code, #report.results })
    assert.matches('rule typo: "podz" is not a built-in kind, did you mean "pods"', err, 1, true)
  end)

  it("reports the good files beside a broken one, and ends with 2", function()
    place:write("good.yaml", pod("web", "app"))
    place:write("broken.json", '{"apiVersion":"v1","kind":"Pod","metadata":{"name":')
    local broken, good = place.path .. "/broken.json", place.path .. "/good.yaml"
    local code, report, err = audited("--from", broken, "--from", good)
    assert.is_false(report.summary.complete)
    local rules = place.path .. "/rules.lua"
    local sarif = select(2, audit("-f", rules, "--from", broken, "--from", good, "-o", "sarif"))
    assert.is_false(cjson.decode(sarif).runs[1].invocations[1].executionSuccessful)
    local text = select(2, audit("-f", place.path .. "/rules.lua", "--from", broken, "--from", good))
    assert.matches("Some input could not be read; there may be more findings.\n$", text)
    assert.is_true(select(2, audited("--from", good)).summary.complete)
    local junit = select(2, audit("-f", rules, "--from", broken, "--from", good, "-o", "junit"))
    assert.matches('<testsuites name="kubelua audit" tests="2" failures="1" errors="1"', junit, 1, true)
    assert.matches('<error message="Some input could not be read; there may be more findings."', junit, 1, true)
    assert.are_not.matches("<error", (select(2, audit("-f", rules, "--from", good, "-o", "junit"))))
    assert.are.same({ 2, 1 }, { code, #report.results })
    assert.matches("broken.json", err, 1, true)
  end)

  it("takes no result of check for a finding or a pass", function()
    place:write("rules.lua", 'require("k8s").rule { id = "like-opa", kinds = { "pods" },\n'
      .. "  check = function(obj) return not obj.spec.hostNetwork end }")
    place:write("pods.yaml", pod("web", "app"))
    local code, report = audited("--from", place.path .. "/pods.yaml")
    assert.are.same({ 3, 1 }, { code, #report.results })
    local message = "rules.lua:2: check must return nothing, not boolean; use r:fail(message) to report a failure"
    assert.matches(message, report.results[1].message, 1, true)
  end)

  it("refuses rules that do not load, rules of the same name, and scripts without any", function()
    place:write("pods.yaml", pod("web", "app"))
    place:write("twin.lua", tag)
    local from = place.path .. "/pods.yaml"
    local code, _, err = audit("-f", place.path, "--from", from)
    assert.are.equal(2, code)
    assert.matches("twin.lua:2: duplicate rule id image%-tag, first used at .*rules.lua:2", err)
    place:write("twin.lua", "local x = = 1")
    code, _, err = audit("-f", place.path, "--from", from)
    assert.are.equal(2, code)
    assert.matches("twin.lua:1: unexpected symbol", err, 1, true)
    place:write("rules.lua", "")
    code, _, err = audited("--from", from)
    assert.are.equal(2, code)
    assert.matches("none of the scripts has a rule (k8s.rule)", err, 1, true)
  end)
end)

describe("kubelua audit of a cluster", function()
  local sim

  before_each(function()
    place = checks.new "audit"
    sim = cluster.sim { "--pods", "20" }
  end)
  after_each(function() place:remove() end)

  local function audited_live(...)
    return audited("-s", sim.server, ...)
  end

  it("audits the objects of the server, and those that rules use", function()
    place:write("rules.lua", [[
require("k8s").rule { id = "alone", kinds = { "pods" }, uses = { nodes = { kind = "nodes", index = "key" } },
  check = function(obj, r, use)
    r:fail(#use.nodes(obj.spec.nodeName or "") .. " nodes")
  end }
]])
    local code, report, err = audited_live()
    assert.are.same({ 1, 20, "" }, { code, #report.results, err })
    assert.are.equal(sim.server, report.summary.source)
  end)

  local several = [[
local k8s = require "k8s"
k8s.rule { id = "known", kinds = { "pods" }, check = function(obj, r) r:warn "seen" end }
k8s.rule { id = "first", kinds = { "pods", "%s" }, check = function() end }
k8s.rule { id = "second", kinds = { "%s" }, check = function() end }
]]

  it("reports once which kinds the server does not have, and is complete all the same", function()
    place:write("rules.lua", several:format("widgets.example.com", "componentstatuses"))
    local code, report, err = audited_live()
    assert.are.same({ 0, 20 }, { code, #report.results })
    assert.are.equal("kubelua audit: the server has no widgets.example.com, componentstatuses\n", err)
  end)

  it("is incomplete when no server can have a kind", function()
    place:write("rules.lua", several:format("podz", "deployment.app"))
    place:write("more.lua", several:gsub('id = "', 'id = "x'):format("podz", "podz"))
    local code, out, err = audit("-f", place.path, "-s", sim.server, "-o", "json")
    assert.are.same({ 3, 40 }, { code, #cjson.decode(out).results })
    local _, times = err:gsub("podz", "")
    assert.are.equal(1, times)
  end)

  it("does not evaluate rules that use what the server does not let them read", function()
    sim:forbid("nodes", "nobody may")
    place:write("rules.lua", [[
local k8s = require "k8s"
k8s.rule { id = "alone", kinds = { "pods" }, check = function(obj, r) r:warn "seen" end }
k8s.rule { id = "joined", kinds = { "pods" }, uses = { nodes = { kind = "nodes", index = "key" } },
  check = function(obj, r, use)
    if #use.nodes(obj.spec.nodeName or "") == 0 then r:fail "no node" end
  end }
]])
    local code, report, err = audited_live()
    assert.are.same({ 3, 20 }, { code, #report.results })
    assert.matches("nobody may", err, 1, true)
    for _, row in ipairs(report.results) do assert.are.equal("alone", row.rule) end
  end)

  it("does not evaluate rules that use a kind that the server does not have", function()
    place:write("rules.lua", [[
require("k8s").rule { id = "joined", kinds = { "pods" }, uses = { w = { kind = "widgets.example.com" } },
  check = function(obj, r, use) if #use.w() == 0 then r:fail "no widget" end end }
]])
    local code, report, err = audited_live()
    assert.are.same({ 3, 0, false }, { code, #report.results, report.summary.complete })
    assert.matches("1 rule was not evaluated because the server did not return what it uses: joined\n", err, 1, true)
  end)

  it("names all rules that are not evaluated and all kinds that a server lacks, in lines that can be read", function()
    local rules, kinds = {}, {}
    for i = 1, 30 do
      kinds[i] = ("widgets%d.example.com"):format(i)
      rules[i] = ([[k8s.rule { id = "joined-%d", kinds = { "pods" }, uses = { w = { kind = "%s" } },
        check = function() end }]]):format(i, kinds[i])
    end
    place:write("rules.lua", 'local k8s = require "k8s"\n' .. table.concat(rules, "\n"))
    local code, _, err = audited_live()
    assert.are.equal(3, code)
    for line in err:gmatch "[^\n]+" do assert.is_true(#line <= 120, line) end
    local flat = err:gsub("\n  ", " ")
    assert.matches("the server has no " .. table.concat(kinds, ", ") .. "\n", flat, 1, true)
    assert.matches("30 rules were not evaluated because the server did not return what they use: "
      .. "joined-1, joined-2, ", flat, 1, true)
    assert.matches(", joined-29, joined-30\n", flat, 1, true)
  end)

  it("reports which server it cannot reach", function()
    place:write("rules.lua", tag)
    local code, _, err = audited("-s", "http://127.0.0.1:1")
    assert.are.equal(2, code)
    assert.matches("http://127.0.0.1:1", err, 1, true)
  end)
end)
