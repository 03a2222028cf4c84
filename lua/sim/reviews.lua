-- Reviews: what is wrong with one, and its answer. A problem is a list of a cause's type, field, detail and value.
local checks = require "sim.checks.found"
local json = require "sim.json"
local values = require "sim.values"

local at, text, count, object, set = json.at, json.text, json.count, json.object, json.set

local function is_there(value) return value ~= nil and value ~= json.null end

-- The names that Go's own types have.
local function show_paths(attributes)
  return object("Path", text(attributes, "path"), "Verb", text(attributes, "verb"))
end

local NEEDS = "must be specified when `operator` is 'In' or 'NotIn'"
local NONE = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"

local function check_values(found, place, requirement)
  local operator, n = text(requirement, "operator"), count(at(requirement, "values"))
  if n == 0 and (operator == "In" or operator == "NotIn") then found:required(place .. ".values", NEEDS) end
  if n > 0 and (operator == "Exists" or operator == "DoesNotExist") then found:forbidden(place .. ".values", NONE) end
end

-- Operators that are not known are those of newer clients.
local requirements = {
  labelSelector = function(found, place, requirement)
    check_values(found, place, requirement)
    found:form(place .. ".key", text(requirement, "key"), "key")
    for i, value in json.each(at(requirement, "values")) do
      found:form(string.format("%s.values[%d]", place, i - 1), value, "value")
    end
  end,
  fieldSelector = function(found, place, requirement)
    if text(requirement, "key") == "" then found:required(place .. ".key", "must be specified") end
    check_values(found, place, requirement)
  end,
}

local function add_selector_problems(found, spec, name)
  local selector, place = at(spec, "resourceAttributes." .. name), "spec.resourceAttributes." .. name
  if not is_there(selector) then return end
  local raw, listed = text(selector, "rawSelector"), count(at(selector, "requirements")) > 0
  if raw ~= "" and listed then
    found[#found + 1] = { "FieldValueInvalid", place .. ".rawSelector",
      "may not specified at the same time as requirements", raw }
  elseif raw == "" and not listed then
    found[#found + 1] = { "FieldValueRequired", place .. ".requirements",
      string.format("when %s is specified, requirements or rawSelector is required", place) }
  end
  for i, requirement in json.each(at(selector, "requirements")) do
    requirements[name](found, string.format("%s.requirements[%d]", place, i - 1), requirement)
  end
end

local function add_attribute_problems(found, spec)
  local resource, other = at(spec, "resourceAttributes"), at(spec, "nonResourceAttributes")
  if is_there(resource) and is_there(other) then
    found[#found + 1] = { "FieldValueInvalid", "spec.nonResourceAttributes",
      "cannot be specified in combination with resourceAttributes", show_paths(other) }
  elseif not is_there(resource) and not is_there(other) then
    found[#found + 1] = { "FieldValueInvalid", "spec.resourceAttributes",
      "exactly one of nonResourceAttributes or resourceAttributes must be specified", json.null }
  end
end

local function add_user_problems(found, spec)
  if text(spec, "user") ~= "" or count(at(spec, "groups")) > 0 then return end
  found[#found + 1] = { "FieldValueInvalid", "spec.user", "at least one of user or group must be specified", "" }
end

-- The metadata that a client may not give, as Go shows it.
local function add_metadata_problem(found, review, is_local)
  local metadata, shown, has = at(review, "metadata"), object(), false
  for _, name in ipairs { "name", "generateName", "namespace", "resourceVersion", "generation", "labels", "annotations",
    "ownerReferences", "finalizers", "managedFields" } do
    local value = at(metadata, name)
    local is_set = is_there(value) and (json.type(value) ~= "object" or next(values.names(value)) ~= nil)
      and (json.type(value) ~= "array" or count(value) > 0)
    if is_set then set(shown, name, value) end
    has = has or is_set and name ~= "managedFields" and not (is_local and name == "namespace")
  end
  if has then
    found:invalid("metadata", shown, is_local and "must be empty except for namespace" or "must be empty")
  end
end

local function access_problems(spec, names_user)
  local found = checks.new()
  add_attribute_problems(found, spec)
  if names_user then add_user_problems(found, spec) end
  add_selector_problems(found, spec, "fieldSelector")
  add_selector_problems(found, spec, "labelSelector")
  return found
end

local function access_status(given, user, spec)
  local allowed, why = given.allows(user, at(spec, "resourceAttributes"), at(spec, "nonResourceAttributes"))
  return object("allowed", allowed, "reason", allowed and why or nil)
end

local function subject_of(spec)
  return object("username", text(spec, "user"), "groups", at(spec, "groups"), "uid", at(spec, "uid"), "extra",
    at(spec, "extra"))
end

-- By kind: a function of the review and of what is given, which returns its status or, as a list, its refusal.
local kinds = {}

function kinds.SelfSubjectAccessReview(review, given)
  local spec = at(review, "spec")
  local found = access_problems(spec, false)
  add_metadata_problem(found, review)
  return #found > 0 and { 422, found } or access_status(given, given.user, spec)
end

function kinds.SubjectAccessReview(review, given)
  local spec = at(review, "spec")
  local found = access_problems(spec, true)
  add_metadata_problem(found, review)
  return #found > 0 and { 422, found } or access_status(given, subject_of(spec), spec)
end

-- The namespace is that of the path, once more in each place.
function kinds.LocalSubjectAccessReview(review, given)
  local spec = at(review, "spec")
  local found, own = access_problems(spec, true), text(spec, "resourceAttributes.namespace")
  local resource, other = at(spec, "resourceAttributes"), at(spec, "nonResourceAttributes")
  add_metadata_problem(found, review, true)
  if is_there(resource) and own ~= given.namespace then
    found[#found + 1] = { "FieldValueInvalid", "spec.resourceAttributes.namespace", "must match metadata.namespace",
      own }
  end
  if is_there(other) then
    found[#found + 1] = { "FieldValueInvalid", "spec.nonResourceAttributes", "disallowed on this kind of request",
      show_paths(other) }
  end
  return #found > 0 and { 422, found } or access_status(given, subject_of(spec), spec)
end

-- Rules that name paths are apart from those that name resources; the answer says nothing of the question.
function kinds.SelfSubjectRulesReview(review, given)
  local namespace, resources, others = text(review, "spec.namespace"), {}, {}
  if namespace == "" then return { 400, "no namespace on request" } end
  for _, rule in json.each(given.rules(namespace)) do
    local list = at(rule, "nonResourceURLs") and others or resources
    list[#list + 1] = rule
  end
  set(review, "metadata", object())
  set(review, "spec", object())
  return object("resourceRules", resources, "nonResourceRules", others, "incomplete", false)
end

function kinds.SelfSubjectReview(review, given)
  set(review, "metadata", object("creationTimestamp", given.now))
  return object("userInfo", given.user or object())
end

function kinds.TokenReview(review, given)
  local token = text(review, "spec.token")
  if token == "" then return { 400, "token is required for TokenReview in authentication" } end
  local user, audiences = given.user_of(token, at(review, "spec.audiences"))
  if not user then return object("user", object(), "error", "invalid bearer token") end
  return object("authenticated", true, "user", user, "audiences", audiences)
end

local reviews = {}

-- Completes the review, and returns true, or its refusal.
function reviews.respond(review, namespace, user, now, allows, rules, user_of)
  local metadata, own = values.submap(review, "metadata"), text(review, "metadata.namespace")
  if namespace and own ~= "" and own ~= namespace then
    return { 400, "the namespace of the provided object does not match the namespace sent on the request" }
  end
  if namespace then set(metadata, "namespace", namespace) else json.remove(metadata, "namespace") end
  local status = kinds[text(review, "kind")](review, {
    namespace = namespace, user = user, now = now, allows = allows, rules = rules, user_of = user_of,
  })
  if json.type(status) ~= "object" then return status end
  set(review, "status", status)
  return true
end

return reviews
