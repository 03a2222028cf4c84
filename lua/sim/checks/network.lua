-- Services, ingresses, policies and slices of endpoints. Arguments as in volumes.lua.
local addresses = require "sim.checks.addresses"
local forms = require "sim.checks.forms"
local found = require "sim.checks.found"
local json = require "sim.json"

local at, text, each, int, count = json.at, json.text, json.each, json.int, json.count

local network = {}

-- --- services

local function trimmed(value) return (value:gsub("^%s+", ""):gsub("%s+$", "")) end

function network.source_ranges(path, ranges, service)
  local problems = found.new()
  if text(service, "spec.type") ~= "LoadBalancer" then
    problems:forbidden(path, "may only be used when `type` is 'LoadBalancer'")
  end
  for i, range in each(ranges) do problems:form(string.format("%s[%d]", path, i - 1), trimmed(range), "cidr") end
  return problems
end

-- It may end with the dot of the root.
function network.external_name(path, name)
  local problems, bare = found.new(), (name:gsub("%.$", ""))
  if bare == "" and name ~= "" then problems:required(path) end
  if bare ~= "" then problems:form(path, bare, "subdomain") end
  return problems
end

-- --- endpoints

function network.endpoint_ip(problems, path, ip)
  local first = ip:lower()
  if first == "0.0.0.0" or first == "::" then
    problems:invalid(path, ip, "may not be unspecified (" .. ip .. ")")
  elseif first:find "^127%." or first == "::1" then
    problems:invalid(path, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
  elseif first:find "^169%.254%." or first:find "^fe[89ab]%x:" then
    problems:invalid(path, ip, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
  elseif first:find "^224%.0%.0%." or first:find "^ff02:" then
    problems:invalid(path, ip, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
  end
end

function network.external_ips(path, list)
  local problems = found.new()
  for i, ip in each(list) do
    local place = string.format("%s[%d]", path, i - 1)
    problems:form(place, ip, "address")
    if forms.is_address(ip) then network.endpoint_ip(problems, place, ip) end
  end
  return problems
end

local function check_address(problems, path, above, type, address)
  local wide = address:find(":", 1, true)
  problems:form(path, address, "address")
  if forms.address(address) then return end
  local own = addresses.canonical(address)
  if own ~= address then
    return problems:invalid(path, address, string.format('must be in canonical form ("%s")', own))
  end
  if (type == "IPv6") ~= (wide ~= nil) then
    problems:invalid(above, address, string.format("must be an %s address", type))
  end
  network.endpoint_ip(problems, path, address)
end

local function check_endpoint(problems, path, endpoint, type)
  local list = at(endpoint, "addresses")
  if count(list) == 0 then
    problems:required(path .. ".addresses", "must contain at least 1 address")
  elseif count(list) > 100 then
    problems:too_many(path .. ".addresses", count(list), 100)
  end
  for i, address in each(list) do
    local place = string.format("%s.addresses[%d]", path, i - 1)
    if type == "IPv4" or type == "IPv6" then
      check_address(problems, place, path .. ".addresses", type, address)
    end
  end
  local node, host = at(endpoint, "nodeName"), at(endpoint, "hostname")
  if node then problems:form(path .. ".nodeName", node, "subdomain") end
  if host then problems:form(path .. ".hostname", host, "label") end
end

function network.endpoints(path, endpoints, slice)
  local problems = found.new()
  if count(endpoints) > 1000 then
    problems:too_many(path, count(endpoints), 1000)
    return problems
  end
  for i, endpoint in each(endpoints) do
    check_endpoint(problems, string.format("%s[%d]", path, i - 1), endpoint, text(slice, "addressType"))
  end
  return problems
end

function network.slice_ports(path, ports)
  local problems, names = found.new(), {}
  for i, port in each(ports) do
    local place, name = string.format("%s[%d]", path, i - 1), text(port, "name")
    if name ~= "" then problems:form(place .. ".name", name, "label") end
    if names[name] then problems:duplicate(place .. ".name", name) end
    names[name] = true
    problems:enum(place .. ".protocol", text(port, "protocol"), { "SCTP", "TCP", "UDP" })
    if at(port, "appProtocol") then problems:form(place .. ".appProtocol", text(port, "appProtocol"), "key") end
  end
  return problems
end

-- --- paths of ingresses

local sequences, suffixes = { "//", "/./", "/../", "%2f", "%2F" }, { "/..", "/." }

function network.ingress_path(path, value)
  local problems = found.new()
  for _, odd in ipairs(sequences) do
    if value:find(odd, 1, true) then problems:invalid(path, value, string.format("must not contain '%s'", odd)) end
  end
  for _, odd in ipairs(suffixes) do
    if value:sub(-#odd) == odd then problems:invalid(path, value, string.format("cannot end with '%s'", odd)) end
  end
  return problems
end

-- Of a webhook: segments that are names.
function network.webhook_path(path, value)
  local problems = found.new()
  if value == "/" or value == "" then return problems end
  if value:sub(1, 1) ~= "/" then problems:invalid(path, value, "must start with a '/'") end
  local segments, i = value:sub(2):gsub("/$", ""), 0
  for segment in (segments .. "/"):gmatch "(.-)/" do
    local wrong = segment == "" and " may not be empty" or forms.subdomain(segment)
    if wrong then
      problems:invalid(path, value, string.format(segment == "" and "segment[%d]%s" or "segment[%d]: %s", i, wrong))
    end
    i = i + 1
  end
  return problems
end

-- --- policies

local function prefix_of(cidr)
  local ip, bits = cidr:match "^([%d.]+)/(%d+)$"
  if not ip then return end
  local n = 0
  for part in ip:gmatch "%d+" do n = n * 256 + part end
  return math.floor(n / 2 ^ (32 - bits)), tonumber(bits), n
end

function network.ip_block(path, block)
  local problems, cidr = found.new(), text(block, "cidr")
  if cidr == "" then
    problems:required(path .. ".cidr")
    return problems
  end
  problems:form(path .. ".cidr", cidr, "cidr")
  if forms.cidr(cidr) then return problems end
  local prefix, bits = prefix_of(cidr)
  for i, except in each(at(block, "except")) do
    local place = string.format("%s.except[%d]", path, i - 1)
    problems:form(place, except, "cidr")
    local _, own_bits, address = prefix_of(except)
    if prefix and address and (own_bits <= bits or math.floor(address / 2 ^ (32 - bits)) ~= prefix) then
      problems:invalid(place, except, "must be a strict subset of `cidr`")
    end
  end
  return problems
end

function network.end_port(path, last, port)
  local problems, first = found.new(), at(port, "port")
  if first == nil then
    problems:invalid(path, last, "may not be specified when `port` is not specified")
  elseif type(first) ~= "number" then
    problems:invalid(path, last, "may not be specified when `port` is non-numeric")
  else
    if last < first then problems:invalid(path, first, "must be greater than or equal to `port`") end
    problems:range(path, last, 1, 65535)
  end
  return problems
end

function network.session(path, config)
  local problems, seconds = found.new(), int(config, "clientIP.timeoutSeconds")
  if seconds and (seconds <= 0 or seconds > 86400) then
    problems:invalid(path .. ".clientIP.timeoutSeconds", seconds, "must be greater than 0 and less than 86400")
  end
  return problems
end

local CLASS = "kubernetes.io/ingress.class"

function network.ingress_class(_, annotations, _, _, _, ingress)
  local problems, class = found.new(), json.get(annotations, CLASS)
  if class and class ~= json.at(ingress, "spec.ingressClassName") then
    problems:invalid("annotations." .. CLASS, class, "must match `ingressClassName` when both are specified")
  end
  return problems
end

function network.class_warning(_, annotations)
  if not json.get(annotations, CLASS) then return {} end
  return { string.format("annotation \"%s\" is deprecated, please use 'spec.ingressClassName' instead", CLASS) }
end

return network
