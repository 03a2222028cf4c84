-- `kubelua audit --fix`: what rules would do about what they find.
local cjson = require "cjson"
local checks = require "spec.support.checks"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local place

local function audit(...) return place:run("-f", place.path .. "/rules.lua", ...) end

local function audit_files(...) return audit("--from", place.path .. "/objects.yaml", "--fix", ...) end

-- Two rules that change the same list.
local containers = [[
local k8s = require "k8s"
local function rule(id, message, is_well, mend)
  k8s.rule { id = id, kinds = { "pods", "deployments.apps" },
    check = function(obj, r)
      local spec = obj.kind == "Pod" and obj.spec or obj.spec.template.spec
      for _, container in ipairs(spec.containers) do
        if not is_well(container) then r:fail(message .. container.name) end
      end
    end,
    fix = mend and function(obj)
      local spec = obj.kind == "Pod" and obj.spec or obj.spec.template.spec
      local list = k8s.object.copy(spec.containers)
      for _, container in ipairs(list) do mend(container) end
      local fields = { containers = list }
      return { spec = obj.kind == "Pod" and fields or { template = { spec = fields } } }
    end }
end
rule("privileged", "privileged: ", function(c) return not (c.securityContext and c.securityContext.privileged) end,
  function(c) c.securityContext = nil end)
rule("image-tag", "no tag: ", function(c) return c.image:match ":" end,
  function(c) if not c.image:match ":" then c.image = c.image .. ":1" end end)
]]

local function pod(name, more)
  return ("apiVersion: v1\nkind: Pod\nmetadata: { name: %s, namespace: shop }\nspec:\n  containers:\n%s---\n")
    :format(name, more or "  - { name: web, image: app, securityContext: { privileged: true } }\n")
end

-- The commands that a shell makes of a script: the words of each kubectl, and what it is given to read.
local function commands(script)
  place:write("kubectl", [[#!/bin/sh
for word in "$@"; do printf '%s\0' "$word"; done
[ "$1" = apply ] && cat
printf '\1'
]])
  place:write("fixes.sh", script)
  os.execute("chmod +x '" .. place.path .. "/kubectl'")
  local p = proc.spawn { "bash", "-c", 'PATH="$0:$PATH" . "$0/fixes.sh"', place.path }
  assert.are.equal(0, p:wait(), p.streams.err.text)
  local found = {}
  for command in p.streams.out.text:gmatch "([^\1]*)\1" do
    local words = {}
    for word in command:gmatch "([^%z]*)%z" do words[#words + 1] = word end
    words.input = command:match "([^%z]*)$"
    found[#found + 1] = words
  end
  return found
end

describe("kubelua audit --fix", function()
  before_each(function()
    place = checks.new "audit"
    place:write("rules.lua", containers)
  end)
  after_each(function() place:remove() end)

  it("prints one patch for an object, of the fixes of all rules that fail", function()
    place:write("objects.yaml", pod("web") .. pod("good", "  - { name: web, image: 'app:1' }\n"))
    local code, out, err = audit_files()
    assert.are.same({ 1, [[
# shop/web Pod: privileged: privileged: web
# shop/web Pod: image-tag: no tag: web
]] .. "kubectl patch pods web -n shop --type strategic -p '{\"spec\":{\"containers\":[{\"name\":\"web\","
      .. "\"image\":\"app:1\",\"securityContext\":null}]}}'\n",
      "kubelua audit: 2 findings have a fix, 0 have none; 1 object\n" }, { code, out, err })
  end)

  it("prints what the documentation shows", function()
    place:write("objects.yaml", [[
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "web:1", env: [{ name: PASSWORD, value: hunter2 }] }] }
]])
    local _, out = place:run("-f", "scripts/rules", "--from", place.path .. "/objects.yaml", "--fix")
    local shown = temp.read("docs/audits.md"):match "\n## Fixes\n.-```sh\n(.-)```"
    assert.are.equal(shown, out)
  end)

  it("names kinds with their group", function()
    place:write("objects.yaml", [[
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec: { template: { spec: { containers: [{ name: web, image: app }] } } }
]])
    local _, out = audit_files()
    assert.are.same({ { "patch", "deployments.apps", "web", "-n", "shop", "--type", "strategic", "-p",
      '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"app:1"}]}}}}', input = "" } }, commands(out))
  end)

  it("names the version of a kind where it is not the one that kubectl would take, and kinds of nobody", function()
    place:write("rules.lua", [[
require("k8s").rule { id = "any", kinds = { "autoscaling/v1/HorizontalPodAutoscaler", "example.com/v1/Widget" },
  check = function(_, r) r:fail "seen" end, fix = function() return { spec = { seen = true } } end }
]])
    place:write("objects.yaml", "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: { name: a }\n"
      .. "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: { name: '-w' }\n")
    local _, out = audit_files()
    local found = commands(out)
    assert.are.same({ "patch", "HorizontalPodAutoscaler.v1.autoscaling", "a", "--type", "merge", "-p",
      '{"spec":{"seen":true}}', input = "" }, found[1])
    assert.are.same({ "patch", "--type", "merge", "-p", '{"spec":{"seen":true}}', "--", "Widget.v1.example.com",
      "-w", input = "" }, found[2])
  end)

  it("prints nothing of a container but its name and what changes, and its list where that is not enough", function()
    local secret = '  - { name: db, image: "db:1", env: [{ name: PASSWORD, value: hunter2 }] }\n'
    local other = "  - { name: web, image: app, env: [{ name: A, value: hunter2 }] }\n"
    place:write("objects.yaml", pod("web", secret .. other))
    local _, out = audit_files()
    assert.are.equal('{"spec":{"containers":[{"name":"web","image":"app:1"}]}}', commands(out)[1][9])
    -- Two of one name cannot be told apart by it; a custom kind has no keys.
    place:write("objects.yaml", pod("web", secret .. "  - { name: web, image: app }\n  - { name: web, image: app }\n"))
    _, out = audit_files()
    assert.are.equal("merge", commands(out)[1][7])
    assert.matches("hunter2", out, 1, true)
    place:write("rules.lua", (containers:gsub('"pods", "deployments.apps"', '"example.com/v1/Widget"')
      :gsub("spec.template.spec", "spec")))
    place:write("objects.yaml", (pod("web"):gsub("v1", "example.com/v1"):gsub("Pod", "Widget")))
    _, out = audit_files()
    assert.are.same({ "Widget.v1.example.com", "merge" }, { commands(out)[1][2], commands(out)[1][7] })
  end)

  it("reports which rule still fails with the patch, and how many findings have no fix", function()
    place:write("rules.lua", containers .. [[
k8s.rule { id = "stubborn", kinds = { "pods" }, check = function(_, r) r:fail "never well" end,
  fix = function() return { metadata = { labels = { tried = "yes" } } } end }
k8s.rule { id = "helpless", kinds = { "pods" }, check = function(_, r) r:fail "no fix" end }
k8s.rule { id = "knows-none", kinds = { "pods" }, check = function(_, r) r:fail "nil" end, fix = function() end }
k8s.rule { id = "vain", kinds = { "pods" }, check = function(_, r) r:fail "vain" end,
  fix = function(obj) return { metadata = { name = obj:name() } } end }
]])
    place:write("objects.yaml", pod "web")
    local code, out, err = audit_files()
    assert.are.equal(1, code)
    assert.matches("# shop/web Pod: stubborn: never well\n# shop/web Pod: still fails: stubborn: never well\nkubectl",
      out, 1, true)
    assert.is_nil(out:match "still fails: privileged")
    assert.are.equal("kubelua audit: 3 findings have a fix, 3 have none; 1 object; "
      .. "1 rule fails with the patch too\n", err)
  end)

  it("requests no fix where that of another rule has fixed it", function()
    place:write("rules.lua", [[
local k8s = require "k8s"
for _, id in ipairs { "one", "two" } do
  k8s.rule { id = id, kinds = { "pods" },
    check = function(obj, r) if #(obj.spec.tolerations or {}) == 0 then r:fail "none" end end,
    fix = function(obj)
      local list = obj.spec.tolerations and k8s.object.copy(obj.spec.tolerations) or {}
      list[#list + 1] = { key = id }
      return { spec = { tolerations = list } }
    end }
end
]])
    place:write("objects.yaml", pod "web")
    local _, out, err = audit_files()
    assert.are.equal('{"spec":{"tolerations":[{"key":"one"}]}}', commands(out)[1][9])
    assert.matches("2 findings have a fix, 0 have none", err, 1, true)
  end)

  it("prints a manifest as one of its own, once, and in the namespace of what it is for", function()
    place:write("rules.lua", [[
require("k8s").rule { id = "policy", kinds = { "pods" }, check = function(_, r) r:fail "no policy" end,
  fix = function() return { apiVersion = "networking.k8s.io/v1", kind = "NetworkPolicy", metadata = { name = "deny" },
    spec = { podSelector = {}, note = "$(date) `date` $HOME\nEOF\nit's\27[2J" } } end }
]])
    place:write("objects.yaml", pod "web" .. pod "db")
    local _, out = audit_files()
    assert.matches("^# shop/web Pod: policy: no policy\n# shop/db Pod: policy: no policy\nkubectl apply", out)
    assert.is_nil(out:find "\27")
    local found = commands(out)
    assert.are.equal(1, #found)
    assert.are.same({ "apply", "-f", "-" }, { found[1][1], found[1][2], found[1][3] })
    assert.matches('  name: "deny"\n  namespace: "shop"\n', found[1].input, 1, true)
    assert.matches([[  note: "$(date) `date` $HOME\nEOF\nit's\x1b[2J"]], found[1].input, 1, true)
  end)

  describe("of a manifest", function()
    local service = [[
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { selector: { app: other } }
---
]]

    it("makes a comment of one whose object is there, which changes nothing when it is pasted", function()
      place:write("rules.lua", [[
local k8s = require "k8s"
k8s.rule { id = "has-service", kinds = { "pods" }, uses = { services = { kind = "services", index = "namespace" } },
  check = function(obj, r, use)
    for _, service in ipairs(use.services(obj:namespace())) do
      if service.spec.selector.app == obj:name() then return end
    end
    r:fail "no service"
  end,
  fix = function(obj) return { apiVersion = "v1", kind = "Service", metadata = { name = obj:name() },
    spec = { selector = { app = obj:name() } } } end }
]])
      place:write("objects.yaml", service .. pod "web" .. pod "db")
      local code, out, err = audit_files()
      assert.are.equal(1, code)
      assert.matches([[
# shop/web Pod: has-service: no service
# Service shop/web already exists and would be changed by:
# kubectl apply -f - <<'EOF'
# apiVersion: "v1"
# kind: "Service"
]], out, 1, true)
      local found = commands(out)
      assert.are.equal(1, #found)
      assert.matches('  name: "db"', found[1].input, 1, true)
      assert.matches("2 objects; 1 manifest is for an object that exists\n", err, 1, true)
    end)

    it("makes a comment of one whose object another fix patches", function()
      place:write("rules.lua", containers .. [[
k8s.rule { id = "twin", kinds = { "services" }, check = function(_, r) r:fail "no pod" end,
  fix = function(obj) return { apiVersion = "v1", kind = "Pod", metadata = { name = obj:name() } } end }
]])
      place:write("objects.yaml", service .. pod "web")
      local _, out = audit_files()
      assert.matches("# Pod shop/web already exists and would be changed by:\n# kubectl apply", out, 1, true)
      assert.are.equal(1, #commands(out))
    end)

    it("takes the second of two that differ for an error of its rule", function()
      place:write("rules.lua", [[
local k8s = require "k8s"
for i, id in ipairs { "one", "two" } do
  k8s.rule { id = id, kinds = { "pods" }, check = function(_, r) r:fail "no policy" end,
    fix = function() return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "settings" },
      data = { a = tostring(i) } } end }
end
]])
      place:write("objects.yaml", pod "web")
      local code, out, err = audit_files()
      assert.are.same({ 3, 1 }, { code, #commands(out) })
      assert.matches("two: the fix of two: ConfigMap shop/settings conflicts with the fix of one", err, 1,
        true)
    end)
  end)

  it("takes a complete manifest of the object itself for its desired state", function()
    place:write("rules.lua", [[
require("k8s").rule { id = "restarts", kinds = { "pods" },
  check = function(obj, r) if not obj.spec.restartPolicy then r:fail "none" end end,
  fix = function(obj) return { apiVersion = "v1", kind = "Pod", spec = { restartPolicy = "Always" },
    metadata = { name = obj:name(), namespace = obj:namespace() } } end }
]])
    place:write("objects.yaml", pod "web")
    local _, out = audit_files()
    assert.are.equal('{"spec":{"restartPolicy":"Always"}}', commands(out)[1][9])
  end)

  it("prints nothing but words for a shell and a terminal", function()
    local bad = "x'; touch pwned; $(touch pwned) `touch pwned` \\ \" \27[2J \194\155 \226\128\174 \n # !"
    place:write("rules.lua", [[
require("k8s").rule { id = "bad", kinds = { "pods" },
  check = function(obj, r) r:fail(obj.spec.bad) end,
  fix = function(obj) return { metadata = { annotations = { [obj.spec.bad] = obj.spec.bad } } } end }
]])
    place:write("objects.yaml", cjson.encode { apiVersion = "v1", kind = "Pod",
      metadata = { name = bad, namespace = bad }, spec = { bad = bad } })
    local _, out = audit_files()
    for _, order in ipairs { "\27", "\194\155", "\226\128\174", "\n #" } do assert.is_nil(out:find(order, 1, true)) end
    local found = commands(out)
    assert.are.equal(1, #found)
    assert.are.same({ "patch", "pods", bad, "-n", bad }, { unpack(found[1], 1, 5) })
    assert.are.same({ metadata = { annotations = { [bad] = bad } } }, cjson.decode(found[1][9]))
  end)

  it("does nothing about findings that are known or accepted", function()
    place:write("objects.yaml", pod "web")
    local _, known = audit("--from", place.path .. "/objects.yaml", "-o", "json")
    place:write("known.json", known)
    local code, out, err = audit_files("--baseline", place.path .. "/known.json")
    assert.are.same({ 0, "", "kubelua audit: 0 findings have a fix, 0 have none; 0 objects\n" }, { code, out, err })
    place:write("objects.yaml", (pod("web"):gsub("namespace: shop",
      "%0, annotations: { kubelua/ignore.privileged: soon }")))
    _, out = audit_files()
    assert.matches([[-p '{"spec":{"containers":[{"name":"web","image":"app:1"}]}}']], out, 1, true)
  end)

  it("puts the patch into the report where one is requested", function()
    place:write("objects.yaml", pod "web")
    local code, out = audit_files("-o", "json")
    local fixes = {}
    for _, row in ipairs(cjson.decode(out).results) do fixes[row.rule] = row.fix or false end
    assert.are.equal(1, code)
    assert.are.same({ privileged = { spec = { containers = { { name = "web", image = "app:1",
      securityContext = cjson.null } } } }, ["image-tag"] = false }, fixes)
    assert.matches('"fixType":"strategic"', out, 1, true)
    local _, yaml = audit_files("-o", "yaml")
    assert.matches("  fix:\n    spec:\n      containers:\n", yaml, 1, true)
    local refused, _, err = audit_files("-o", "sarif")
    assert.are.equal(2, refused)
    assert.matches("--fix does not support -o sarif; use -o json, -o yaml or no -o", err, 1, true)
  end)

  it("is not of a running engine", function()
    local code, _, err = audit("--engine", "--fix")
    assert.are.same({ 2, "kubelua audit: --fix cannot be combined with --engine\n" }, { code, err })
  end)

  it("takes no fix that fails, or is none, for done: it ends with 3 and reports why", function()
    for text, expected in pairs {
      ["error 'no idea'"] = "no idea",
      ["return { 1, 2 }"] = "the fix of broken: expected a merge patch or a manifest, not a list",
      ["return 5"] = "fix must return a patch, a manifest or nil, not number",
      ["return { metadata = { name = 'other' } }"] =
        "the fix of broken: must not change apiVersion, kind, namespace or name",
      ["return { metadata = k8s.null }"] = "the fix of broken: ",
    } do
      place:write("rules.lua", containers .. 'k8s.rule { id = "broken", kinds = { "pods" },\n'
        .. 'check = function(_, r) r:fail "broken" end, fix = function(obj) ' .. text .. " end }\n")
      place:write("objects.yaml", pod "web")
      local code, out, err = audit_files()
      assert.are.equal(3, code, text)
      assert.matches("kubelua audit: Pod/shop/web: broken: ", err:gsub("Pod shop/web", "Pod/shop/web"), 1, true)
      assert.matches(expected, err, 1, true)
      assert.are.equal(1, #commands(out))
    end
  end)
end)
