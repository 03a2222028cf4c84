-- kubelua test scripts
local test = require "k8s.test"

describe("image_errors.lua", function()
  local function pod(reason)
    return {
      kind = "Pod", metadata = { namespace = "shop", name = "web" },
      status = { containerStatuses = { { name = "c", state = { waiting = { reason = reason } } } } },
    }
  end

  it("reports a pod that comes into the state, and when that is over", function()
    local env = test.load "image_errors.lua"
    env:add(pod "ContainerCreating")
    env:update(pod "ErrImagePull")
    env:update(pod "ImagePullBackOff")
    env:update(pod "ContainerCreating")
    assert.same({
      "no image shop/web: ErrImagePull", "no image shop/web: ImagePullBackOff", "resolved shop/web",
    }, env.prints)
  end)

  it("leaves the system's namespaces alone", function()
    local env = test.load "image_errors.lua"
    local system = pod "ErrImagePull"
    system.metadata.namespace = "kube-system"
    env:add(system)
    assert.not_printed(env)
  end)
end)
