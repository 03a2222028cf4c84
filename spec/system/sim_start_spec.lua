-- `kubelua sim`: flags, files, scenarios, start and stop.
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"
local watching = require "spec.support.watching"

local configmaps = "/api/v1/namespaces/default/configmaps"
local files = {}

local function configmap(name)
  return { kind = "ConfigMap", apiVersion = "v1", metadata = { name = name } }
end

local function file(text)
  local path = temp.name()
  files[#files + 1] = path
  local f = assert(io.open(path, "w"))
  f:write(text)
  f:close()
  return path
end

describe("kubelua sim #threads", function()
  after_each(function()
    watching.close_all()
    cluster.stop_all()
    for i = #files, 1, -1 do os.remove(table.remove(files, i)) end
  end)

  -- Exit code and the one line on stderr of a start that fails.
  local function fails(...)
    local p = proc.spawn { cluster.binary, "sim", ... }
    local code = p:wait()
    assert.are.equal("", p:out())
    local line, rest = p:err():match "^([^\n]*)\n(.*)$"
    assert.are.equal("", rest)
    return code, line
  end

  local function refuses(pattern, ...)
    local code, line = fails(...)
    assert.are.equal(2, code)
    assert.has_match(pattern, line)
  end

  it("reports where it listens and nothing more, and ends at once", function()
    for _, signal in ipairs { "TERM", "INT" } do
      local sim = cluster.sim()
      local w = watching.open(sim.server, configmaps)
      await(function() return sim.api:get("/sim/stats").open_watches == 1 end, "one open watch")
      sim:kill(signal)
      assert.are.equal(0, sim:wait(5))
      assert.are.equal("Serving on " .. sim.server .. "\n", sim:out())
      assert.are.equal("", sim:err())
      w:finish()
    end
  end)

  it("listens where its flags say", function()
    local sim = cluster.sim { "--listen", "127.0.0.2" }
    assert.has_match("^http://127.0.0.2:%d+$", sim.server)
    for _, flags in ipairs { { "--listen", "localhost" }, { "--listen=localhost", "--replay", "--pods", "3" } } do
      assert.has_match("^http://127.0.0.1:%d+$", cluster.sim(flags).server)
    end
    local port = sim.server:match "%d+$"
    refuses("cannot listen on 127.0.0.2 port " .. port, "--listen", "127.0.0.2", "--port", port)
  end)

  it("refuses bad flags in one line", function()
    refuses('^kubelua sim: unknown flag %-%-prot; did you mean %-%-port%?$', "--prot", "1")
    refuses('^kubelua sim: unknown flag %-%-pid$', "--pid", "1")
    refuses('%-%-port: "x" is not a whole number', "--port", "x")
    refuses("%-%-port: 70000 is too large, the maximum is 65535$", "--port", "70000")
    refuses("%-%-pods: 10000001 is too large, the maximum is 10000000$", "--pods", "10000001")
    refuses("%-%-pods: 99999999999 is too large, the maximum is 2147483647$", "--pods", "99999999999")
    refuses("%-%-replicas must be 1 or more, not 0", "--pods", "3", "--replicas", "0")
    refuses("%-%-replicas must be 1 or more, not 0", "--replay", "--pods", "3", "--replicas", "0")
    refuses("%-%-bookmark%-interval must be greater than 0$", "--bookmark-interval", "0")
    refuses("cannot listen on nowhere.example port 7: not an IP address such as 127.0.0.1 or ::1$",
      "--listen", "nowhere.example", "--port", "7")
    refuses("cannot listen on nowhere port 0: not an IP", "--replay", "--pods", "3", "--listen", "nowhere")
    refuses('unexpected argument "x"', "x")
  end)

  it("loads an object, lists and lines of objects", function()
    local one = file [[{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"one"},"data":{"a":"b"}}]]
    local list = file [[
      {"kind":"List","apiVersion":"v1","items":[
        {"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"far"}},
        {"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"11111111-1111-4111-8111-111111111111",
         "creationTimestamp":"2026-01-01T00:00:00Z","namespace":"far"},
         "spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Failed"}}]}]]
    local typed = file [[{"kind":"ConfigMapList","apiVersion":"v1","items":[{"metadata":{"name":"two"}}]}]]
    local lines = file [[
{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"three"}}

{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q"},
 "spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}}
]]
    local sim = cluster.sim { "--load", one, "--load", list, "--load", typed, "--load", lines }
    local names = {}
    for _, item in ipairs(sim.api:get(configmaps).items) do names[#names + 1] = item.metadata.name end
    assert.are.same({ "one", "three", "two" }, names)
    assert.are.equal("far", sim.api:get("/api/v1/namespaces/far").metadata.name)
    local pod = sim.api:get "/api/v1/namespaces/far/pods/p"
    assert.are.equal("11111111-1111-4111-8111-111111111111", pod.metadata.uid)
    assert.are.equal("Failed", pod.status.phase)
    assert.are.equal("Running", sim.api:get("/api/v1/namespaces/default/pods/q").status.phase)
  end)

  it("loads a large list of a cluster as it loads its objects one by one", function()
    local function list_of(...)
      local sim = cluster.sim { ... }
      local text = temp.run("curl --silent " .. sim.server .. "/api/v1/pods")
      cluster.stop_all()
      return text
    end
    local generated = list_of("--pods", "20")
    assert.is_true(#generated > 100 * 1024)
    local items = generated:match '"items":(%b[])'
    local lines = items:sub(2, -2):gsub("%b{}", '%0\n'):gsub("\n,", "\n")
      :gsub("{(\"metadata\")", '{"kind":"Pod","apiVersion":"v1",%1')
    local function without_versions(text) return (text:gsub('"resourceVersion":"%d+"', "")) end
    local large = list_of("--load", file(generated:gsub('([,{])"', '%1 \n "')))
    assert.are.equal(without_versions(generated), without_versions(large))
    assert.are.equal(without_versions(large), without_versions(list_of("--load", file(lines))))
  end)

  it("loads documents of YAML, and directories", function()
    local folder = temp.folder {
      ["a.json"] = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"three","namespace":"far"}}',
      ["b.yaml"] = [[
# two maps, the second one in a List
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: far}
data: {octal: "0644", big: "18446744073709551616"}
---
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: two, namespace: far}
]],
      ["c.yml"] = [[
kind: ConfigMap
apiVersion: v1
metadata: {name: four, namespace: far}
]],
      ["README.md"] = "no manifest",
    }
    local sim = cluster.sim { "--load", folder }
    local names = {}
    for _, item in ipairs(sim.api:get("/api/v1/namespaces/far/configmaps").items) do
      names[#names + 1] = item.metadata.name
    end
    assert.are.same({ "four", "one", "three", "two" }, names)
    assert.are.same({ octal = "0644", big = "18446744073709551616" },
      sim.api:get("/api/v1/namespaces/far/configmaps/one").data)
    temp.remove(folder)
    local empty = temp.folder()
    refuses("no .json, .yaml or .yml file is in it$", "--load", empty)
    temp.remove(empty)
  end)

  it("names what is wrong with a file, and where", function()
    refuses("^kubelua sim: /nonexistent: No such file or directory$", "--load", "/nonexistent")
    local bad = file '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"one"}}\n{"kind":\n'
    refuses("^kubelua sim: " .. bad:gsub("%p", "%%%0") .. ":3: ", "--load", bad)
    local yaml = file "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n---\n\n---\nkind: ConfigMap\n"
    refuses("^kubelua sim: " .. yaml:gsub("%p", "%%%0") .. ": document 2: kind or apiVersion is missing$",
      "--load", yaml)
    for text, pattern in pairs {
      ["- kind: Pod\n"] = ": document 1: not an object$",
      ["kind: [\n"] = ":3: ",
      ["\31\139\8"] = ":1: control characters are not allowed$",
      ["a: 1\na: 2\n"] = ":3: ",
      ["[{}]"] = ":2: not an object$",
    } do
      refuses(pattern, "--load", file("\n" .. text))
    end
    local unknown = file '{"kind":"Nonsense","apiVersion":"v1","metadata":{"name":"one"}}'
    refuses(":1: kind Nonsense of v1 is unknown", "--load", unknown)
    local wrong = '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"%s},"spec":{"replicas":"two"}}'
    for _, uid in ipairs { "", ',"uid":"u"' } do
      refuses('Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go '
        .. "struct field DeploymentSpec.spec.replicas of type int32$", "--load", file(wrong:format(uid)))
    end
    local item = file '{"kind":"List","apiVersion":"v1","items":[{"kind":"Pod","apiVersion":"v1","metadata":{}}]}'
    refuses(":1: item 1: metadata.name is missing", "--load", item)
  end)

  it("names what is wrong with a scenario, and in which step", function()
    refuses(":2: ", "--script", file "[\n{]")
    for text, pattern in pairs {
      ['[{"do":"clear"},{"do":"dance"}]'] = ': step 2: unknown step "dance"; must be one of create, ',
      ['[{"do":"touch","resource":"po","colour":1}]'] = ': step 1 %(touch%): unknown parameter "colour"',
      ['[{"do":"touch"}]'] = ': step 1 %(touch%): "resource" is missing',
      ['[{"do":"touch","resource":"po","count":0}]'] = ': step 1 %(touch%): "count" is 0',
      ['[{"do":"refuse","for":"long"}]'] = ': step 1 %(refuse%): "for" is not a duration',
      ['[{"do":"fault","what":"x"}]'] = ': step 1 %(fault%): "what": unknown value "x"; must be one of',
      ['[{"do":"create"}]'] = ': step 1 %(create%): exactly one of "object" and "pods"',
      ["{}"] = ": a scenario is an array of steps",
    } do
      refuses(pattern, "--script", file(text))
    end
  end)

  it("plays a scenario in its time and order", function()
    local path = file(cjson.encode {
      { ["do"] = "create", object = configmap "c${n}", count = 3 },
      { ["do"] = "create", object = configmap "late", at = "200ms" },
      { ["do"] = "annotate", resource = "configmaps", name = "c1", namespace = "default",
        annotations = { round = "${n}" }, every = "20ms", count = 3 },
      { ["do"] = "delete", resource = "configmaps", name = "c0", namespace = "default", at = "100ms" },
    })
    local sim = cluster.sim { "--script", path }
    await(function() return sim.api:get("/sim/stats").scenarios == 0 end, "the end of the scenario")
    local names = {}
    for _, item in ipairs(sim.api:get(configmaps).items) do names[#names + 1] = item.metadata.name end
    assert.are.same({ "c1", "c2", "late" }, names)
    assert.are.equal("2", sim.api:get(configmaps .. "/c1").metadata.annotations.round)
  end)

  it("chooses the same objects for the same seed", function()
    local function touched(seed)
      local sim = cluster.sim { "--pods", "50" }
      local before = sim.api:get("/api/v1/pods").metadata.resourceVersion
      sim.api:create("/sim/scenario", { seed = seed, steps = {
        { ["do"] = "touch", resource = "pods", pick = 3 },
        { ["do"] = "label", resource = "pods", selector = "tier=web", pick = 2, labels = { x = "y" } },
      } })
      local names = {}
      for _, item in ipairs(sim.api:get("/api/v1/pods").items) do
        if #item.metadata.resourceVersion == #before then names[#names + 1] = item.metadata.name end
      end
      cluster.stop_all()
      return names
    end
    local first = touched(7)
    assert.is_true(#first >= 3 and #first <= 5)
    assert.are.same(first, touched(7))
    assert.are_not.same(first, touched(8))
  end)

  it("does to pods what happens to pods", function()
    local sim = cluster.sim { "--pods", "6" }
    local function play(step) sim.api:create("/sim/scenario", { step }) end
    local pods = sim.api:get("/api/v1/pods").items
    local name, namespace = pods[1].metadata.name, pods[1].metadata.namespace
    local path = ("/api/v1/namespaces/%s/pods/%s"):format(namespace, name)
    play { ["do"] = "restart", resource = "pods", namespace = namespace, name = name }
    local restarted = sim.api:get(path).status.containerStatuses[1]
    assert.are.equal(pods[1].status.containerStatuses[1].restartCount + 1, restarted.restartCount)
    assert.are.equal("OOMKilled", restarted.lastState.terminated.reason)
    play { ["do"] = "phase", resource = "pods", namespace = namespace, name = name, phase = "Failed" }
    assert.are.equal("Failed", sim.api:get(path).status.phase)
    play { ["do"] = "touch", resource = "pods", namespace = namespace, name = name }
    assert.has_match("^[1-9]%d+$", sim.api:get(path).metadata.annotations["bench/sent-ns"])
    play { ["do"] = "create", pods = 2 }
    assert.are.equal(8, #sim.api:get("/api/v1/pods?fieldSelector=spec.nodeName%21%3D").items)
    play { ["do"] = "delete", resource = "pods", selector = "app=svc-0000" }
    assert.are.equal(4, #sim.api:get("/api/v1/pods").items)
    local status = sim.api:request("POST", "/sim/scenario", { { ["do"] = "touch", resource = "nonsense" } }, nil, 400)
    assert.are.equal('step 1 (touch): unknown resource "nonsense"', status.message)
  end)

  it("ends with one line where it may not open as many files as it needs, and none of it aborts", function()
    local said, served = {}, false
    for most = 4, 16 do
      local sim = proc.spawn { "prlimit", "--nofile=" .. most, cluster.binary, "sim", "--", "true" }
      local code = sim:wait(30)
      local lines = select(2, sim:err():gsub("\n", ""))
      assert.is_true(code == 0 and lines == 0 or lines == 1 and code >= 2 and code < 128, code .. " " .. sim:err())
      said[#said + 1], served = sim:err(), served or code == 0
    end
    assert.has_match("kubelua: event loop: Too many open files; raise the limit of open files %(ulimit %-n%)\n",
      table.concat(said))
    assert.is_true(served)
  end)

  it("serves 100,000 pods in less than 1.5 GB, after all of them changed too", function()
    if (os.getenv "KUBELUA_PRESET" or "release") ~= "release" then return pending "sanitizers take more memory" end
    local sim = cluster.sim { "--pods", "100000" }
    local list = proc.spawn { "curl", "--silent", "--output", "/dev/null",
      "--write-out", "%{http_code} %{size_download}", sim.server .. "/api/v1/pods" }
    assert.are.equal(0, list:wait(60))
    assert.has_match("^200 9%d%d%d%d%d%d%d%d$", list:out())
    assert.is_true(sim:rss() < 1.5e9, "resident: " .. sim:rss())
    sim.api:create("/sim/scenario", { { ["do"] = "touch", resource = "pods" } })
    assert.is_true(sim:rss() < 1.5e9, "resident after the changes: " .. sim:rss())
  end)
end)
