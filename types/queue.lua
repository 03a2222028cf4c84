---@meta k8s.queue
-- luacheck: ignore 241
-- Work queues and controllers: more of what `require "k8s"` gives. docs/queues.md explains them.

---@class k8s
local k8s = {}

---@class k8s.QueueOptions
---@field name string in metrics, logs and `kubelua queue`
---@field workers? integer keys that are worked on at once, 1
---@field max_retries? integer a key that fails more often is dropped; for ever without it
---@field leader? boolean its workers work while this process leads
---@field base? k8s.Duration the first delay of a key, doubled with each failure: "5ms"
---@field max? k8s.Duration its longest one, "1000s"
---@field qps? number retries a second of all keys together, 10; 0: any number
---@field burst? integer so many come before that counts, 100
---@field slow? k8s.Duration the delay after `fast_tries` failures of a key
---@field fast? k8s.Duration the delay of those; as long as `base`
---@field fast_tries? integer 3
---@field max_wait? k8s.Duration no delay is longer

---What a worker's function returns says what becomes of its key: nothing or a true value is done; nil and an error, or
---false, is tried again.
---@alias k8s.Worker fun(key: string, job: k8s.Job): any, any

---A key, several, or none.
---@alias k8s.KeyMap fun(obj: k8s.Object): string|string[]|nil

---@class k8s.Queue
local Queue = {}

---A queue of keys with workers and retries. While the file loads only.
---@param options k8s.QueueOptions
---@return k8s.Queue
function k8s.queue(options) end

---Starts the workers, as soon as all informers of the script are synced. Once.
---@param fn k8s.Worker
function Queue:run(fn) end

---A function for OnAdd, OnUpdate and OnDelete: adds the object's key, or what `map` returns for it: for both objects of
---an update, for `ev.previous` of a delete too.
---@param map? k8s.KeyMap
---@return fun(obj: k8s.Object, new: any)
function Queue:enqueuer(map) end

---@param key string
function Queue:add(key) end

---@param key string
---@param duration k8s.Duration
function Queue:add_after(key, duration) end

---After what its failures want; counts as one.
---@param key string
function Queue:add_rate_limited(key) end

---Waits for a key, for scripts without `run`; every key that was got must be done.
---@return string? key nil once the queue is shut down and empty
---@return boolean shut_down
function Queue:get() end

---Ends the work on a key that `get` gave. Raises for one that a worker of `run` has.
---@param key string
function Queue:done(key) end

---Forgets its failures.
---@param key string
function Queue:forget(key) end

---Its failures so far.
---@param key string
---@return integer
function Queue:num_requeues(key) end

---How many keys could be taken now.
---@return integer
function Queue:len() end

---Takes in nothing more. With `drain` it waits until the work is done.
---@param options? { drain?: boolean }
function Queue:shut_down(options) end

---@class k8s.Job
---@field retries integer how often its key was tried again
local Job = {}

---The key is tried again, rate limited.
---@param err? any why, for the log
function Job:retry(err) end

---The key is done with, and comes again then.
---@param duration k8s.Duration
function Job:after(duration) end

---@class k8s.ControllerOptions : k8s.QueueOptions
---@field name? string the kind of `of`
---@field of string|k8s.Informer whose keys these are
---@field owns? (string|k8s.Informer)[] kinds whose objects it controls, by their owner references
---@field watches? table<string|k8s.Informer, k8s.KeyMap> kinds that concern it otherwise
---@field reconcile k8s.Worker

---@class k8s.Controller
---@field queue k8s.Queue
---@field informer k8s.Informer of `of`

---A queue of the keys of one kind, fed by whatever concerns its objects. While the file loads only.
---@param options k8s.ControllerOptions
---@return k8s.Controller
function k8s.controller(options) end

return k8s
