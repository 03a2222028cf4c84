-- One story told to one script on any API server: what happens to ConfigMaps, unbound pods and custom objects, on a
-- good connection, while it is cut, and while it is cut and the version expires (B-5, F-8). The script must print the
-- same on each server, which is the claim of the specs that call story.run.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"

local story = {}

local crd = {
  apiVersion = "apiextensions.k8s.io/v1",
  kind = "CustomResourceDefinition",
  metadata = { name = "gadgets.story.example.com" },
  spec = {
    group = "story.example.com",
    scope = "Namespaced",
    names = { plural = "gadgets", singular = "gadget", kind = "Gadget", listKind = "GadgetList" },
    versions = { {
      name = "v1", served = true, storage = true,
      schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } },
      subresources = { status = {} },
    } },
  },
}

local kinds = {
  {
    kind = "ConfigMap", apiVersion = "v1", path = "/api/v1/namespaces/story/configmaps",
    fields = { data = { a = "b" } },
  },
  {
    kind = "Pod", apiVersion = "v1", path = "/api/v1/namespaces/story/pods", phases = true, born = "phase=Pending",
    fields = { spec = { containers = { { name = "main", image = "registry.example.com/app:v1" } } } },
    graceful = true,
  },
  {
    kind = "Gadget", apiVersion = "story.example.com/v1", path = "/apis/story.example.com/v1/namespaces/story/gadgets",
    phases = true, fields = { spec = { size = 3 } },
  },
}

local function object(kind, name)
  local out = { apiVersion = kind.apiVersion, kind = kind.kind, metadata = { name = name, namespace = "story" } }
  for field, value in pairs(kind.fields) do out[field] = value end
  return out
end

local function joined(...)
  local words = {}
  for _, word in ipairs { ... } do
    if word ~= "" then words[#words + 1] = word end
  end
  return table.concat(words, " ")
end

local function created(name)
  return {
    act = function(api, kind) api:create(kind.path, object(kind, name)) end,
    lines = function(kind) return { joined("add", kind.kind, name, kind.born or "") } end,
  }
end

local function updated(kind, name, before, after)
  return ("update %s %s [%s] -> [%s]"):format(kind.kind, name, before, after)
end

-- A delete of an unbound pod is an update, then a delete; all others are one delete.
local function deleted(name, state_of)
  return {
    act = function(api, kind) api:delete(kind.path .. "/" .. name) end,
    lines = function(kind)
      local lines, state = { joined("delete", kind.kind, name) }, state_of(kind)
      if kind.graceful then table.insert(lines, 1, updated(kind, name, state, joined(state, "deleting"))) end
      return lines
    end,
  }
end

local function born(kind) return kind.born or "" end
local function grown(kind) return kind.phases and "stage=test phase=Running" or "stage=test" end

-- Each step is done to all kinds before its lines are waited for. `cut`: while the connection is; `expire`: and the
-- version expires.
local steps = {
  created "a",
  {
    act = function(api, kind) api:patch(kind.path .. "/a", { metadata = { labels = { stage = "test" } } }) end,
    lines = function(kind) return { updated(kind, "a", born(kind), joined("stage=test", born(kind))) } end,
  },
  {
    act = function(api, kind)
      if kind.phases then api:patch(kind.path .. "/a/status", { status = { phase = "Running" } }) end
    end,
    lines = function(kind)
      return kind.phases and { updated(kind, "a", joined("stage=test", born(kind)), grown(kind)) } or {}
    end,
  },
  deleted("a", grown),
  created "b",
  { cut = true, act = deleted("b", born).act, lines = deleted("b", born).lines },
  created "c",
  {
    cut = true, expire = true, act = deleted("c", born).act,
    lines = function(kind) return { joined("delete", kind.kind, "c", "final state unknown") } end,
  },
}

local function perform(step, world)
  if step.cut then world.relay:cut() end
  for _, kind in ipairs(kinds) do step.act(world.api, kind) end
  if step.expire then world.expire() end
  if step.cut then world.relay:mend() end
end

-- Waits until the engine printed all of `lines`, whatever comes between them.
local function wait_for_all(engine, lines)
  for _, line in ipairs(lines) do
    engine:wait_until(function()
      return ("\n" .. engine:out()):find("\n" .. line .. "\n", 1, true)
    end, ("%q"):format(line), 60)
  end
end

-- Kinds have watches of their own: between kinds there is no order, within one there is.
local function sorted_by_kind(text)
  local parts = {}
  for i, kind in ipairs(kinds) do
    parts[i] = ""
    for line in text:gmatch "[^\n]+" do
      if line:match "^%a+ (%a+) " == kind.kind then parts[i] = parts[i] .. line .. "\n" end
    end
  end
  return table.concat(parts)
end

-- In a world of spec.support.world: gives what the script printed and what it had to print, kind by kind.
function story.run(world)
  local api = world.api
  api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = "story" } })
  api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
  await(function() return api:curl("GET", kinds[3].path) == 200 end, kinds[3].path)
  local engine = cluster.kubelua { "run", "-f", "spec/support/scripts/story.lua", unpack(world.args) }
  engine:wait_line("^synced$", 60)
  local expected = {}
  for _, step in ipairs(steps) do
    local lines = {}
    perform(step, world)
    for _, kind in ipairs(kinds) do
      for _, line in ipairs(step.lines(kind)) do lines[#lines + 1] = line end
    end
    wait_for_all(engine, lines)
    expected[#expected + 1] = table.concat(lines, "\n")
  end
  assert(cluster.terminate(engine) == 0, "the engine did not end well")
  return sorted_by_kind(engine:out()), sorted_by_kind(table.concat(expected, "\n"))
end

return story
