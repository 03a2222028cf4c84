---@meta k8s.queue
-- luacheck: ignore 241
-- Work queues and controllers of `require "k8s"`: docs/queues.md.

---@class k8s
local k8s = {}

---@class k8s.QueueOptions
---@field name string in metrics, logs and `kubelua queue`
---@field workers? integer number of keys that are processed at the same time, 1
---@field max_retries? integer a key that fails more often is dropped; default: never
---@field leader? boolean its workers run only while the script leads
---@field base? k8s.Duration the first delay of a key, doubled with each failure: "5ms"
---@field max? k8s.Duration the longest delay, "1000s"
---@field qps? number retries of all keys per second, 10; 0: unlimited
---@field burst? integer number of retries before that limit applies, 100
---@field slow? k8s.Duration the delay after `fast_tries` failures of a key
---@field fast? k8s.Duration the delay of these failures; default: `base`
---@field fast_tries? integer 3
---@field max_wait? k8s.Duration upper bound of all delays

---The result of a worker's function decides about its key: nothing or a true value: done; nil and an error, or false:
---retried.
---@alias k8s.Worker fun(key: string, job: k8s.Job): any, any

---Returns a key, a list of keys, or nothing.
---@alias k8s.KeyMap fun(obj: k8s.Object): string|string[]|nil

---@class k8s.Queue
local Queue = {}

---Creates a queue of keys with workers and retries. Only while the file loads.
---@param options k8s.QueueOptions
---@return k8s.Queue
function k8s.queue(options) end

---Starts the workers, as soon as all informers of the script are synced. Once.
---@param fn k8s.Worker
function Queue:run(fn) end

---Returns a function for OnAdd, OnUpdate and OnDelete that adds the object's key, or the keys that `map` returns: for
---both objects of an update, for `ev.previous` of a delete too.
---@param map? k8s.KeyMap
---@return fun(obj: k8s.Object, new: any)
function Queue:enqueuer(map) end

---@param key string
function Queue:add(key) end

---@param key string
---@param duration k8s.Duration
function Queue:add_after(key, duration) end

---Adds the key after the delay for its failures; counts as a failure.
---@param key string
function Queue:add_rate_limited(key) end

---Waits for a key, for scripts without `run`; call `done` for each key.
---@return string? key nil once the queue is shut down and empty
---@return boolean shut_down
function Queue:get() end

---Ends the work on a key of `get`. Raises an error for a key of a worker of `run`.
---@param key string
function Queue:done(key) end

---Forgets the failures of the key.
---@param key string
function Queue:forget(key) end

---Returns the number of its failures.
---@param key string
---@return integer
function Queue:num_requeues(key) end

---Returns the number of keys that could be taken now.
---@return integer
function Queue:len() end

---Accepts no more keys. With `drain`, waits until the work is done.
---@param options? { drain?: boolean }
function Queue:shut_down(options) end

---@class k8s.Job
---@field retries integer number of retries of its key
local Job = {}

---Retries the key, rate limited.
---@param err? any reason, for the log
function Job:retry(err) end

---Ends the work on the key, and adds it again after that time.
---@param duration k8s.Duration
function Job:after(duration) end

---An index of owners: its values are their uids, as of "metadata.ownerReferences[*].uid", or keys.
---@class k8s.Owned
---@field of k8s.Informer
---@field index string an index that was added to it before

---@class k8s.ControllerOptions : k8s.QueueOptions
---@field name? string the kind of `of`
---@field of string|k8s.Informer the kind of the keys
---@field owns? (string|k8s.Informer|k8s.Owned)[] kinds whose objects it controls, by their owner references
---@field watches? table<string|k8s.Informer, k8s.KeyMap|string> other related kinds, with a function or a path to keys
---@field reconcile k8s.Worker

---@class k8s.Controller
---@field queue k8s.Queue
---@field informer k8s.Informer of `of`

---Creates a queue of the keys of one kind, fed by its objects and related ones. Only while the file loads.
---@param options k8s.ControllerOptions
---@return k8s.Controller
function k8s.controller(options) end

return k8s
