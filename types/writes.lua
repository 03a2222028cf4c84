---@meta k8s.writes
-- luacheck: ignore 241
-- Writes of `require "k8s"`.

---@class k8s
local k8s = {}

---Declares writes: "pods:patch", "pods/status:patch", "deployments.apps:*"; "configmaps:apply" for objects that
---k8s.apply may create. While the script loads. Every request is compared with it.
---@param declared string[]
function k8s.writes(declared) end

---A reference to an object: a view, a complete object as a table, or its kind, namespace and name.
---@alias k8s.Ref k8s.Object|table|{ kind: string, namespace?: string, name: string }

---@class k8s.WriteOptions
---@field subresource? string "status", "scale", ...
---@field manager? string owner of the fields; default: --field-manager
---@field dry_run? boolean the server validates the write and stores nothing
---@field timeout? k8s.Duration for all attempts together

---@class k8s.CreateOptions : k8s.WriteOptions
---@field of? k8s.Ref with `subresource`: the object, if the body has another kind

---@class k8s.UpdateOptions : k8s.CreateOptions
---@field lock? boolean only this version of the object, else Conflict

---@class k8s.PatchOptions : k8s.WriteOptions
---@field type? "merge"|"json"|"strategic" merge by default
---@field lock? boolean only this version of the object, else Conflict

---@class k8s.ApplyOptions : k8s.WriteOptions
---@field force? boolean takes fields of other managers
---@field lock? boolean only this version of the object, else Conflict

---@class k8s.DeleteOptions
---@field propagation? "background"|"foreground"|"orphan"|"Background"|"Foreground"|"Orphan"
---@field precondition? { uid?: string, resource_version?: string }
---@field grace_period? k8s.Duration whole seconds
---@field lock? boolean only this version of the object, else Conflict
---@field dry_run? boolean
---@field timeout? k8s.Duration

---Creates an object. Waits.
---@param object table|k8s.Object
---@param options? k8s.CreateOptions
---@return k8s.Object|true|nil object the new state; true if the response is only a success
---@return k8s.Error err nil without an error
function k8s.create(object, options) end

---Replaces an object; Conflict if its resourceVersion is not the latest. Waits.
---@param object table|k8s.Object
---@param options? k8s.UpdateOptions
---@return k8s.Object? object
---@return k8s.Error err nil without an error
function k8s.update(object, options) end

---Changes a part of an object. Waits.
---@param ref k8s.Ref
---@param patch table
---@param options? k8s.PatchOptions
---@return k8s.Object? object
---@return k8s.Error err nil without an error
function k8s.patch(ref, patch, options) end

---Server-side apply. Waits.
---@param ref k8s.Ref
---@param object table the fields that the manager owns
---@param options? k8s.ApplyOptions
---@return k8s.Object? object
---@return k8s.Error err nil without an error
function k8s.apply(ref, object, options) end

---Deletes an object. Waits.
---@param ref k8s.Ref
---@param options? k8s.DeleteOptions
---@return k8s.Object|true|nil object while its deletion is in progress; true when it is gone
---@return k8s.Error err nil without an error
function k8s.delete(ref, options) end

---Calls `fn`, and again while it returns nil, err with the reason Conflict or raises such an err: at most five calls.
---Waits.
---@param fn fun(): any, any the object or nil, and the error
---@return any ... the results of `fn`
function k8s.retry_on_conflict(fn) end

return k8s
