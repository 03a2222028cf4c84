-- Files of objects mean the same to every command that reads them.
local checks = require "spec.support.checks"
local cluster = require "spec.support.cluster"

-- 1.1 of YAML has more words for true, and octal numbers.
local odd = [[
apiVersion: v1
kind: ConfigMap
metadata: { name: odd, namespace: shop }
data: { flag: %s, mode: 0644 }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, kind: Widget }
  versions: [ { name: v1, served: %s } ]
]]

local rule = [[
local k8s = require "k8s"
k8s.rule {
  id = "shown", title = "Shown", severity = "low", category = "x", kinds = { "configmaps" },
  check = function(obj, r) r:fail(tostring(obj.data.flag) .. " " .. tostring(obj.data.mode)) end,
}
]]

local function map(field)
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: shop }\n" .. field .. "\n"
end

describe("a file of objects", function()
  local place

  before_each(function()
    place = checks.new "audit"
    place:write("rules.lua", rule)
    place:write("uses.lua", 'require("k8s").informer "widgets.example.com"\n')
  end)
  after_each(function()
    place:remove()
    cluster.stop_all()
  end)

  local function run(text, ...)
    local p = cluster.kubelua { ... }
    p:write(text)
    p:close_input()
    local code = p:wait()
    return code, p:out(), p:err()
  end

  -- What audit, repl and check make of the file: their codes and texts.
  local function read(file)
    local path, all = place.path .. "/" .. file, {}
    for i, words in ipairs {
      { "audit", "-f", place.path .. "/rules.lua", "--from" },
      { "repl", "--from" },
      { "check", "-f", place.path .. "/uses.lua", "--against" },
    } do
      words[#words + 1] = path
      local code, out, err = run('d = configmaps["shop/odd"].data\nprint(d.flag, d.mode)\n', unpack(words))
      all[i] = { code = code, out = out, err = err }
    end
    return unpack(all)
  end

  it("has the scalars of YAML 1.1 for audit, repl --from and check --against", function()
    for value, shown in pairs { yes = "true", off = "false", ["'yes'"] = "yes" } do
      place:write("odd.yaml", odd:format(value, value))
      local audit, repl, check = read "odd.yaml"
      assert.matches(shown .. " 420", audit.out, 1, true)
      assert.equal(shown .. "\t420\n", repl.out)
      assert.equal(value == "yes" and 0 or 1, check.code)
    end
  end)

  it("is refused by all of them for the same flaw, at the same line", function()
    local deep = ("["):rep(150) .. ("]"):rep(150)
    for field, message in pairs {
      ['data: { a: "1", a: "2" }'] = ':4: duplicate map key "a"',
      ["data: " .. deep] = ":4: nested deeper than 100",
      ["data: [ *b ]"] = ":4: alias without an anchor",
      ["data: { a: 1"] = ":5: ",
      ["data: { ? [ a ] : 1 }"] = ":4: map key is not a string",
    } do
      place:write("bad.yaml", map(field))
      for _, command in ipairs { read "bad.yaml" } do
        assert.has_match("/bad.yaml" .. message, command.err, 1, true)
        assert.equal(2, command.code)
      end
    end
    place:write("deep.json", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":' .. deep .. "}")
    for _, command in ipairs { read "deep.json" } do
      assert.matches("/deep.json:1: .*nested deeper than 100\n", command.err)
      assert.equal(2, command.code)
    end
    place:write("bad.json", '{"apiVersion":"v1","kind":"ConfigMap",\n"metadata":{"name":"a"},"data":{"a":}}')
    for _, command in ipairs { read "bad.json" } do
      assert.has_match("/bad.json:2: ", command.err, 1, true)
      assert.equal(2, command.code)
    end
  end)

  it("may be nested as deep as objects are, and be packed", function()
    local deep = ("["):rep(60) .. "7" .. ("]"):rep(60)
    place:write("odd.yaml", (odd:format("yes", "yes"):gsub("0644", deep)))
    assert(os.execute("gzip " .. place.path .. "/odd.yaml"))
    local audit, repl, check = read "odd.yaml.gz"
    assert.equal(1, audit.code)
    assert.has_match("true", repl.out, 1, true)
    assert.same({ 0, "" }, { repl.code, repl.err })
    assert.equal(0, check.code)
  end)
end)
