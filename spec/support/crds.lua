-- CustomResourceDefinitions that come and go, on any API server.
local await = require "spec.support.await"

local crds = {}

local path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

-- A definition of a namespaced kind without a schema: "widgets", "shop.example.com".
function crds.of(plural, group)
  local singular = plural:match "^(.*)s$"
  local kind = singular:sub(1, 1):upper() .. singular:sub(2)
  return {
    apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
    metadata = { name = plural .. "." .. group },
    spec = {
      group = group, scope = "Namespaced",
      names = { plural = plural, singular = singular, kind = kind, listKind = kind .. "List" },
      versions = { {
        name = "v1", served = true, storage = true,
        schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } },
      } },
    },
  }
end

-- Where its objects are.
function crds.objects(plural, group) return ("/apis/%s/v1/namespaces/default/%s"):format(group, plural) end

-- Creates it, and waits until it is served.
function crds.create(api, plural, group)
  api:create(path, crds.of(plural, group))
  await(function() return api:curl("GET", crds.objects(plural, group)) == 200 end, plural .. "." .. group, 30)
end

function crds.remove(api, plural, group)
  local at = ("%s/%s.%s"):format(path, plural, group)
  api:delete(at)
  await(function() return api:curl("GET", at) == 404 end, "the end of " .. plural, 30)
end

-- Creates an object of it.
function crds.add(api, plural, group, name, more)
  local names = crds.of(plural, group).spec.names
  local object = { apiVersion = group .. "/v1", kind = names.kind, metadata = { name = name } }
  for key, value in pairs(more or {}) do object[key] = value end
  return api:create(crds.objects(plural, group), object)
end

return crds
