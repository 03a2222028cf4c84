-- Shows what changed in a ConfigMap: each key with its old and its new value.
--   kubelua run -f scripts/configmap_changes.lua
local k8s = require "k8s"

-- One short line for a value of any length.
local function short(value)
  if value == nil then return "(absent)" end
  local text = tostring(value):gsub("%s+", " ")
  return #text > 40 and text:sub(1, 37) .. "..." or text
end

k8s.informer("configmaps"):add_event_handler {
  OnAdd = function(map, ev)
    if not ev.initial then print("added   " .. map:key()) end
  end,
  OnUpdate = function(old, new)
    print("changed " .. new:key())
    for _, change in ipairs(old:diff(new)) do
      if not change.path:find "^metadata" then
        print(("  %s: %s -> %s"):format(change.path, short(change.old), short(change.new)))
      end
    end
  end,
  OnDelete = function(last, ev)
    print("deleted " .. last:key() .. (ev.final_state_unknown and " (while nobody was looking)" or ""))
  end,
}
