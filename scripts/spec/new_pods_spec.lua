-- kubelua test scripts
local test = require "k8s.test"

describe("new_pods.lua", function()
  local function pod(name)
    return { kind = "Pod", metadata = { name = name }, spec = { containers = { { name = "main", image = "web:1" } } } }
  end

  it("reports new pods, and of none twice when it is edited", function()
    local env = test.load("new_pods.lua", { objects = { pod "old" } })
    env:add(pod "a")
    local done = assert(env:reload(function(text) return (text:gsub("new: ", "NEW: ")) end))
    assert.equal(1, done.handlers_kept)
    env:add(pod "b")
    assert.same({ "new: default/a runs web:1 (1 so far)", "NEW: default/b runs web:1 (2 so far)" }, env.prints)
  end)

  it("would report all pods again without k8s.on_reload", function()
    local env = test.load("new_pods.lua", { objects = { pod "old" } })
    local done = assert(env:reload(function(text)
      return (text:gsub('k8s.on_reload %b{}', ""):gsub("if not ev.initial", "if true"))
    end))
    assert.equal(1, done.handlers_added)
    assert.printed(env, "new: default/old runs web:1 (1 so far)")
  end)
end)
