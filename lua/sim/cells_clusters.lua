-- Cells of services, ingresses, endpoints, nodes and events.
local ages = require "sim.ages"
local json = require "sim.json"
local texts = require "sim.texts"

local at, text, int, each, count = json.at, json.text, json.int, json.each, json.count

local cells = {}

local function or_none(cell) return cell ~= "" and cell or "<none>" end

-- --- Services and ingresses

local function balancer_addresses(object)
  local found = {}
  for _, ingress in each(at(object, "status.loadBalancer.ingress")) do
    local address = texts.either(ingress, "ip", "hostname")
    if address ~= "" then found[#found + 1] = address end
  end
  return texts.sorted(found)
end

local without_addresses = { LoadBalancer = "<pending>", ClusterIP = "<none>", NodePort = "<none>" }

cells["service addresses"] = function(service)
  local type, shown = text(service, "spec.type"), {}
  if type == "ExternalName" then return text(service, "spec.externalName") end
  if type == "LoadBalancer" then shown[1] = balancer_addresses(service) end
  if shown[1] == "" then shown[1] = nil end
  for _, ip in each(at(service, "spec.externalIPs")) do shown[#shown + 1] = text(ip) end
  local cell = table.concat(shown, ",")
  return cell ~= "" and cell or without_addresses[type] or "<unknown>"
end

cells["service ports"] = function(service)
  local shown = {}
  for i, port in each(at(service, "spec.ports")) do
    local node_port = int(port, "nodePort", 0)
    shown[i] = string.format("%d%s/%s", int(port, "port", 0), node_port > 0 and ":" .. node_port or "",
      text(port, "protocol"))
  end
  return or_none(table.concat(shown, ","))
end

cells["ingress addresses"] = balancer_addresses

cells["ingress ports"] = function(ingress) return count(at(ingress, "spec.tls")) > 0 and "80, 443" or "80" end

-- "IngressParameters.example.com/name"
cells["ingress parameters"] = function(class, column)
  local parameters = at(class, "spec.parameters")
  local group = text(parameters, "apiGroup")
  if json.type(parameters) ~= "object" then return text(column, "otherwise") end
  return string.format("%s%s%s/%s", text(parameters, "kind"), group ~= "" and "." or "", group,
    text(parameters, "name"))
end

-- --- Endpoints

cells.endpoints = function(endpoints, column)
  local shown = {}
  local function add(address, port)
    local ip = text(address, "ip")
    shown[#shown + 1] = not port and ip
      or string.format(ip:find(":", 1, true) and "[%s]:%d" or "%s:%d", ip, int(port, "port", 0))
  end
  for _, subset in each(at(endpoints, "subsets")) do
    local addresses, ports = at(subset, "addresses"), at(subset, "ports")
    if count(ports) == 0 then
      for _, address in each(addresses) do add(address) end
    end
    for _, port in each(ports) do
      for _, address in each(addresses) do add(address, port) end
    end
  end
  -- Without addresses that are ready: nothing; without any: what the column says.
  if #shown == 0 and count(at(endpoints, "subsets")) > 0 then return "" end
  return #shown > 0 and texts.shown(shown, ",", 3) or text(column, "otherwise")
end

cells["slice ports"] = function(slice, column)
  local shown = {}
  for i, port in each(at(slice, "ports")) do
    local number, name = int(port, "port", -1), at(port, "name")
    shown[i] = number >= 0 and string.format("%d", number) or type(name) == "string" and name or "*"
  end
  local cell = texts.shown(shown, ",", 3)
  return cell ~= "" and cell or text(column, "otherwise")
end

cells["slice endpoints"] = function(slice, column)
  local shown = {}
  for _, endpoint in each(at(slice, "endpoints")) do
    for _, address in each(at(endpoint, "addresses")) do shown[#shown + 1] = text(address) end
  end
  local cell = texts.shown(shown, ",", 3)
  return cell ~= "" and cell or text(column, "otherwise")
end

-- --- Nodes

cells["node status"] = function(node)
  local ready = texts.find(at(node, "status.conditions"), "type", "Ready")
  local status = not ready and "Unknown" or text(ready, "status") == "True" and "Ready" or "NotReady"
  return status .. (at(node, "spec.unschedulable") == true and ",SchedulingDisabled" or "")
end

-- node-role.kubernetes.io/<role>, and the older kubernetes.io/role=<role>.
cells["node roles"] = function(node)
  local roles = {}
  for key, value in json.members(at(node, "metadata.labels")) do
    local role = key:match "^node%-role%.kubernetes%.io/(.+)" or key == "kubernetes.io/role" and text(value)
    if role and role ~= "" then roles[#roles + 1] = role end
  end
  return or_none(texts.sorted(roles))
end

cells["node kernel"] = function(node)
  local kernel, architecture = text(node, "status.nodeInfo.kernelVersion"), text(node, "status.nodeInfo.architecture")
  if kernel == "" then kernel = "<unknown>" end
  return architecture ~= "" and string.format("%s (%s)", kernel, architecture) or kernel
end

-- --- Events

cells["event last seen"] = function(event, _, now)
  local series, last = at(event, "series"), text(event, "lastTimestamp")
  if json.type(series) == "object" then return ages.of(text(series, "lastObservedTime"), now) end
  return ages.of(last ~= "" and last or texts.either(event, "firstTimestamp", "eventTime"), now)
end

cells["event count"] = function(event)
  local series, times = at(event, "series"), int(event, "count", 0)
  if json.type(series) == "object" then return int(series, "count", 0) end
  return times ~= 0 and times or 1
end

-- "pod/web-1"
cells["event object"] = function(event)
  local name = text(event, "involvedObject.name")
  return text(event, "involvedObject.kind"):lower() .. (name ~= "" and "/" or "") .. name
end

-- "kubelet, node-1"
cells["event source"] = function(event)
  local component = texts.either(event, "source.component", "reportingComponent")
  local instance = texts.either(event, "source.host", "reportingInstance")
  return component .. (instance ~= "" and ", " or "") .. instance
end

cells["event message"] = function(event) return text(event, "message"):match "^%s*(.-)%s*$" end

return cells
