-- Rights that scripts need and nobody gives.
local place = require "tool.check.place"
local rights = require "tool.check.rights"
local roles = require "tool.check.roles"

-- Rights of all scripts that loaded, with where they say so; kinds that are unknown are left out.
local function gather(scripts, target)
  local needed = {}
  for number, script in ipairs(scripts) do
    for _, right in ipairs(script.error and {} or rights.of(script, target)) do
      local implied, is_declared = right.what:match "^k8s(%..*)$", right.what:find(":", 1, true)
      right.at = place.find(script, right.place, implied or is_declared and '"' .. right.what .. '"' or nil)
      right.is_implied, right.script = implied ~= nil, number
      needed[#needed + 1] = right
    end
  end
  return needed
end

-- Questions by the rights and their verbs: each once, however many scripts have it. The server may make the name of
-- what is created.
local function questions_of(needed)
  local questions, known = {}, {}
  for _, right in ipairs(needed) do
    right.questions = {}
    for _, verb in ipairs(rights.verbs) do
      if right.verbs[verb] then
        local name = verb == "create" and "" or right.name
        local key = table.concat({ verb, right.resource, right.ns, right.group, name }, "\n")
        if not known[key] then
          known[key] = { ns = right.ns, group = right.group, resource = right.resource, name = name, verb = verb }
          questions[#questions + 1] = known[key]
        end
        right.questions[#right.questions + 1] = known[key]
      end
    end
  end
  return questions
end

-- "pods/status", "deployments.apps", "every kind".
local function resource_text(right)
  local resource, subresource = right.resource:match "^([^/]*)(.*)$"
  if resource == "*" then return "every kind" .. subresource end
  return resource .. (right.group ~= "" and "." or "") .. right.group .. subresource
end

local function namespace_text(right)
  if not right.is_namespaced then return "" end
  return right.ns ~= "" and " in namespace " .. right.ns or " in all namespaces"
end

-- "get", "get and list", "get, list and watch".
local function list_text(words)
  local last = table.remove(words)
  return words[1] and table.concat(words, ", ") .. " and " .. last or last
end

local function check_right(right, findings)
  local missing = {}
  for _, question in ipairs(right.questions) do
    if not question.allowed then missing[#missing + 1] = question.verb end
  end
  if not missing[1] then return end
  findings.script = right.script
  findings:error(right.at, "missing permission: %s %s%s%s", list_text(missing), resource_text(right),
    namespace_text(right), right.is_implied and ", for " .. right.what or "")
end

-- Asks the server or the roles of the dump, and adds a finding for each right that is missing. False with why when no
-- answer came.
return function(scripts, target, findings)
  local needed = gather(scripts, target)
  local questions = questions_of(needed)
  local ask = target.ask or roles.asker(target.roles, target.user)
  if questions[1] then
    local allowed, why = ask(questions)
    if not allowed then return false, why end
    for i, question in ipairs(questions) do question.allowed = allowed[i] end
  end
  for _, right in ipairs(needed) do check_right(right, findings) end
  return true
end
