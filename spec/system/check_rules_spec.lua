-- `kubelua check` of rules: what no object meets, what finds nothing, and what nobody has.
local checks = require "spec.support.checks"

local place

-- Kinds that the dump has beside Kubernetes' own.
local crds = '{ "kind": "List", "items": [] }'

local function check(...) return place:run(...) end

describe("kubelua check", function()
  before_each(function() place = checks.new() end)
  after_each(function() place:remove() end)

  it("finds rules of two scripts with one id", function()
    local rule = 'require("k8s").rule { id = "%s", kinds = { "pods" }, check = print }\n'
    place:write("a.lua", rule:format "all" .. rule:format "other")
    place:write("b.lua", rule:format "more" .. rule:format "all")
    local code, out = check("-f", place.path)
    assert.are.same({ 1, "b.lua:2: error: rule all: a rule of a.lua:1 has the same id, so this one is not evaluated\n"
    }, { code, out })
  end)

  it("finds rules that no object meets, uses that find nothing, and kinds of rules that nobody has", function()
    place:write("a.lua", [[
local k8s = require "k8s"
k8s.rule {
  id = "nodes", kinds = { "nodes", "pods" },
  namespaces = { "shop" },
  check = print,
}
k8s.rule { id = "sound", kinds = { "nodes", "pods" }, namespaces = { "!kube-*" }, check = print }
k8s.rule {
  id = "none", kinds = { "pods", "podz" }, namespaces = { "shop", "!shop" },
  uses = {
    volumes = { kind = "persistentvolumes", index = "namespace" },
    claims = { kind = "persistentvolumeclaims", index = "namespace" },
    services = { kind = "servicez", index = "key" },
  },
  check = print,
}
k8s.rule {
  id = "again", kinds = { "pods" }, check = print,
  uses = { s = { kind = "servicez" } },
}
]])
    place:write("crds.json", crds)
    local code, out = check("-f", place.path, "--against", place.path .. "/crds.json")
    local expected = {
      "a.lua:4: error: rule nodes: namespaces: nodes are not namespaced, so nothing can match",
      'a.lua:9: error: the server doesn\'t have a resource type "podz"',
      "a.lua:9: error: rule none: namespaces: every included namespace is also excluded",
      'a.lua:11: error: rule none: uses.volumes: persistentvolumes '
        .. 'are not namespaced, so the index "namespace" finds nothing',
      'a.lua:13: error: the server doesn\'t have a resource type "servicez"',
      'a.lua:19: error: the server doesn\'t have a resource type "servicez"',
    }
    table.sort(expected)
    local lines = {}
    for line in out:gmatch "[^\n]+" do lines[#lines + 1] = line:gsub(", did you mean.*", "") .. "" end
    table.sort(lines)
    assert.are.same(expected, lines)
    assert.are.equal(1, code)
  end)
end)
