-- Resources of containers and of whole pods. Arguments as in volumes.lua.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local found = require "sim.checks.found"
local forms = require "sim.checks.forms"
local json = require "sim.json"
local pod_resources = require "sim.pod_resources"
local quantities = require "sim.checks.quantities"
local values = require "sim.values"
local words = require "sim.checks.words"

local at, text, each, get, number = json.at, json.text, json.each, json.get, quantities.number
local is_huge = pod_resources.is_huge

local resources = {}

local of_containers = words "cpu memory ephemeral-storage"
local standard = words("cpu memory ephemeral-storage requests.cpu requests.memory requests.ephemeral-storage "
  .. "limits.cpu limits.memory limits.ephemeral-storage pods resourcequotas services replicationcontrollers "
  .. "secrets configmaps persistentvolumeclaims storage requests.storage services.nodeports services.loadbalancers")

local function is_native(name) return not name:find("/", 1, true) or name:find("kubernetes.io/", 1, true) ~= nil end

-- The name of a resource; whether it has the form of one.
function resources.check_standard(problems, path, name)
  local good = not forms.key(name)
  problems:form(path, name, "key")
  if not good or name:find("/", 1, true) or standard[name] or is_huge(name) then return good end
  problems:invalid(path, name, "must be a standard resource type or fully qualified")
end

-- The name of a resource that containers may have.
function resources.check_own(problems, path, name)
  resources.check_standard(problems, path, name)
  if not name:find("/", 1, true) then
    if of_containers[name] or is_huge(name) then return end
    problems:invalid(path, name, "must be a standard resource for containers")
  elseif not is_native(name) and (name:find "^requests%." or forms.key("requests." .. name)) then
    problems:invalid(path, name, "doesn't follow extended resource name standard")
  end
end

local function check_of_pods(problems, path, name)
  if not resources.check_standard(problems, path, name) or pod_resources.is_of_pods(name) then return end
  problems:enum(path, name, { "cpu", "hugepages-", "memory" })
end

local function check_amount(problems, path, name, amount)
  if number(amount) < 0 then problems:invalid(path, amount, "must be greater than or equal to 0") end
  if not is_native(name) and not quantities.is_whole(amount) then
    problems:invalid(path, amount, "must be an integer")
  end
end

local function check_huge(problems, path, name, amount)
  local size = is_huge(name) and number(name:sub(11)) or 0
  if size > 0 and number(amount) % size ~= 0 then
    problems:invalid(path, amount, string.format("%s is not positive integer multiple of %s", amount, name))
  end
end

local function check_request(problems, path, name, amount, limit)
  local exact = is_huge(name) or not is_native(name)
  if not limit then
    if exact then problems:required(path .. ".limits", "Limit must be set for non overcommitable resources") end
  elseif exact and number(amount) ~= number(limit) then
    problems:invalid(path .. ".requests", amount, string.format("must be equal to %s limit of %s", name, limit))
  elseif number(amount) > number(limit) then
    problems:invalid(path .. ".requests", amount,
      string.format("must be less than or equal to %s limit of %s", name, limit))
  end
end

-- In the order in which a server looks at them, and maps by their names.
local function check(path, own, check_name)
  local problems, limits, requests = found.new(), at(own, "limits"), at(own, "requests")
  local huge, plain = false, false
  local function one(field, name, amount)
    local place = string.format("%s.%s[%s]", path, field, name)
    check_name(problems, place, name)
    check_amount(problems, place, name, amount)
    if field == "requests" then check_request(problems, path, name, amount, get(limits, name)) end
    check_huge(problems, place, name, amount)
    huge, plain = huge or is_huge(name), plain or name == "cpu" or name == "memory"
  end
  for _, name in ipairs(values.names(limits)) do one("limits", name, get(limits, name)) end
  for _, name in ipairs(values.names(requests)) do one("requests", name, get(requests, name)) end
  if huge and not plain then problems:forbidden(path, "HugePages require cpu or memory") end
  return problems
end

-- --- claims

local function check_twice(problems, path, claim, seen)
  local name, request = text(claim, "name"), text(claim, "request")
  local key = request == "" and name or name .. "/" .. request
  if seen[name] then return problems:duplicate(path, name) end
  if request ~= "" then problems:form(path .. ".request", request, "label") end
  if seen[key] then problems:duplicate(path, key) end
  for other in pairs(request == "" and not seen[key] and seen or {}) do
    if other:match "^(.-)/" == name then problems:duplicate(path, name) end
  end
  seen[key] = true
end

local function check_claims(problems, path, claims, spec)
  local seen, known, names = {}, {}, {}
  for i, claim in each(at(spec, "resourceClaims")) do
    names[i] = text(claim, "name")
    known[names[i]] = true
  end
  table.sort(names)
  for i, claim in each(claims) do
    local place, name = string.format("%s[%d]", path, i - 1), text(claim, "name")
    if name == "" then
      problems:required(place)
    else
      check_twice(problems, place, claim, seen)
    end
    if name ~= "" and not known[name] then
      problems:not_found(place, name, "must be one of the names in pod.spec.resourceClaims"
        .. (#names == 0 and " which is empty" or ": " .. table.concat(names, ", ")))
    end
  end
end

function resources.of_container(path, own, _, _, _, object)
  local problems, claims = check(path, own, resources.check_own), at(own, "claims")
  local above = path:match "^(.-)%.?%w*[cC]ontainers%["
  if claims then check_claims(problems, path .. ".claims", claims, at(object, above)) end
  return problems
end

-- What a pod takes beside its containers: limits, to a server.
function resources.overhead(path, amounts)
  return check(path, json.object("limits", amounts), resources.check_own)
end

-- --- whole pods

local function check_together(problems, path, own, spec)
  local requests, limits = at(own, "requests"), at(own, "limits")
  local function compare(field, amounts, all, name)
    local amount = get(amounts, name)
    if amount and number(all[name]) > number(amount) then
      problems:invalid(string.format("%s.%s[%s]", path, field, name), amount, string.format(
        "must be greater than or equal to aggregate container %s of %s", field, all[name]))
    end
  end
  local wanted, most = pod_resources.together(spec, "requests"), pod_resources.together(spec, "limits")
  for _, name in ipairs(values.names(requests)) do
    if wanted[name] then compare("requests", requests, wanted, name) end
  end
  for _, name in ipairs(values.names(limits)) do
    if most[name] and is_huge(name) then compare("limits", limits, most, name) end
  end
  for i, container in each(at(spec, "containers")) do
    for name, amount in json.members(at(container, "resources.limits")) do
      local limit = get(limits, name)
      if limit and number(amount) > number(limit) then
        problems:invalid(string.format("%s.containers[%d][%s].limits", path, i - 1, name), amount,
          string.format("must be less than or equal to pod limits of %s", limit))
      end
    end
  end
end

function resources.of_pod(path, own, spec)
  local problems = found.new()
  if text(spec, "os.name") == "windows" then
    problems:forbidden(path, "may not be set for a windows pod")
    return problems
  end
  local claims = at(own, "claims")
  if claims then problems:forbidden(path .. ".claims", "claims may not be set for Resources at pod-level") end
  for _, problem in ipairs(check(path, own, check_of_pods)) do problems[#problems + 1] = problem end
  if claims then check_claims(problems, path .. ".claims", claims, spec) end
  check_together(problems, path, own, spec)
  return problems
end

function resources.may_be_overcommitted(name) return is_native(name) and not is_huge(name) end

return resources
