-- Priority levels of requests. Arguments as in volumes.lua.
local found = require "sim.checks.found"
local forms = require "sim.checks.forms"
local json = require "sim.json"

local at, text, int = json.at, json.text, json.int

local flow = {}

local MAX_QUEUES, MAX_BITS = 10000000, 60

local VERBS = { "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch" }

local function has_wildcard(list)
  for _, word in json.each(list) do
    if word == "*" then return true end
  end
  return false
end

-- A list whose wildcard stands alone: `name` is what it has.
function flow.alone(path, list, _, name)
  local problems = found.new()
  if has_wildcard(list) and json.count(list) > 1 then
    problems:invalid(path, list, "if '*' is present, must not specify other " .. name)
  end
  return problems
end

function flow.verbs(path, list)
  local problems = flow.alone(path, list, nil, "verbs")
  if json.count(list) == 0 then problems:required(path, "verbs must contain at least one value") end
  for _, verb in json.each(list) do
    local one = found.new()
    one:enum(path, verb, VERBS)
    if #one > 0 and not has_wildcard(list) then
      problems:enum(path, list, VERBS)
      break
    end
  end
  return problems
end

local function url_problem(url)
  local _, wildcards = url:gsub("%*", "")
  if url == "" then return "must not be empty" end
  if url == "/" then return end
  if url:sub(1, 1) ~= "/" then return "must start with slash" end
  if url:find(" ", 1, true) then return "must not contain white-space" end
  if url:find("//", 1, true) then return "must not contain double slash" end
  if wildcards > 1 or wildcards == 1 and url:sub(-2) ~= "/*" then return "wildcard can only do suffix matching" end
end

function flow.urls(path, list)
  local problems = flow.alone(path, list, nil, "non-resource URLs")
  if json.count(list) == 0 then problems:required(path, "nonResourceURLs must contain at least one value") end
  for i, url in json.each(not has_wildcard(list) and list or nil) do
    local problem = url_problem(url)
    if problem then problems:invalid(string.format("%s[%d]", path, i - 1), url, problem) end
  end
  return problems
end

function flow.namespaces(path, list)
  local problems = flow.alone(path, list, nil, "namespaces")
  for i, name in json.each(not has_wildcard(list) and list or nil) do
    local place, wrong = string.format("%s[%d]", path, i - 1), forms.label(name)
    local words = "each member of this list must be '*' or a DNS-1123 label; "
    if wrong then problems:invalid(place, name, words .. wrong) end
  end
  return problems
end

local function or_null(value) return value == nil and json.null or value end

-- The number of requests that a queue's hand may tell apart needs no more bits than a hash has.
function flow.hand(path, size, queuing)
  local problems, queues = found.new(), int(queuing, "queues", 0)
  if size <= 0 then return problems end
  local bits = queues > 0 and math.ceil(math.log(queues) / math.log(2) * size) or 0
  if size > queues then
    problems:invalid(path, size, ("should not be greater than queues (%d)"):format(queues))
  elseif bits > MAX_BITS then
    problems:invalid(path, size, ("required entropy bits of deckSize %d and handSize %d should not be greater than %d")
      :format(queues, size, MAX_BITS))
  end
  return problems
end

function flow.queues(path, n)
  local problems = found.new()
  if n <= 0 then
    problems:invalid(path, n, "must be positive")
  elseif n > MAX_QUEUES then
    problems:invalid(path, n, ("must not be greater than %d"):format(MAX_QUEUES))
  end
  return problems
end

-- --- the two levels that every server has

local function shown_queuing(queuing)
  return queuing and json.object("Queues", at(queuing, "queues"), "HandSize", at(queuing, "handSize"),
    "QueueLengthLimit", at(queuing, "queueLengthLimit")) or json.null
end

local function shown_limited(limited)
  return limited and json.object("NominalConcurrencyShares", at(limited, "nominalConcurrencyShares"),
    "LimitResponse", json.object("Type", text(limited, "limitResponse.type"), "Queuing",
      shown_queuing(at(limited, "limitResponse.queuing"))),
    "LendablePercent", or_null(at(limited, "lendablePercent")), "BorrowingLimitPercent",
    or_null(at(limited, "borrowingLimitPercent"))) or json.null
end

-- As Go shows it.
local function shown(spec)
  local exempt = at(spec, "exempt")
  return json.object("Type", text(spec, "type"), "Limited", shown_limited(at(spec, "limited")), "Exempt",
    exempt and json.object("NominalConcurrencyShares", or_null(at(exempt, "nominalConcurrencyShares")),
      "LendablePercent", or_null(at(exempt, "lendablePercent"))) or json.null)
end

local function is_catch_all(spec)
  local limited = at(spec, "limited")
  return text(spec, "type") == "Limited" and not at(spec, "exempt") and limited
    and int(limited, "nominalConcurrencyShares") == 5 and at(limited, "lendablePercent") == 0
    and not at(limited, "borrowingLimitPercent") and text(limited, "limitResponse.type") == "Reject"
    and not at(limited, "limitResponse.queuing")
end

-- The argument is the level's name.
function flow.fixed(path, spec, _, name)
  local problems = found.new()
  if name == "exempt" and (text(spec, "type") ~= "Exempt" or at(spec, "limited")) then
    problems:invalid(path, shown(spec), "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value")
  elseif name == "catch-all" and not is_catch_all(spec) then
    problems:invalid(path, shown(spec), "spec of 'catch-all' must equal the fixed value")
  end
  return problems
end

return flow
