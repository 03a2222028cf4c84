-- Answers that the cluster of a spec has from servers behind it: env:raw and env:pod_log.
local raw = ...

local options = require "k8s.options"
local pod_ref = require "k8s.pod_ref"

local RAW = { path = "string", status = "number", body = "table or path" }

-- env:raw { path =, status = 200, body = }: from now on that is the response to k8s.raw of this path; a table is sent
-- as JSON, an error as a Status.
local function answer_raw(env, given)
  local own = options.check("env:raw", given, RAW)
  local status = own.status or 200
  if not own.path then
    raw.raise "env:raw: path is missing"
  elseif status < 200 or status > 599 or status ~= math.floor(status) then
    raw.raise "env:raw: status must be a whole number from 200 to 599"
  end
  local is_json = type(own.body) == "table"
  local body = is_json and raw.json.encode(own.body) or own.body or ""
  raw.test.answer(env.engine, own.path, status, body, is_json, false)
  return own.path
end

local LOG = { container = "string", previous = "boolean" }

-- env:pod_log(pod, text or lines, { container =, previous = }): from now on that is the log of its containers, or of
-- one.
local function answer_log(env, pod, text, given)
  local own = options.check("env:pod_log", given, LOG)
  local namespace, name = pod_ref("env:pod_log", pod)
  if type(text) == "table" then
    text = #text > 0 and table.concat(text, "\n") .. "\n" or ""
  elseif type(text) ~= "string" then
    raw.raise("env:pod_log: expected a text or an array of lines, not " .. type(text))
  end
  local path = string.format("/api/v1/namespaces/%s/pods/%s/log", namespace, name)
  raw.test.answer(env.engine, path, 200, text, false, true, own.container, own.previous)
  return namespace .. "/" .. name
end

-- Adds both to the methods of environments, which note them.
return function(methods, note)
  function methods:raw(given)
    note(self, "answers  GET %s", answer_raw(self, given))
  end

  function methods:pod_log(pod, text, given)
    note(self, "log of   %s", answer_log(self, pod, text, given))
  end
end
