-- Programs of other clients (spec/clients/), unchanged, on the simulator as on a kube-apiserver.
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local scenarios = { "typed", "informers", "dynamic", "election", "controller" }

-- Its output when all of it works.
local function expected()
  local lines = {}
  for i, name in ipairs(scenarios) do lines[i] = "ok " .. name end
  return table.concat(lines, "\n") .. "\n"
end

describe("client-go", function()
  it("works on the simulator, over HTTP and over TLS, with every user in a role", function()
    for _, flags in ipairs { "", "--tls", "--authorization rbac" } do
      local out, code = temp.run(("%s sim %s -- build/real/client-go 2>/dev/null"):format(cluster.binary, flags))
      assert.are.equal(expected(), out, flags)
      assert.are.equal(0, code)
    end
  end)

  it("works on a kube-apiserver", function()
    local server = apiserver.start()
    local out, code = temp.run(("KUBECONFIG=%s build/real/client-go 2>/dev/null"):format(server.kubeconfig))
    server:stop()
    assert.are.equal(expected(), out)
    assert.are.equal(0, code)
  end)
end)
