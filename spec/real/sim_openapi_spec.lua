-- The simulator's OpenAPI is that of a kube-apiserver: the same documents, with the same paths, operations, parameters
-- and schemas, of Kubernetes' own kinds and of custom ones. Descriptions of types, fields and parameters are shorter.
local cjson = require "cjson"
local await = require "spec.support.await"
local both_servers = require "spec.support.both_servers"

local CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

-- Paths that the simulator does not serve (docs/sim.md).
local function is_absent(path)
  return path:find "/proxy$" or path:find "/proxy/{path}$" or path:find "/resize$" or path:find "/ephemeralcontainers$"
    or path:find "/componentstatuses" or path:find "v1%.Component"
end

local function versions()
  local color = { type = "string", enum = { "red", "blue" }, description = "Its color." }
  local embedded = { type = "object", ["x-kubernetes-embedded-resource"] = true,
    ["x-kubernetes-preserve-unknown-fields"] = true }
  local spec = { type = "object", properties = {
    color = color, replicas = { type = "integer", minimum = 0, default = 1 }, template = embedded,
    port = { ["x-kubernetes-int-or-string"] = true }, note = { type = "string", nullable = true },
    tags = { type = "array", items = { type = "string" }, ["x-kubernetes-list-type"] = "set" },
  }, anyOf = { { required = { "color" } }, { required = { "replicas" } } } }
  local status = { type = "object", properties = { replicas = { type = "integer" } } }
  local schema = { type = "object", description = "Shops.", required = { "spec" }, properties = { spec = spec,
    status = status } }
  return {
    { name = "v1", served = true, storage = true, schema = { openAPIV3Schema = schema },
      selectableFields = { { jsonPath = ".spec.color" } },
      subresources = { status = {}, scale = { specReplicasPath = ".spec.replicas",
        statusReplicasPath = ".status.replicas" } } },
    { name = "v1beta1", served = true, storage = false, schema = { openAPIV3Schema = { type = "object",
      ["x-kubernetes-preserve-unknown-fields"] = true } } },
  }
end

local function definition(scope)
  local word = scope == "Cluster" and "mall" or "shop"
  local kind = word:gsub("^%l", string.upper)
  return { kind = "CustomResourceDefinition", apiVersion = "apiextensions.k8s.io/v1",
    metadata = { name = word .. "s.example.com" }, spec = { group = "example.com", scope = scope, versions = versions(),
      names = { plural = word .. "s", singular = word, kind = kind, listKind = kind .. "Roll" } } }
end

local function is_parameters(list) return type(list[1]) == "table" and list[1]["in"] ~= nil end

-- A list of parameters by their names; a list of required fields in order; anything else as it is.
local function ordered(list, name)
  local copy = { unpack(list) }
  if is_parameters(list) then
    for i, parameter in ipairs(list) do copy[i], copy[parameter.name .. parameter["in"]] = nil, parameter end
  elseif name == "required" then
    table.sort(copy)
  end
  return copy
end

-- Writes what differs into `found`. `path`: names from the document's root.
local function compare(path, mine, real, found)
  local name = path:match "[^ ]*$"
  if type(mine) ~= "table" or type(real) ~= "table" then
    if mine ~= real then
      found[#found + 1] = ("%s: %s, not %s"):format(path, cjson.encode(mine or cjson.null), cjson.encode(real))
    end
    return
  end
  mine, real = ordered(mine, name), ordered(real, name)
  local is_operation = real.operationId
  for key, value in pairs(real) do
    local described = key == "description" and type(value) == "string" and not is_operation
    local own = mine[key] == nil and cjson.null or mine[key]
    if not (described or is_absent(tostring(key))) then compare(path .. " " .. key, own, value, found) end
  end
  for key in pairs(mine) do
    if real[key] == nil and key ~= "description" then found[#found + 1] = ("%s %s: added"):format(path, key) end
  end
end

describe("OpenAPI of the simulator", function()
  local both, ask = both_servers.begin(setup, teardown)

  it("is that of a kube-apiserver", function()
    for _, scope in ipairs { "Namespaced", "Cluster" } do ask("POST", CRDS, definition(scope)) end
    local real, found, count = both.real:api(), {}, 0
    await(function() -- the documents of custom kinds come with time
      local places = real:get("/openapi/v3").paths
      return places["apis/example.com/v1"] and places["apis/example.com/v1beta1"]
        and real:get("/openapi/v3/apis/example.com/v1").paths["/apis/example.com/v1/malls"]
        and real:get("/openapi/v3/apis/example.com/v1beta1").paths["/apis/example.com/v1beta1/malls"]
    end, "documents of custom kinds")
    local index = real:get("/openapi/v3").paths
    local own = both.sim.api:get("/openapi/v3").paths
    for place in pairs(own) do
      if not index[place] then found[#found + 1] = place .. ": there" end
    end
    for place in pairs(index) do
      if own[place] then
        count = count + 1
        compare(place, both.sim.api:get(own[place].serverRelativeURL), real:get("/openapi/v3/" .. place), found)
      else
        found[#found + 1] = place .. ": missing"
      end
    end
    assert.are.equal("", table.concat(found, "\n", 1, math.min(#found, 60)), #found .. " differences")
    assert.is_true(count > 40, count)
  end)
end)
