-- The hostile scripts of spec/support/hostile, for specs that run them beside a healthy one. Each file begins with
-- `-- Ended by LIMIT: how it attacks`; most attack when they are told of a configmap `go` in `default`.
local hostile = {}

-- What the error of a script says that is ended by a limit.
local TEXTS = {
  stack = "stack overflow",
  timers = "over the limit timers (10000)",
  tasks = "over the limit tasks (100)",
  writes = "k8s.patch: over the limit writes (20 per minute)",
  ["print-buffer"] = "",
  ["log-lines"] = "limit log-lines exceeded",
  ["handler-cpu"] = "over the limit handler-cpu (50ms) in the ",
  ["filter-cpu"] = "over the limit filter-cpu (5ms) in the filter of attack",
  ["main-cpu"] = "over the limit main-cpu (1s) in main",
  ["load-cpu"] = "over the limit load-cpu (500ms) in the load phase",
  ["script-memory"] = "over the limit script-memory (8Mi) in the handler attack",
}

-- All of them, by name: { name, path, limit, how, text }.
function hostile.all()
  local list = {}
  for path in io.popen("ls spec/support/hostile/*.lua"):lines() do
    local file = assert(io.open(path))
    local limit, how = assert(file:read "*l", path):match "^%-%- Ended by ([%a-]+): (.*)$"
    file:close()
    list[#list + 1] = { name = path:match "([%w_]+)%.lua$", path = path, limit = limit, how = how, text = TEXTS[limit] }
    assert(list[#list].text, path)
  end
  return list
end

return hostile
