-- docs/troubleshooting.md: each symptom is made here, and its message is what the page says.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local examples = require "spec.support.examples"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"

local PAGE = "docs/troubleshooting.md"
local HEAD = 'local k8s = require "k8s"\n'

-- Each gives the output in which the message has to be.
local symptoms = {}

local function output_of(...)
  local p = cluster.kubelua { ... }
  assert.are.equal(2, p:wait(30), p:report())
  return p:out() .. p:err()
end

local function refused(script, ...)
  return output_of("run", "-f", cluster.script(script), "-s", cluster.sim().server, ...)
end

symptoms["no cluster is configured"] = function()
  local p = cluster.kubelua { "run", "-f", cluster.script(HEAD), env = { KUBECONFIG = "", HOME = "/nonexistent" } }
  p:wait(30)
  return p:err()
end
symptoms["expected (to close"] = function()
  return refused(HEAD .. "k8s.informer('pods'):on_add(function(pod)\n  print(pod:name()\nend)")
end
symptoms["did you mean \"pods\"?"] = function() return refused(HEAD .. "k8s.informer 'podz'") end
symptoms["cannot listen on"] = function()
  local sim = cluster.sim()
  return output_of("run", "-f", cluster.script(HEAD), "-s", sim.server, "--metrics-bind-address",
    (sim.server:gsub("^http://", "")))
end
symptoms["unknown flag --servr"] = function() return output_of("run", "--servr", "x") end
symptoms["is it an http:// address?"] = function()
  local server = cluster.sim().server:gsub("^http:", "https:")
  return output_of("check", "-f", cluster.script(HEAD), "-s", server)
end
symptoms["does it speak TLS?"] = function()
  local https = cluster.start { cluster.binary, "sim", "--port", "0", "--tls" }:wait_line "Serving on (https://[%d.:]+)"
  return output_of("check", "-f", cluster.script(HEAD), "-s", (https:gsub("^https:", "http:")))
end
symptoms["no engine is listening"] = function() return output_of("status", "--admin-socket", "/nonexistent/a.sock") end

-- The log of an engine until the message is there.
local function log_of(server, script, pattern, ...)
  local engine = cluster.run(server, cluster.script(HEAD .. script), { ... })
  engine:wait_error(pattern)
  return engine:err()
end

symptoms["Server unreachable"] = function()
  return log_of("http://127.0.0.1:9", "k8s.informer 'pods'", "Server unreachable")
end
symptoms["is not declared with"] = function()
  return log_of(cluster.sim({ "--pods", "1" }).server,
    "k8s.informer('pods'):on_add(function(pod) k8s.patch(pod, {}) end)", "Handler failed")
end
symptoms["Quarantined after"] = function()
  return log_of(cluster.sim({ "--pods", "5" }).server,
    "k8s.informer('pods'):on_add(function(pod)\n  while true do end\nend)", "Quarantined")
end

-- An engine on a folder, whose script is changed by `edit`.
local function edited(edit, pattern)
  local place = scripts_folder.new()
  finally(function()
    cluster.stop_all()
    place:remove()
  end)
  place:write("it.lua", HEAD .. "k8s.informer 'pods' print 'ready'")
  local engine = place:start(cluster.sim())
  engine:wait_line "^ready$"
  edit(place)
  engine:wait_error(pattern)
  return engine:err(), engine
end

symptoms["Reload refused"] = function()
  return (edited(function(place) place:write("it.lua", "error 'no'") end, "Reload refused"))
end
symptoms["may be half written"] = function()
  local file
  local log = edited(function(place)
    file = assert(io.open(place.path .. "/scripts/it.lua", "a"))
    file:write "-- more"
    file:flush()
  end, "may be half written")
  file:close()
  return log
end
symptoms["forbidden"] = function()
  local folder = temp.folder {}
  finally(function()
    cluster.stop_all()
    temp.remove(folder)
  end)
  local sim = cluster.sim()
  for _, verb in ipairs { "list", "watch" } do
    sim:play { ["do"] = "fault", verb = verb, resource = "secrets", what = "status", code = 403, reason = "Forbidden",
      times = 0 }
  end
  local script = cluster.script(HEAD .. "k8s.informer 'secrets' k8s.every('1s', function() end)")
  cluster.run(sim.server, script, { "--admin-socket", folder .. "/a.sock" })
  return await(function()
    local p = cluster.kubelua { "status", "--admin-socket", folder .. "/a.sock" }
    p:wait()
    return p:out():find("forbidden", 1, true) and p:out()
  end, "the informer to be forbidden")
end

-- What a command prints that looks into an engine with pods.
local function looked(...)
  local place = scripts_folder.new()
  finally(function()
    cluster.stop_all()
    place:remove()
  end)
  place:write("it.lua", HEAD .. "k8s.informer 'pods'")
  return (select(3, place:start(cluster.sim { "--pods", "1" }, nil, { "--history", "pods" }).ask(...)))
end

symptoms["has no cache of this kind"] = function() return looked("get", "services") end
symptoms["no change of it was seen yet"] = function()
  return looked("history", "pods/team-000/svc-0000-ff0a09fc01-kqv7h")
end

describe(PAGE, function()
  after_each(cluster.stop_all)

  local text = temp.read(PAGE)
  for _, block in ipairs(examples.blocks(PAGE)) do
    local message = block.text:gsub("\n$", "")
    it("has a message that is seen: " .. message, function()
      local make
      for part, symptom in pairs(symptoms) do
        if message:find(part, 1, true) then make = symptom end
      end
      assert(make, "nothing makes this symptom")
      local pattern = message:gsub("%.%.%.", "\1"):gsub("%p", "%%%0"):gsub("\1", ".-")
      assert.has_match(pattern, make())
    end)
  end

  it("has no symptom less than are made", function()
    for part in pairs(symptoms) do assert.has_match(part, text, 1, true) end
  end)
end)
