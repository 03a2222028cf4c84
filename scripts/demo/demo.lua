-- What `./dev demo` runs: a welcome when the cache is filled, every change as it comes, and now and then a question
-- that the cache answers by label selector. When the ConfigMap default/demo-finished appears, a summary. What it counts
-- is kept when the file is edited. It works on any cluster:
--   kubelua run -f scripts/demo/demo.lua
local k8s = require "k8s"

local QUERY_EVERY, QUERY = 50, "tier=web"
local seen = k8s.state("seen", { init = { started = k8s.now(), added = 0, updated = 0, deleted = 0 } })
local pods = k8s.informer "pods"
local lister = pods:lister()

local function cut(text, width)
  return #text > width and text:sub(1, width - 3) .. "..." or text
end

local function line(sign, verb, what, text)
  print(("%s %-8s %-26s %s"):format(sign, verb, cut(what, 26), cut(text, 42))) -- 80 columns
end

local function phase(pod) return pod:get "status.phase" or "Unknown" end

local function counted(n, what) return ("%d %s%s"):format(n, what, n == 1 and "" or "s") end

-- Of a node its host name; of an image's name its end, which tells the tag; of a time its hour.
local function first_part(node) return node:match "^[^.]*" end

local function last_part(image) return image:match "[^/]*$" end

local function hour(time) return time:match "T(.+)Z$" or time end

-- Fields worth a word, by the pattern of their path, and what is shown of a value. Everything else is counted only.
local WORDS = {
  { "^status%.phase$", "phase" },
  { "^spec%.nodeName$", "node" },
  { "^status%.containerStatuses%[%d+%]%.restartCount$", "restarts" },
  { "^spec%.containers%[%d+%]%.image$", "image", last_part },
  { "^metadata%.labels%.(.+)$", "label %s" },
  { "^metadata%.labels%['(.+)'%]$", "label %s" },
  { "^metadata%.annotations%.(.+)$", "annotation %s" },
  { "^metadata%.deletionTimestamp$", "deleting since", hour },
}
local NOISE = { "^metadata%.resourceVersion$", "^metadata%.managedFields", "^metadata%.generation$" }

local function word_of(path)
  for _, rule in ipairs(WORDS) do
    local found = path:match(rule[1])
    if found then return rule[2]:format(found), rule[3] or tostring end
  end
end

local function is_noise(path)
  for _, pattern in ipairs(NOISE) do
    if path:find(pattern) then return true end
  end
  return false
end

-- "restarts 0 -> 1 and 7 -> 8, 6 other fields"
local function describe_changes(old, new)
  local words, others, last = {}, 0, nil
  for _, change in ipairs(old:diff(new)) do
    local word, show = word_of(change.path)
    if word then
      local before = change.old ~= nil and show(change.old) .. " -> " or ""
      local text = before .. (change.new == nil and "gone" or show(change.new))
      if word == last then
        words[#words] = words[#words] .. " and " .. text
      else
        words[#words + 1] = word .. " " .. text
      end
      last = word
    elseif not is_noise(change.path) then
      others = others + 1
    end
  end
  if others > 0 then words[#words + 1] = counted(others, "other field") end
  return #words > 0 and table.concat(words, ", ") or "only its version"
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

local function count_event(verb)
  seen[verb] = seen[verb] + 1
  if (seen.added + seen.updated + seen.deleted) % QUERY_EVERY == 0 then ask() end
end

pods:add_event_handler {
  OnAdd = function(pod, ev)
    if ev.initial then return end
    line("+", "added", pod:name(), ("%s on %s"):format(phase(pod), first_part(pod.spec.nodeName or "no node yet")))
    count_event "added"
  end,
  OnUpdate = function(old, new)
    line("~", "updated", new:name(), describe_changes(old, new))
    count_event "updated"
  end,
  OnDelete = function(last)
    line("-", "deleted", last:name(), ("was %s, %s"):format(phase(last), counted(restarts(last), "restart")))
    count_event "deleted"
  end,
}

local function count_distinct(value_of)
  local known, count = {}, 0
  for pod in lister:list() do
    local value = value_of(pod)
    if value and not known[value] then known[value], count = true, count + 1 end
  end
  return count
end

local function summary()
  local phases, words = {}, {}
  for pod in lister:list() do phases[phase(pod)] = (phases[phase(pod)] or 0) + 1 end
  for name, count in pairs(phases) do words[#words + 1] = count .. " " .. name end
  table.sort(words)
  print ""
  print "Summary"
  print(("  first list   %d pods in %.2f s"):format(seen.first, seen.seconds))
  print(("  changes      %d added, %d updated, %d deleted in %.0f s"):format(seen.added, seen.updated, seen.deleted,
    k8s.now() - seen.started))
  print(("  cache now    %d pods: %s"):format(lister:count(), table.concat(words, ", ")))
end

k8s.informer("configmaps", { namespace = "default" }):on_add(function(configmap, ev)
  if configmap:name() == "demo-finished" and not ev.initial then summary() end
end)

k8s.main(function()
  seen.seconds, seen.first = k8s.now() - seen.started, lister:count()
  print(("Synced %d pods in %d namespaces on %d nodes in %.2f s. Now the changes:"):format(seen.first,
    count_distinct(function(pod) return pod:namespace() end),
    count_distinct(function(pod) return pod.spec.nodeName end), seen.seconds))
  ask()
end)

-- Runs once in each generation, that is after each edit.
k8s.after("10ms", function()
  seen.generation = (seen.generation or 0) + 1
  if seen.generation == 1 then return end
  line("!", "live", "demo.lua, as edited", "no new list, no event missed")
  ask()
end)
