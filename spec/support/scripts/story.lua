-- Prints every event of three kinds in one namespace, in words that do not depend on the server: no versions, no uids,
-- no times.
local k8s = require "k8s"

local function words(obj)
  local out = {}
  local labels = obj.metadata.labels
  if labels and labels.stage then out[#out + 1] = "stage=" .. labels.stage end
  local phase = obj:get "status.phase"
  if phase then out[#out + 1] = "phase=" .. phase end
  if obj.metadata.deletionTimestamp then out[#out + 1] = "deleting" end
  return table.concat(out, " ")
end

local function show(verb, obj, rest)
  print((("%s %s %s %s"):format(verb, obj.kind, obj:name(), rest):gsub(" +$", "")))
end

for _, kind in ipairs { "configmaps", "pods", "gadgets.story.example.com" } do
  k8s.informer(kind, { namespace = "story" }):add_event_handler {
    OnAdd = function(obj, ev)
      -- What every new namespace gets from controllers is no part of the story.
      if obj:name() == "kube-root-ca.crt" then return end
      show("add", obj, words(obj) .. (ev.initial and " initial" or ""))
    end,
    OnUpdate = function(old, new)
      if words(old) ~= words(new) then show("update", new, ("[%s] -> [%s]"):format(words(old), words(new))) end
    end,
    OnDelete = function(last, ev)
      show("delete", last, ev.final_state_unknown and "final state unknown" or "")
    end,
  }
end

k8s.main(function() print "synced" end)
