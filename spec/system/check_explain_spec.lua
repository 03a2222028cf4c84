-- `kubelua check --explain`: what may be set of scripts and of their rules, and what holds.
local cjson = require "cjson"
local checks = require "spec.support.checks"

local ALERTS = [[
local k8s = require "k8s"
k8s.params {
  webhook = { type = "url", required = true, help = "where alerts go" },
  threshold = { type = "integer", default = 5, min = 1, max = 10 },
  wait = { type = "duration", default = "90s", min = "1s" },
  mode = { default = "soft", values = { "soft", "hard" } },
  names = { "a", "b" },
  ["my-token"] = { type = "secret", from = "secret:monitoring/alerts/token" },
  other = { type = "secret", required = true },
}
k8s.rule { id = "restarts", title = "Pods run on", severity = "high", kinds = { "po" }, params = { most = 5 },
  check = function(obj, r, use, params) if obj.status.restarts > params.most then r:fail "restarts" end end }
]]

local TEXT = [[
alerts.lua

mode
  Type:     a string, one of soft, hard
  Default:  "soft"
  Value:    "hard", from params.yaml:1: mode
  Variable: KUBELUA_PARAM_MODE

my-token
  Type:     a secret
  Default:  what secret:monitoring/alerts/token of the cluster has
  Value:    read from the cluster
  Variable: KUBELUA_PARAM_MY_TOKEN

names
  Type:     a list of strings
  Default:  ["a","b"]
  Value:    ["a","b"], the default
  Variable: KUBELUA_PARAM_NAMES

other
  Type:     a secret
  Default:  none, a value is required
  Value:    ***, from --param other
  Variable: KUBELUA_PARAM_OTHER

threshold
  Type:     an integer, 1 to 10
  Default:  5
  Value:    7, from --param alerts:threshold
  Variable: KUBELUA_PARAM_THRESHOLD

wait
  Type:     a duration, at least 1s
  Default:  "90s"
  Value:    "90s", the default
  Variable: KUBELUA_PARAM_WAIT

webhook: where alerts go
  Type:     a URL
  Default:  none, a value is required
  Value:    not set
  Variable: KUBELUA_PARAM_WEBHOOK

restarts.most
  Type:     a number
  Default:  5
  Value:    5, the default
  Variable: KUBELUA_PARAM_MOST

plain.lua

It has no settings.

A value is set by its variable, by NAME in --params FILE or as a file of --params DIR, or by --param ]]
  .. "[SCRIPT:][RULE.]NAME=VALUE; later ones win, and names with SCRIPT or RULE.\n"

describe("kubelua check --explain", function()
  local place
  before_each(function()
    place = checks.new()
    place:write("alerts.lua", ALERTS)
  end)
  after_each(function() place:remove() end)

  local function explain(...) return place:run("-f", place.path, "--explain", ...) end

  it("describes settings and parameters of rules, and no value of a secret", function()
    place:write("plain.lua", "require('k8s').informer 'pods'\n")
    place:write("params.yaml", "mode: hard\n")
    local code, out, err = explain("--params", place.path .. "/params.yaml", "--param", "alerts:threshold=7", "--param",
      "other=not-to-be-shown")
    assert.are.same({ 0, "", TEXT }, { code, err, out })
    code, out, err = explain("-o", "json", "--param", "other=not-to-be-shown")
    assert.is_nil((out .. err):find("not-to-be-shown", 1, true))
    local all = {}
    for _, one in ipairs(cjson.decode(out)) do all[(one.rule or "") .. "/" .. one.name] = one end
    local path = "alerts.lua"
    assert.are.same({
      0, { script = path, name = "webhook", type = "a URL", required = true, variable = "KUBELUA_PARAM_WEBHOOK",
        help = "where alerts go" },
      { script = path, name = "threshold", type = "an integer", bounds = "1 to 10", required = false, default = 5,
        value = 5, variable = "KUBELUA_PARAM_THRESHOLD" },
      { script = path, rule = "restarts", name = "most", type = "a number", required = false, default = 5, value = 5,
        variable = "KUBELUA_PARAM_MOST" },
      { script = path, name = "other", type = "a secret", required = true, value = "***", source = "--param other",
        variable = "KUBELUA_PARAM_OTHER" },
    }, { code, all["/webhook"], all["/threshold"], all["restarts/most"], all["/other"] })
  end)

  it("asks no server, and has an empty list of scripts without settings", function()
    place:write("alerts.lua", "require('k8s').informer 'pods'\n")
    local code, out = explain("-o", "json", "-s", "http://127.0.0.1:1")
    assert.are.same({ 0, "[]\n" }, { code, out })
  end)

  it("names a value that does not fit, one that nothing declares, and a script that does not load", function()
    local code, out, err = explain("--param", "threshold=11")
    assert.are.same({ 2, "" }, { code, out })
    assert.has_match("kubelua check: --param threshold: 11 is more than 10, the highest value", err, 1, true)
    code, out, err = explain("--param", "thresold=1")
    assert.are.same({ 2, "" }, { code, out })
    assert.has_match('no script or rule has a parameter "thresold", did you mean "threshold"?', err, 1, true)
    place:write("broken.lua", "local x =\n")
    code, out, err = explain()
    assert.are.same({ 2, "" }, { code, out })
    assert.has_match("broken.lua:", err, 1, true)
  end)
end)
