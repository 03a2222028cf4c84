-- `kubelua audit` of files packs of each object what rules read alone. Nobody can tell: whatever way a rule looks at an
-- object, it sees what it would see of the whole one.
local cjson = require "cjson"
local checks = require "spec.support.checks"

local place

-- The ways to look, each the body of a `check` that fails with what it saw.
local ways = {
  field = "r:fail(tostring(obj.spec.nodeName))",
  absent = "r:fail(tostring(obj.spec.nothing))",
  computed = 'local name = "node" .. "Name"; r:fail(obj.spec[name])',
  computed_below = 'local a, b = "sec" .. "urity", "Context"; r:fail(tostring(obj.spec[a .. b].runAsUser))',
  pairs = "local all = {} for k, v in pairs(obj.metadata.labels) do all[#all + 1] = k .. v end "
    .. 'table.sort(all) r:fail(table.concat(all, ","))',
  pairs_of_all = "local n = 0 for _ in pairs(obj.spec) do n = n + 1 end r:fail(tostring(n))",
  next = "r:fail(tostring(next(obj.spec.nodeSelector)))",
  json = "r:fail(obj:json())",
  copy = "local c = obj:copy() r:fail(c.spec.containers[1].ports[1].name)",
  path = 'r:fail(obj:get("spec.containers[0].ports[0].name"))',
  path_of_all = 'r:fail(table.concat(obj:get("spec.containers[*].image"), ","))',
  path_of_map = 'r:fail(tostring(#obj:get("metadata.labels[*]")))',
  label = 'r:fail(tostring(obj:label("t" .. "ier")))',
  annotation = 'r:fail(tostring(obj:annotation("o" .. "wner")))',
  equal = "r:fail(tostring(obj.spec.containers[1].ports[1] == obj.spec.containers[2].ports[1]))",
  equal_parts = 'local p = "po" .. "rts"; r:fail(tostring(obj.spec.containers[1][p] == obj.spec.containers[2][p]))',
  text = "r:fail(tostring(obj.spec.containers[1].resources))",
  selects = 'r:fail(tostring(require("k8s").selects("ti" .. "er in (web)", obj)))',
  selects_template = 'r:fail(tostring(require("k8s").selects("ap" .. "p=web", obj.spec["temp" .. "late"])))',
  value = 'r:fail("value", { value = obj.spec.containers[2] })',
  empty = "r:fail(tostring(next(obj.spec.empty)))",
  skip = 'r:skip(obj.spec["host" .. "Network"] and "host" or "none")',
}

-- Each container's ports by pairs, which is more walks through the object than are made one by one.
ways.many_walks = [[
  local all = {}
  for _ = 1, 3 do
    for _, container in ipairs(obj.spec.containers) do
      for k in pairs(container) do all[#all + 1] = k end
      for k, v in pairs(container.resources.limits) do all[#all + 1] = k .. v end
      for k, v in pairs(container.securityContext) do all[#all + 1] = k .. tostring(v) end
    end
    for k in pairs(obj.metadata["lab" .. "els"]) do all[#all + 1] = k end
    local name = "em" .. "pty"
    for k, v in pairs(obj.spec[name]) do all[#all + 1] = k .. tostring(v) end
  end
  table.sort(all)
  r:fail(table.concat(all, ","))]]

local names = {}
for name in pairs(ways) do names[#names + 1] = name end
table.sort(names)

-- Two containers of the same ports but for what only some rules see.
local function pod(i)
  local function container(name, port)
    return {
      name = name, image = name .. ":" .. i, resources = { limits = { cpu = "1", memory = i .. "Mi" } },
      ports = { { name = "http", containerPort = port } }, securityContext = { privileged = i % 3 == 0 },
    }
  end
  return {
    apiVersion = "v1", kind = "Pod",
    metadata = { name = "p" .. i, namespace = "shop", labels = { app = "a" .. i, tier = i % 2 == 0 and "web" or "db" },
      annotations = { owner = "team-" .. i } },
    spec = {
      nodeName = "n" .. i, hostNetwork = i % 2 == 0, securityContext = { runAsUser = i, fsGroup = 1 },
      containers = { container("a", 80), container("b", 80 + i % 2) }, nodeSelector = { zone = "z" .. i },
      empty = { only = i }, template = { metadata = { labels = { app = i % 2 == 0 and "web" or "db" } } },
    },
  }
end

local function rule(name, body)
  return ('require("k8s").rule { id = "%s", kinds = { "pods" }, check = function(obj, r) %s end }\n')
    :format((name:gsub("_", "-")), body)
end

-- Objects are kept whole where a rule uses others.
local joined = [[
require("k8s").rule { id = "zz-joined", kinds = { "nodes" }, uses = { pods = { kind = "pods" } },
  check = function() end }
]]

local function results(rules, ...)
  place:write("rules.lua", rules)
  local from = place.path .. "/pods.jsonl"
  local code, out, err = place:run("-f", place.path .. "/rules.lua", "--from", from, "-o", "json", ...)
  return out ~= "" and cjson.decode(out).results or nil, code, err
end

describe("an audit of files", function()
  before_each(function()
    place = checks.new "audit"
    local lines = {}
    for i = 1, 9 do lines[i] = cjson.encode(pod(i)) end
    place:write("pods.jsonl", table.concat(lines, "\n") .. "\n")
  end)
  after_each(function() place:remove() end)

  for _, name in ipairs(names) do
    it("evaluates a rule on the complete object: " .. name:gsub("_", " "), function()
      local partial, code = results(rule(name, ways[name]))
      local whole = results(rule(name, ways[name]) .. joined)
      assert.are.equal(9, #partial)
      assert.are.equal(name == "skip" and 0 or 1, code)
      assert.are.same(whole, partial)
    end)
  end

  it("evaluates many rules on the complete object", function()
    local all = {}
    for i, name in ipairs(names) do all[i] = rule(name, ways[name]) end
    local rules = table.concat(all)
    local partial = results(rules)
    assert.are.equal(9 * #names, #partial)
    assert.are.same(results(rules .. joined), partial)
  end)

  -- The object has a field of that name, of which the code knows nothing.
  it("takes a method for no field that was not kept", function()
    local object = pod(1)
    object.label = "a field"
    place:write("pods.jsonl", cjson.encode(object) .. "\n")
    local body = 'local name = "la" .. "bel" r:fail(tostring(obj[name]))'
    local partial = results(rule("method", body))
    assert.are.equal("a field", partial[1].message)
  end)

  it("reads all parts of a large object in a time that depends on its size", function()
    local addresses = {}
    for i = 1, 40000 do
      addresses[i] = { ip = "10.0.0.1", targetRef = { kind = "Pod", name = "p" .. i, uid = "u" .. i } }
    end
    place:write("pods.jsonl", cjson.encode {
      apiVersion = "v1", kind = "Endpoints", metadata = { name = "e", namespace = "n" },
      subsets = { { addresses = addresses } },
    } .. "\n")
    local body = "local n = 0 for _, a in ipairs(obj.subsets[1].addresses) do "
      .. "for _ in pairs(a.targetRef) do n = n + 1 end end r:fail(tostring(n))"
    local partial = results((rule("all", body):gsub('"pods"', '"endpoints"')), "--handler-cpu", "2s")
    assert.are.equal("120000", partial[1].message)
  end)

  it("keeps all of objects in which rules read ever other names", function()
    local body = 'for i = 1, 200 do local _ = obj.spec["x" .. i] end r:fail(tostring(obj.spec["no" .. "deName"]))'
    local partial = results(rule("many", body))
    assert.are.same(results(rule("many", body) .. joined), partial)
  end)

  it("shows a rule its parameters, which are views too", function()
    local rules = [[
require("k8s").rule { id = "params", kinds = { "pods" }, params = { list = { "a", "b" } },
  check = function(obj, r, use, params)
    local same = params.list == params.list and obj.spec["no" .. "deName"]
    r:fail(tostring(params.list) .. tostring(same) .. tostring(params.list[3]), { value = params.list })
  end }
]]
    local partial = results(rules)
    assert.are.equal('["a","b"]n1nil', partial[1].message)
    assert.are.same(results(rules .. joined), partial)
  end)

  it("evaluates again before anything comes of what seemed to be absent", function()
    local rules = [[
local memo, asked = {}, 0
require("k8s").rule { id = "memo", kinds = { "pods" },
  check = function(obj, r)
    local key = obj:uid() .. obj:name()
    if memo[key] == nil then
      local ok, value = pcall(function() return obj.spec["host" .. "Network"] end)
      local co = coroutine.wrap(function() return obj.spec["node" .. "Name"] end)
      memo[key] = tostring(ok and value) .. co()
    end
    asked = asked + 1
    r:fail(memo[key] .. asked)
  end }
]]
    local partial = results((rules:gsub("obj:uid%(%)", "obj.kind")))
    assert.are.equal(9, #partial)
    for i, row in ipairs(partial) do assert.are.equal(tostring(i % 2 == 0) .. "n" .. i .. i, row.message) end
  end)

  it("knows the names that stand in the code", function()
    local rules = [[
local asked = 0
local lists = { "containers", { of = "nodeName" } }
require("k8s").rule { id = "names", kinds = { "pods" },
  check = function(obj, r)
    asked = asked + 1
    local image = obj.spec[lists[1] ].image
    r:fail(asked .. obj.spec[lists[2].of] .. obj.metadata.labels.tier .. tostring(obj.spec.none))
  end }
]]
    local partial = results((rules:gsub("lists%[1%] %]", "lists[1]]")))
    assert.are.equal("1n1dbnil", partial[1].message)
    assert.are.equal("9n9dbnil", partial[9].message)
  end)

  it("reports an object that turns out to be malformed where a rule reads it", function()
    local good = cjson.encode(pod(1))
    place:write("pods.jsonl", good .. "\n" .. good:gsub('"nodeName":"n1"', '"nodeName":nonsense') .. "\n")
    local found, code, err = results(rule("odd", 'r:fail(obj.spec["no" .. "deName"])'))
    assert.are.same({ 2, 1 }, { code, #found })
    assert.matches("pods.jsonl:2: ", err, 1, true)
  end)

  it("passes a rule nothing of an object that it kept from an earlier call", function()
    local rules = "local first\n"
      .. rule("late", 'first = first or obj; local _ = first.spec["no" .. "deName"]')
    local found, code = results(rules)
    assert.are.same({ 3, 9 }, { code, #found })
    assert.matches("an object of an earlier call, which is no longer complete", found[1].message, 1, true)
  end)

  it("passes it nothing of that in a call about an object that is complete, either", function()
    local found, code = results("local first\n"
      .. rule("late", 'if not first then first = obj return end for _ in pairs(obj) do end '
        .. 'if first.spec["no" .. "deName"] then r:fail "here" end'))
    assert.are.same({ 3, 8 }, { code, #found })
    for i = 1, 8 do
      assert.matches("an object of an earlier call, which is no longer complete", found[i].message, 1, true)
    end
  end)
end)
