-- Faults in the cluster of a spec: env:fault.
local raw = ...

local objects = require "k8s.test.objects"
local options = require "k8s.options"
local place = require "k8s.test.place"

local test = raw.test

local faults = {}

local FAULT = {
  verb = "string",
  kind = "string",
  namespace = "string",
  name = "string",
  subresource = "string",
  code = "number",
  reason = "string",
  message = "string",
  retry_after = "number",
  delay = "duration",
  skip = "number",
  times = "number",
  watch = "string",
}

-- As env.writes has them; "patch" is every patch, those that apply too.
local VERBS = {
  get = true,
  list = true,
  watch = true,
  create = true,
  update = true,
  patch = true,
  apply = true,
  delete = true,
  deletecollection = true,
}

local REASONS = {
  [400] = "BadRequest",
  [401] = "Unauthorized",
  [403] = "Forbidden",
  [404] = "NotFound",
  [409] = "Conflict",
  [410] = "Expired",
  [422] = "Invalid",
  [429] = "TooManyRequests",
  [500] = "InternalError",
  [503] = "ServiceUnavailable",
  [504] = "Timeout",
}

local COUNT_MAX = 1000000

local function check_whole(fault, name, least, most)
  local n = fault[name]
  if n ~= nil and not (n >= least and n <= most and n % 1 == 0) then
    raw.raise(("env:fault: %s must be a whole number from %d to %d, not %.14g"):format(name, least, most, n))
  end
end

local function check_watch(fault)
  if fault.watch ~= "drop" and fault.watch ~= "expire" then
    raw.raise('env:fault: watch must be "drop" or "expire", not "' .. fault.watch .. '"')
  end
  for name in pairs(fault) do
    if name ~= "watch" and name ~= "kind" then
      raw.raise(("env:fault: watch can only be combined with kind, not with %s"):format(name))
    end
  end
  return fault
end

-- The options of env:fault, or an error.
function faults.check(given)
  local fault = options.check("env:fault", given, FAULT)
  if fault.watch then
    return check_watch(fault)
  end
  if fault.verb and not VERBS[fault.verb] then
    require "k8s.unknown"("env:fault", fault.verb, VERBS, "verb")
  end
  check_whole(fault, "code", 400, 599)
  check_whole(fault, "times", 0, COUNT_MAX)
  check_whole(fault, "skip", 0, COUNT_MAX)
  check_whole(fault, "retry_after", 0, COUNT_MAX)
  if not fault.code and not fault.delay then
    raw.raise "env:fault: one of code, delay and watch is required"
  end
  for _, name in ipairs { "reason", "message", "retry_after" } do
    if fault[name] and not fault.code then
      raw.raise(("env:fault: %s requires code"):format(name))
    end
  end
  return fault
end

local function end_watches(env, fault)
  local kind = fault.kind and objects.name_of(objects.resource(env, "env:fault", fault.kind)) or ""
  env:settle()
  local ok, problem = test.end_watches(env.engine, kind, fault.watch == "expire")
  if not ok then
    raw.raise("env:fault: " .. problem)
  end
  env:settle()
end

-- { watch = "drop" or "expire", kind = } ends watches now. Else requests go wrong from now on, those that match all of
-- verb, kind, namespace, name and subresource: `code` is their answer, after `delay`; as often as `times` says (1; 0
-- without end), after the first `skip`.
function faults.add(env, fault)
  if fault.watch then
    return end_watches(env, fault)
  end
  local rule = objects.copy(fault)
  rule.reason = rule.reason or REASONS[rule.code]
  rule.message = rule.message or (rule.code and ("%s, as env:fault has it"):format(rule.reason or rule.code))
  rule.delay_ms = rule.delay and test.duration(rule.delay) or nil
  rule.id = #env.faults + 1
  local ok, problem = test.rule(env.engine, rule)
  if not ok then
    raw.raise("env:fault: " .. problem)
  end
  env.faults[rule.id] = {
    cluster = env.selected, id = rule.id, text = raw.json.encode(fault), place = place.line(), times = fault.times,
  }
end

function faults.clear(env)
  test.clear_rules(env.engine)
end

-- Texts of those that no request met, though `times` says that some would: what was tried did not happen.
function faults.unmet(env)
  local texts = {}
  for _, fault in ipairs(env.faults) do
    test.select(env.engine, fault.cluster)
    if fault.times ~= 0 and test.rule_is_unmet(env.engine, fault.id) then
      texts[#texts + 1] = ("%s: no request matched env:fault %s"):format(fault.place, fault.text)
    end
  end
  test.select(env.engine)
  return texts
end

return faults
