-- Records of what a script under test did: the lists that specs inspect, and the timeline that a failing spec shows.
local raw = ...

local records = {}

function records.new()
  return { requests = {}, writes = {}, events = {}, logs = {}, prints = {}, failures = {} }
end

-- Days since the epoch, by the civil calendar.
local function days(y, m, d)
  y = m <= 2 and y - 1 or y
  local era = math.floor(y / 400)
  local of_era = y - era * 400
  local of_year = math.floor((153 * (m + (m > 2 and -3 or 9)) + 2) / 5) + d - 1
  return era * 146097 + of_era * 365 + math.floor(of_era / 4) - math.floor(of_era / 100) + of_year - 719468
end

function records.epoch(y, mo, d, h, mi, s)
  return days(tonumber(y), tonumber(mo), tonumber(d)) * 86400 + h * 3600 + mi * 60 + s
end

-- --- the timeline

local function add(env, at_ms, text)
  env.timeline[#env.timeline + 1] = { at = at_ms / 1000, text = text }
end

function records.note(env, text)
  add(env, raw.test.elapsed(env.engine), text)
end

local LINE_MAX = 160

local function short(text)
  text = text:gsub("%s*\n%s*", " ")
  return #text > LINE_MAX and text:sub(1, LINE_MAX - 3) .. "..." or text
end

local function as_json(value)
  return value == nil and "" or raw.json.encode(value)
end

-- --- each kind of record

local take = {}

local function error_of(record)
  if record.code < 300 then
    return nil
  end
  local status = record.response or {}
  return { code = record.code, reason = status.reason, message = status.message }
end

local function about_event(record, event)
  local about = event.involvedObject or event.regarding or {}
  return {
    type = event.type,
    reason = event.reason,
    message = event.message or event.note,
    count = event.count,
    kind = about.kind,
    key = about.namespace and about.namespace .. "/" .. about.name or about.name,
    at = record.at_ms / 1000,
  }
end

local function take_event(env, record)
  local response = record.response or {}
  if record.code >= 300 then
    add(env, record.at_ms, short(("event    refused: %s"):format(tostring(response.message))))
    return
  end
  local event = about_event(record, response)
  env.seen.events[#env.seen.events + 1] = event
  add(env, record.at_ms, short(("event    %s %s %s: %s"):format(event.type, event.reason, event.key, event.message)))
end

function take.write(env, record)
  if record.resource == "events" or record.resource == "events.events.k8s.io" then
    return take_event(env, record)
  end
  local response = record.response or {}
  local metadata = type(response.metadata) == "table" and response.metadata or {}
  local body = type(record.body) == "table" and record.body or nil
  local name = record.name or metadata.name or (body and body.metadata and body.metadata.name)
  local write = {
    verb = record.verb,
    cluster = record.cluster,
    kind = record.kind,
    resource = record.resource,
    apiVersion = record.apiVersion,
    namespace = record.namespace,
    name = name,
    key = record.namespace and name and record.namespace .. "/" .. name or name,
    subresource = record.subresource,
    type = record.type,
    body = body,
    dry_run = record.dry_run,
    code = record.code,
    err = error_of(record),
    at = record.at_ms / 1000,
  }
  if write.type == "apply" then
    write.verb = "apply"
  end
  env.seen.writes[#env.seen.writes + 1] = write
  add(env, record.at_ms, records.describe_write(write))
end

function records.describe_write(write)
  local where = write.cluster and write.cluster .. ": " or ""
  local what = write.subresource and write.resource .. "/" .. write.subresource or write.resource
  local outcome = write.err and ("%d %s"):format(write.code, write.err.reason or "") or tostring(write.code)
  local body = as_json(write.body)
  return short(("%-8s %s%s %s -> %s  %s"):format(write.verb, where, what, write.key or "", outcome, body))
end

function take.request(env, record)
  local request = {
    method = record.method,
    url = record.url,
    headers = record.headers,
    body = record.body,
    status = record.status,
    at = record.at_ms / 1000,
  }
  env.seen.requests[#env.seen.requests + 1] = request
  add(env, record.at_ms, records.describe_request(request))
end

function records.describe_request(request)
  local text = ("http     %s %s -> %s  %s"):format(
    request.method, request.url, request.status or "no server responded", request.body or "")
  return short(text)
end

function take.print(env, record)
  env.seen.prints[#env.seen.prints + 1] = record.text
  add(env, record.at_ms, short("print    " .. record.text))
end

-- Lines of the engine itself are in the timeline when something is wrong; those of the script are in env.logs too.
function take.log(env, record)
  local fields = record.fields
  local source = record.line > 0 and record.file .. ":" .. record.line or record.file
  if fields.script then
    local own = {}
    for name, value in pairs(fields) do
      own[name] = name ~= "script" and value or nil
    end
    env.seen.logs[#env.seen.logs + 1] = {
      level = record.level,
      message = record.message,
      fields = own,
      source = source,
      at = record.at_ms / 1000,
    }
  elseif record.level == "info" or record.level == "debug" then
    return
  end
  fields.script = nil
  add(env, record.at_ms, short(("log      %s: %s %s"):format(
    record.level, record.message, next(fields) and as_json(fields) or "")))
end

local ABOUT = {
  "handler", "event", "object", "queue", "key", "timer", "command", "informer", "index", "function", "given",
  "sink",
}

-- "scripts/x.lua:12: boom (handler pods-1, OnAdd shop/web)"
function records.describe_failure(failure)
  local about = {}
  for _, name in ipairs(ABOUT) do
    about[#about + 1] = failure.fields[name] and tostring(failure.fields[name])
  end
  return ("%s\n  in a call of the script: %s %s\n%s"):format(
    failure.error, failure.call, table.concat(about, " "),
    failure.traceback ~= "" and "    " .. failure.traceback:gsub("\n$", ""):gsub("\n", "\n    ") or "")
end

-- Names in the line of a failure, besides the place in the error.
local function subject(fields)
  for _, name in ipairs { "object", "key", "command", "function", "sink" } do
    if fields[name] then
      return " " .. tostring(fields[name])
    end
  end
  return ""
end

function take.failure(env, record)
  local failure = {
    call = record.call,
    error = record.error,
    traceback = record.traceback,
    fields = record.fields,
    at = record.at_ms / 1000,
  }
  failure.fields.script = nil
  env.seen.failures[#env.seen.failures + 1] = failure
  add(env, record.at_ms, short(("FAILED   %s%s: %s"):format(record.call, subject(record.fields), record.error)))
end

function take.main(env, record)
  env.seen.main = { ok = record.result == "ok", code = record.code, at = record.at_ms / 1000 }
  add(env, record.at_ms, ("main     %s, exit code %d"):format(record.result, record.code))
end

-- Takes in the text of a JSON array of records.
function records.take(env, text)
  for _, record in ipairs(assert(raw.json.decode(text))) do
    take[record.what](env, record)
  end
end

-- --- what a failing spec shows

local SHOWN_MAX = 40

function records.describe(env)
  local lines = { ("What happened with %s:"):format(env.path or "no script") }
  local first = math.max(1, #env.timeline - SHOWN_MAX + 1)
  if first > 1 then
    lines[2] = ("             ... %d before"):format(first - 1)
  end
  for i = first, #env.timeline do
    lines[#lines + 1] = ("  %9.3fs  %s"):format(env.timeline[i].at, env.timeline[i].text)
  end
  for _, text in ipairs(require("k8s.test.faults").unmet(env)) do
    lines[#lines + 1] = "  " .. text
  end
  return table.concat(lines, "\n")
end

local START = 1767225600 -- 2026-01-01T00:00:00Z

-- The option `now` of test.load in seconds.
function records.begin(now)
  if type(now) == "string" then
    local y, mo, d, h, mi, s = now:match "^(%d+)%-(%d+)%-(%d+)T(%d+):(%d+):(%d+)Z$"
    if not y then
      raw.raise('test.load: now must be seconds or a time such as "2026-01-31T12:00:00Z", not "' .. now .. '"')
    end
    return records.epoch(y, mo, d, h, mi, s)
  end
  return now or START
end

return records
