-- More of the specs of pods: security, names and places. Arguments as in volumes.lua.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local found = require "sim.checks.found"
local json = require "sim.json"

local at, text, each, int, count = json.at, json.text, json.each, json.int, json.count

local specs = {}

-- --- security

-- As Go shows it: the members of its own struct.
local function shown_security(context)
  local shown = {}
  for _, name in ipairs { "Capabilities", "Privileged", "SELinuxOptions", "WindowsOptions", "RunAsUser", "RunAsGroup",
    "RunAsNonRoot", "ReadOnlyRootFilesystem", "AllowPrivilegeEscalation", "ProcMount", "SeccompProfile",
    "AppArmorProfile" } do
    local field = name:sub(1, 2) == "SE" and "seLinuxOptions" or name:sub(1, 1):lower() .. name:sub(2)
    local value = at(context, field)
    shown[#shown + 1], shown[#shown + 2] = name, value == nil and json.null or value
  end
  local capabilities = at(context, "capabilities")
  if capabilities then
    shown[2] = json.object("Add", at(capabilities, "add") or json.null, "Drop", at(capabilities, "drop") or json.null)
  end
  return json.object(unpack(shown))
end

-- Of a container that must not gain rights.
function specs.escalation(path, context)
  local problems = found.new()
  local prefix = "cannot set `allowPrivilegeEscalation` to false and `"
  if at(context, "privileged") == true then
    problems:invalid(path, shown_security(context), prefix .. "privileged` to true")
  end
  for _, capability in each(at(context, "capabilities.add")) do
    if capability == "CAP_SYS_ADMIN" then
      problems:invalid(path, shown_security(context), prefix .. "capabilities.Add` CAP_SYS_ADMIN")
    end
  end
  return problems
end

local SYSCTL = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"

local function is_sysctl(name)
  for part in (name .. "."):gmatch "(.-)[./]" do
    if not (part:find "^[a-z0-9][-_a-z0-9]*$" and part:find "[a-z0-9]$") then return false end
  end
  return #name <= 253
end

function specs.sysctls(path, list)
  local problems, names = found.new(), {}
  for i, sysctl in each(list) do
    local place, name = string.format("%s[%d].name", path, i - 1), text(sysctl, "name")
    if name == "" then
      problems:required(place)
    elseif not is_sysctl(name) then
      problems:invalid(place, name, "must have at most 253 characters and match regex " .. SYSCTL)
    elseif names[name] then
      problems:duplicate(place, name)
    end
    names[name] = true
  end
  return problems
end

-- --- names

local NONE = " when `dnsPolicy` is None"

function specs.dns(path, config, spec)
  local problems, alone = found.new(), text(spec, "dnsPolicy") == "None"
  local servers, searches = at(config, "nameservers"), at(config, "searches")
  if alone and count(servers) == 0 then
    problems:required(path .. ".nameservers", "must provide at least one DNS nameserver" .. NONE)
    return problems
  end
  if count(servers) > 3 then
    problems:invalid(path .. ".nameservers", servers, "must not have more than 3 nameservers")
  end
  for i, server in each(servers) do
    problems:form(string.format("%s.nameservers[%d]", path, i - 1), server, "address")
  end
  if count(searches) > 32 then
    problems:invalid(path .. ".searches", searches, "must not have more than 32 search paths")
  end
  for i, search in each(searches) do
    local name = search ~= "." and search:gsub("%.$", "") or search
    problems:form(string.format("%s.searches[%d]", path, i - 1), search, "dns search", name)
  end
  for i, option in each(at(config, "options")) do
    if text(option, "name") == "" then
      problems:required(string.format("%s.options[%d]", path, i - 1), "must not be empty")
    end
  end
  return problems
end

function specs.gates(path, gates)
  local problems, names = found.new(), {}
  for i, gate in each(gates) do
    local place, name = string.format("%s[%d]", path, i - 1), text(gate, "name")
    problems:form(place, name, "key")
    if names[name] then problems:duplicate(place, name) end
    names[name] = true
  end
  return problems
end

function specs.claims(path, claims)
  local problems, names = found.new(), {}
  for i, claim in each(claims) do
    local place, name = string.format("%s[%d]", path, i - 1), text(claim, "name")
    local one, other = at(claim, "resourceClaimName"), at(claim, "resourceClaimTemplateName")
    if name == "" then
      problems:required(place .. ".name")
    elseif names[name] then
      problems:duplicate(place .. ".name", name)
    else
      problems:form(place .. ".name", name, "label")
    end
    names[name] = true
    local shown = json.object("Name", name, "ResourceClaimName", one or json.null, "ResourceClaimTemplateName",
      other or json.null)
    if one and other then
      problems:invalid(place, shown,
        "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
    elseif not one and not other then
      problems:invalid(place, shown, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
    end
    if one then problems:form(place .. ".resourceClaimName", one, "subdomain") end
    if other then problems:form(place .. ".resourceClaimTemplateName", other, "subdomain") end
  end
  return problems
end

-- --- places

function specs.spreads(path, list)
  local problems, all = found.new(), {}
  for i, one in each(list) do
    all[i] = string.format("{%s, %s}", text(one, "topologyKey"), text(one, "whenUnsatisfiable"))
  end
  for i = 1, #all do
    for j = i + 1, #all do
      if all[i] == all[j] then
        problems:duplicate(string.format("%s[%d].{topologyKey, whenUnsatisfiable}", path, i - 1), all[i])
        break
      end
    end
  end
  return problems
end

-- Keys of labels that a term has beside its selector.
function specs.label_keys(path, term)
  local problems, selector = found.new(), at(term, "labelSelector")
  for _, name in ipairs { "matchLabelKeys", "mismatchLabelKeys" } do
    local keys = at(term, name)
    if count(keys) > 0 and not selector then
      problems:forbidden(path .. "." .. name, "must not be specified when labelSelector is not set")
    elseif selector then
      for i, key in each(keys) do problems:form(string.format("%s.%s[%d]", path, name, i - 1), key, "key") end
    end
  end
  for i, key in each(at(term, "matchLabelKeys")) do
    for _, other in each(at(term, "mismatchLabelKeys")) do
      if key == other then
        problems:invalid(string.format("%s.matchLabelKeys[%d]", path, i - 1), key,
          "exists in both matchLabelKeys and mismatchLabelKeys")
      end
    end
  end
  return problems
end

-- --- lives of containers

local ACTIONS = { "Restart", "RestartAllContainers" }

function specs.restart_rules(path, rules)
  local problems = found.new()
  if count(rules) > 20 then problems:too_many(path, count(rules), 20) end
  for i, rule in each(rules) do
    local place, codes = string.format("%s[%d]", path, i - 1), at(rule, "exitCodes")
    problems:enum(place .. ".action", text(rule, "action"), ACTIONS)
    if not codes then
      problems:required(place .. ".exitCodes", "must be specified")
    else
      local n = count(at(codes, "values"))
      problems:enum(place .. ".exitCodes.operator", text(codes, "operator"), { "In", "NotIn" })
      if n > 255 then problems:too_many(place .. ".exitCodes.values", n, 255) end
    end
  end
  return problems
end

-- Of a pod that has the users of its node.
function specs.unmasked(path, mount, _, _, _, object)
  local problems, above = found.new(), path:match "^(.-)%.?%w*[cC]ontainers%["
  if at(object, above .. (above ~= "" and "." or "") .. "hostUsers") ~= false then
    problems:invalid(path, mount, "`hostUsers` must be false to use `Unmasked`")
  end
  return problems
end

function specs.sleep(path, sleep, _, _, _, object)
  local problems, seconds = found.new(), int(sleep, "seconds", 0)
  local above = path:match "^(.-)%.?%w*[cC]ontainers%["
  local most = int(object, above .. (above ~= "" and "." or "") .. "terminationGracePeriodSeconds", 30)
  if seconds < 0 or seconds > most then
    problems:invalid(path, seconds,
      string.format("must be non-negative and less than terminationGracePeriodSeconds (%d)", most))
  end
  return problems
end

function specs.headers(path, headers)
  local problems = found.new()
  for _, header in each(headers) do problems:form(path, text(header, "name"), "header") end
  return problems
end

function specs.resize(path, list)
  local problems, names = found.new(), {}
  for i, policy in each(list) do
    local name, restart = text(policy, "resourceName"), text(policy, "restartPolicy")
    if names[name] then problems:duplicate(string.format("%s[%d]", path, i - 1), name) end
    names[name] = true
    if name == "" then problems:required(path) else problems:enum(path, name, { "cpu", "memory" }) end
    if restart == "" then
      problems:required(path)
    else
      problems:enum(path, restart, { "NotRequired", "RestartContainer" })
    end
  end
  return problems
end

return specs
