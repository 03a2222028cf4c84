-- Options of requests, of lists and of writes: problems are lists of a cause's type, field, detail and value.
local json = require "sim.json"

local at, text = json.at, json.text

local options = {}

local MANAGER_MAX = 128

local function add_manager_problems(found, manager)
  if #manager > MANAGER_MAX then
    found[#found + 1] = { "FieldValueTooLong", "fieldManager", "may not be more than 128 bytes" }
  end
  for i = 1, #manager do
    local c = manager:byte(i)
    if c < 0x20 or c == 0x7f then
      found[#found + 1] = { "FieldValueInvalid", "fieldManager",
        string.format("invalid character U+%04X (at position %d)", c, i - 1), manager }
    end
  end
end

-- The only valid value is "All".
local function add_dry_run_problems(found, list)
  for _, value in json.each(list) do
    if value ~= "All" then
      found[#found + 1] = { "FieldValueNotSupported", "dryRun", 'supported values: "All"', list }
      return
    end
  end
end

local VALIDATIONS = { [""] = true, Ignore = true, Strict = true, Warn = true }

-- Of a create, an update or a patch: the kind of its options, or "apply". What is not given is nil.
function options.problems(verb, dry_run, manager, validation, force)
  local found = {}
  if verb == "apply" and (manager or "") == "" then
    found[1] = { "FieldValueRequired", "fieldManager", "is required for apply patch" }
  elseif verb == "PatchOptions" and force then
    found[1] = { "FieldValueForbidden", "force", "may not be specified for non-apply patch" }
  end
  add_manager_problems(found, manager or "")
  add_dry_run_problems(found, dry_run)
  if not VALIDATIONS[validation or ""] then
    found[#found + 1] = { "FieldValueNotSupported", "fieldValidation",
      'supported values: "", "Ignore", "Strict", "Warn"', validation }
  end
  return found
end

local POLICIES = { Foreground = true, Background = true, Orphan = true }

function options.delete_problems(given)
  local found, policy = {}, at(given, "propagationPolicy")
  if json.type(policy) == "string" then
    if json.type(at(given, "orphanDependents")) == "boolean" then
      found[1] = { "FieldValueInvalid", "propagationPolicy",
        "orphanDependents and deletionPropagation cannot be both set", policy }
    end
    if not POLICIES[text(policy)] then
      found[#found + 1] = { "FieldValueNotSupported", "propagationPolicy",
        'supported values: "Foreground", "Background", "Orphan", "nil"', policy }
    end
  end
  add_dry_run_problems(found, at(given, "dryRun"))
  return found
end

local MATCH = "resourceVersionMatch"

local function forbid(found, field, detail) found[#found + 1] = { "FieldValueForbidden", field, detail } end

local function unsupported(found, match, supported)
  found[#found + 1] = { "FieldValueNotSupported", MATCH, "supported values: " .. supported, match }
end

local function add_watch_problems(found, match, initial, _, token)
  local newer = match == "NotOlderThan"
  if initial and not newer then
    forbid(found, MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
  end
  if match == "" then return end
  if not initial then
    forbid(found, MATCH, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
  end
  if not newer then unsupported(found, match, '"NotOlderThan"') end
  if token then forbid(found, MATCH, "resourceVersionMatch is forbidden when continue is provided") end
end

local function add_list_problems(found, match, initial, version, token)
  if match ~= "" and version == "" then
    forbid(found, MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided")
  end
  if match ~= "" and token then
    forbid(found, MATCH, "resourceVersionMatch is forbidden when continue is provided")
  end
  if match ~= "" and match ~= "Exact" and match ~= "NotOlderThan" then
    unsupported(found, match, '"Exact", "NotOlderThan", ""')
  end
  if match == "Exact" and version == "0" then
    forbid(found, MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  end
  if initial then forbid(found, "sendInitialEvents", "sendInitialEvents is forbidden for list") end
end

-- Of a list or a watch: the rules of apimachinery's ValidateListOptions. What is not given is nil.
function options.list_problems(watch, match, initial, version, token)
  local found, add = {}, watch and add_watch_problems or add_list_problems
  add(found, match or "", initial ~= nil, version or "", (token or "") ~= "")
  return found
end

return options
