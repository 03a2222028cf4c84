-- k8s.state with keep = "configmap": what a script keeps in a ConfigMap of the engine's namespace.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"
local webhooks = require "spec.support.webhooks"

local MAPS = "/api/v1/namespaces/default/configmaps"
local MAP = MAPS .. "/kubelua-state-a"

local ROLES = [[
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: kubelua }
rules:
  - { apiGroups: [""], resources: [pods], verbs: [list, watch] }
  - { apiGroups: [""], resources: [configmaps], resourceNames: [%s], verbs: [get, patch] }
  - { apiGroups: [""], resources: [configmaps], verbs: [create] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: kubelua }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kubelua }
subjects: [{ kind: ServiceAccount, name: kubelua, namespace: ops }]
]]

local function counts(rest)
  return scripts_folder.script("a", [[
    local kept = k8s.state("seen", { keep = "configmap", init = { n = 0, list = {} } })
    local function add() kept.n = kept.n + 1 kept.list[kept.n] = "item " .. kept.n return kept.n end
    k8s.command("add", add)
    k8s.command("get", function() return kept.n .. " " .. #kept.list .. " " .. tostring(kept.list[kept.n]) end)
    k8s.command("sync", function()
      local ok, err = kept:sync()
      return ok and "stored" or err.reason .. ": " .. err.message
    end)
  ]] .. (rest or ""))
end

describe("a state in a ConfigMap #threads", function()
  local place, sim
  scripts_folder.each(before_each, after_each, function(...)
    place, sim = ...
    place:write("a.lua", counts())
  end)

  local function start(...) return place:start(sim, nil, { ... }) end
  local function ask(engine, ...) return (engine.ask("call", ...):gsub("\n$", "")) end
  local function read(path) return sim.api:get(path or MAP) end
  local function stop(engine) assert.are.equal(0, cluster.terminate(engine)) end

  -- The answer of a command once the script is not held back any more.
  local function answer(engine, what)
    await(function() return ask(engine, "get") ~= "" end, function() return engine:report() end)
    return ask(engine, what)
  end

  local function add(engine, n)
    for _ = 1, n do assert.matches("^%d+$", answer(engine, "add")) end
    assert.are.equal("stored", ask(engine, "sync"))
  end

  local function kill(engine)
    engine:kill "KILL"
    engine:wait()
  end

  it("is there after kill -9, and after a stop without sync", function()
    local engine = start()
    add(engine, 2)
    kill(engine)
    engine = start()
    assert.are.equal("2 2 item 2", answer(engine, "get"))
    ask(engine, "add")
    stop(engine)
    assert.are.equal("3 3 item 3", answer(start(), "get"))
    local map = read()
    assert.are.equal("kubelua", map.metadata.labels["app.kubernetes.io/managed-by"])
    assert.is_truthy(map.binaryData.seen)
  end)

  it("holds the whole script back until it was read", function()
    local engine = start()
    add(engine, 5)
    kill(engine)
    sim:play { ["do"] = "fault", verb = "get", resource = "configmaps", what = "delay", ["for"] = "1s", times = 1 }
    place:write("a.lua", counts [[
      local function tell(what) print(what .. " " .. kept.n) end
      k8s.every("10ms", function() tell "timer" end)
      k8s.on_leader(function() tell "leader" end)
      k8s.informer("pods"):on_add(function() tell "event" end, { id = "tell" })
      k8s.main(function() tell "main" end)
    ]])
    engine = start()
    for _, what in ipairs { "timer", "leader", "event", "main" } do
      await(function() return engine:out():find(what .. " 5\n", 1, true) end, function() return engine:report() end)
    end
    assert.is_nil(engine:out():find " [0-4]\n", engine:out())
  end)

  it("goes on with what others changed in the ConfigMap, and leaves a state that they changed", function()
    local engine = start()
    add(engine, 1)
    sim.api:patch(MAP, { metadata = { labels = { mine = "yes" } }, data = { note = "mine" } })
    add(engine, 1)
    local map = read()
    assert.are.equal("mine", map.data.note)
    assert.are.equal("yes", map.metadata.labels.mine)
    sim.api:patch(MAP, { binaryData = { seen = "bm90IGEgc3RhdGU=" } })
    ask(engine, "add")
    assert.matches("^Conflict: kubelua%-state%-a was changed by another process", ask(engine, "sync"))
    stop(engine)
    assert.are.equal("bm90IGEgc3RhdGU=", read().binaryData.seen)
    engine = start()
    assert.are.equal("0 0 nil", answer(engine, "get"))
    await(function() return engine:err():find "it was moved aside" end, function() return engine:report() end)
    assert.matches("configmaps default/kubelua%-state%-a%-aside%-1", engine:err())
    assert.are.equal("bm90IGEgc3RhdGU=", read(MAP .. "-aside-1").binaryData.seen)
    add(engine, 1)
  end)

  it("leaves a state that others changed while another one of the script is stored", function()
    place:write("a.lua", counts [[
      local other = k8s.state("other", { keep = "configmap", init = { n = 0 } })
      k8s.command("other", function()
        other.n = other.n + 1
        local ok, err = other:sync()
        return ok and "stored" or err.reason .. ": " .. err.message
      end)
    ]])
    local engine = start()
    add(engine, 1)
    assert.are.equal("stored", ask(engine, "other"))
    sim.api:patch(MAP, { binaryData = { other = "bm90IGEgc3RhdGU=" } })
    add(engine, 1)
    assert.matches("^Conflict: kubelua%-state%-a was changed by another process", ask(engine, "other"))
    add(engine, 1)
    stop(engine)
    assert.are.equal("bm90IGEgc3RhdGU=", read().binaryData.other)
    assert.are.equal("3 3 item 3", answer(start(), "get"))
  end)

  it("refuses a first write of a process that was killed while it was on its way", function()
    -- What the engine itself writes is refused, so that it is not the first to store something.
    sim:play {
      ["do"] = "fault", verb = "patch", resource = "configmaps", what = "status", code = 403, reason = "Forbidden",
      message = "not now", times = 0,
    }
    local engine = start()
    assert.are.equal("0 0 nil", answer(engine, "get"))
    local late = { metadata = { name = "kubelua-state-a" }, binaryData = { seen = "bGF0ZQ==" } }
    sim.api:request("POST", MAPS, late, nil, 409)
    local map = read()
    assert.is_nil(map.binaryData)
    assert.is_truthy(map.metadata.annotations["kubelua.dev/read-by"])
    assert.are.equal("kubelua", map.metadata.labels["app.kubernetes.io/managed-by"])
    sim:play { ["do"] = "clear" }
    add(engine, 1)
    assert.is_nil(engine:err():find "Conflict", engine:err())
  end)

  it("gives the ConfigMap another version, although the server fails at first", function()
    local engine = start()
    add(engine, 1)
    kill(engine)
    local function reader() return (read().metadata.annotations or {})["kubelua.dev/read-by"] end
    local before = reader()
    sim:play {
      ["do"] = "fault", verb = "patch", resource = "configmaps", what = "status", code = 500,
      reason = "InternalError", message = "not now", times = 1,
    }
    engine = start()
    assert.are.equal("1 1 item 1", answer(engine, "get"))
    assert.are_not.equal(before, reader())
    add(engine, 1)
  end)

  it("refuses a write of a process that was killed while it was on its way", function()
    local engine = start()
    add(engine, 1)
    local before = read()
    kill(engine)
    engine = start()
    assert.are.equal("1 1 item 1", answer(engine, "get"))
    local version = before.metadata.resourceVersion
    local late = { metadata = { resourceVersion = version }, binaryData = { seen = "bGF0ZQ==" } }
    sim.api:request("PATCH", MAP, late, "application/merge-patch+json", 409)
    add(engine, 1)
    assert.are.equal(before.metadata.uid, read().metadata.uid)
    assert.is_truthy(read().metadata.annotations["kubelua.dev/read-by"])
  end)

  it("goes to the next leader", function()
    local function candidate() return start("--leader-elect", "--leader-elect-retry-period=100ms") end
    local first = candidate()
    await(function() return ask(first, "sync") == "stored" end, function() return first:report() end)
    add(first, 2)
    local socket = place.path .. "/other.sock"
    local second = cluster.run(sim.server, place.path .. "/scripts", {
      "--admin-socket", socket, "--leader-elect", "--leader-elect-retry-period=100ms",
    })
    second:wait_error "Synced"
    local function ask_second(what)
      local p = cluster.kubelua { "call", "--admin-socket", socket, what }
      p:wait()
      return (p.streams.out.text:gsub("\n$", ""))
    end
    assert.matches("^NotLeader: ", ask_second "sync")
    ask(first, "add")
    stop(first)
    await(function() return ask_second "sync" == "stored" end, function() return second:report() end)
    assert.are.equal("3 3 item 3", ask_second "get")
  end)

  it("goes through reloads, and is in the map of its script beside other states", function()
    place:write("a.lua", counts [[
      local other = k8s.state("other", { keep = "configmap", init = { text = "" } })
      k8s.command("grow", function(n)
        other.text = ("x"):rep(tonumber(n))
        local ok, err = other:sync()
        return ok and "stored" or err.reason .. ": " .. err.message
      end)
    ]])
    local engine = start()
    add(engine, 1)
    assert.are.equal("stored", ask(engine, "grow", "800000"))
    assert.matches('^LimitExceeded: k8s.state: other: .* of keep = "configmap"', ask(engine, "grow", "922000"))
    add(engine, 1)
    place:write("a.lua", counts() .. "-- 2")
    engine.await("a", function(s) return s.generation == 2 end)
    add(engine, 1)
    local map = read()
    assert.is_truthy(map.binaryData.other and map.binaryData.seen)
    kill(engine)
    assert.are.equal("3 3 item 3", answer(start(), "get"))
  end)

  it("says why it was not stored, and is stored later", function()
    local engine = start()
    add(engine, 1)
    sim:play {
      ["do"] = "fault", verb = "patch", resource = "configmaps", what = "status", code = 403, reason = "Forbidden",
      message = "quota", times = 1,
    }
    ask(engine, "add")
    assert.matches("^Forbidden: .*quota", ask(engine, "sync"))
    engine:wait_error "State is stored again"
    kill(engine)
    assert.are.equal("2 2 item 2", answer(start(), "get"))
  end)

  it("is written once although the connection ended before the answer", function()
    local engine = start()
    add(engine, 1)
    for _ = 1, 3 do
      sim:play { ["do"] = "fault", verb = "patch", resource = "configmaps", what = "close", times = 1 }
      ask(engine, "add")
      ask(engine, "sync")
      await(function() return ask(engine, "sync") == "stored" end, function() return engine:report() end)
    end
    assert.is_nil(engine:err():find "Conflict", engine:err())
    kill(engine)
    assert.are.equal("4 4 item 4", answer(start(), "get"))
  end)

  it("waits for a server that refuses", function()
    sim:play {
      ["do"] = "fault", verb = "get", resource = "configmaps", what = "status", code = 403, reason = "Forbidden",
      message = "not yours", times = 1,
    }
    local engine = start()
    await(function() return engine:err():find "Failed to read a state, trying again" end,
      function() return engine:report() end)
    assert.matches("not yours", engine:err(), 1, true)
    assert.are.equal("", ask(engine, "get"))
    add(engine, 1)
    stop(engine)
  end)

  it("has callers of webhooks wait for it", function()
    sim:play {
      ["do"] = "fault", verb = "get", resource = "configmaps", what = "status", code = 403, reason = "Forbidden",
      message = "not yours", times = 0,
    }
    local script = counts [[k8s.webhook { path = "/n", public = true, fn = function() return tostring(kept.n) end }]]
    local engine, address = webhooks.start(place, sim, { ["a.lua"] = script })
    local code, body = webhooks.call(address, "/n", "-d", "x")
    assert.are.equal(503, code)
    assert.are.equal("the script reads its state first\n", body)
    sim:play { ["do"] = "clear" }
    await(function() return webhooks.call(address, "/n", "-d", "x") == 200 end, function() return engine:report() end)
  end)

  it("needs rights that rbac names", function()
    local p = cluster.kubelua { "rbac", "-f", place.path .. "/scripts", "--server=" .. sim.server }
    assert.are.equal(0, p:wait())
    local out = p.streams.out.text
    local role = 'namespace: default\nrules:\n  - apiGroups: [""]\n    resources: [configmaps]\n'
      .. '    verbs: [create]\n  - apiGroups: [""]\n    resources: [configmaps]\n'
      .. "    resourceNames: [kubelua-state-a]\n    verbs: [get, patch]"
    assert.matches(role, out, 1, true)
  end)

  it("is checked against roles, with the name of its ConfigMap", function()
    local function check(name)
      temp.write(place.path .. "/roles.yaml", ROLES:format(name))
      local p = cluster.kubelua {
        "check", "-f", place.path .. "/scripts", "--against", place.path .. "/roles.yaml", "--as",
        "system:serviceaccount:ops:kubelua",
      }
      return p:wait(), p.streams.out.text
    end
    assert.are.equal(0, (check "kubelua-state-a"))
    local code, out = check "kubelua-state-b"
    assert.are.equal(1, code)
    assert.matches('missing permission: get and patch configmaps "kubelua-state-a" in namespace default, for k8s.state',
      out, 1, true)
  end)
end)
