-- Why a reload would refuse a file that loads: what of the take-over's checks can be told from plans. What cannot:
-- whether the server has its kinds, whether its informers sync in time, and what `migrate` does.
local detail = require "tool.plan.detail"

local refusal = {}

-- One whose texts are those that run is not loaded by a reload.
local function would_load(file) return not file.error and (not file.other or file.other.sources ~= file.sources) end

-- Calls `fn` for each entry of a class until it returns something, which is returned.
local function first(plan, class, fn)
  for _, entry in ipairs(plan or {}) do
    local found = entry.class == class and fn(entry)
    if found then return found end
  end
end

-- --- states

local function version_of(state) return tonumber(detail.field(state.detail, "version")) or 1 end

-- A state must have the version that runs, or a `migrate`.
local function check_states(file, loaded)
  return file.other and first(file.plan, "state", function(state)
    return first(file.other.plan, "state", function(old)
      if old.key ~= state.key or version_of(old) == version_of(state) or detail.field(state.detail, "migrate") then
        return nil
      end
      return loaded:reject_version(file.number, state.key, version_of(old), version_of(state))
    end)
  end)
end

-- --- metrics

local KINDS = { ['"histogram"'] = "histogram", ['"gauge"'] = "gauge" }

local function kind_of(metric) return KINDS[detail.field(metric.detail, "kind")] or "counter" end

-- The first clash with another script: that runs, even if it is to change too, as both are loaded before either takes
-- over; or that an earlier file is to make.
local function first_clash(file, running, files, clash)
  for _, script in ipairs(running) do
    local why = script ~= file.other and clash(script)
    if why then return why end
  end
  for i = 1, file.number - 1 do
    local why = not files[i].error and clash(files[i])
    if why then return why end
  end
end

local function check_metrics(file, loaded, running, files)
  return first(file.plan, "metric", function(metric)
    return first_clash(file, running, files, function(script)
      return first(script.plan, "metric", function(other)
        if other.key == metric.key and other.detail == metric.detail then return nil end
        return loaded:metric_clash(file.number, metric.key, kind_of(metric), other.key, kind_of(other), script.name)
      end)
    end)
  end)
end

-- --- webhooks

-- In the words of a reload.
local function check_webhooks(file, _, running, files)
  return first(file.plan, "webhook", function(hook)
    return first_clash(file, running, files, function(script)
      return first(script.plan, "webhook", function(other)
        local at = hook.file and ("%s:%d"):format(hook.file, hook.line) or file.path
        return other.key == hook.key
          and ('%s: k8s.webhook: the path "%s" is that of a webhook of %s'):format(at, hook.key, script.path)
      end)
    end)
  end)
end

-- --- parameters of rules

local function has(list, name)
  for _, one in ipairs(list) do
    if one == name then return true end
  end
  return false
end

-- By a file, or by a script for which no file stands.
local function will_be_taken(param, loaded, files)
  local replaced = {}
  for _, file in ipairs(files) do
    if not file.error and loaded:takes(file.number, param) then return true end
    if not file.error and file.other then replaced[file.other.name] = true end
  end
  for _, name in ipairs(param.scripts) do
    if not replaced[name] then return true end
  end
  return false
end

-- A parameter that an operator gave must stay one of a rule.
local function check_params(file, loaded, _, files, params)
  for _, param in ipairs(file.other and params or {}) do
    if has(param.scripts, file.other.name) and not will_be_taken(param, loaded, files) then
      return file.path .. ": " .. loaded:reject_param(param)
    end
  end
end

-- Sets the errors. States come before metrics: a refused file makes no metrics.
function refusal.find(loaded, running, files, params)
  for _, check in ipairs { check_states, check_metrics, check_webhooks, check_params } do
    for _, file in ipairs(files) do
      if would_load(file) then file.error = check(file, loaded, running, files, params) or nil end
    end
  end
end

return refusal
