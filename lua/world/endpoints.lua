-- EndpointSlices, and Endpoints, of services with a selector: the pods behind them, ready or not.
local api = require "world.api"
local cache = require "world.cache"
local containers = require "world.containers"
local owned = require "world.owned"
local pods = require "world.pods"
local queue = require "world.queue"
local raw = require "world.raw"
local selectors = require "world.selectors"
local slices = require "world.slices"
local values = require "world.values"

local AGENT, ID = "kube-controller-manager", "services"
local HEADLESS, MANAGED = "service.kubernetes.io/headless", "endpoints.kubernetes.io/managed-by"
local PER_SLICE = 100

local controller = { name = "endpoints" }

-- The number of a port on a pod; nil if the pod has none of that name.
local function number_of(port, pod)
  local target = port.targetPort or port.port
  if type(target) == "number" then return target ~= 0 and target or port.port end
  for _, container in ipairs(containers.of(pod)) do
    for _, open in ipairs(container.ports or {}) do
      if open.name == target and open.protocol == (port.protocol or "TCP") then return open.containerPort end
    end
  end
end

local function ports_of(service, pod)
  local list = raw.array {}
  for _, port in ipairs(service.spec.ports or {}) do
    local number = number_of(port, pod)
    if number then
      list[#list + 1] = {
        name = port.name or "", port = number, protocol = port.protocol or "TCP", appProtocol = port.appProtocol,
      }
    end
  end
  return list
end

local function is_headless(service) return service.spec.clusterIP == "None" end

local function reference(pod)
  return { kind = "Pod", namespace = pod.metadata.namespace, name = pod.metadata.name, uid = pod.metadata.uid }
end

local function endpoint_of(service, pod)
  local ready, ends = pods.is_ready(pod), pod.metadata.deletionTimestamp ~= nil
  local node = cache.get("nodes", pod.spec.nodeName or "")
  return {
    addresses = { pod.status.podIP }, nodeName = pod.spec.nodeName, targetRef = reference(pod),
    zone = node and (node.metadata.labels or {})["topology.kubernetes.io/zone"],
    hostname = pod.spec.subdomain == service.metadata.name and pod.spec.hostname or nil,
    conditions = {
      ready = (ready and not ends) or service.spec.publishNotReadyAddresses or false,
      serving = ready, terminating = ends,
    },
  }
end

local function members_of(service)
  return values.filter(cache.list("pods", service.metadata.namespace), function(pod)
    return selectors.has(pod.metadata.labels, service.spec.selector) and pod.status and pod.status.podIP
      and not pods.is_over(pod)
  end)
end

-- Slices of at most so many pods with the same ports. There is one without pods, too.
local function wanted_slices(service, members)
  local list, open = {}, {}
  for _, pod in ipairs(members) do
    local ports = ports_of(service, pod)
    local text = raw.json(ports)
    if not open[text] or #open[text].endpoints == PER_SLICE then
      open[text] = { ports = #ports > 0 and ports or nil, endpoints = raw.array {} }
      list[#list + 1] = open[text]
    end
    table.insert(open[text].endpoints, endpoint_of(service, pod))
  end
  if #list == 0 then list[1] = { endpoints = raw.array {} } end
  return list
end

local function write_slices(service, members)
  slices.write(ID, service, wanted_slices(service, members), values.merged(service.metadata.labels, {
    [slices.service] = service.metadata.name, [slices.manager] = "endpointslice-controller.k8s.io",
    [HEADLESS] = is_headless(service) and "" or nil,
  }))
end

-- The same in the older kind: addresses that are ready, and those that are not.
local function subsets_of(service, members)
  local subsets, by_ports = raw.array {}, {}
  for _, pod in ipairs(members) do
    local ports = ports_of(service, pod)
    for _, port in ipairs(ports) do port.name = port.name ~= "" and port.name or nil end
    local text = raw.json(ports)
    if not by_ports[text] then
      by_ports[text] = { ports = #ports > 0 and ports or nil }
      subsets[#subsets + 1] = by_ports[text]
    end
    local ready = pods.is_ready(pod) or service.spec.publishNotReadyAddresses
    local field = ready and "addresses" or "notReadyAddresses"
    by_ports[text][field] = by_ports[text][field] or {}
    table.insert(by_ports[text][field],
      { ip = pod.status.podIP, nodeName = pod.spec.nodeName, targetRef = reference(pod) })
  end
  return subsets
end

local function write_endpoints(service, members)
  local old = cache.get("endpoints", cache.key_of(service))
  local alive = values.filter(members, function(pod) return not pod.metadata.deletionTimestamp end)
  local subsets = subsets_of(service, alive)
  local labels = values.merged(service.metadata.labels,
    { [MANAGED] = "endpoint-controller", [HEADLESS] = is_headless(service) and "" or nil })
  local changed = old and values.diff(old.metadata.labels or {}, labels)
  if not old then
    api.create(AGENT, "endpoints", service.metadata.namespace, {
      metadata = { name = service.metadata.name, labels = labels }, subsets = #subsets > 0 and subsets or nil,
    })
  elseif changed or not values.equal(old.subsets or {}, subsets) then
    api.patch(AGENT, "endpoints", old, { subsets = subsets, metadata = { labels = changed } })
  end
end

function controller.sync(key)
  local service = cache.get(ID, key)
  if not service then
    local rest = cache.get("endpoints", key)
    local ours = rest and (rest.metadata.labels or {})[MANAGED] == "endpoint-controller"
    if ours then api.delete(AGENT, "endpoints", rest) end
    return
  end
  if not service.spec.selector or service.metadata.deletionTimestamp then return end
  local members = members_of(service)
  write_slices(service, members)
  write_endpoints(service, members)
end

local function add_for(pod)
  for _, service in ipairs(pod and cache.list(ID, pod.metadata.namespace) or {}) do
    if selectors.has(pod.metadata.labels, service.spec.selector) then
      queue.add_soon(controller, cache.key_of(service))
    end
  end
end

cache.read(slices.id)
cache.on(ID, function(_, _, key) queue.add(controller, key) end)
cache.on("pods", function(new, old)
  add_for(new)
  if not new or (old and not values.equal(new.metadata.labels, old.metadata.labels)) then add_for(old) end
end)
cache.on("endpoints", function(_, _, key) if cache.get(ID, key) then queue.add(controller, key) end end)
owned.watch(slices.id, ID, function(key) queue.add(controller, key) end)

return { controller }
