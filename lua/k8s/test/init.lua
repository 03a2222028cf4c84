-- `require "k8s.test"` in a spec: loads a script against a cluster in memory, on a clock that stands still.
local raw = ...

local env = require "k8s.test.env"
local options = require "k8s.options"
local place = require "k8s.test.place"
local states = require "k8s.test.states"
require "k8s.test.assertions"

local test = {}

local OPTIONS = {
  objects = "table or path",
  recording = "string",
  namespace = "string",
  now = "time",
  leader_elect = "boolean",
  clusters = "table",
  limits = "table",
  params = "table",
  failures = "string",
  stored = "table",
}

-- test.new { objects =, namespace =, now =, leader_elect =, params =, failures = "raise" or "collect", stored = }: a
-- cluster without a script; env:load loads it.
function test.new(given)
  return env.open(options.check("test.new", given, OPTIONS), place.folder())
end

-- test.load(path, options): a cluster with the script at that path, which has synced. The path begins at the folder
-- that is tested: that of the spec, or the one above when that is called `spec`.
function test.load(path, given)
  local checked = options.check("test.load", given, OPTIONS)
  if type(path) ~= "string" then
    raw.raise("test.load: path must be a string, not " .. type(path))
  end
  local made = env.open(checked, place.folder())
  made:load(path)
  states.check(made)
  return env.check_params(made)
end

return test
