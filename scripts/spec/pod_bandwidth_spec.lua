-- kubelua test scripts
local test = require "k8s.test"

describe("pod_bandwidth.lua", function()
  local RATE = { "kubernetes.io/ingress-bandwidth", "kubernetes.io/egress-bandwidth" }

  local function pod(bandwidth)
    return { kind = "Pod", metadata = { name = "web", labels = { bandwidth = bandwidth } } }
  end

  local function rates(env)
    local annotations = env:get("pods", "default/web").metadata.annotations or {}
    return { annotations[RATE[1]], annotations[RATE[2]] }
  end

  it("annotates pods as their label wants it", function()
    local env = test.load "pod_bandwidth.lua"
    env:add(pod "gold")
    assert.same({ "1G", "1G" }, rates(env))
    assert.printed(env, "default/web gets gold")
    env:patch("pods", "default/web", { metadata = { labels = { bandwidth = "bronze" } } })
    assert.same({ "10M", "10M" }, rates(env))
  end)

  it("tries again after a conflict", function()
    local env = test.load "pod_bandwidth.lua"
    env:fault { verb = "patch", kind = "pods", code = 409 }
    env:add(pod "silver")
    env:advance "1s"
    assert.equal(409, env.writes[1].code)
    assert.same({ "100M", "100M" }, rates(env))
  end)

  it("writes nothing while another process leads", function()
    local env = test.load "pod_bandwidth.lua"
    env:lead(false)
    env:add(pod "gold")
    env:advance "1m"
    assert.not_wrote(env)
    env:lead(true)
    assert.wrote(env, { verb = "patch", kind = "pods" })
  end)
end)
