-- kubelua test scripts/recipes
local test = require "k8s.test"

describe("recipes/orphans.lua", function()
  local function map(name, metadata)
    local object = { kind = "ConfigMap", metadata = metadata or {}, data = {} }
    object.metadata.namespace, object.metadata.name = "shop", name
    return object
  end

  local function pod()
    return { kind = "Pod", metadata = { namespace = "shop", name = "web", labels = { app = "web" } }, spec = {
      volumes = { { name = "v", configMap = { name = "used" } } }, containers = { { name = "c", image = "i" } } } }
  end

  local function service(name, app)
    return { kind = "Service", metadata = { namespace = "shop", name = name },
      spec = { selector = { app = app }, ports = { { port = 80 } } } }
  end

  local function open(params)
    local env = test.load("orphans.lua", { params = params, objects = { pod(), map "used", map "unused",
      map("kept", { annotations = { ["recipes/keep"] = "yes" } }), service("web", "web"), service("old", "gone") } })
    env:advance "11m"
    return env
  end

  it("reports what nothing has used for a while", function()
    local env = open { after = "1h" }
    assert.same({}, env.prints)
    env:advance "1h"
    assert.printed(env, "orphan configmaps:shop/unused")
    assert.printed(env, "orphan services:shop/old")
    for _, line in ipairs(env.prints) do assert.is_nil(line:match "/used" or line:match "kept" or line:match "/web") end
    assert.not_wrote(env)
  end)

  it("knows what is used by any container, volume and template, and by a set without pods", function()
    local function claim(name)
      return { kind = "PersistentVolumeClaim", metadata = { namespace = "shop", name = name },
        spec = { accessModes = { "ReadWriteOnce" }, resources = { requests = { storage = "1Gi" } } } }
    end
    local function secret(name) return { kind = "Secret", metadata = { namespace = "shop", name = name } } end
    local spec = {
      initContainers = { { name = "i", image = "i", envFrom = { { secretRef = { name = "early" } } } } },
      containers = { { name = "c", image = "i" } }, imagePullSecrets = { { name = "pull" } },
      volumes = { { name = "p", projected = { sources = { { secret = { name = "projected" } } } } } },
    }
    local template = { metadata = { labels = { app = "db" } }, spec = spec }
    local set = { kind = "StatefulSet", metadata = { namespace = "shop", name = "db" }, spec = { replicas = 0,
      serviceName = "db", selector = { matchLabels = { app = "db" } }, template = template,
      volumeClaimTemplates = { claim "data" } } }
    local env = test.load("orphans.lua", { params = { after = "0s", delete = "true" }, objects = { set, secret "early",
      secret "pull", secret "projected", claim "data-db-0", claim "data-gone-0", service("db", "db") } })
    env:advance "11m"
    assert.same({ "orphan persistentvolumeclaims:shop/data-gone-0" }, env.prints)
  end)

  it("waits until it knows all that may use something", function()
    local env = test.new { params = { after = "0s", delete = "true" }, objects = { map "unused" } }
    for _, verb in ipairs { "list", "watch" } do env:fault { verb = verb, kind = "pods", code = 403, times = 0 } end
    env:load "orphans.lua"
    env:advance "26h"
    assert.not_wrote(env)
  end)

  it("deletes it when told to, and not what is used again in time", function()
    local env = open { after = "1h", delete = "true" }
    env:add(service("new", "gone"))
    env:patch("services", "shop/old", { spec = { selector = { app = "web" } } })
    env:advance "61m"
    assert.is_nil(env:get("configmaps", "shop/unused"))
    assert.is_truthy(env:get("configmaps", "shop/used"))
    assert.is_truthy(env:get("services", "shop/old"))
  end)
end)
