-- The status of CertificateSigningRequests: conditions, who may approve, that nobody takes it back, and certificates.
local found = require "sim.checks.found"
local json = require "sim.json"
local pem = require "sim.checks.pem"
local texts = require "sim.texts"

local at, text, each = json.at, json.text, json.each

local csrs = {}

local TRUE, ALL = { "True" }, { "False", "True", "Unknown" }
local ONLY_TRUE = { Approved = true, Denied = true, Failed = true }
local CONDITIONS, CERTIFICATE = "status.conditions", "status.certificate"

-- What was stored so before is tolerated: no type, a type twice, approval and denial.
local function tolerated(conditions)
  local seen, old = {}, {}
  for _, condition in each(conditions) do
    local type = text(condition, "type")
    old.none = old.none or type == ""
    old.twice = old.twice or seen[type]
    seen[type] = true
  end
  old.both = seen.Approved and seen.Denied
  return old
end

local function check_condition(problems, place, type, status, old)
  if type == "" and not old.none then problems:required(place .. ".type") end
  if status == "" then problems:required(place .. ".status") end
  if status ~= "" then problems:enum(place .. ".status", status, ONLY_TRUE[type] and TRUE or ALL) end
end

local function check_conditions(problems, conditions, old)
  local seen = {}
  for i, condition in each(conditions) do
    local place, type = string.format("%s[%d]", CONDITIONS, i - 1), text(condition, "type")
    local other = type == "Approved" and "Denied" or type == "Denied" and "Approved"
    check_condition(problems, place, type, text(condition, "status"), old)
    if other and seen[other] and not old.both then
      problems:invalid(CONDITIONS, type, "Approved and Denied conditions are mutually exclusive")
    end
    if seen[type] and not old.twice then problems:duplicate(place .. ".type", type) end
    seen[type] = true
  end
end

-- Returns what is wrong with a certificate; what is in its blocks is not read.
local function certificate_problem(certificate)
  local has_one = false
  for kind, inner in pem.blocks(json.unbase64(certificate) or "") do
    if kind ~= "CERTIFICATE" then
      return string.format('only CERTIFICATE PEM blocks are allowed, found "%s"', kind)
    end
    if inner:find(":", 1, true) then return "no PEM block headers are permitted" end
    has_one = true
  end
  return not has_one and "must contain at least one CERTIFICATE PEM block" or nil
end

local function check_certificate(problems, before, after)
  local problem = after ~= before and after ~= "" and (before == "" or not certificate_problem(before))
    and certificate_problem(after)
  if problem then problems:invalid(CERTIFICATE, "<certificate data>", problem) end
end

-- Mistakes of an update, as in crds.lua; `approves` is one of the subresource `approval`.
function csrs.problems(old, object, approves)
  local before, after, problems = at(old, CONDITIONS), at(object, CONDITIONS), found.new()
  local was, is = text(old, CERTIFICATE), text(object, CERTIFICATE)
  check_conditions(problems, after, tolerated(before))
  check_certificate(problems, was, is)
  local function forbid(what, type)
    problems:forbidden(CONDITIONS, string.format('updates may not %s a condition of type "%s"', what, type))
  end
  for _, type in ipairs { "Approved", "Denied", "Failed" } do
    if texts.find(before, "type", type) and not texts.find(after, "type", type) then forbid("remove", type) end
  end
  for _, type in ipairs(approves and {} or { "Approved", "Denied" }) do
    if texts.find(after, "type", type) and not texts.find(before, "type", type) then forbid("add", type) end
  end
  if was ~= "" and is ~= was then
    problems:forbidden(CERTIFICATE, "updates may not modify existing certificate content")
  end
  return problems
end

-- Sets who sent the request.
function csrs.sign(object, user)
  local spec = json.at(object, "spec")
  for _, field in ipairs { "username", "uid", "groups", "extra" } do
    if json.type(spec) == "object" then json.remove(spec, field) end
    if json.type(spec) == "object" then json.set(spec, field, json.at(user, field)) end
  end
end

return csrs
