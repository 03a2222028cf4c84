-- k8s.selects: whether a selector, as text or as Kubernetes' LabelSelector, selects labels.
local raw = ...

-- A character that would end a value, or begin another requirement, is told here: the text is put together.
local VALUE, KEY = "^[%w._-]*$", "^[%w._/-]+$"
local SETS = { In = " in (", NotIn = " notin (" }
local FLAGS = { Exists = "", DoesNotExist = "!" }

local function is_map(t)
  return type(t) == "table" or raw.view.is(t)
end

local function each(t)
  if raw.view.is(t) then
    return raw.view.pairs(t)
  end
  return pairs(is_map(t) and t or {})
end

-- The first thing that is wrong is kept.
local function check(out, pattern, what, text)
  if type(text) == "string" and string.find(text, pattern) then
    return text
  end
  local shown = type(text) == "string" and '"' .. text .. '"' or tostring(text)
  out.problem = out.problem or string.format("selector: the %s %s is not valid", what, shown)
  return ""
end

local function add_labels(out, labels)
  for key, value in each(labels) do
    out[#out + 1] = check(out, KEY, "key", key) .. "=" .. check(out, VALUE, "value", value)
  end
end

local function add_expression(out, expression)
  local key, operator = check(out, KEY, "key", expression.key), expression.operator
  if FLAGS[operator] then
    out[#out + 1] = FLAGS[operator] .. key
    return
  end
  if not SETS[operator] then
    check(out, "^$", "operator", operator)
    return
  end
  local values = {}
  for _, value in each(expression.values) do
    values[#values + 1] = check(out, VALUE, "value", value)
  end
  if #values == 0 then
    out.problem = out.problem or string.format("selector: %s of %s needs values", operator, key)
  end
  out[#out + 1] = key .. SETS[operator] .. table.concat(values, ",") .. ")"
end

-- { matchLabels =, matchExpressions = } as a Deployment has it, or labels alone as a Service has them.
local function text_of(selector)
  local out = {}
  local labels, expressions = selector.matchLabels, selector.matchExpressions
  if is_map(labels) or is_map(expressions) then
    add_labels(out, labels)
    for _, expression in each(expressions) do
      add_expression(out, is_map(expression) and expression or {})
    end
  else
    add_labels(out, selector)
  end
  table.sort(out)
  return table.concat(out, ","), out.problem
end

-- k8s.selects(selector, labels): a boolean; nil, err for a selector that is none.
return function(selector, labels)
  if not is_map(selector) then
    return raw.selects(selector, labels)
  end
  local text, problem = text_of(selector)
  if problem then
    return raw.bad_selector(problem)
  end
  return raw.selects(text, labels)
end
