-- `kubelua audit --baseline`: findings that are known are told no more, and nothing else is hidden by them.
local cjson = require "cjson"
local checks = require "spec.support.checks"

local RULES = [[
local k8s = require "k8s"
k8s.rule {
  id = "image-tag", severity = "medium", kinds = { "pods" },
  check = function(obj, r)
    for i, container in ipairs(obj.spec.containers) do
      if not container.image:match(":[^/]*$") then
        r:fail("no tag", { path = "spec.containers[" .. i - 1 .. "].image", value = container.image })
      end
    end
  end,
}
k8s.rule {
  id = "labels", severity = "low", kinds = { "pods" },
  check = function(obj, r)
    local labels = obj.metadata.labels or {}
    if labels.lacks then r:fail(labels.lacks) end
  end,
}
]]

describe("a baseline", function()
  local place

  local function audit(...) return place:run("-f", place.path .. "/rules.lua", ...) end

  -- Containers by pairs of name and image.
  local function write(file, lacks, ...)
    local text = { "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  namespace: shop\n" }
    if lacks then text[#text + 1] = "  labels:\n    lacks: " .. lacks .. "\n" end
    text[#text + 1] = "spec:\n  containers:\n"
    local containers = { ... }
    for i = 1, #containers, 2 do
      text[#text + 1] = ("  - name: %s\n    image: %s\n"):format(containers[i], containers[i + 1])
    end
    place:write(file, table.concat(text))
  end

  -- `change` is given the report that is known from now on.
  local function know(file, change)
    local _, known = audit("--from", place.path .. "/" .. file, "-o", "json")
    local report = cjson.decode(known)
    if change then change(report) end
    place:write("known.json", cjson.encode(report))
    return report
  end

  local function told(file, ...)
    local code, out, err = audit("--from", place.path .. "/" .. file, "-o", "json", "--baseline",
      place.path .. "/known.json", ...)
    if out == "" then return nil, err end
    local report, lines = cjson.decode(out), {}
    for _, row in ipairs(report.results) do
      lines[#lines + 1] = ("%s %s %s"):format(row.rule, row.path or "-", row.value or row.message)
    end
    return { code, report.summary.known or 0, lines }, err
  end

  before_each(function()
    place = checks.new "audit"
    place:write("rules.lua", RULES)
  end)
  after_each(function() place:remove() end)

  it("hides what an earlier report has, and nothing else", function()
    write("pods.yaml", nil, "a", "nginx")
    know "pods.yaml"
    assert.are.same({ 0, 1, {} }, (told "pods.yaml"))
    write("pods.yaml", nil, "a", "nginx", "b", "redis")
    assert.are.same({ 1, 1, { "image-tag spec.containers[1].image redis" } }, (told "pods.yaml"))
  end)

  it("knows a container by its name, wherever it stands", function()
    write("pods.yaml", nil, "a", "nginx")
    know "pods.yaml"
    write("pods.yaml", nil, "new", "redis", "a", "nginx")
    assert.are.same({ 1, 1, { "image-tag spec.containers[0].image redis" } }, (told "pods.yaml"))
    write("pods.yaml", nil, "other", "redis")
    assert.are.same({ 1, 0, { "image-tag spec.containers[0].image redis" } }, (told "pods.yaml"))
  end)

  it("knows what has no path by its message, but for numbers in it", function()
    write("pods.yaml", "5-owners", "a", "nginx:1")
    know "pods.yaml"
    write("pods.yaml", "7-owners", "a", "nginx:1")
    assert.are.same({ 0, 1, {} }, (told "pods.yaml"))
    write("pods.yaml", "a-team", "a", "nginx:1")
    assert.are.same({ 1, 0, { "labels - a-team" } }, (told "pods.yaml"))
  end)

  it("hides as many of a kind as it has", function()
    write("pods.yaml", nil, "a", "nginx", "a", "redis")
    know "pods.yaml"
    write("pods.yaml", nil, "a", "nginx", "a", "redis", "a", "mysql")
    assert.are.same({ 1, 2, { "image-tag spec.containers[2].image mysql" } }, (told "pods.yaml"))
  end)

  it("compares a report without fingerprints by its paths, and reports it", function()
    write("pods.yaml", nil, "a", "nginx")
    know("pods.yaml", function(report) report.results[1].fingerprint = nil end)
    local said, err = told "pods.yaml"
    assert.are.same({ 0, 1, {} }, said)
    assert.matches("known.json: 1 findings have no fingerprint and are matched by path", err, 1, true)
    write("pods.yaml", nil, "a", "nginx", "b", "redis")
    assert.are.same({ 1, 1, { "image-tag spec.containers[1].image redis" } }, (told "pods.yaml"))
  end)

  it("is refused when it is none", function()
    write("pods.yaml", nil, "a", "nginx")
    place:write("known.json", '{"results":[{"rule":1}]}')
    local _, err = told "pods.yaml"
    assert.matches("known.json: results[0] has no rule, kind or result", err, 1, true)
  end)

  it("has the fingerprints that code hosts get", function()
    write("pods.yaml", nil, "a", "nginx")
    local before = know("pods.yaml").results[1].fingerprint
    for _, containers in ipairs { { "a", "nginx" }, { "new", "redis:1", "a", "nginx" } } do
      write("pods.yaml", nil, unpack(containers))
      local _, out = audit("--from", place.path .. "/pods.yaml", "-o", "sarif")
      local result = cjson.decode(out).runs[1].results[1]
      assert.are.same({ ["kubeluaFinding/v1"] = before }, result.partialFingerprints)
    end
  end)
end)
