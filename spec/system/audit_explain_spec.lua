-- `kubelua audit --explain` and `--list-rules`: what rules are about.
local cjson = require "cjson"
local checks = require "spec.support.checks"

local place

local function audit(...) return place:run(...) end

describe("kubelua audit --explain", function()
  before_each(function() place = checks.new "audit" end)
  after_each(function() place:remove() end)

  it("explains a rule, with its parameters", function()
    place:write("rules.lua", [[
require("k8s").rule { id = "restarts", title = "Pods run on", severity = "high", category = "health", kinds = { "po" },
  why = "Something is wrong with them.", how = "Read their logs.", params = { most = 5, names = {} },
  check = function(obj, r, use, params) if obj.status.restarts > params.most then r:fail("restarts") end end }
]])
    local _, out = audit("-f", place.path .. "/rules.lua", "--explain", "restarts", "--param", "most=7")
    assert.are.equal([[
restarts: Pods run on

Severity:   high
Category:   health
Kinds:      po
Parameters: most=7 (a number, default 5)
            names=[] (a list of strings)
File:       rules.lua:1

Why: Something is wrong with them.

What to do: Read their logs.

To accept a finding until a date, annotate the object:
  kubelua/ignore.restarts: "until=2027-01-31 REASON"
]], out)
    local code, _, err = audit("-f", place.path .. "/rules.lua", "--explain", "restart")
    assert.are.same({ 2, 'kubelua audit: no rule "restart", did you mean "restarts"?\n' }, { code, err })
    code, _, err = audit("-f", place.path .. "/rules.lua", "--explain", "all")
    assert.are.same({ 2, 'kubelua audit: no rule "all"; use --list-rules to list all rules\n' }, { code, err })
    code, _, err = audit("-f", place.path .. "/rules.lua", "--explain", "restarts", "--param", "mots=7")
    assert.are.equal(2, code)
    assert.matches("most", err, 1, true)
  end)
end)

describe("kubelua audit --list-rules", function()
  local function rules(...) return audit("-f", "scripts/rules", "--list-rules", ...) end
  before_each(function() place = checks.new "audit" end)
  after_each(function() place:remove() end)

  it("describes every rule", function()
    local code, out = rules()
    assert.are.equal(0, code)
    assert.matches("^CATEGORY +RULE +SEVERITY +TITLE\n", out)
    assert.matches("\nImages +image%-tag +medium +Images have a tag or a digest\n", out)
    local _, json = rules("-o", "json")
    local listed = cjson.decode(json)
    assert.are.equal(select(2, out:gsub("\n", "")) - 1, #listed)
    local tag
    for _, rule in ipairs(listed) do if rule.id == "image-tag" then tag = rule end end
    assert.are.same({ id = "image-tag", severity = "medium", category = "Images",
      title = "Images have a tag or a digest" }, tag)
  end)

  it("has no other forms, and needs rules", function()
    local code, _, err = rules("-o", "html")
    assert.are.same({ 2, "kubelua audit: --list-rules supports -o table and -o json, not html\n" }, { code, err })
    code = audit "--list-rules"
    assert.are.equal(2, code)
  end)
end)
