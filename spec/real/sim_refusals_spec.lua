-- The simulator refuses as a real server does, with the same words: bodies of many kinds (spec/support/refused).
local both_servers = require "spec.support.both_servers"
local refusals = require "spec.support.refusals"

-- Of each file: how many creates are refused and taken at least, and how many patches.
local files = {
  jobs = { 60, 30, 6, 2 },
  classes = { 30, 12, 10, 4 },
  events = { 21, 7, 9, 2 },
  ingresses = { 35, 15, 3, 1 },
  limits = { 75, 12, 6, 0 },
  nodes = { 44, 60, 7, 3 },
  policies = { 60, 10, 8, 3 },
  slices = { 70, 15, 5, 1 },
  volumes = { 55, 10, 3, 2 },
}

describe("the simulator as a real server", function()
  local both = both_servers.begin(setup, teardown)

  for name, least in pairs(files) do
    it("refuses bad " .. name, function()
      local creates, patches = refusals.compare(both, require("spec.support.refused." .. name))
      local counts = { creates.refused, creates.taken, patches.refused, patches.taken }
      for i, n in ipairs(least) do assert.is_true(counts[i] >= n, table.concat(counts, " ")) end
    end)
  end
end)
