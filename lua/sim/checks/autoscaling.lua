-- HorizontalPodAutoscalers: metrics and behavior. Arguments as in volumes.lua.
local found = require "sim.checks.found"
local json = require "sim.json"
local quantities = require "sim.checks.quantities"
local resources = require "sim.checks.resources"

local at, text, each, int, count = json.at, json.text, json.each, json.int, json.count

local autoscaling = {}

-- --- metrics

local function check_name(problems, path, name, detail)
  if name == "" then return problems:required(path, detail) end
  problems:form(path, name, "path segment")
end

local function version_problem(version)
  local _, slashes = version:gsub("/", "")
  if slashes > 1 then return "unexpected GroupVersion string: " .. version end
  if slashes == 0 or version:sub(1, 1) == "/" then return "apiVersion must specify API group" end
end

-- The reference to what is scaled, or, with any version, to what a metric is of.
local function reference(problems, path, value, is_any)
  check_name(problems, path .. ".kind", text(value, "kind"))
  check_name(problems, path .. ".name", text(value, "name"))
  local version = text(value, "apiVersion")
  local wrong = version_problem(version)
  if is_any and wrong and wrong:sub(1, 3) == "api" then return end
  if wrong then problems:invalid(path .. ".apiVersion", version, wrong) end
end

function autoscaling.target(path, value)
  local problems = found.new()
  reference(problems, path, value, false)
  return problems
end

local TARGETS = { Utilization = true, Value = true, AverageValue = true }

local function target(problems, path, value)
  local type = text(value, "type")
  if type == "" then problems:required(path .. ".type", "must specify a metric target type") end
  if not TARGETS[type] then
    problems:invalid(path .. ".type", type, "must be either Utilization, Value, or AverageValue")
  end
  for _, name in ipairs { "value", "averageValue" } do
    local amount = at(value, name)
    if amount and quantities.number(amount) <= 0 then
      problems:invalid(path .. "." .. name, amount, "must be positive")
    end
  end
  problems:range(path .. ".averageUtilization", int(value, "averageUtilization"), 1)
end

local function metric(problems, path, source)
  check_name(problems, path .. ".metric.name", text(source, "metric.name"), "must specify a metric name")
  target(problems, path .. ".target", at(source, "target"))
end

local function either(problems, path, source, detail)
  if at(source, "target.value") or at(source, "target.averageValue") then return end
  problems:required(path .. ".target.averageValue", detail)
end

local function resource(problems, path, source, form)
  local name = text(source, "name")
  if name == "" then problems:required(path .. ".name", "must specify a resource name") end
  if form then form(name, text(source, "container")) end
  target(problems, path .. ".target", at(source, "target"))
  local amount, part = at(source, "target.averageValue"), at(source, "target.averageUtilization")
  if not amount and not part then
    problems:required(path .. ".target.averageUtilization",
      "must set either a target raw value or a target utilization")
  elseif amount and part then
    problems:forbidden(path .. ".target.averageValue", "may not set both a target raw value and a target utilization")
  end
end

local sources = {}

function sources.object(problems, path, source)
  reference(problems, path .. ".describedObject", at(source, "describedObject"), true)
  metric(problems, path, source)
  either(problems, path, source, "must set either a target value or averageValue")
end

function sources.external(problems, path, source)
  metric(problems, path, source)
  either(problems, path, source, "must set either a target value for metric or a per-pod target")
  if at(source, "target.value") and at(source, "target.averageValue") then
    problems:forbidden(path .. ".target.value", "may not set both a target value for metric and a per-pod target")
  end
end

function sources.pods(problems, path, source)
  metric(problems, path, source)
  if not at(source, "target.averageValue") then
    problems:required(path .. ".target.averageValue", "must specify a positive target averageValue")
  end
end

function sources.resource(problems, path, source) resource(problems, path, source) end

function sources.containerResource(problems, path, source)
  resource(problems, path, source, function(name, container)
    if name ~= "" then resources.check_own(problems, path .. ".name", name) end
    if container == "" then return problems:required(path .. ".container", "must specify a container") end
    problems:form(path .. ".container", container, "label")
  end)
end

local ORDER = { "object", "external", "pods", "resource", "containerResource" }
local TYPES = { "ContainerResource", "External", "Object", "Pods", "Resource" }

local function check_metric(problems, path, value)
  local type, first = text(value, "type"), nil
  local own = type:sub(1, 1):lower() .. type:sub(2)
  if type == "" then problems:required(path .. ".type", "must specify a metric source type") end
  problems:enum(path .. ".type", type, TYPES)
  for _, name in ipairs(ORDER) do
    if not first and at(value, name) then
      sources[name](problems, path .. "." .. name, at(value, name))
      first = name
    end
  end
  if sources[own] and not at(value, own) then
    problems:required(path .. "." .. own, "must populate information for the given metric source")
  end
  problems:enum(path .. ".type", type, TYPES)
  local several = 0
  for _, name in ipairs(ORDER) do several = several + (at(value, name) and 1 or 0) end
  for _, name in ipairs(several > 1 and ORDER or {}) do
    if name ~= own and at(value, name) then
      problems:forbidden(path .. "." .. name, "must populate the given metric source only")
    end
  end
end

local TO_ZERO = "must specify at least one Object or External metric to support scaling to zero replicas"

function autoscaling.metrics(path, spec)
  local problems, scales_to_zero = found.new(), false
  path = path .. ".metrics"
  for i, value in each(at(spec, "metrics")) do
    check_metric(problems, string.format("%s[%d]", path, i - 1), value)
    local type = text(value, "type")
    scales_to_zero = scales_to_zero or type == "Object" or type == "External"
  end
  if int(spec, "minReplicas") == 0 and not scales_to_zero then problems:forbidden(path, TO_ZERO) end
  return problems
end

-- --- behavior

local function bounded(problems, path, n, is_positive, most)
  if n and (is_positive and n <= 0 or n < 0) then
    problems:invalid(path, n, is_positive and "must be greater than zero" or "must be greater than or equal to zero")
  end
  if n and n > most then problems:invalid(path, n, string.format("must be less than or equal to %d", most)) end
end

local function check_rules(problems, path, rules)
  local choice, policies, tolerance = at(rules, "selectPolicy"), at(rules, "policies"), at(rules, "tolerance")
  bounded(problems, path .. ".stabilizationWindowSeconds", int(rules, "stabilizationWindowSeconds"), false, 3600)
  if choice then problems:enum(path .. ".selectPolicy", choice, { "Disabled", "Max", "Min" }) end
  if count(policies) == 0 then problems:required(path .. ".policies", "must specify at least one Policy") end
  for i, policy in each(policies) do
    local place = string.format("%s.policies[%d]", path, i - 1)
    problems:enum(place .. ".type", text(policy, "type"), { "Percent", "Pods" })
    bounded(problems, place .. ".value", int(policy, "value", 0), true, math.huge)
    bounded(problems, place .. ".periodSeconds", int(policy, "periodSeconds", 0), true, 1800)
  end
  if tolerance and quantities.number(tolerance) < 0 then
    problems:invalid(path .. ".tolerance", tolerance, "must be greater than or equal to 0")
  end
end

function autoscaling.behavior(path, behavior)
  local problems = found.new()
  for _, name in ipairs { "scaleUp", "scaleDown" } do
    local rules = at(behavior, name)
    if rules then check_rules(problems, path .. "." .. name, rules) end
  end
  return problems
end

return autoscaling
