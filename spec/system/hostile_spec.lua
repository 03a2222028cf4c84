-- Scripts that misbehave end with an error that names the script, its line and the limit, while the engine goes on:
-- each of spec/support/attacks alone beside a neighbour with 100 updates a second. KUBELUA_HOSTILE_SECONDS is how long
-- (2); KUBELUA_HOSTILE chooses scripts by a pattern.
local cluster = require "spec.support.cluster"
local attacks = require "spec.support.attacks"

local seconds = tonumber(os.getenv "KUBELUA_HOSTILE_SECONDS") or 2
local chosen = os.getenv "KUBELUA_HOSTILE" or "."
local tells = os.getenv "KUBELUA_HOSTILE_SECONDS" ~= nil
local sanitizer = (os.getenv "KUBELUA_PRESET" or "release") ~= "release"

-- Of the 3,000 updates of a full run 1 % may be late; in a short one as many calls are over their limit.
local function late_at_most(updates) return math.max(updates, 3000) / 100 end

-- A machine that is busy with something else is late now and then: one more try.
local function on_time(run, script)
  local result = run(script, seconds)
  local good = result.max < 200 and result.slow <= late_at_most(result.updates)
  if good then return result end
  cluster.stop_all()
  return run(script, seconds)
end

local fails_to_load = { loop_load = true, flood_informers = true }

describe("a hostile script", function()
  after_each(cluster.stop_all)

  for _, script in ipairs(attacks.list()) do
    if script.name:find(chosen) and fails_to_load[script.name] then
      it(script.name .. ": " .. script.what, function()
        local result = attacks.load(script)
        assert.is_truthy(result.error, result.report)
        assert.is_true(result.code ~= 0 and result.code < 128, result.report)
        if not sanitizer then assert.is_true(result.seconds < 2, result.report) end
      end)
    elseif script.name:find(chosen) then
      it(script.name .. ": " .. script.what, function()
        local result = sanitizer and attacks.run(script, seconds) or on_time(attacks.run, script)
        local figures = ("%d updates, p50 %d ms, p99 %d ms, most %d ms, %d over 60 ms%s"):format(result.updates,
          result.p50, result.p99, result.max, result.slow, result.report)
        if tells then print("\n" .. script.name, figures:match "^[^\n]+", result.error) end
        assert.is_truthy(result.error, "no error as expected" .. result.report)
        assert.are.equal(0, result.unhealthy, "/healthz was not answered" .. result.report)
        assert.is_true(result.renewed and result.kept, "the lease was not kept" .. result.report)
        assert.are.equal(0, result.code, result.report)
        if not sanitizer then
          assert.is_true(result.updates >= seconds * 90, figures)
          local in_main = script.name == "loop_main" -- one stall of its budget, and 100 ms
          assert.is_true(result.slow <= late_at_most(result.updates) + (in_main and 110 or 0), figures)
          assert.is_true(result.max < (in_main and 1100 or 200), figures)
        end
      end)
    end
  end
end)
