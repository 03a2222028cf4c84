-- kubelua test scripts
local test = require "k8s.test"

describe("image_events.lua", function()
  local function pod(reason)
    return {
      kind = "Pod", metadata = { namespace = "shop", name = "web" },
      status = { containerStatuses = { { name = "c", state = { waiting = { reason = reason } } } } },
    }
  end

  it("has the pod report which container it is", function()
    local env = test.load "image_events.lua"
    env:add(pod "ErrImagePull")
    assert.sent_event(env, {
      key = "shop/web", type = "Warning", reason = "NoImage", message = "container c: ErrImagePull",
    })
    assert.printed(env, "told of shop/web")
  end)

  it("is silent about others", function()
    local env = test.load "image_events.lua"
    env:add(pod "CrashLoopBackOff")
    assert.not_sent_event(env)
  end)
end)
