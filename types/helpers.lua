---@meta k8s.helpers
-- luacheck: ignore 241
-- What operators write again and again: docs/lua-api.md, "Helpers of operators".

---@class k8s
---@field time k8s.time
---@field conditions k8s.conditions
---@field finalizers k8s.finalizers
local k8s = {}

---@class k8s.time
local time = {}

---Returns seconds since the epoch, with the fraction that the text has; nil for what is not a time of RFC 3339.
---@param text string
---@return number?
function time.parse(text) end

---Returns a time of RFC 3339 in UTC, without fractions.
---@param seconds? number default: now
---@return string
function time.format(seconds) end

---Returns seconds.
---@param duration k8s.Duration "7d", "1h30m"
---@return number
function time.duration(duration) end

---The times of a schedule. Times are seconds since the epoch, or texts of RFC 3339.
---@class k8s.Schedule
local Schedule = {}

---@param after? number|string default: now
---@return number? seconds the first time later than that
function Schedule:next(after) end

---@param upto? number|string default: now
---@return number? seconds the last time up to that
function Schedule:last(upto) end

---@param from number|string
---@param to number|string
---@return number[] seconds later than `from` and up to `to`
function Schedule:between(from, to) end

---@class k8s.ScheduleOptions
---@field tz? string time zone; default: that of the process

---@param schedule string as for k8s.cron
---@param options? k8s.ScheduleOptions
---@return k8s.Schedule
function k8s.schedule(schedule, options) end

---@param key string "shop/web", or "node-1"
---@return string namespace "" for a cluster-scoped object
---@return string name
function k8s.split_key(key) end

---Returns an object from YAML with ${name} in it.
---@param text string
---@param values? table<string, any>
---@return any
function k8s.template(text, values) end

---@class k8s.conditions
local conditions = {}

---@class k8s.Condition
---@field type string
---@field status "True"|"False"|"Unknown"
---@field reason string
---@field message? string
---@field observedGeneration? integer
---@field lastTransitionTime? string

---Returns a copy of the array with the condition, and whether it differs from before.
---@param list any conditions of an object; nil for none
---@param condition k8s.Condition
---@return k8s.Condition[]
---@return boolean changed
function conditions.set(list, condition) end

---@class k8s.finalizers
local finalizers = {}

---@param object k8s.Object|table
---@param name string "example.org/name"
---@return boolean
function finalizers.has(object, name) end

---Adds it by a patch of this version of the object. Waits.
---@param object k8s.Object|table
---@param name string
---@return k8s.Object|table? object
---@return k8s.Error err nil without an error
function finalizers.add(object, name) end

---Removes it by a patch of this version of the object. Waits.
---@param object k8s.Object|table
---@param name string
---@return k8s.Object|table? object
---@return k8s.Error err nil without an error
function finalizers.remove(object, name) end

---@class k8s.OwnerOptions
---@field controller? boolean
---@field block? boolean blockOwnerDeletion

---Returns an entry of metadata.ownerReferences.
---@param owner k8s.Object|table a complete object of the server
---@param options? k8s.OwnerOptions
---@return table
function k8s.owner_reference(owner, options) end

---Sets the number of replicas. Waits.
---@param ref k8s.Object|table
---@param replicas integer
---@return k8s.Object? scale
---@return k8s.Error err nil without an error
function k8s.scale(ref, replicas) end

---@class k8s.EvictOptions
---@field grace_period? k8s.Duration
---@field dry_run? boolean

---Deletes a pod if PodDisruptionBudgets allow it. Waits.
---@param pod k8s.Object|table
---@param options? k8s.EvictOptions
---@return true|k8s.Object?
---@return k8s.Error err nil without an error
function k8s.evict(pod, options) end

---Restarts the pods of a Deployment, StatefulSet, DaemonSet or a custom kind with spec.template. Waits.
---@param ref k8s.Object|table
---@return k8s.Object? object
---@return k8s.Error err nil without an error
function k8s.restart(ref) end

---Creates the object, or changes what differs from it. Waits.
---@param object table
---@return k8s.Object? object
---@return "created"|"changed"|"unchanged"|k8s.Error
function k8s.ensure(object) end

return k8s
