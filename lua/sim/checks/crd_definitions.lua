-- CustomResourceDefinitions, in the order of a server. It reads what all versions share from above them: their
-- schema, for one, is then at spec.validation.
local conversion = require "sim.checks.crd_conversion"
local crds = require "sim.crds"
local defaults = require "sim.checks.crd_defaults"
local forms = require "sim.checks.forms"
local found = require "sim.checks.found"
local json = require "sim.json"
local openapi = require "sim.checks.crd_openapi"
local shown = require "sim.checks.crd_shown"
local structural = require "sim.checks.crd_structural"
local urls = require "sim.checks.urls"
local views = require "sim.checks.crd_views"

local at, text, each, count, get = json.at, json.text, json.each, json.count, json.get

local definitions = {}

-- --- names

local function joined(problems) return problems and (problems:gsub("; ", ",")) end

local function check_label(problems, path, value, prefix, shape)
  local wrong = joined(forms["DNS-1035 label"](shape or value))
  if wrong then problems:invalid(path, value, (prefix or "") .. wrong) end
end

local MIXED = "may have mixed case, but should otherwise match: "

local function check_names(problems, path, names)
  local kind, list_kind = text(names, "kind"), text(names, "listKind")
  for _, name in ipairs { "plural", "singular" } do
    if text(names, name) ~= "" then check_label(problems, path .. "." .. name, text(names, name)) end
  end
  if kind ~= "" then check_label(problems, path .. ".kind", kind, MIXED, kind:lower()) end
  if list_kind ~= "" then check_label(problems, path .. ".listKind", list_kind, MIXED, list_kind:lower()) end
  for _, name in ipairs { "shortNames", "categories" } do
    if name == "categories" and kind ~= "" and kind == list_kind then
      problems:invalid(path .. ".listKind", list_kind, "kind and listKind may not be the same")
    end
    for i, one in each(at(names, name)) do
      check_label(problems, string.format("%s.%s[%d]", path, name, i - 1), one)
    end
  end
end

-- --- schemas

local ROOT = "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength "
  .. "Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example "
  .. "XPreserveUnknownFields XValidations"
local at_root = {}
for name in ROOT:gmatch "%a+" do at_root[name] = true end

-- A status, which is validated apart, loses nothing that is said at the root.
local function check_root(problems, schema, path)
  for _, name in ipairs(shown.names(schema)) do
    if name == "Type" and text(schema, "type") ~= "object" then
      return problems:invalid(path .. ".type", text(schema, "type"),
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled')
    elseif not at_root[name] then
      return problems:invalid(path, shown.schema(schema), string.format(
        "only [%s] fields are allowed at the root of the schema if the status subresource is enabled", ROOT))
    end
  end
end

local function check_schema(problems, holder, path, has_status)
  local schema, before = get(holder, "openAPIV3Schema"), #problems
  path = path .. ".openAPIV3Schema"
  if json.type(schema) ~= "object" then return end
  if has_status then check_root(problems, schema, path) end
  if get(schema, "nullable") == true then
    problems:forbidden(path .. ".nullable", "nullable cannot be true at the root")
  end
  local obstacle = structural.obstacle(schema)
  local wrong = obstacle and {} or structural.problems(schema, path)
  problems:append(wrong)
  if not obstacle and #wrong == 0 then problems:append(defaults.problems(schema, path, problems.read)) end
  problems:append(openapi.problems(schema, path))
  if obstacle and #problems == before then problems:invalid(path, "", obstacle) end
end

local function has_defaults(value)
  local type = json.type(value)
  if type == "object" and (get(value, "default") or json.null) ~= json.null then return true end
  for _, inner in (type == "object" and json.members or each)(type and value or nil) do
    local kind = json.type(inner)
    if (kind == "object" or kind == "array") and has_defaults(inner) then return true end
  end
end

-- --- versions

local function check_deprecation(problems, path, version)
  local warning, deprecated = at(version, "deprecationWarning"), at(version, "deprecated") == true
  if not warning then return end
  if not deprecated then return problems:invalid(path, warning, "can only be set for deprecated versions") end
  if #warning > 256 then problems:invalid(path, warning, "must be <= 256 characters long") end
  if warning == "" then problems:invalid(path, warning, "must not be an empty string") end
  local odd = warning:find "[%z\1-\31\127]"
  local hidden = warning:find "\226\128[\128-\143\168-\175]" or warning:find "\194[\128-\160\173]"
  odd = math.min(odd or math.huge, hidden or math.huge)
  if odd < math.huge then
    problems:invalid(path, warning, "must only contain printable UTF-8 characters; non-printable character found at "
      .. string.format("index %d", odd - 1))
  end
end

local function equal(a, b)
  local empty = (a == nil or (json.type(a) == "array" and count(a) == 0))
    and (b == nil or (json.type(b) == "array" and count(b) == 0))
  return empty or (a ~= nil and b ~= nil and json.equal(a, b))
end

-- The members that all versions share.
local function shared(versions)
  local names, first = {}, json.element(versions, 0)
  for _, name in ipairs { "schema", "subresources", "additionalPrinterColumns", "selectableFields" } do
    local same = first ~= nil
    for _, version in each(versions) do same = same and equal(get(first, name), get(version, name)) end
    if same then names[name] = true end
  end
  return names
end

local function has_status(holder) return at(holder, "subresources.status") ~= nil end

local function check_version(problems, version, path, above)
  local function own(name) return not above[name] and get(version, name) or nil end
  local subresources = get(version, "subresources")
  check_label(problems, path .. ".name", text(version, "name"))
  check_deprecation(problems, path .. ".deprecationWarning", version)
  if own "schema" then
    check_schema(problems, own "schema", path .. ".schema", subresources and get(subresources, "status") ~= nil)
  end
  problems:append(views.subresources(path .. ".subresources", own "subresources"))
  problems:append(views.columns(path .. ".additionalPrinterColumns", own "additionalPrinterColumns"))
  local fields, schema = own "selectableFields", get(own "schema", "openAPIV3Schema")
  if count(fields) > 0 and not schema then
    problems:invalid(path .. ".selectableFields", "",
      "may only be set when `version.schema.openAPIV3Schema` is not included")
  elseif count(fields) > 0 then
    problems:append(views.selectable(path .. ".selectableFields", fields, schema))
  end
end

local function check_versions(problems, spec, above)
  local versions, names, unique, storage = at(spec, "versions"), {}, true, 0
  for i, version in each(versions) do
    local name = text(version, "name")
    unique, names[name] = unique and not names[name], true
    if at(version, "storage") == true then storage = storage + 1 end
    check_version(problems, version, string.format("spec.versions[%d]", i - 1), above)
  end
  local all = json.type(versions) == "array" and shown.versions(versions, above) or json.null
  local function add(detail) problems:invalid("spec.versions", all, detail) end
  if not unique then add "must contain unique version names" end
  if storage ~= 1 then add "must have exactly one version marked as storage version" end
  local first = text(json.element(versions, 0), "name")
  if first ~= "" then check_label(problems, "spec.version", first) end
end

-- The parts that all versions share.
local function check_shared(problems, spec, above)
  local first = json.element(at(spec, "versions"), 0)
  local function own(name) return above[name] and get(first, name) or nil end
  local status = false
  for _, version in each(at(spec, "versions")) do status = status or has_status(version) end
  if own "schema" then check_schema(problems, own "schema", "spec.validation", status) end
  problems:append(views.subresources("spec.subresources", own "subresources"))
  problems:append(views.columns("spec.additionalPrinterColumns", own "additionalPrinterColumns"))
  if count(own "selectableFields") == 0 then return end
  if not own "schema" then
    problems:invalid("spec.selectableFields", "", "may only be set when validations.schema is included")
  else
    problems:append(views.selectable("spec.selectableFields", own "selectableFields",
      get(own "schema", "openAPIV3Schema")))
  end
end

-- --- the rest

-- The version that is stored now is among those that were ever stored.
local function stored_versions(crd, old)
  local stored, names = {}, {}
  for i, name in each(old and at(crd, "status.storedVersions") or nil) do stored[i], names[name] = name, true end
  for _, version in each(at(crd, "spec.versions")) do
    local name = text(version, "name")
    if at(version, "storage") == true then
      if not names[name] then stored[#stored + 1] = name end
      break
    end
  end
  return stored
end

local function check_stored(problems, crd, old)
  local stored, path, left = stored_versions(crd, old), "status.storedVersions", {}
  if #stored == 0 then return problems:invalid(path, json.null, "must have at least one stored version") end
  for i, name in ipairs(stored) do left[name] = i - 1 end
  for _, version in each(at(crd, "spec.versions")) do
    local name = text(version, "name")
    if at(version, "storage") == true and not left[name] then
      problems:invalid(path, stored, "must have the storage version " .. name)
    end
    left[name] = nil
  end
  for name, i in pairs(left) do
    problems:invalid(string.format("%s[%d]", path, i), name, string.format("missing from spec.versions; %s was "
      .. "previously a storage version, and must remain in spec.versions until a storage migration ensures no data "
      .. "remains persisted in %s and removes %s from status.storedVersions", name, name, name))
  end
end

local APPROVAL = "api-approved.kubernetes.io"

-- Of the groups that are Kubernetes' own.
local function check_approval(problems, crd, old)
  local group = "." .. text(crd, "spec.group")
  if not group:find "%.k8s%.io$" and not group:find "%.kubernetes%.io$" then return end
  local given = get(at(crd, "metadata.annotations"), APPROVAL) or ""
  if old and given == (get(at(old, "metadata.annotations"), APPROVAL) or "") then return end
  local path = "metadata.annotations[" .. APPROVAL .. "]"
  local see = ", see https://github.com/kubernetes/enhancements/pull/1111"
  local must = string.format('protected groups must have approval annotation "%s"', APPROVAL)
  local url = urls.parse(given)
  if given == "" then
    problems:required(path, must .. see)
  elseif given:sub(1, 10) ~= "unapproved" and not (url and url.host ~= "" and url.scheme ~= "") then
    problems:invalid(path, given, must .. ' with either a URL or a reason starting with "unapproved"' .. see)
  end
end

local function check_head(problems, spec)
  local group, scope = text(spec, "group"), text(spec, "scope")
  if group == "" then problems:required "spec.group" end
  local wrong = group ~= "" and joined(forms.domain(group))
  if wrong then problems:invalid("spec.group", group, wrong) end
  if scope == "" then problems:required "spec.scope" end
  if scope ~= "" then problems:enum("spec.scope", scope, { "Cluster", "Namespaced" }) end
  for i, version in each(at(spec, "versions")) do
    if at(version, "schema.openAPIV3Schema") == nil then
      problems:required(string.format("spec.versions[%d].schema.openAPIV3Schema", i - 1))
    end
  end
  local keeps = at(spec, "preserveUnknownFields") == true
  if keeps and has_defaults(at(spec, "versions")) then
    problems:invalid("spec.preserveUnknownFields", true, "must be false in order to use defaults in the schema")
  end
end

local function check_immutable(problems, crd, old)
  local established = false
  for _, condition in each(at(old, "status.conditions")) do
    established = established or (text(condition, "type") == "Established" and text(condition, "status") == "True")
  end
  for _, path in ipairs { "spec.scope", "spec.names.kind", "spec.group", "spec.names.plural" } do
    local always = path == "spec.group" or path == "spec.names.plural"
    if (always or established) and text(crd, path) ~= text(old, path) then
      problems:invalid(path, text(crd, path), "field is immutable")
    end
  end
end

-- Problems of a definition; `old` is nil for a new one, `read` reads metadata (see embedded.lua). A new one has no
-- status: it is loaded then.
function definitions.problems(crd, old, of_status, read)
  if of_status and not old then return crds.obstacles(crd) end
  local problems, spec = found.new(), at(crd, "spec")
  problems.read = read
  if not of_status then
    local above = shared(at(spec, "versions"))
    check_head(problems, spec)
    check_versions(problems, spec, above)
    for _, name in ipairs { "plural", "singular", "kind", "listKind" } do -- two have a default that follows the kind
      local follows = name ~= "plural" and text(spec, "names.kind") ~= ""
      if text(spec, "names." .. name) == "" and not follows then problems:required("spec.names." .. name) end
    end
    check_names(problems, "spec.names", at(spec, "names"))
    check_shared(problems, spec, above)
    if at(spec, "conversion") then problems:append(conversion.problems(at(spec, "conversion"))) end
    if old then check_immutable(problems, crd, old) end
  end
  check_names(problems, "status.acceptedNames", at(crd, "status.acceptedNames"))
  if of_status then return problems end
  check_stored(problems, crd, old)
  check_approval(problems, crd, old)
  if at(spec, "preserveUnknownFields") == true and not (old and at(old, "spec.preserveUnknownFields") == true) then
    problems:invalid("spec.preserveUnknownFields", true,
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")
  end
  return problems
end

return definitions
