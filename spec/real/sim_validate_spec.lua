-- `kubelua sim` refuses what a kube-apiserver refuses: the same code, reason, message and causes for bad bodies.
local cjson = require "cjson"
local apiserver = require "spec.support.apiserver"
local await = require "spec.support.await"
local bad_bodies = require "spec.support.bad_bodies"
local cluster = require "spec.support.cluster"
local good_bodies = require "spec.support.good_bodies"
local temp = require "spec.support.temp"

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
      if expected == "accepted" or expected ~= got then
        others[#others + 1] = ("%s %s\nreal %s\nsim  %s"):format(bad.kind, bad.mistake, expected, got)
      end
      count = count + 1
    end
    assert.is_true(count > 40, count)
    assert.are.equal("", table.concat(others, "\n\n"))
  end)

  it("are too large where their data is", function()
    local file = temp.name()
    for kind, data in pairs { ConfigMap = ("a"):rep(1024 * 1024 + 1), Secret = ("QUFB"):rep(349526) } do
      local metadata = { name = "large" }
      temp.write(file, cjson.encode { apiVersion = "v1", kind = kind, metadata = metadata, data = { a = data } })
      local path = ("/api/v1/namespaces/default/%ss"):format(kind:lower())
      local expected = outcome(real:api(), path, "@" .. file)
      assert.are_not.equal("accepted", expected)
      assert.are.equal(expected, outcome(sim.api, path, "@" .. file))
    end
    os.remove(file)
  end)

  it("of a status are refused, too", function()
    local deployment = { apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "status" },
      spec = { selector = { matchLabels = { a = "b" } }, template = { metadata = { labels = { a = "b" } },
        spec = { containers = { { name = "c", image = "i" } } } } } }
    local path = "/apis/apps/v1/namespaces/default/deployments"
    for _, status in ipairs { { replicas = -1 }, { replicas = 1, readyReplicas = 2 }, { unavailableReplicas = -1 },
      { replicas = 2, readyReplicas = 1, availableReplicas = 2 } } do
      local answers = {}
      for name, api in pairs { real = real:api(), sim = sim.api } do
        if api:curl("GET", path .. "/status") ~= 200 then api:create(path, cjson.encode(deployment)) end
        local body = cjson.decode(cjson.encode(deployment))
        body.status = status
        local code, text = api:curl("PUT", path .. "/status/status", cjson.encode(body))
        answers[name] = tostring(code) .. cjson.decode(text).message
      end
      assert.are.equal(answers.real, answers.sim)
      assert.is_truthy(answers.sim:find "^422")
    end
  end)

  it("that look alike and are good are accepted", function()
    local others = {}
    for _, good in ipairs(good_bodies) do
      for name, api in pairs { real = real:api(), sim = sim.api } do
        local got = outcome(api, good.path .. "?dryRun=All&fieldValidation=Strict", good.body)
        if got ~= "accepted" then others[#others + 1] = ("%s %s\n%s"):format(name, good.body, got) end
      end
    end
    assert.are.equal("", table.concat(others, "\n\n"))
  end)
end)
