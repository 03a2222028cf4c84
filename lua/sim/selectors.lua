-- Label and field selectors as a server reads them, and words what is wrong with them (contract X-1, X-3, X-6). Results
-- are lists: of false and a message, or of true and the requirements, maps of key, op and values.
local json = require "sim.json"

local selectors = {}

local function fail(...) error({ text = string.format(...) }, 0) end

local function requirement(key, op, values)
  return json.object("key", key, "op", op, "values", values or {})
end

-- Calls `read`, which raises by fail.
local function result_of(read, ...)
  local ok, result = pcall(read, ...)
  if not ok and type(result) ~= "table" then error(result, 0) end
  return ok and { true, result } or { false, result.text }
end

-- --- words of label selectors

local signs = { "!=", "==", "=", "!", "(", ")", ",", ">", "<" }

-- Returns the next word or sign from a place on, whether it is a word, and the place behind it; "" at the end. Signs
-- are read as long as they make a longer one, so "!==" is "!=" and "=".
local function next_token(text, from)
  local start = text:match("^[ \t\r\n]*()", from)
  for _, sign in ipairs(signs) do
    if text:sub(start, start + #sign - 1) == sign then return sign, false, start + #sign end
  end
  local word, behind = text:match("^([^ \t\r\n=!(),><]*)()", start)
  return word, word ~= "", behind
end

local Parser = {}
Parser.__index = Parser

-- Takes the next token; `text` and `is_word` are then those of the one behind it.
function Parser:take()
  local text, is_word = self.text, self.is_word
  self.text, self.is_word, self.at = next_token(self.source, self.at)
  return text, is_word
end

local function add_value(values, value)
  for _, known in ipairs(values) do
    if known == value then return end
  end
  values[#values + 1] = value
end

-- Behind the opening parenthesis, up to and with the closing one.
local function read_values(p, values)
  if p.text == ")" then add_value(values, "") end
  while p.text ~= ")" do
    local token, is_word = p:take()
    if is_word then
      add_value(values, token)
      if p.text ~= "," and p.text ~= ")" then fail("found '%s', expected: ',' or ')'", p.text) end
    elseif token == "," then
      -- A comma without a word on one side means an empty value.
      if #values == 0 or p.text == "," or p.text == ")" then add_value(values, "") end
    else
      fail("found '%s', expected: ',', or identifier", token)
    end
  end
  p:take()
end

local function read_set(p, values)
  local token = p:take()
  if token ~= "(" then fail("found '%s' expected: '('", token) end
  if not p.is_word and p.text ~= "," and p.text ~= ")" then
    fail("found '%s', expected: ',', ')' or identifier", p.text)
  end
  read_values(p, values)
end

local function read_exact(p, values)
  if p.text == "" or p.text == "," then
    values[1] = ""
    return
  end
  local token, is_word = p:take()
  if not is_word then fail("found '%s', expected: identifier", token) end
  values[1] = token
end

local restrictions = {
  ["in"] = { "In", read_set }, ["notin"] = { "NotIn", read_set }, ["="] = { "In", read_exact },
  ["=="] = { "In", read_exact }, ["!="] = { "NotIn", read_exact }, [">"] = { "Greater", read_exact },
  ["<"] = { "Less", read_exact },
}

-- Reports all mistakes at once, in the order of the values.
local function check_values(key, op, values, checks)
  local all = {}
  table.sort(values)
  if (op == "Greater" or op == "Less") and not checks.is_integer(values[1]) then
    all[1] = string.format("values[0]: Invalid value: \"%s\": for 'Gt', 'Lt' operators, the value must be an integer",
      values[1])
  end
  for i, value in ipairs(values) do
    local problem = checks.value_problem(value)
    if problem then
      all[#all + 1] = string.format('values[%d][%s]: Invalid value: "%s": %s', i - 1, key, value, problem)
    end
  end
  if #all > 0 then fail(#all > 1 and "[%s]" or "%s", table.concat(all, ", ")) end
end

-- `in` and `notin` are words, too, where no sign is expected.
local function read_requirement(p, checks)
  local key, is_word = p:take()
  local negated, values = key == "!", {}
  if negated then key, is_word = p:take() end
  if not is_word then fail("found '%s', expected: identifier", key) end
  local problem = checks.key_problem(key)
  if problem then fail('<nil>: Invalid value: "%s": %s', key, problem) end
  if negated then return requirement(key, "Absent") end
  if p.text == "" or p.text == "," then return requirement(key, "Exists") end
  local sign = p:take()
  local restriction = restrictions[sign]
  if not restriction then fail("found '%s', expected: in, notin, =, ==, !=, gt, lt", sign) end
  restriction[2](p, values)
  check_values(key, restriction[1], values, checks)
  return requirement(key, restriction[1], values)
end

local function read_labels(source, checks)
  local p, all = setmetatable({ source = source, at = 1 }, Parser), {}
  p:take()
  while p.text ~= "" do
    if not p.is_word and p.text ~= "!" then
      fail("found '%s', expected: !, identifier, or 'end of string'", p.text)
    end
    local ok, result = pcall(read_requirement, p, checks)
    if not ok and type(result) ~= "table" then error(result, 0) end
    if not ok then fail("unable to parse requirement: %s", result.text) end
    all[#all + 1] = result
    local token = p:take()
    if token == "" then break end
    if token ~= "," then fail("found '%s', expected: ',' or 'end of string'", token) end
    if not p.is_word and p.text ~= "!" then fail("found '%s', expected: identifier after ','", p.text) end
  end
  return all
end

-- The checks are functions of C: they give a problem or nil, `is_integer` whether a text is an integer of 64 bits.
function selectors.labels(source, key_problem, value_problem, is_integer)
  return result_of(read_labels, source,
    { key_problem = key_problem, value_problem = value_problem, is_integer = is_integer })
end

-- --- field selectors: terms joined by commas, with backslashes before commas, equal signs and themselves

-- The terms, sorted, as the server checks them in this order.
local function split(source)
  local terms, from, n = {}, 1, 1
  while from <= #source do
    while n <= #source and source:sub(n, n) ~= "," do
      n = n + (source:sub(n, n) == "\\" and n < #source and 2 or 1)
    end
    terms[#terms + 1] = source:sub(from, n - 1)
    from, n = n + 1, n + 1
  end
  table.sort(terms)
  return terms
end

local function unescape(value)
  local out, i = {}, 1
  while i <= #value do
    local c = value:sub(i, i)
    if c == "=" or c == "," then
      fail("invalid field selector: unescaped character in value: %d", c:byte())
    elseif c == "\\" then
      i = i + 1
      c = value:sub(i, i)
      if not c:find "[\\,=]" then fail("invalid field selector: invalid escape sequence: \\%s", c) end
    end
    out[#out + 1], i = c, i + 1
  end
  return table.concat(out)
end

-- Kinds with labels of their own have one response to an unknown one, the rest (but custom kinds) another.
local function check_label(label, kind)
  local own, custom = json.at(kind, "labels"), json.at(kind, "custom")
  if label == "metadata.name" then return end
  for _, known in json.each(own) do
    if known == label then return end
  end
  if label == "metadata.namespace" and (json.at(kind, "namespaced") or not (own or custom)) then return end
  if json.text(kind, "type") == "batch/v1.Job" then fail('field label "%s" not supported for Job', label) end
  if own or custom then fail("field label not supported: %s", label) end
  fail('"%s" is not a known field selector: only "metadata.name", "metadata.namespace"', label)
end

local function read_term(source, term, kind)
  local from, to, sign = term:find "(!?=)"
  if not from then fail("invalid selector: '%s'; can't understand '%s'", source, term) end
  local label, equal = term:sub(1, from - 1), sign == "="
  local value = unescape(term:sub(equal and term:sub(to + 1, to + 1) == "=" and to + 2 or to + 1))
  -- Old clients call the node of a pod "spec.host".
  if json.text(kind, "type") == "core/v1.Pod" and label == "spec.host" then label = "spec.nodeName" end
  if equal and label == "" and value == "" then return end -- "=" requires nothing
  check_label(label, kind)
  return requirement(label, equal and "In" or "NotIn", { value })
end

local function read_fields(source, kind)
  local all = {}
  for _, term in ipairs(split(source)) do
    if term ~= "" then all[#all + 1] = read_term(source, term, kind) end
  end
  return all
end

-- `kind` has the labels that it knows besides metadata.name and metadata.namespace.
function selectors.fields(source, kind) return result_of(read_fields, source, kind) end

return selectors
