-- k8s.on_reload: what becomes of a script's handlers when a changed file of it takes over.
local raw = ...

local options = require "k8s.options"
local plan = require "k8s.plan"

local OPTIONS = { replay = "string" }

-- k8s.on_reload { replay = "changed" }: which handlers see the cache again, as OnAdd with ev.initial: those that
-- changed, "none", or "all". While the script loads only.
return function(given)
  local own = options.check("k8s.on_reload", given, OPTIONS)
  raw.reload.on_reload(own.replay)
  plan.add("reload", "k8s.on_reload", plan.text(own))
end
