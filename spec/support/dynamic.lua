-- What a dynamic world does to an engine, on any API server. A world has `api` (requests with all rights) and `args`
-- (connection flags of the engine).
local api = require "spec.support.api"
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local dynamic = {}

local crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
local seconds = 60

-- Versions that are served; the last one is stored.
local function crd(...)
  local versions = {}
  for i, name in ipairs { ... } do
    versions[i] = {
      name = name, served = true, storage = i == select("#", ...),
      schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } },
    }
  end
  return {
    apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
    metadata = { name = "gadgets.dynamic.example.com" },
    spec = {
      group = "dynamic.example.com", scope = "Namespaced", versions = versions,
      names = { plural = "gadgets", singular = "gadget", kind = "Gadget", listKind = "GadgetList" },
    },
  }
end

local function gadget(version, name)
  return {
    apiVersion = "dynamic.example.com/" .. version, kind = "Gadget", metadata = { name = name }, spec = { size = 1 },
  }
end

local function path(version, name)
  local all = ("/apis/dynamic.example.com/%s/namespaces/default/gadgets"):format(version)
  return name and all .. "/" .. name or all
end

local function await_served(w, version)
  await(function() return w.api:curl("GET", path(version)) == 200 end, version, seconds)
end

local function remove_crd(w)
  local at = crds .. "/gadgets.dynamic.example.com"
  w.api:delete(at)
  await(function() return w.api:curl("GET", at) == 404 end, "the end of the CRD", seconds)
end

-- An engine with admin socket and probes; engine.await_state(kind, state) waits for a state and gives the informer.
local function engine_of(w, script)
  local folder = temp.folder()
  local socket = folder .. "/admin.sock"
  local engine = cluster.kubelua {
    "run", "-f", cluster.script(script), "--admin-socket", socket, "--health-probe-bind-address", "127.0.0.1:0",
    unpack(w.args),
  }
  local probes = api.new { server = "http://" .. engine:wait_error 'Serving health probes" address="([^"]+)"' }
  function engine.ready() return probes:curl("GET", "/readyz") end
  function engine.informer(kind)
    local p = cluster.kubelua { "status", "--admin-socket", socket, "-ojson" }
    if p:wait() ~= 0 then return nil end
    for _, informer in ipairs(cjson.decode(p.streams.out.text).informers) do
      if informer.kind == kind then return informer end
    end
  end
  function engine.await_state(kind, state)
    return await(function()
      local informer = engine.informer(kind)
      return informer and informer.state == state and informer
    end, kind .. ": " .. state, seconds)
  end
  function engine.finish()
    assert(cluster.terminate(engine) == 0, engine:report())
    temp.remove(folder)
  end
  return engine
end

local script = [[
  local k8s = require "k8s"
  k8s.informer("gadgets.dynamic.example.com", { namespace = "default" }):add_event_handler {
    OnAdd = function(obj) print("add", obj:name(), obj.apiVersion) end,
    OnUpdate = function(old, new) print("update", new:name(), old.apiVersion, new.apiVersion) end,
    OnDelete = function(obj, ev) print("delete", obj:name(), ev.final_state_unknown) end,
  }
  k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj) print("configmap", obj:name()) end)
]]

local function configmap(w, name)
  w.api:create("/api/v1/namespaces/default/configmaps", {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = name },
  })
end

function dynamic.comes_and_goes(w)
  local engine = engine_of(w, script)
  local unknown = engine.await_state("gadgets.dynamic.example.com", "unknown kind")
  assert(unknown.cause:find("gadgets.dynamic.example.com", 1, true), unknown.cause)
  assert(engine.ready() == 500)
  configmap(w, "others-go-on")
  engine:wait_line "^configmap\tothers%-go%-on$"
  w.api:create(crds, crd "v1")
  await_served(w, "v1")
  w.api:create(path "v1", gadget("v1", "a"))
  engine:wait_line("^add\ta\tdynamic.example.com/v1$", seconds)
  await(function() return engine.ready() == 200 end, "ready", seconds)
  remove_crd(w)
  -- The server deletes the objects before the kind; a watch may end before it has told of it.
  local gone = engine.await_state("gadgets.dynamic.example.com", "gone")
  assert(gone.cause:find("dynamic.example.com/v1 is no longer served", 1, true), gone.cause)
  assert(engine.ready() == 200)
  w.api:create(crds, crd "v1")
  await_served(w, "v1")
  w.api:create(path "v1", gadget("v1", "b"))
  engine:wait_line("^add\tb\tdynamic.example.com/v1$", seconds)
  assert(engine:out():find "delete\ta\t", engine:report())
  engine.await_state("gadgets.dynamic.example.com", "synced")
  engine.finish()
  remove_crd(w)
end

-- The groups do not answer at first, so that a bare name may be one of theirs; then they do, and it is not.
function dynamic.waits_for_a_bare_name(w)
  local engine = engine_of(w, (script:gsub("gadgets.dynamic.example.com", "gadgets")))
  engine:wait_error 'Waiting for an unknown kind.*kind="gadgets".*not all groups responded: /apis: '
  await(function()
    local informer = engine.informer "gadgets"
    return informer and informer.state == "unknown kind" and not informer.cause:find("not all groups", 1, true)
  end, "an answer of all groups", seconds)
  w.api:create(crds, crd "v1")
  engine.await_state("gadgets", "synced")
  engine.finish()
end

function dynamic.changes_version(w)
  w.api:create(crds, crd "v1alpha1")
  await_served(w, "v1alpha1")
  w.api:create(path "v1alpha1", gadget("v1alpha1", "a"))
  local engine = engine_of(w, script)
  engine:wait_line("^add\ta\tdynamic.example.com/v1alpha1$", seconds)
  -- The new version is stored first; then the old one is no longer served.
  local both = w.api:get(crds .. "/gadgets.dynamic.example.com")
  both.spec.versions = crd("v1alpha1", "v1").spec.versions
  w.api:update(crds .. "/gadgets.dynamic.example.com", both)
  await_served(w, "v1")
  local later = w.api:get(crds .. "/gadgets.dynamic.example.com")
  later.spec.versions = crd("v1alpha1", "v1").spec.versions
  later.spec.versions[1].served = false
  w.api:update(crds .. "/gadgets.dynamic.example.com", later)
  engine:wait_line("^update\ta\tdynamic.example.com/v1alpha1\tdynamic.example.com/v1$", seconds)
  w.api:create(path "v1", gadget("v1", "b"))
  engine:wait_line("^add\tb\tdynamic.example.com/v1$", seconds)
  local informer = engine.await_state("gadgets.dynamic.example.com", "synced")
  assert(informer.apiVersion == "dynamic.example.com/v1", informer.apiVersion)
  assert(not engine:out():find "delete", engine:report())
  engine.finish()
  remove_crd(w)
end

-- `may_read(yes)` gives the engine's user the right to list and watch configmaps of the namespace default, or takes it;
-- he does not have it yet.
function dynamic.waits_for_rights(w, may_read)
  configmap(w, "first")
  local engine = engine_of(w, [[
    local k8s = require "k8s"
    k8s.informer("configmaps", { namespace = "default" }):on_add(function(obj) print("configmap", obj:name()) end)
    k8s.informer("pods"):on_add(function() end)
  ]])
  local refused = engine.await_state("configmaps", "forbidden")
  assert(refused.cause:find("configmaps is forbidden", 1, true), refused.cause)
  engine.await_state("pods", "synced")
  assert(engine.ready() == 500)
  may_read(true)
  engine:wait_line("^configmap\tfirst$", seconds)
  engine.await_state("configmaps", "synced")
  await(function() return engine.ready() == 200 end, "ready", seconds)
  engine.finish()
end

return dynamic
