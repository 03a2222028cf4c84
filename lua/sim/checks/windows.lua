-- Pods of an operating system: what Windows has alone, and what it has not. Arguments as in volumes.lua.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local each_container = require "sim.checks.pod_containers"
local found = require "sim.checks.found"
local json = require "sim.json"

local at, each = json.at, json.each

local windows = {}

-- --- options

local function is_dns(domain)
  for label in (domain .. "."):gmatch "(.-)%." do
    if not (label:find "^%w[%w-]*$" and label:find "%w$" and #label <= 63) then return false end
  end
  return true
end

local function is_domain(domain)
  return domain:find "^[^\\/:*?\"<>|.][^\\/:*?\"<>|]*$" and #domain <= 15 or is_dns(domain)
end

local function check_user(problems, path, name)
  local function wrong(what, ...) problems:invalid(path, name, string.format("runAsUserName" .. what, ...)) end
  local domain, user = name:match "^(.-)\\(.*)$"
  if name == "" then return wrong " cannot be an empty string" end
  if name:find "%c" then return wrong " cannot contain control characters" end
  if user and user:find("\\", 1, true) then return wrong " cannot contain more than one backslash" end
  user = user or name
  if domain and #domain >= 256 then wrong("'s Domain length must be under %d characters", 256) end
  if domain and not is_domain(domain) then wrong "'s Domain doesn't match the NetBios nor the DNS format" end
  if user == "" then wrong "'s User cannot be empty" end
  if #user > 104 then wrong("'s User length must not be longer than %d characters", 104) end
  if user:find "^[. ]+$" then wrong "'s User cannot contain only periods or spaces" end
  if user:find '["/\\:;|=,+*?<>@%[%]]' then
    wrong("'s User cannot contain the following characters: %s", '"/\\:;|=,+*?<>@[]')
  end
end

function windows.options(path, options)
  local problems = found.new()
  local name, spec, user = at(options, "gmsaCredentialSpecName"), at(options, "gmsaCredentialSpec"),
    at(options, "runAsUserName")
  if name then problems:form(path .. ".gmsaCredentialSpecName", name, "subdomain") end
  if spec == "" then
    problems:invalid(path .. ".gmsaCredentialSpec", spec, "gmsaCredentialSpec cannot be an empty string")
  elseif spec and #spec > 64 * 1024 then
    problems:invalid(path .. ".gmsaCredentialSpec", spec, "gmsaCredentialSpec size must be under 64 KiB")
  end
  if user then check_user(problems, path .. ".runAsUserName", user) end
  return problems
end

-- --- processes of the host

local HOST = "securityContext.windowsOptions.hostProcess"

local function is_any_on_host(spec)
  if at(spec, HOST) ~= nil then return true end
  for _, list in ipairs { "initContainers", "containers" } do
    for _, container in each(at(spec, list)) do
      if at(container, HOST) ~= nil then return true end
    end
  end
end

function windows.host_process(path, spec)
  local problems, of_pod, all, on_host = found.new(), at(spec, HOST), 0, 0
  if not is_any_on_host(spec) then return problems end
  each_container(path .. ".", spec, function(container, place)
    local own = at(container, HOST)
    if of_pod ~= nil and own ~= nil and own ~= of_pod then
      problems:invalid(place .. "." .. HOST, own,
        string.format("pod hostProcess value must be identical if both are specified, was %s", tostring(of_pod)))
    end
    local is_one = own
    if own == nil then is_one = of_pod end
    all, on_host = all + 1, on_host + (is_one == true and 1 or 0)
  end)
  if on_host == 0 then return problems end
  if on_host ~= all then
    problems:invalid(path, "",
      "If pod contains any hostProcess containers then all containers must be HostProcess containers")
  end
  if at(spec, "hostNetwork") ~= true then
    problems:invalid(path .. ".hostNetwork", false,
      "hostNetwork must be true if pod contains any hostProcess containers")
  end
  return problems
end

-- --- systems

function windows.linux(path, spec)
  local problems = found.new()
  local function check(holder, place)
    if at(holder, "securityContext.windowsOptions") then
      problems:forbidden(place .. ".securityContext.windowsOptions", "windows options cannot be set for a linux pod")
    end
  end
  check(spec, path)
  each_container(path .. ".", spec, check)
  return problems
end

local OF_PODS = { "securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers", "hostPID",
  "hostIPC", "securityContext.seccompProfile", "securityContext.fsGroup", "securityContext.fsGroupChangePolicy",
  "securityContext.sysctls", "shareProcessNamespace", "securityContext.runAsUser", "securityContext.runAsGroup",
  "securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy",
  "securityContext.seLinuxChangePolicy" }
local OF_CONTAINERS = { "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem",
  "privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup" }
local TRUE_ONLY = { hostPID = true, hostIPC = true }

function windows.windows(path, spec)
  local problems = found.new()
  local function check(place, value, name)
    if value == nil or TRUE_ONLY[name] and value ~= true then return end
    problems:forbidden(place .. "." .. name, "cannot be set for a windows pod")
  end
  for _, name in ipairs(OF_PODS) do check(path, at(spec, name), name) end
  each_container(path .. ".", spec, function(container, place)
    for _, name in ipairs(OF_CONTAINERS) do
      check(place .. ".securityContext", at(container, "securityContext." .. name), name)
    end
  end)
  return problems
end

return windows
