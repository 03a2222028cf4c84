-- k8s.yaml: in specs, while a script loads, in its handlers and in rules.
local k8s = require "k8s"
local support = require "spec.testing.support"

local SCRIPT = [[
local k8s = require "k8s"
local defaults = k8s.yaml.decode "image: nginx:1.27\nports: [80, 443]\n"
k8s.informer("configmaps"):on_add(function(map)
  local all, err = k8s.yaml.decode_all(map.data.manifests)
  if not all then
    print(map:key(), err.message)
    return
  end
  for _, one in ipairs(all) do
    print(one.kind, one.metadata.name)
  end
end)
k8s.main(function() print((k8s.yaml.encode(defaults):gsub("\n", ";"))) end)
]]

local RULE = [[
local k8s = require "k8s"
k8s.rule {
  id = "values",
  kinds = { "configmaps" },
  check = function(map, r)
    local values, err = k8s.yaml.decode(map.data["values.yaml"])
    if not values then
      r:fail(err.message)
    elseif values.replicas < 2 then
      r:fail("one replica", { path = "data" })
    end
  end,
}
]]

local function map(name, data)
  return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "shop" }, data = data }
end

describe("k8s.yaml", function()
  it("is there for specs", function()
    assert.same({ a = { 1, "two", k8s.null } }, k8s.yaml.decode "a: [1, two, ~]")
    assert.equal("a:\n- 1\n- two\n", k8s.yaml.encode { a = { 1, "two" } })
  end)

  it("makes at most 64 MiB of a text in specs, and k8s.json too", function()
    local long, many = ("x"):rep(2 ^ 20), {}
    for i = 1, 65 do
      many[i] = long
    end
    local value, err = k8s.yaml.decode("a: &a " .. long .. "\nb: [" .. ("*a,"):rep(64) .. "]\n")
    assert.equal("nil", type(value))
    assert.equal("line 2: more than 67108864 bytes (value-size)", err.message)
    value, err = k8s.yaml.decode "a: *b"
    assert.equal("nil", type(value))
    assert.equal("line 1: alias without an anchor (at most 10000 anchors and 67108864 bytes are kept)", err.message)
    for name, encode in pairs { ["k8s.yaml"] = k8s.yaml.encode, ["k8s.json"] = k8s.json.encode } do
      local ok, raised = pcall(encode, many)
      assert.is_false(ok)
      assert.has_match(name .. ".encode: over the limit value-size (64Mi)", raised, 1, true)
    end
  end)

  it("works while a script loads, in handlers and in main", function()
    local manifests = k8s.yaml.encode(map("a", { x = "1" })) .. "---\n" .. k8s.yaml.encode(map("b", { x = "y\nz" }))
    local env = support.load(SCRIPT, {
      objects = { map("good", { manifests = manifests }), map("bad", { manifests = "a: 1\na: 2\n" }) },
    })
    assert.printed(env, "ConfigMap\ta")
    assert.printed(env, "ConfigMap\tb")
    assert.printed(env, 'shop/bad\tline 2: duplicate map key "a"')
    assert.printed(env, "image: nginx:1.27;ports:;- 80;- 443;")
  end)

  it("works in rules", function()
    local env = support.load(RULE, {
      objects = {
        map("few", { ["values.yaml"] = "replicas: 1" }), map("many", { ["values.yaml"] = "replicas: 2" }),
        map("wrong", { ["values.yaml"] = "a: 1\nreplicas: [}" }),
      },
    })
    local said = {}
    for _, result in ipairs(env:audit()) do
      said[#said + 1] = result.name .. ": " .. result.message
    end
    table.sort(said)
    assert.same({ "few: one replica",
      "wrong: line 2: did not find expected node content while parsing a flow node" }, said)
  end)
end)
