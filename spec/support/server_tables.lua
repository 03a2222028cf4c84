-- Output of `kubelua get` for kinds whose columns only the API server knows, on any API server. A world has `api`
-- (requests with all rights) and `args` (connection flags of the engine).
local assert = require "luassert"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"

local server_tables = {}

local CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
local GADGETS = "/apis/shop.example.com/v1/namespaces/%s/gadgets"

local CRD = {
  apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
  metadata = { name = "gadgets.shop.example.com" },
  spec = {
    group = "shop.example.com", scope = "Namespaced",
    names = { plural = "gadgets", singular = "gadget", kind = "Gadget", listKind = "GadgetList" },
    versions = {
      {
        name = "v1", served = true, storage = true,
        schema = { openAPIV3Schema = { type = "object", ["x-kubernetes-preserve-unknown-fields"] = true } },
        additionalPrinterColumns = {
          { name = "Size", type = "integer", jsonPath = ".spec.size" },
          { name = "Colour", type = "string", jsonPath = ".spec.colour", priority = 1 },
          { name = "Shape", type = "string", jsonPath = ".spec.shape" },
        },
      },
    },
  },
}

local WATCHES = scripts_folder.HEAD .. [[
  k8s.informer "configmaps"
  k8s.informer("gadgets.shop.example.com", %s)
  k8s.main(function() print "ready" end)
]]

function server_tables.put(w, namespace, name, labels, spec)
  w.api:create(GADGETS:format(namespace), {
    apiVersion = "shop.example.com/v1", kind = "Gadget", metadata = { name = name, labels = labels }, spec = spec,
  })
end

-- Adds the kind and three objects to a world.
function server_tables.fill(w)
  w.api:create(CRDS, CRD)
  await(function() return w.api:curl("GET", GADGETS:format "default") == 200 end, "the custom kind", 60)
  server_tables.put(w, "default", "big", { app = "a" }, { size = 12, shape = "round", colour = "red" })
  server_tables.put(w, "default", "small", { app = "b" }, { size = 1, colour = "blue" })
  server_tables.put(w, "kube-system", "big", { app = "a" }, { size = 7, shape = "flat" })
end

-- An engine that has configmaps and gadgets in a folder of scripts; gives what calls `kubelua get` on it: output, code
-- and errors.
function server_tables.start(w, place, options)
  local socket = place.path .. "/admin.sock"
  place:write("it.lua", WATCHES:format(options or "{}"))
  local engine = cluster.kubelua {
    "run", "-f", place.path .. "/scripts", "--admin-socket", socket, unpack(w.args),
  }
  engine:wait_line "^ready$"
  return function(...)
    local p = cluster.kubelua { "get", "--admin-socket", socket, ... }
    local code = p:wait()
    return p.streams.out.text, code, p.streams.err.text
  end
end

-- Columns of the server, for the objects of the cache, however they are chosen.
function server_tables.prints(get)
  assert.are.equal("NAMESPACE    NAME   SIZE  SHAPE\n" .. "default      big    12    round\n"
    .. "default      small  1     <none>\n" .. "kube-system  big    7     flat\n", (get "gadgets"))
  assert.are.equal("NAMESPACE  NAME   SIZE  COLOUR  SHAPE\n" .. "default    small  1     blue    <none>\n",
    (get("gadgets", "-l", "app=b", "-o", "wide")))
  assert.are.equal("NAMESPACE    NAME  SIZE  SHAPE\n" .. "kube-system  big   7     flat\n",
    (get("gadgets", "kube-system/big")))
  assert.are.equal("NAMESPACE  NAME  SIZE  SHAPE\n" .. "default    big   12    round\n",
    (get("gadgets", "--field-selector", "spec.size=12")))
  local out, code, err = get("gadgets", "-n", "nowhere")
  assert.are.same({ "", 0, "No objects found in the cache.\n" }, { out, code, err })
  out, code, err = get("gadgets", "default/none")
  assert.are.same({ "", 1, 'kubelua get: gadgets: "none" not found in the cache\n' }, { out, code, err })
end

return server_tables
