-- k8s.webhook: functions of a script that other programs call by HTTPS.
local raw = ...

local options = require "k8s.options"
local plan = require "k8s.plan"

raw.webhook.runner(require "k8s.webhook_call")

local OPTIONS = {
  path = "string",
  fn = "function",
  token = "text or function",
  signature = "table",
  public = "boolean",
  methods = "table",
  max_body = "number or quantity",
  timeout = "duration",
  leader = "boolean",
}
local SIGNATURE = { header = "string", secret = "text or function", algorithm = "string" }

-- Texts of secrets are not part of the plan.
local SECRETS = { path = true, token = true, signature = true }

local function methods_of(own)
  if own.methods == nil then
    return "POST"
  end
  local names = {}
  options.each_text("k8s.webhook: methods", own.methods, function(name)
    if type(name) ~= "string" then
      raw.raise("k8s.webhook: methods must be an array of strings, not of " .. type(name))
    end
    names[#names + 1] = name
  end)
  if #names == 0 then
    raw.raise "k8s.webhook: methods is empty"
  end
  return table.concat(names, ",")
end

-- An empty secret admits everybody who sends an empty one. Where values of parameters are not known, it may be one.
local function check_secret(name, secret)
  if secret == "" and not raw.params.may_lack() then
    raw.raise("k8s.webhook: " .. name .. " must not be empty")
  end
end

-- ": the setting token has no value": an optional one that is not set reads as nil, as if nothing was written.
local function lacking()
  local names = require("k8s.params").unset_secrets()
  if not names[1] then
    return ""
  end
  local what = names[2] and ": the settings %s have no value" or ": the setting %s has no value"
  return string.format(what, table.concat(names, ", "))
end

local function signature_of(own)
  if not own.signature then
    return {}
  end
  local signature = options.check("k8s.webhook: signature", own.signature, SIGNATURE)
  if not signature.header or not signature.secret then
    local hint = signature.secret == nil and lacking() or ""
    raw.raise("k8s.webhook: signature: header and secret are required" .. hint)
  end
  check_secret("signature: secret", signature.secret)
  return signature
end

local function check_access(own)
  check_secret("token", own.token)
  if own.public and (own.token or own.signature) then
    raw.raise "k8s.webhook: public and a token or signature are mutually exclusive"
  elseif not (own.public or own.token or own.signature) then
    local hint = lacking()
    raw.raise("k8s.webhook: token or signature is required" .. hint .. "; public = true takes calls from anybody")
  end
end

-- k8s.webhook { path = "/hooks/alerts", token = settings.token, fn = function(request) return { status = 202 } end }:
-- while the script loads only.
return function(given)
  local own = options.check("k8s.webhook", given, OPTIONS)
  if not own.path or not own.fn then
    raw.raise "k8s.webhook: path and fn are required"
  end
  check_access(own)
  local signature = signature_of(own)
  local methods = methods_of(own)
  raw.webhook.new(
    own.path, own.fn, methods, options.bytes("k8s.webhook: max_body", own.max_body), own.timeout, own.leader, own.token,
    signature.header, signature.secret, signature.algorithm
  )
  local shown = { methods = methods, header = signature.header, algorithm = signature.algorithm }
  for name, value in pairs(own) do
    if not SECRETS[name] and name ~= "methods" then
      shown[name] = value
    end
  end
  plan.add("webhook", own.path, plan.text(shown))
end
