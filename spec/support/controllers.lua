-- A controller at work, for the specs of both servers.
local cluster = require "spec.support.cluster"

local configmaps = "/api/v1/namespaces/default/configmaps"
local pods = "/api/v1/namespaces/default/pods"
local deployments = "/apis/apps/v1/namespaces/default/deployments"

local function configmap(name, data)
  return {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" }, data = { text = data },
  }
end

local function pod(name, owners)
  return {
    apiVersion = "v1", kind = "Pod", metadata = { name = name, namespace = "default", ownerReferences = owners },
    spec = { containers = { { name = "main", image = "web" } } },
  }
end

local function owner(api_version, kind, name, controls)
  return { apiVersion = api_version, kind = kind, name = name, uid = "u-" .. name, controller = controls }
end

local function deployment(name)
  return {
    apiVersion = "apps/v1", kind = "Deployment", metadata = { name = name, namespace = "default" },
    spec = {
      selector = { matchLabels = { app = name } },
      template = {
        metadata = { labels = { app = name } }, spec = { containers = { { name = "main", image = "web" } } },
      },
    },
  }
end

-- Which keys a controller is told of, and by whom. `where` is an address or a flag of the engine, as cluster.run takes
-- it; `requests` are made by spec.support.api.
return function(where, requests)
  requests:create(deployments, deployment "web")
  local engine = cluster.run(where, cluster.script [[
    local k8s = require "k8s"
    local controller = k8s.controller {
      of = "deployments.apps", owns = { "pods" }, qps = 0, base = "1ms", workers = 2,
      watches = {
        configmaps = function(cm)
          local name = cm:get "data.text"
          return name and { "default/" .. name, "default/all" }
        end,
      },
      reconcile = function(key, job)
        print("look at " .. key .. (job.retries > 0 and " again" or ""))
        if key == "default/poor" and job.retries < 2 then return nil, { message = "not yet" } end
      end,
    }
    assert(tostring(controller.queue) == "queue deployments.apps")
    k8s.main(function() print(controller.informer:lister():count()) end)
  ]])
  engine:wait_line "^look at default/web$"
  local function told(...)
    for _, name in ipairs { ... } do engine:wait_line("^look at default/" .. name .. "$") end
  end
  requests:create(pods, pod("a", { owner("v1", "Service", "no"), owner("apps/v1", "Deployment", "big", true) }))
  told "big"
  -- None of these is an owner of that kind which controls the pod.
  for name, reference in pairs {
    b = owner("apps/v1", "Deployment", "no"), c = owner("extensions/v1", "Deployment", "no", true),
    d = owner("v1", "Deployment", "no", true), e = owner("apps/v1", "ReplicaSet", "no", true),
  } do
    requests:create(pods, pod(name, { reference }))
  end
  requests:create(configmaps, configmap("c", "first"))
  told("first", "all")
  requests:patch(configmaps .. "/c", { data = { text = "second" } })
  told("first", "all", "second")
  requests:request("DELETE", configmaps .. "/c")
  told("second", "all")
  requests:create(deployments, deployment "poor")
  told("poor", "poor again", "poor again")
  requests:request("DELETE", pods .. "/a?gracePeriodSeconds=0")
  told "big"
  assert(not engine:out():find("/no", 1, true), engine:report())
  assert(cluster.terminate(engine) == 0, engine:report())
end
