-- kubelua test scripts
local test = require "k8s.test"

describe("by_label.lua", function()
  it("counts the pods of each question", function()
    local function pod(name, tier) return { kind = "Pod", metadata = { name = name, labels = { tier = tier } } } end
    local env = test.load("by_label.lua", { objects = { pod("a", "api"), pod("b", "web"), pod "c" } })
    assert.printed(env, "^tier=api +1   default/a$", true)
    assert.printed(env, "^tier in %(web, worker%) +1   default/b$", true)
    assert.printed(env, "^!tier +1   default/c$", true)
  end)
end)
