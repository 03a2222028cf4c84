-- `kubelua sim` refuses what a kube-apiserver refuses: the same code, reason, message and causes for bad bodies.
local cjson = require "cjson"
local apiserver = require "spec.support.apiserver"
local await = require "spec.support.await"
local bad_bodies = require "spec.support.bad_bodies"
local cluster = require "spec.support.cluster"
local good_bodies = require "spec.support.good_bodies"

local function outcome(api, path, body)
  local code, text = api:curl("POST", path, body)
  local status = cjson.decode(text)
  if code < 300 then return "accepted" end
  local lines = { ("%d %s: %s"):format(code, status.reason, status.message) }
  for _, cause in ipairs((status.details or {}).causes or {}) do
    lines[#lines + 1] = ("%s %s: %s"):format(cause.reason, cause.field, cause.message)
  end
  return table.concat(lines, "\n")
end

describe("bad bodies", function()
  local real, sim
  setup(function()
    real = apiserver.start()
    sim = cluster.sim()
    for _, api in ipairs { real:api(), sim.api } do
      api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", bad_bodies.crd)
      await(function() return api:curl("GET", bad_bodies.widgets) == 200 end, "widgets are not served", 30)
    end
  end)
  teardown(function()
    cluster.stop_all()
    real:stop()
  end)

  it("are refused as a kube-apiserver does", function()
    local api, others, count = real:api(), {}, 0
    for _, bad in ipairs(bad_bodies.all()) do
      local path = bad.path .. "?dryRun=All&fieldValidation=Strict"
      local expected, got = outcome(api, path, bad.body), outcome(sim.api, path, bad.body)
      assert.are_not.equal("accepted", expected, bad.kind .. " " .. bad.mistake)
      if expected ~= got then
        others[#others + 1] = ("%s %s\nreal %s\nsim  %s"):format(bad.kind, bad.mistake, expected, got)
      end
      count = count + 1
    end
    assert.is_true(count > 40, count)
    assert.are.equal("", table.concat(others, "\n\n"))
  end)

  it("that look alike and are good are accepted", function()
    for _, good in ipairs(good_bodies) do
      for name, api in pairs { real = real:api(), sim = sim.api } do
        assert.are.equal("accepted", outcome(api, good.path .. "?dryRun=All&fieldValidation=Strict", good.body), name)
      end
    end
  end)
end)
