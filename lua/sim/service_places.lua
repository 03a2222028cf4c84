-- Addresses of services and ports of nodes, which only one service may have: found where they are missing, and refused
-- where they are another's or out of range. `is_taken` says whether another service has a piece of text in its spec.
local bit = require "bit"
local json = require "sim.json"

local at, text, count, each, element, set = json.at, json.text, json.count, json.each, json.element, json.set

local places = {}

local HEADLESS = "None"

function places.needs_address(spec) return text(spec, "type") ~= "ExternalName" end

function places.has_ports_of_nodes(spec)
  local type = text(spec, "type")
  return type == "NodePort" or type == "LoadBalancer"
end

local needs_address, has_ports_of_nodes = places.needs_address, places.has_ports_of_nodes

-- FNV-1a, of 32 bits.
local function hash_of_uid(object)
  local hash, uid = 2166136261, text(object, "metadata.uid")
  for i = 1, #uid do
    hash = bit.bxor(hash, uid:byte(i)) % 2 ^ 32
    hash = (hash * 403 + hash % 256 * 2 ^ 24) % 2 ^ 32
  end
  return hash
end

local HOSTS, FIRST_PORT, PORTS = 65534, 30000, 2768

-- The address of the service `kubernetes`.
local API_ADDRESS = "10.0.0.1"

local function nobody_has() return false end

local function has_address(is_taken, address) return is_taken('"clusterIP":"' .. address .. '"') end

-- As a port of nodes, or as one for health: nodePort, healthCheckNodePort.
local function has_port(is_taken, number) return is_taken('odePort":' .. number) end

-- An address of 10.0.0.0/16 that is derived from the uid: always the same, and the next that is free.
function places.derived_address(service, is_taken)
  is_taken = is_taken or nobody_has
  local hash = hash_of_uid(service)
  local first = bit.bxor(hash, bit.rshift(hash, 16)) % 2 ^ 32
  for i = 0, HOSTS - 1 do
    local host = 1 + (first + i) % HOSTS
    local address = string.format("10.0.%d.%d", math.floor(host / 256), host % 256)
    if address ~= API_ADDRESS and not has_address(is_taken, address) then return address end
  end
end

-- Likewise a port of every node; `used` are those that the service has.
local function derived_port(service, port, used, is_taken)
  local own = json.int(port, "port", 0) * 31 + (text(port, "protocol"):sub(1, 1) == "U" and 1 or 0)
  local first = (hash_of_uid(service) + own) % 2 ^ 32
  for i = 0, PORTS - 1 do
    local number = FIRST_PORT + (first + i) % PORTS
    if not used[number] and not has_port(is_taken, number) then return number end
  end
end

local function wants_ports(spec)
  local off = text(spec, "type") == "LoadBalancer" and at(spec, "allocateLoadBalancerNodePorts") == false
  return has_ports_of_nodes(spec) and not off
end

-- Ports that a service has anyhow, by what they are for: an update that leaves them out gets the same again, by their
-- names; ports of a new service share one if their numbers are the same, as those for TCP and UDP of a DNS server.
local function known_ports(before, service, used)
  local known, field = {}, before and "name" or "port"
  for _, port in each(at(before or service, before and "ports" or "spec.ports")) do
    local number, key = json.int(port, "nodePort", 0), at(port, field) or ""
    if number ~= 0 and not (before and used[number]) then known[key] = known[key] or number end
  end
  return known, field
end

-- Sets the ports of nodes that are missing. Returns whether there were enough.
local function set_node_ports(before, service, is_taken)
  local used = {}
  for _, port in each(at(service, "spec.ports")) do used[json.int(port, "nodePort", 0)] = true end
  local known, field = known_ports(has_ports_of_nodes(before) and before or nil, service, used)
  for _, port in each(at(service, "spec.ports")) do
    if json.int(port, "nodePort", 0) == 0 then
      local key = at(port, field) or ""
      local number = known[key] or derived_port(service, port, used, is_taken)
      if not number then return false end
      set(port, "nodePort", number)
      used[number] = true
      if not before then known[key] = number end
    end
  end
  return true
end

function places.default_node_ports(service)
  if wants_ports(at(service, "spec")) then set_node_ports(nil, service, nobody_has) end
end

-- --- what is refused

local ALLOCATED = "provided %s is already allocated"
local OUT_OF_RANGE = "provided port is not in the valid range. The range of valid ports is 30000-32767"

local function is_in_range(address)
  local a, b = address:match "^0*10%.0+%.(%d+)%.(%d+)$"
  local host = a and a * 256 + b or 0
  return host > 0 and host <= HOSTS
end

local function address_refusal(before, spec, is_taken)
  local addresses = at(spec, "clusterIPs")
  local ip = text(element(addresses, 0))
  if ip == "" or ip == HEADLESS or needs_address(before) and before and ip == text(before, "clusterIP") then return end
  local why = not is_in_range(ip) and "the provided network does not match the current range"
    or (ip == API_ADDRESS or has_address(is_taken, ip)) and ALLOCATED:format "IP"
  if not why then return end
  local detail = string.format("failed to allocate IP %s: %s", ip, why)
  return { 422, { { "FieldValueInvalid", "spec.clusterIPs", detail, addresses } } }
end

-- Why a port is not to be had; nil if it is.
local function port_problem(number, is_taken)
  if number < FIRST_PORT or number >= FIRST_PORT + PORTS then return OUT_OF_RANGE end
  return has_port(is_taken, number) and ALLOCATED:format "port" or nil
end

-- Ports of one number may have several protocols.
local function ports_refusal(before, spec, is_taken)
  local had, seen = {}, {}
  for _, port in each(has_ports_of_nodes(before) and at(before, "ports") or nil) do
    had[json.int(port, "nodePort", 0)] = true
  end
  for i, port in each(at(spec, "ports")) do
    local number, protocol = json.int(port, "nodePort", 0), text(port, "protocol")
    local others = seen[number] or {}
    local why
    if others[protocol] then why = ALLOCATED:format "port" end
    if number ~= 0 and not had[number] and not seen[number] then why = port_problem(number, is_taken) end
    if number ~= 0 and why then
      return { 422, { { "FieldValueInvalid", string.format("spec.ports[%d].nodePort", i - 1), why, number } } }
    end
    others[protocol], seen[number] = true, others
  end
end

function places.needs_check_port(spec)
  return text(spec, "type") == "LoadBalancer" and text(spec, "externalTrafficPolicy") == "Local"
end

-- The port at which a load balancer asks for the health of a node's endpoints.
local function settle_check_port(before, service, spec, is_taken)
  if not places.needs_check_port(spec) then return end
  local number = json.int(spec, "healthCheckNodePort", 0)
  if places.needs_check_port(before) and (number == 0 or number == json.int(before, "healthCheckNodePort", 0)) then
    if number == 0 then set(spec, "healthCheckNodePort", at(before, "healthCheckNodePort")) end
    return
  end
  if places.needs_check_port(before) then return end -- it is immutable, which the rules say
  if number == 0 then
    local used = {}
    for _, port in each(at(spec, "ports")) do used[json.int(port, "nodePort", 0)] = true end
    number = derived_port(service, json.object("port", 1), used, is_taken)
    if not number then return { 500, "failed to allocate a HealthCheck NodePort 0: range is full", true } end
    set(spec, "healthCheckNodePort", number)
    return
  end
  local why = port_problem(number, is_taken)
  local message = "failed to allocate requested HealthCheck NodePort %d: %s"
  if why then return { 500, string.format(message, number, why), true } end
end

-- Returns the refusal of what is wanted, or sets what is missing. What is tried only may have another's address.
function places.allocate(before, service, spec, is_taken, tried)
  if needs_address(spec) then
    local refusal = address_refusal(before, spec, tried and nobody_has or is_taken)
    if refusal then return refusal end
    if text(spec, "clusterIP") == "" and count(at(spec, "clusterIPs")) == 0 then
      set(spec, "clusterIP", places.derived_address(service, is_taken))
      set(spec, "clusterIPs", { at(spec, "clusterIP") })
    end
  end
  if has_ports_of_nodes(spec) then
    local refusal = ports_refusal(before, spec, is_taken)
    if refusal then return refusal end
    if wants_ports(spec) and not set_node_ports(before, service, is_taken) then
      return { 500, "failed to allocate a nodePort: range is full", true }
    end
  end
  return settle_check_port(before, service, spec, is_taken)
end

return places
