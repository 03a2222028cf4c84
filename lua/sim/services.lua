-- Services: what a server settles of their addresses and families before it looks at anything else, and what a service
-- of another type than before gives up. Problems are lists of a cause's type, field, detail and value.
local forms = require "sim.checks.forms"
local json = require "sim.json"
local places = require "sim.service_places"
local values = require "sim.values"

local at, text, count, each, element, set = json.at, json.text, json.count, json.each, json.element, json.set

local services = {}

local HEADLESS = "None"
local SINGLE, DUAL = "SingleStack", "RequireDualStack"

local needs_address, has_ports_of_nodes = places.needs_address, places.has_ports_of_nodes

local function same(before, spec, field) return json.equal(at(before, field), at(spec, field)) end

-- Sets the policies of a service that others reach, where they are missing.
function services.default_policies(spec)
  if has_ports_of_nodes(spec) or text(spec, "type") == "ClusterIP" and count(at(spec, "externalIPs")) > 0 then
    values.default(spec, "externalTrafficPolicy", "Cluster")
  end
  if text(spec, "type") == "LoadBalancer" then values.default(spec, "allocateLoadBalancerNodePorts", true) end
end

-- Sets the addresses, families and policy that are missing.
function services.default_address(service)
  local spec = at(service, "spec")
  if json.type(spec) ~= "object" or not needs_address(spec) then return end
  if text(spec, "clusterIP") == "" then set(spec, "clusterIP", places.derived_address(service)) end
  local ip = text(spec, "clusterIP")
  -- Without a selector its endpoints may be of either family.
  local both = ip == HEADLESS and count(at(spec, "selector")) == 0
  values.default(spec, "clusterIPs", { ip })
  values.default(spec, "ipFamilies", both and { "IPv4", "IPv6" } or { ip:find(":", 1, true) and "IPv6" or "IPv4" })
  values.default(spec, "ipFamilyPolicy", both and DUAL or SINGLE)
end

-- --- addresses

local function keep_addresses(before, spec)
  if not needs_address(before) or not needs_address(spec) then return end
  if text(spec, "clusterIP") == "" then set(spec, "clusterIP", at(before, "clusterIP")) end
  if count(at(spec, "clusterIPs")) == 0 then set(spec, "clusterIPs", json.copy(at(before, "clusterIPs"))) end
end

-- The list follows the one address, as far as it was not given, too.
local function match_addresses(before, spec)
  local was, is = text(before, "clusterIP"), text(spec, "clusterIP")
  local given = count(at(spec, "clusterIPs")) > 0
  if not before then
    if is ~= "" and not given then set(spec, "clusterIPs", { is }) end
    return
  end
  if not given and was == is then set(spec, "clusterIPs", json.copy(at(before, "clusterIPs"))) end
  if was == is or not same(before, spec, "clusterIPs") then return end
  if was ~= "" and is == "" then
    json.remove(spec, "clusterIPs")
  else
    set(spec, "clusterIPs", { is })
  end
end

local function address_problems(spec, found)
  local addresses, ip = at(spec, "clusterIPs"), text(spec, "clusterIP")
  if ip ~= "" and count(addresses) == 0 then
    found[#found + 1] = { "FieldValueRequired", "spec.clusterIPs", "" }
  elseif ip ~= text(element(addresses, 0)) then
    local detail = ip ~= "" and "first value must match `clusterIP`"
      or "must be empty when `clusterIP` is not specified"
    found[#found + 1] = { "FieldValueInvalid", "spec.clusterIPs", detail, addresses }
  end
  for i, address in each(addresses) do
    local headless = i == 1 and text(address) == HEADLESS
    if headless and count(addresses) > 1 then
      local detail = "'None' must be the first and only value"
      found[#found + 1] = { "FieldValueInvalid", "spec.clusterIPs", detail, addresses }
    elseif not headless and not forms.is_address(text(address)) then
      found[#found + 1] = { "FieldValueInvalid", string.format("spec.clusterIPs[%d]", i - 1),
        forms.address(text(address)), address }
    end
  end
end

-- --- families; the cluster has IPv4 alone

local function enum_problems(spec, found)
  local seen = {}
  for i, family in each(at(spec, "ipFamilies")) do
    local place = string.format("spec.ipFamilies[%d]", i - 1)
    if family ~= "IPv4" and family ~= "IPv6" then
      found[#found + 1] = { "FieldValueNotSupported", place, 'supported values: "IPv4", "IPv6"', family }
    end
    if seen[family] then found[#found + 1] = { "FieldValueDuplicate", place, "", family } end
    seen[family] = true
  end
  local policy = text(spec, "ipFamilyPolicy")
  if policy ~= SINGLE and policy ~= DUAL and policy ~= "PreferDualStack" then
    found[#found + 1] = { "FieldValueNotSupported", "spec.ipFamilyPolicy",
      'supported values: "PreferDualStack", "RequireDualStack", "SingleStack"', policy }
  end
end

-- How many of them there are must fit the policy.
local function count_problems(before, spec, found)
  local policy = text(spec, "ipFamilyPolicy")
  for _, one in ipairs { { "clusterIPs", "cluster IP" }, { "ipFamilies", "IP family" } } do
    local n, had = count(at(spec, one[1])), count(at(before, one[1]))
    if policy == SINGLE and n == 2 then
      found[#found + 1] = { "FieldValueInvalid", "spec.ipFamilyPolicy",
        string.format("must be 'RequireDualStack' or 'PreferDualStack' when multiple %s are specified",
          one[1] == "clusterIPs" and "cluster IPs" or "IP families"), policy }
    elseif policy ~= SINGLE and n > 0 and n < had then
      found[#found + 1] = { "FieldValueInvalid", "spec.ipFamilyPolicy",
        string.format("must be 'SingleStack' to release the secondary %s", one[2]), policy }
    end
  end
end

-- Families follow from addresses.
local function infer_families(spec, found)
  local addresses = at(spec, "clusterIPs")
  for i, address in each(addresses) do
    if address == HEADLESS then return end
    if i > count(at(spec, "ipFamilies")) then
      if address:find(":", 1, true) then
        found[#found + 1] = { "FieldValueInvalid", string.format("spec.clusterIPs[%d]", i - 1),
          "IPv6 is not configured on this cluster", addresses }
      else
        values.append(values.sublist(spec, "ipFamilies"), "IPv4")
      end
    end
  end
end

-- A service without addresses and a selector may have endpoints of both.
local function both_families(spec)
  local families = values.sublist(spec, "ipFamilies")
  if count(families) == 0 then values.append(families, "IPv4") end
  if count(families) > 1 or text(spec, "ipFamilyPolicy") == SINGLE then return end
  values.append(families, element(families, 0) == "IPv4" and "IPv6" or "IPv4")
end

local function unconfigured_problems(spec, found)
  if text(spec, "ipFamilyPolicy") == DUAL then
    found[#found + 1] = { "FieldValueInvalid", "spec.ipFamilyPolicy",
      "this cluster is not configured for dual-stack services", DUAL }
  end
  for i, family in each(at(spec, "ipFamilies")) do
    if family ~= "IPv4" then
      found[#found + 1] = { "FieldValueInvalid", string.format("spec.ipFamilies[%d]", i - 1),
        "not configured on this cluster", family }
    end
  end
end

local function settle_families(before, spec)
  local found, free = {}, text(spec, "clusterIP") == HEADLESS and count(at(spec, "selector")) == 0
  if text(spec, "ipFamilyPolicy") == "" then
    local had = text(before, "ipFamilyPolicy")
    set(spec, "ipFamilyPolicy", had ~= "" and had or free and DUAL or SINGLE)
  end
  enum_problems(spec, found)
  address_problems(spec, found)
  if #found > 0 then return found end
  count_problems(before, spec, found)
  infer_families(spec, found)
  if #found > 0 then return found end
  if free then
    both_families(spec)
    return found
  end
  unconfigured_problems(spec, found)
  if #found == 0 and count(at(spec, "ipFamilies")) == 0 then set(spec, "ipFamilies", { "IPv4" }) end
  return found
end

-- An address is of a service that has a name.
local function nameless(service, spec)
  local ip = text(spec, "clusterIP")
  if ip == HEADLESS or text(service, "metadata.name") ~= "" then return end
  local detail = string.format('failed to allocate IP: IPAddress.networking.k8s.io "%s" is invalid: '
    .. "spec.parentRef.name: Required value", ip ~= "" and ip or places.derived_address(service))
  return { { "FieldValueInvalid", "spec.clusterIPs", detail, { "" } } }
end

-- --- what another type has no use for, unless the update sets it

local function adds_node_ports(before, spec)
  for _, port in each(at(spec, "ports")) do
    local own = json.int(port, "nodePort", 0)
    local known = own == 0
    for _, old in each(at(before, "ports")) do known = known or json.int(old, "nodePort", 0) == own end
    if not known then return true end
  end
end

local function drop_same(before, spec, ...)
  for _, field in ipairs { ... } do
    if same(before, spec, field) then json.remove(spec, field) end
  end
end

local function give_up(before, spec)
  if needs_address(before) and not needs_address(spec) then
    if same(before, spec, "clusterIP") and same(before, spec, "clusterIPs") then
      drop_same(before, spec, "clusterIP", "clusterIPs")
    end
    drop_same(before, spec, "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy")
  end
  if has_ports_of_nodes(before) and not has_ports_of_nodes(spec) then
    if not adds_node_ports(before, spec) then
      for _, port in each(at(spec, "ports")) do json.remove(port, "nodePort") end
    end
    if count(at(spec, "externalIPs")) == 0 then drop_same(before, spec, "externalTrafficPolicy") end
  end
  if text(before, "type") == "LoadBalancer" and text(spec, "type") ~= "LoadBalancer" then
    drop_same(before, spec, "allocateLoadBalancerNodePorts", "loadBalancerClass")
  end
  if places.needs_check_port(before) and not places.needs_check_port(spec) then
    drop_same(before, spec, "healthCheckNodePort")
  end
end

-- Called before the rules, with what is there, or nil. Returns the refusal of the service, before all else.
-- `tried`: in a dry run, which takes no address.
function services.begin(old, service, tried, is_taken)
  local spec, before = values.submap(service, "spec"), at(old, "spec")
  if before then keep_addresses(before, spec) end
  match_addresses(before, spec)
  if needs_address(spec) then
    local found = settle_families(before, spec)
    if #found == 0 and not before and not tried then found = nameless(service, spec) or found end
    if #found > 0 then return { 422, found } end
  end
  local refusal = places.allocate(before, service, spec, is_taken, tried)
  if refusal then return refusal end
  if before then give_up(before, spec) end
end

-- Called after the rules: what an update to ExternalName sets stays, and is shown as every address is.
function services.finish(service)
  local spec = at(service, "spec")
  local ip = text(spec, "clusterIP")
  if ip ~= "" then values.default(spec, "clusterIPs", { ip }) end
end

return services
