-- Services: node ports, which a cluster's API server gives them, and addresses of load balancers.
local api = require "world.api"
local cache = require "world.cache"
local queue = require "world.queue"
local values = require "world.values"

local AGENT, ID = "kube-controller-manager", "services"
local FIRST_PORT, PORTS = 30000, 2768

local controller = { name = ID }
local used = {} -- port or address -> uid

local function note(service)
  for _, port in ipairs(service.spec.ports or {}) do
    if port.nodePort then used[port.nodePort] = service.metadata.uid end
  end
  for _, ingress in ipairs(((service.status or {}).loadBalancer or {}).ingress or {}) do
    if ingress.ip then used[ingress.ip] = service.metadata.uid end
  end
end

local function release(service)
  for name, uid in pairs(used) do
    if uid == service.metadata.uid then used[name] = nil end
  end
end

-- The first of a row that nobody has.
local function first_free(make)
  local n = 1
  while used[make(n)] do n = n + 1 end
  return make(n)
end

local function address(n) return ("192.0.2.%d"):format(n) end
local function node_port(n) return FIRST_PORT + (n * 739) % PORTS end

local function with_node_ports(ports, uid)
  local list = {}
  for i, port in ipairs(ports) do
    local number = port.nodePort or first_free(node_port)
    used[number] = uid
    list[i] = values.merged(port, { nodePort = number })
  end
  return list
end

function controller.sync(key)
  local service = cache.get(ID, key)
  if not service or service.metadata.deletionTimestamp then return end
  local spec = service.spec
  local opens = spec.type == "NodePort" or spec.type == "LoadBalancer"
  local lacks = false
  for _, port in ipairs(spec.ports or {}) do lacks = lacks or not port.nodePort end
  if opens and lacks and spec.allocateLoadBalancerNodePorts ~= false then
    api.patch(AGENT, ID, service, { spec = { ports = with_node_ports(spec.ports, service.metadata.uid) } })
  end
  if spec.type == "LoadBalancer" and not ((service.status or {}).loadBalancer or {}).ingress then
    local ip = first_free(address)
    used[ip] = service.metadata.uid
    api.status(AGENT, ID, service, { loadBalancer = { ingress = { { ip = ip, ipMode = "VIP" } } } })
  end
end

cache.on(ID, function(new, old, key)
  if old and not new then release(old) end
  if new then
    note(new)
    queue.add(controller, key)
  end
end)

return { controller }
