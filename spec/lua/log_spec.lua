local new_loader = require "spec.lua.support.load"
local raw_verbs = require "spec.lua.support.raw"

describe("k8s.log", function()
  it("has a function for each level, in the engine's order", function()
    local record = {}
    local log = new_loader(raw_verbs.new(record))("k8s.log")
    for number, level in ipairs { "debug", "info", "warn", "error" } do
      log[level]("message", { key = 1 })
      assert.same({ number - 1, "message", { key = 1 } }, record.logged)
    end
  end)
end)
