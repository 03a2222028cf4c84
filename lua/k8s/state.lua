-- k8s.state: a table that a reload of the script does not lose.
local raw = ...

local options = require "k8s.options"
local plan = require "k8s.plan"
local task = require "k8s.task"

local OPTIONS = { version = "number", init = "table", migrate = "function", keep = "string" }

local sync = task.blocking(raw.state.sync)

-- Calls migrate where it can pause: a call from C could not.
local function runner(migrate)
  return migrate and function(box)
    local content = migrate(box.old, box.version)
    box.new = content
  end
end

-- k8s.state("seen", { version = 2, init = {}, migrate = function(old, old_version) return {} end, keep = "file" }): the
-- table; without options that of an earlier call. While the script loads only.
return function(name, given)
  local own = options.check("k8s.state", given, OPTIONS)
  local migrate = own.migrate
  local declared, is_new =
    raw.state.declare(name, given ~= nil, own.version, own.init, migrate, runner(migrate), own.keep, sync)
  if is_new then
    plan.add("state", name, plan.text { version = own.version, migrate = migrate, keep = own.keep })
  end
  return declared
end
