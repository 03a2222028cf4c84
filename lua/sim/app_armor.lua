-- Profiles of AppArmor, which annotations of pods named before a field did.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local each_container = require "sim.checks.pod_containers"
local json = require "sim.json"
local values = require "sim.values"

local at, text, each, get = json.at, json.text, json.each, json.get

local app_armor = { OLD = 'deprecated since v1.30; use the "appArmorProfile" field instead' }

local MAX = 4095

function app_armor.key(container)
  return "container.apparmor.security.beta.kubernetes.io/" .. text(container, "name")
end

-- The field for an annotation: its type, and the name of a local profile; nil if there is none.
local function profile_of(annotation)
  if annotation == "unconfined" then return "Unconfined" end
  if annotation == "runtime/default" then return "RuntimeDefault" end
  local name = annotation:match "^localhost/(.+)$"
  if name then return "Localhost", name end
end

local function is(profile, type, name)
  return text(profile, "type") == (type or "") and text(profile, "localhostProfile") == (name or "")
end

-- Whether a container of a template has an annotation that no field says, too.
function app_armor.is_ignored(annotations, spec, container)
  local annotation = get(annotations, app_armor.key(container))
  if not annotation or at(container, "securityContext.appArmorProfile") then return false end
  local of_pod = at(spec, "securityContext.appArmorProfile")
  return not of_pod or not is(of_pod, profile_of(annotation))
end

-- Calls the function with each container of a pod that has an annotation, and the annotation.
local function visit(pod, fn)
  local annotations = at(pod, "metadata.annotations")
  if not annotations or text(pod, "spec.os.name") == "windows" then return end
  each_container("spec.", at(pod, "spec"), function(container, _, list)
    local annotation = get(annotations, app_armor.key(container))
    if annotation then fn(container, annotation, list) end
  end)
end

-- A new pod has fields for its annotations, unless its own profile is the same.
function app_armor.sync(pod)
  local of_pod = at(pod, "spec.securityContext.appArmorProfile")
  visit(pod, function(container, annotation)
    local type, name = profile_of(annotation)
    local good = type and not (name and (name:find "^%s" or name:find "%s$" or #name > MAX))
    if not good or at(container, "securityContext.appArmorProfile") then return end
    if of_pod and is(of_pod, type, name) then return end
    json.set(values.submap(container, "securityContext"), "appArmorProfile",
      json.object("type", type, "localhostProfile", name))
  end)
end

-- Fields that a client has set have an owner.
local function is_given(pod, list, container)
  local key = string.format('k:{"name":"%s"}', text(container, "name"))
  for _, entry in each(at(pod, "metadata.managedFields")) do
    local owned = get(at(entry, "fieldsV1.f:spec.f:" .. list), key)
    if at(owned, "f:securityContext.f:appArmorProfile") then return true end
  end
  return false
end

-- Returns the containers whose annotation became a field, or could not.
function app_armor.deprecated(pod)
  local found, of_pod = {}, at(pod, "spec.securityContext.appArmorProfile")
  visit(pod, function(container, annotation, list)
    local field = at(container, "securityContext.appArmorProfile")
    local warns = field and not is_given(pod, list, container)
      or not field and not (of_pod and is(of_pod, profile_of(annotation)))
    if warns then found[#found + 1] = container end
  end)
  return found
end

return app_armor
