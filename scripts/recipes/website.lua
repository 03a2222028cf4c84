-- A whole operator: a Website (website.yaml has the definition) is a Deployment and a Service that it owns. Its status
-- says whether it is ready; a finalizer keeps it until its goodbye is told. Run two replicas: the leader works.
--   kubectl apply -f scripts/website.yaml && kubelua run -f scripts/website.lua
local k8s = require "k8s"

k8s.leader { lease = "website-operator" }
k8s.reads { "deployments:get", "services:get" }
k8s.writes { "deployments:create", "deployments:patch", "services:create", "services:patch" }
k8s.writes { "websites.example.com:patch", "websites.example.com/status:patch" }

local FINALIZER = "example.com/goodbye"

local DEPLOYMENT = [[
apiVersion: apps/v1
kind: Deployment
metadata: { namespace: "${namespace}", name: "${name}" }
spec:
  replicas: "${replicas}"
  selector: { matchLabels: { website: "${name}" } }
  template:
    metadata: { labels: { website: "${name}" } }
    spec: { containers: [{ name: web, image: "${image}", ports: [{ containerPort: "${port}" }] }] }
]]
local SERVICE = [[
apiVersion: v1
kind: Service
metadata: { namespace: "${namespace}", name: "${name}" }
spec:
  selector: { website: "${name}" }
  ports: [{ port: 80, targetPort: "${port}", protocol: TCP }]
]]

local websites = k8s.informer "websites.example.com"

local function ensure(site, text)
  local object = k8s.template(text, { namespace = site:namespace(), name = site:name(), image = site.spec.image,
    replicas = site.spec.replicas or 1, port = site.spec.port or 80 })
  object.metadata.ownerReferences = { k8s.owner_reference(site, { controller = true, block = true }) }
  return k8s.ensure(object)
end

local function set_status(site, deployment)
  local ready, wanted = deployment:get "status.readyReplicas" or 0, site.spec.replicas or 1
  local observed = deployment:get "status.observedGeneration" or 0
  local is_ready = ready >= wanted and observed >= deployment.metadata.generation
  local conditions, differs = k8s.conditions.set(site:get "status.conditions", {
    type = "Ready", status = is_ready and "True" or "False", reason = is_ready and "AsWanted" or "Waiting",
    message = ("%d of %d replicas are ready"):format(ready, wanted), observedGeneration = site.metadata.generation,
  })
  if not differs then return true end
  return k8s.patch(site, { status = { conditions = conditions, readyReplicas = ready } }, { subresource = "status" })
end

k8s.controller {
  of = websites,
  owns = { "deployments", "services" },
  leader = true,
  workers = 4,
  reconcile = function(key)
    local site = websites:lister():get(key)
    if not site then return end
    if site.metadata.deletionTimestamp then
      if k8s.finalizers.has(site, FINALIZER) then k8s.event(site, "Normal", "Goodbye", "The website is taken down") end
      return k8s.finalizers.remove(site, FINALIZER)
    end
    local kept, err = k8s.finalizers.add(site, FINALIZER)
    if not kept then return nil, err end
    local deployment, problem = ensure(site, DEPLOYMENT)
    if not deployment then return nil, problem end
    local service, refused = ensure(site, SERVICE)
    if not service then return nil, refused end
    return set_status(site, deployment)
  end,
}
