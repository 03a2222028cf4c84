-- k8s.command: functions of a script that `kubelua call` calls.
local raw = ...

local options = require "k8s.options"
local plan = require "k8s.plan"

raw.command.runner(require "k8s.command_call")

local OPTIONS = { help = "string" }

-- k8s.command("orphans", function(namespace) return rows end, { help = "Services without pods." }): while the script
-- loads only. `where` is whose errors those of the name are, if it is not this function that the script called.
return function(name, fn, given, where)
  local own = options.check("k8s.command", given, OPTIONS)
  raw.command.new(name, fn, own.help, where)
  plan.add("command", name, plan.text { fn, help = own.help })
end
