-- The scripts that ship, on servers whose lists come late and in any order: they print what they print on a prompt one.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local RESOURCES = {
  "pods", "nodes", "services", "configmaps", "namespaces", "deployments", "secrets", "serviceaccounts", "events",
}
local ORDERS = 2
local seed = tonumber(os.getenv "SEED") or os.time()

local function shuffled(list)
  local copy = { unpack(list) }
  for i = #copy, 2, -1 do
    local j = math.random(i)
    copy[i], copy[j] = copy[j], copy[i]
  end
  return copy
end

-- The resources that a script is about, also by their kinds: delays of others would only take time.
local function resources_of(text)
  local used, lower = {}, text:lower()
  for _, resource in ipairs(RESOURCES) do
    local kind = resource:gsub("ies$", "y"):gsub("([sx])es$", "%1"):gsub("s$", "")
    if lower:find(resource, 1, true) or lower:find(kind, 1, true) then used[#used + 1] = resource end
  end
  return used[1] and used or RESOURCES
end

-- Lists and watches of these come one after the other.
local function delay(sim, resources)
  for i, resource in ipairs(resources) do
    for _, verb in ipairs { "list", "watch" } do
      local wait = i * 60 .. "ms"
      sim:play { ["do"] = "fault", verb = verb, resource = resource, what = "delay", ["for"] = wait, times = 0 }
    end
  end
end

-- For scripts that say nothing of pods alone.
local function fill(sim)
  local function create(path, kind, name, more)
    more.apiVersion, more.kind, more.metadata = "v1", kind, { name = name }
    sim.api:create(path, more)
  end
  create("/api/v1/namespaces/default/pods", "Pod", "web", {
    spec = { containers = { { name = "c", image = "i" } } },
  })
  sim:play {
    ["do"] = "patch", resource = "pods", namespace = "default", name = "web", subresource = "status",
    patch = { status = { conditions = { { type = "Ready", status = "True" } } } },
  }
  for i = 1, 3 do
    create("/api/v1/namespaces/default/configmaps", "ConfigMap", "map-" .. i, { data = { key = ("x"):rep(i) } })
    local spec = { selector = { app = "a" }, ports = { { port = 80 } } }
    create("/api/v1/namespaces/default/services", "Service", "alone-" .. i, { spec = spec })
    create("/api/v1/nodes", "Node", "node-" .. i, { spec = {}, status = {} })
  end
end

-- Scripts without a main end when their handlers have had all initial objects.
local function ending(path)
  local text = temp.read(path)
  if text:find("k8s.main", 1, true) then return text end
  return text .. '\nrequire("k8s").main(function() end)\n'
end

local function lines_of(server, script, args)
  local p = cluster.kubelua { "exec", "--server=" .. server, script, unpack(args) }
  local code = p:wait(60)
  local lines = {}
  for line in p:out():gmatch "[^\n]+" do lines[#lines + 1] = line end
  table.sort(lines)
  return { code = code, lines = lines }, p:err()
end

describe("with lists that come late, in any order (SEED=" .. seed .. ")", function()
  local folder, sim

  before_each(function()
    folder = temp.folder()
    sim = cluster.sim { "--pods", "30" }
    fill(sim)
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- custom_resources.lua and website.lua are of kinds that the simulator does not have: main waits. What leader.lua
  -- prints depends on when it leads, which no main waits for.
  local left_out = {
    ["scripts/custom_resources.lua"] = true, ["scripts/leader.lua"] = true, ["scripts/recipes/website.lua"] = true,
  }
  local states = temp.name()
  local arguments = {
    ["scripts/recipes/export.lua"] = {
      "--state-dir", states, "--allow-sink", "file://" .. states .. "/", "--param", "to=file://" .. states .. "/jsonl",
    },
    ["scripts/alerts.lua"] = { "--param", "token=t" },
    ["scripts/recipes/pull_secrets.lua"] = { "--param", "from=default" },
  }
  for path in io.popen("ls scripts/*.lua scripts/recipes/*.lua"):read("*a"):gmatch "%S+" do
    if not left_out[path] then it(path .. " prints the same", function()
      math.randomseed(seed)
      local script = folder .. "/script.lua"
      temp.write(script, ending(path))
      local args, used = arguments[path] or {}, resources_of(temp.read(path))
      local expected, log = lines_of(sim.server, script, args)
      assert.are.equal(0, expected.code, log)
      for _ = 1, ORDERS do
        local order = shuffled(used)
        sim:play { ["do"] = "clear" }
        delay(sim, order)
        local late, late_log = lines_of(sim.server, script, args)
        local what = table.concat(order, ", ") .. "\n" .. log .. late_log
        assert.are.same(expected, late, what)
        assert.is_nil(late_log:find("Cache was read before", 1, true), what)
      end
    end) end
  end
end)
