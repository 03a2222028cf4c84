-- kubelua test scripts
local test = require "k8s.test"

describe("custom_resources.lua", function()
  local function crontab(schedule)
    return {
      apiVersion = "stable.example.com/v1", kind = "CronTab", metadata = { name = "report" },
      spec = { cronSpec = schedule },
    }
  end

  it("begins when the kind comes, and follows its objects", function()
    local env = test.load "custom_resources.lua"
    assert.is_false(env:status().synced)
    env:kind { kind = "CronTab", plural = "crontabs", group = "stable.example.com" }
    env:advance "10s"
    env:add(crontab "* * * * */5")
    env:update(crontab "0 0 * * *")
    env:delete(crontab())
    assert.same({
      "CronTab default/report: runs * * * * */5",
      "CronTab default/report: ran * * * * */5, now runs 0 0 * * *",
      "CronTab default/report: gone",
    }, env.prints)
  end)
end)
