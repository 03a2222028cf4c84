-- The kinds of the simulator: its discovery, and objects as a create returns them, beside those of the real API server.
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local smallest = require "spec.support.smallest_objects"

-- Kinds and subresources that the simulator does not serve.
local LEFT = {
  ["v1/componentstatuses"] = true,
}
local LEFT_SUBRESOURCES = { ephemeralcontainers = true, proxy = true, resize = true }

-- { ["apps/v1/deployments"] = { kind, names, verbs ... } } of a server.
local function resources(api)
  local found, order = {}, {}
  local function add(version)
    local path = version:find "/" and "/apis/" or "/api/"
    for _, entry in ipairs(api:get(path .. version).resources) do
      local sub = entry.name:match "/(.*)"
      local name = version .. "/" .. entry.name
      entry.storageVersionHash = nil
      local left = LEFT[name:match "^(.-/[^/]*)/status$" or name] or LEFT_SUBRESOURCES[sub]
      if not left then found[name] = entry end
    end
    order[#order + 1] = version
  end
  add "v1"
  for _, group in ipairs(api:get "/apis".groups) do
    for _, version in ipairs(group.versions) do
      add(version.groupVersion)
    end
  end
  return found, order
end

-- Removes fields that differ from server to server.
local function tidy(object)
  local metadata = object.metadata
  for _, key in ipairs { "uid", "resourceVersion", "creationTimestamp", "managedFields" } do metadata[key] = nil end
  return object
end

local function sorted(value)
  if type(value) ~= "table" then return tostring(value) end
  local keys, parts = {}, {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for i, key in ipairs(keys) do parts[i] = tostring(key) .. ": " .. sorted(value[key]):gsub("\n", "\n  ") end
  return #parts == 0 and "{}" or "\n" .. table.concat(parts, "\n")
end

describe("the simulator's kinds", function()
  local real, sim

  setup(function()
    real = apiserver.start()
    sim = cluster.sim {}
  end)
  teardown(function()
    cluster.stop_all()
    real:stop()
  end)

  it("are those of the real server, by the same names, in the same order", function()
    local wanted, wanted_order = resources(real:api())
    local found, order = resources(sim.api)
    assert.same(wanted_order, order)
    for name in pairs(wanted) do assert.equal(name .. sorted(wanted[name]), name .. sorted(found[name] or {})) end
    for name in pairs(found) do assert(wanted[name], "only the simulator has " .. name) end
  end)

  for _, case in ipairs(smallest) do
    it(("give %s as the real server does"):format(case.name), function()
      local wanted = tidy(real:api():create(case.path, case.object))
      local found = tidy(sim.api:create(case.path, case.object))
      case.tidy(wanted, found)
      assert.equal(sorted(wanted), sorted(found))
    end)
  end
end)
