-- Connections that end inside the head of an answer, or in its body: an engine outlives it with every kind of request,
-- for a retry and a log line. What each byte does, over TLS and HTTP/2 too, is spec/core/*/*cut_spec.c.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local relay = require "spec.support.relay"

local pods = "/api/v1/namespaces/default/pods"

local function pod(name)
  local spec = { containers = { { name = "main", image = "web" } } }
  return { apiVersion = "v1", kind = "Pod", metadata = { name = name }, spec = spec }
end

-- Bytes of the answer that come: within the status line, the headers, and what follows them.
local places = { 5, 16, 60, 220 }

local reads = [[
  local k8s = require "k8s"
  local known = 0
  k8s.informer("pods"):on_add(function()
    known = known + 1
    if known == 12 then print("pods", known) end
  end)
]]

local leads = [[
  local k8s = require "k8s"
  k8s.on_leader(function() print "leads" end, function() print "leads no more" end)
]]

-- A failure is an error to the script, which tries again.
local writes = [[
  local k8s = require "k8s"
  k8s.writes { "configmaps:create" }
  local object = { apiVersion = "v1", kind = "ConfigMap", metadata = { generateName = "c-", namespace = "default" } }
  k8s.main(function()
    local failures = 0
    while true do
      local made, err = k8s.create(object)
      if made then break end
      print(err.reason, tostring(err))
      failures = failures + 1
    end
    print("failures", failures)
  end)
]]

local asks = [[
  local k8s = require "k8s"
  local http = require "http"
  k8s.main(function()
    local failures = 0
    while not http.request { url = "http://%s/version" } do failures = failures + 1 end
    print("failures", failures)
  end)
]]

local again = "List or watch failed, retrying"
local lists, watch_lists, elects = { "--watch-list=off" }, { "--watch-list=on" }, { "--leader-elect" }
local leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

-- text: of the request whose answer ends early; line: what the script prints when all is well; warning: what the one
-- line of the log says that it may cost.
local kinds = {
  { name = "discovery", text = "GET /apis ", script = reads, line = "^pods\t12$", warning = "Discovery failed" },
  {
    name = "a list", text = "GET /api/v1/pods?limit=", script = reads, line = "^pods\t12$", args = lists,
    warning = again,
  },
  {
    name = "a watch", text = "watch=true", script = reads, line = "^pods\t12$", args = lists,
    warning = again .. ", or: Watch failed, resuming",
  },
  {
    name = "a watch-list", text = "sendInitialEvents=true", script = reads, line = "^pods\t12$", args = watch_lists,
    warning = again,
  },
  { name = "the look at a lease", text = "GET " .. leases, script = leads, line = "^leads$", args = elects,
    warning = "Leader election failed" },
  { name = "the claim of a lease", text = "POST " .. leases, script = leads, line = "^leads$", args = elects,
    warning = "Leader election failed" },
  { name = "the renewal of a lease", text = "PUT " .. leases, script = leads, line = "^leads$", args = elects },
  { name = "a write", text = "POST /api/v1/namespaces/default/configmaps", script = writes, line = "^failures\t1$" },
  { name = "http.request", text = "GET /version", script = asks, line = "^failures\t1$" },
}

-- Lines of the engine's log that are no mere information.
local function complaints(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do
    if line:find "^[WEF]%d" then list[#list + 1] = line end
  end
  return list
end

describe("an engine whose connection ends inside a response", function()
  local relays = {}
  after_each(function()
    cluster.stop_all()
    while relays[1] do table.remove(relays):stop() end
  end)

  -- Something happens in the cluster, so that watches have what to tell, until all were broken off.
  local function await_ends(runs, sim)
    local changes = 0
    await(function()
      changes = changes + 1
      if sim then sim.api:patch(pods .. "/busy", { metadata = { labels = { changes = tostring(changes) } } }) end
      for _, run in ipairs(runs) do
        if not run.relay:has_ended() then return false end
      end
      return true
    end, "every answer ended early")
  end

  -- One that has its answer ended there.
  local function start(kind, bytes, sim)
    local way = relay.start(sim.server)
    relays[#relays + 1] = way
    way:end_answer(bytes, kind.text)
    local host = way.url:match "//(.*)$"
    local args = { "--allow-http", host, unpack(kind.args or {}) }
    local engine = cluster.run(way.url, cluster.script((kind.script:gsub("%%s", host))), args)
    return { engine = engine, relay = way }
  end

  for _, kind in ipairs(kinds) do
    it("goes on after " .. kind.name, function()
      local runs = {}
      -- The leader is one of several engines: each has a cluster of its own.
      local sim = kind.script ~= leads and cluster.sim { "--pods", "10" }
      if sim then sim.api:create(pods, pod "busy") end
      for i, bytes in ipairs(places) do runs[i] = start(kind, bytes, sim or cluster.sim()) end
      await_ends(runs, sim)
      if sim then sim.api:create(pods, pod "extra") end
      for i, run in ipairs(runs) do
        run.engine:wait_line(kind.line)
        local list = complaints(run.engine:err())
        assert.is_true(#list <= 1, places[i] .. " bytes: " .. run.engine:report())
        if list[1] then assert.has_match(list[1]:match '"(.-)"', kind.warning or "nothing", 1, true) end
        assert.is_nil(run.engine:out():find("leads no more", 1, true))
        assert.are.equal(0, cluster.terminate(run.engine))
      end
    end)
  end
end)
