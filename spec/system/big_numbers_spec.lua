-- Integers beyond 64 bits, as Go's encoder writes large numbers of custom resources: doubles, wherever they are read
-- (H-19).
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local colours = require "spec.support.colours"
local live = require "spec.support.live"
local temp = require "spec.support.temp"

local NUMBERS = "[18446744073709552000,-100000000000000000000,1e20]"
local SHOWN = "18446744073709551616 -100000000000000000000 100000000000000000000"
local BIG = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"big","namespace":"default"},'
  .. '"data":{"colour":"black"},"numbers":' .. NUMBERS .. "}"

-- print_all(numbers): each with all its digits.
local SHOW = [[
  local function print_all(numbers)
    local words = {}
    for i, n in ipairs(numbers) do words[i] = type(n) == "number" and ("%.0f"):format(n) or type(n) end
    print(table.concat(words, " "))
  end
]]

local RULE = [[
local k8s = require "k8s"
k8s.rule { id = "big", kinds = { "configmaps" }, check = function(obj, r)
  for i, n in ipairs(obj.numbers or {}) do
    if type(n) == "number" and n ~= 0 then r:fail(("%d: %.0f"):format(i, n)) end
  end
end }
]]
local MESSAGES = { "1: 18446744073709551616", "2: -100000000000000000000", "3: 100000000000000000000" }

describe("integers beyond 64 bits", function()
  local sim, folder

  before_each(function()
    sim, folder = colours.sim(), temp.folder()
    sim:play { ["do"] = "fault", verb = "list", resource = "configmaps", what = "line", after = 1, text = BIG,
      times = 0 }
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function messages(p, code)
    assert.are.equal(code, p:wait(60), p:report())
    local found = {}
    for _, row in ipairs(cjson.decode(p:out()).results) do found[#found + 1] = row.message end
    table.sort(found)
    return found
  end

  it("do not keep an informer from its sync, by list and by watch", function()
    local engine = cluster.run(sim.server, cluster.script(SHOW .. [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { namespace = "default" })
      maps:on_add(function(map)
        if map.numbers then print_all(map.numbers) end
      end)
      k8s.main(function() print "synced" end)
    ]]), { "--watch-list=off" })
    engine:wait_line("^synced$", 60)
    assert.has_match(SHOWN, engine:out(), 1, true)
    sim:play { ["do"] = "inject", resource = "configmaps", what = "line",
      text = '{"type":"ADDED","object":' .. BIG:gsub('"big"', '"second"') .. "}" }
    sim.api:create(colours.path, colours.map("last", "red"))
    engine:wait_line("^" .. SHOWN:gsub("%p", "%%%0") .. "$", 60)
    assert.has_match('"Stopped".*objectsRefused=0', cluster.terminate(engine) == 0 and engine:err())
  end)

  it("do not matter to an informer that leaves them out", function()
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      local maps = k8s.informer("configmaps", { namespace = "default", fields = { "data.colour" } })
      k8s.main(function() print("synced " .. maps:lister():get("default/big").data.colour) end)
    ]], { "--watch-list=off" })
    engine:wait_line("^synced black$", 60)
  end)

  it("are read by k8s.list", function()
    assert.are.equal(SHOWN .. "\n", live.run("--server=" .. sim.server, SHOW .. [[
      for _, map in ipairs((k8s.list("configmaps", { namespace = "default" }))) do
        if map.numbers then print_all(map.numbers) end
      end
    ]]))
  end)

  it("are the same in k8s.json", function()
    local all = SHOWN .. "\n18446744073709551616\n" .. SHOWN .. "\n"
    assert.are.equal(all, live.run("--server=" .. sim.server, SHOW .. [[
      local numbers = k8s.json.decode "]] .. NUMBERS .. [["
      print_all(numbers)
      print(("%.0f"):format(k8s.json.decode "18446744073709551616"))
      print_all(k8s.json.decode(k8s.json.encode(numbers)))
    ]]))
  end)

  it("are the same in audits of the cluster, of JSON and of YAML", function()
    local function write(name, text)
      temp.write(folder .. "/" .. name, text)
      return folder .. "/" .. name
    end
    local rule = write("rule.lua", RULE)
    local function audit(...) return messages(cluster.kubelua { "audit", "-f", rule, "-o", "json", ... }, 1) end
    assert.are.same(MESSAGES, audit("-s", sim.server))
    assert.are.same(MESSAGES, audit("--from", write("big.json", BIG)))
    assert.are.same(MESSAGES, audit("--from", write("list.json",
      '{"apiVersion":"v1","kind":"List","items":[' .. BIG .. "]}")))
    assert.are.same(MESSAGES, audit("--from", write("big.yaml",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: big }\nnumbers: " .. NUMBERS .. "\n")))
  end)

  it("are taken by the simulator, in requests and in files", function()
    local file = folder .. "/big.json"
    temp.write(file, cjson.encode(colours.map("first", "red")) .. "\n" .. BIG .. "\n" .. BIG:gsub('"big"', '"third"'))
    local loaded = cluster.sim { "--load", file }
    -- A field that a kind of Kubernetes does not have is dropped from requests; this kind keeps all.
    loaded.api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      kind = "CustomResourceDefinition", apiVersion = "apiextensions.k8s.io/v1",
      metadata = { name = "shops.example.com" },
      spec = {
        group = "example.com", scope = "Namespaced", names = { plural = "shops", singular = "shop", kind = "Shop" },
        versions = { { name = "v1", served = true, storage = true, schema = { openAPIV3Schema = { type = "object",
          ["x-kubernetes-preserve-unknown-fields"] = true } } } },
      },
    })
    local posted = BIG:gsub('"big"', '"posted"'):gsub('"v1","kind":"ConfigMap"', '"example.com/v1","kind":"Shop"')
    local code, body = loaded.api:curl("POST", "/apis/example.com/v1/namespaces/default/shops", posted)
    assert.are.equal(201, code, body)
    assert.are.equal((SHOWN .. "\n"):rep(3), live.run("--server=" .. loaded.server, SHOW .. [[
      for _, kind in ipairs { "configmaps", "shops" } do
        for _, map in ipairs((k8s.list(kind, { namespace = "default" }))) do
          if map.numbers then print_all(map.numbers) end
        end
      end
    ]]))
  end)
end)
