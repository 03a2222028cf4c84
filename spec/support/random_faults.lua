-- Faults of a simulated server, drawn at random for its scenarios.
local random_faults = {}

-- A generator of its own for each run; Lua's is shared. The lower bits of such a generator are poor.
function random_faults.dice_of(number)
  local state = number % 2147483647 + 1
  return function(from, to)
    state = state * 48271 % 2147483647
    return from + math.floor(state / 2147483647 * (to - from + 1))
  end
end

function random_faults.every(ms) return ms .. "ms" end
local every = random_faults.every

-- Faults that a stream survives, and faults that end a cycle and costs a delay that doubles each time.
local quiet = { "cut", "half-line", "end", "reset", "close", "pause", "silence", "no-metadata" }
local loud = { "error-event", "invalid-json", "unknown-type" }
local codes = { 403, 410, 429, 500, 503, 504 }

-- Returns a step of a scenario, for streams and lists of the resource or for the whole server.
function random_faults.fault(dice, resource)
  local kind = dice(1, 10)
  if kind <= 5 then
    return { ["do"] = "inject", resource = resource, what = quiet[dice(1, #quiet)], after = dice(0, 3),
      ["for"] = every(dice(100, 1500)) }
  elseif kind == 6 then
    return { ["do"] = "inject", resource = resource, what = loud[dice(1, #loud)], after = dice(0, 3),
      code = codes[dice(1, #codes)] }
  elseif kind == 7 then
    return { ["do"] = "fault", resource = resource, verb = dice(1, 2) == 1 and "list" or "watch", what = "status",
      code = codes[dice(1, #codes)], retry_after = dice(0, 1) }
  elseif kind == 8 then
    return { ["do"] = "fault", resource = resource, verb = "list", what = quiet[dice(1, #quiet)], after = dice(0, 9),
      ["for"] = every(dice(100, 1500)) }
  end
  local worst = { { ["do"] = "expire" }, { ["do"] = "compact" }, { ["do"] = "end-watches" },
    { ["do"] = "refuse", ["for"] = every(dice(100, 800)) } }
  return worst[dice(1, #worst)]
end

return random_faults
