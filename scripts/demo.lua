-- What `./dev demo` runs: a welcome when the cache is filled, every change as it comes, and now and then a
-- question that the cache answers by label selector. It works on any cluster:
--   kubelua run -f scripts/demo.lua
local k8s = require "k8s"

local QUERY_EVERY, QUERY = 50, "tier=web"
local started, events = k8s.now(), 0
local pods = k8s.informer "pods"
local lister = pods:lister()

local function cut(text, width)
  return #text > width and text:sub(1, width - 3) .. "..." or text
end

local function line(sign, verb, what, text)
  print(("%s %-8s %-37s %s"):format(sign, verb, cut(what, 37), cut(text, 50)))
end

local function phase(pod) return pod:get "status.phase" or "Unknown" end

-- Fields worth a word, by the pattern of their path. Everything else is counted only.
local WORDS = {
  { "^status%.phase$", "phase" },
  { "^spec%.nodeName$", "node" },
  { "^status%.containerStatuses%[%d+%]%.restartCount$", "restarts" },
  { "^spec%.containers%[%d+%]%.image$", "image" },
  { "^metadata%.labels%.(.+)$", "label %s" },
  { "^metadata%.labels%['(.+)'%]$", "label %s" },
  { "^metadata%.annotations%.(.+)$", "annotation %s" },
  { "^metadata%.deletionTimestamp$", "deletion" },
}
local NOISE = { "^metadata%.resourceVersion$", "^metadata%.managedFields", "^metadata%.generation$",
  "^metadata%.deletionGracePeriodSeconds$" }

local function word_of(path)
  for _, rule in ipairs(WORDS) do
    local found = path:match(rule[1])
    if found then return rule[2]:format(found) end
  end
end

local function is_noise(path)
  for _, pattern in ipairs(NOISE) do
    if path:find(pattern) then return true end
  end
  return false
end

-- "phase Pending -> Running", "label stage = canary", "label stage gone"
local function phrase(word, old, new)
  if new == nil then return word .. " gone" end
  if old == nil then return word .. " = " .. tostring(new) end
  return ("%s %s -> %s"):format(word, tostring(old), tostring(new))
end

local function describe_changes(old, new)
  local words, others = {}, 0
  for _, change in ipairs(old:diff(new)) do
    local word = word_of(change.path)
    if word then
      words[#words + 1] = phrase(word, change.old, change.new)
    elseif not is_noise(change.path) then
      others = others + 1
    end
  end
  if #words > 0 then return table.concat(words, ", ") end
  if others > 0 then return others .. (others == 1 and " other field" or " other fields") end
  return "only its version"
end

local function restarts(pod)
  local sum = 0
  for _, count in ipairs(pod:get "status.containerStatuses[*].restartCount") do sum = sum + count end
  return sum
end

local function ask()
  local phases = {}
  for pod in lister:list(QUERY) do phases[phase(pod)] = (phases[phase(pod)] or 0) + 1 end
  local words = {}
  for name, count in pairs(phases) do words[#words + 1] = count .. " " .. name end
  table.sort(words)
  line("?", "query", QUERY, #words > 0 and table.concat(words, ", ") or "no pods")
end

local function count_event()
  events = events + 1
  if events % QUERY_EVERY == 0 then ask() end
end

pods:add_event_handler {
  OnAdd = function(pod, ev)
    if ev.initial then return end
    line("+", "added", pod:key(), ("%s on %s"):format(phase(pod), pod.spec.nodeName or "no node yet"))
    count_event()
  end,
  OnUpdate = function(old, new)
    line("~", "updated", new:key(), describe_changes(old, new))
    count_event()
  end,
  OnDelete = function(last)
    line("-", "deleted", last:key(), ("was %s, %d restarts"):format(phase(last), restarts(last)))
    count_event()
  end,
}

k8s.main(function()
  local namespaces, nodes, seen = 0, 0, {}
  for pod in lister:list() do
    local namespace, node = "namespace " .. pod:namespace(), "node " .. (pod.spec.nodeName or "")
    if not seen[namespace] then seen[namespace], namespaces = true, namespaces + 1 end
    if not seen[node] and pod.spec.nodeName then seen[node], nodes = true, nodes + 1 end
  end
  local seconds = k8s.now() - started
  print(("Synced %d pods in %d namespaces on %d nodes in %.2f s. Now every change as it comes:"):format(
    lister:count(), namespaces, nodes, seconds))
  ask()
end)
