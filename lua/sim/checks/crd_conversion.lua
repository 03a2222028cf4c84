-- How a CustomResourceDefinition converts between its versions.
local found = require "sim.checks.found"
local json = require "sim.json"
local network = require "sim.checks.network"
local urls = require "sim.checks.urls"

local at, text, each, count = json.at, json.text, json.each, json.count

local conversion = {}

local CONVERSION = "spec.conversion"

local function check_review_versions(problems, versions)
  local path, seen, known = CONVERSION .. ".conversionReviewVersions", {}, false
  if count(versions) == 0 then return problems:required(path) end
  for i, version in each(versions) do
    local place = string.format("%s[%d]", path, i - 1)
    known = known or version == "v1" or version == "v1beta1"
    if seen[version] then
      problems:invalid(place, version, "duplicate version")
    else
      problems:form(place, version, "DNS-1035 label")
    end
    seen[version] = true
  end
  if not known then problems:invalid(path, versions, "must include at least one of v1, v1beta1") end
end

local function check_service(problems, path, service)
  local port, place = json.int(service, "port", 443), text(service, "path")
  if text(service, "namespace") == "" then problems:required(path .. ".name") end -- a server takes one for the other
  if text(service, "name") == "" then problems:required(path .. ".namespace") end
  if port < 1 or port > 65535 then
    problems:invalid(path .. ".port", port, "port is not valid: must be between 1 and 65535, inclusive")
  end
  problems:append(network.webhook_path(path .. ".path", place))
end

local function check_webhook(problems, webhook)
  local config, path = at(webhook, "clientConfig"), CONVERSION .. ".webhookClientConfig"
  local url, service = at(config, "url"), at(config, "service")
  if not config then
    problems:required(path, "required when strategy is set to Webhook")
  elseif (url == nil) == (service == nil) then
    problems:required(path, "exactly one of url or service is required")
  elseif url then
    problems:append(urls.webhook(path .. ".url", url))
  else
    check_service(problems, path .. ".service", service)
  end
  check_review_versions(problems, at(webhook, "conversionReviewVersions"))
end

function conversion.problems(value)
  local problems = found.new()
  local strategy, webhook = text(value, "strategy"), at(value, "webhook")
  if strategy == "" then
    problems:required(CONVERSION .. ".strategy")
  else
    problems:enum(CONVERSION .. ".strategy", strategy, { "None", "Webhook" })
  end
  if strategy == "Webhook" then
    check_webhook(problems, webhook)
    return problems
  end
  local detail = "should not be set when strategy is not set to Webhook"
  if at(webhook, "clientConfig") then problems:forbidden(CONVERSION .. ".webhookClientConfig", detail) end
  if count(at(webhook, "conversionReviewVersions")) > 0 then
    problems:forbidden(CONVERSION .. ".conversionReviewVersions", detail)
  end
  return problems
end

return conversion
