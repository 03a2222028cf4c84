-- k8s.owner_reference(owner, { controller = true, block = true }): an entry of metadata.ownerReferences, so that the
-- object goes with its owner.
local raw = ...

local options = require "k8s.options"

local OPTIONS = { controller = "boolean", block = "boolean" }

return function(owner, given)
  local where = "k8s.owner_reference"
  local own = options.check(where, given, OPTIONS)
  if not raw.view.is(owner) and type(owner) ~= "table" then
    raw.raise(where .. ": the owner must be an object, not " .. type(owner))
  end
  local metadata = options.field(owner, "metadata") or {}
  local reference = {
    apiVersion = options.field(owner, "apiVersion"),
    kind = options.field(owner, "kind"),
    name = metadata.name,
    uid = metadata.uid,
  }
  for _, name in ipairs { "apiVersion", "kind", "name", "uid" } do
    if type(reference[name]) ~= "string" then
      raw.raise(where .. ": the owner has no " .. name .. "; it must be a complete object of the server")
    end
  end
  reference.controller = own.controller or nil
  reference.blockOwnerDeletion = own.block or nil
  return reference
end
