-- `kubelua sim` warns of all that a kube-apiserver warns of, in its order.
local both_servers = require "spec.support.both_servers"
local cjson = require "cjson"
local temp = require "spec.support.temp"
local warned_bodies = require "spec.support.warned_bodies"

-- The code and the warnings of the answer.
local function warnings(api, method, path, body)
  local file = temp.name()
  temp.write(file, body)
  local access = api.ca and ("--cacert %s --cert %s --key %s"):format(api.ca, api.cert, api.key) or ""
  local output = temp.run(("curl --silent --include --request %s --header 'Content-Type: application/json' %s "
    .. "--data @%s '%s%s'"):format(method, access, file, api.server, path))
  os.remove(file)
  local lines = { output:match "^HTTP/%S+ (%d+)" }
  for warning in output:gmatch "[Ww]arning: ([^\r\n]+)" do lines[#lines + 1] = warning end
  return lines
end

describe("the simulator", function()
  local both = both_servers.begin(setup, teardown)

  local function same(method, path, body, least)
    local expected = warnings(both.real:api(), method, path, body)
    assert.are.same(expected, warnings(both.sim.api, method, path, body), body)
    assert.is_true(#expected > (least or 0), table.concat(expected, "\n"))
    return expected
  end

  it("warns as a server does of new objects", function()
    local count = 0
    for _, one in ipairs(warned_bodies) do
      local answer = same("POST", one.path .. "?dryRun=All", one.body)
      assert.not_equal("400", answer[1], one.body)
      count = count + #answer - 1
    end
    assert.is_true(count > 120, count)
  end)

  it("warns of a changed template, and of no other update", function()
    local changed = {}
    for _, one in ipairs(warned_bodies) do
      local object = cjson.decode(one.body)
      local kind = object.kind
      if object.spec and kind ~= "PersistentVolume" and not changed[kind] and one.body:find "GracePeriod" then
        changed[kind] = true
        same("POST", one.path, one.body)
        object.metadata.labels = { new = "label" }
        object.metadata.annotations = { a = "b" }
        local path = one.path .. "/" .. object.metadata.name
        same("PUT", path, cjson.encode(object))
        local template = (object.spec.jobTemplate or object).spec.template
        if kind ~= "Job" and template then template.metadata.annotations = { a = "b" } end
        if kind == "Job" then object.spec.parallelism = 10002 end
        same("PUT", path, cjson.encode(object))
      end
    end
    assert.is_truthy(changed.Deployment and changed.CronJob and changed.StatefulSet and changed.DaemonSet)
  end)
end)
