-- What `require "k8s"` gives: the names of the API, each made in a file of its own.
local raw = ...

local freeze = require("k8s.frozen").freeze
local controller = require "k8s.controller"
local event = require "k8s.events"
local factory = require "k8s.factory"
require "k8s.informer" -- the methods
local leader = require "k8s.leader"
local live = require "k8s.live"
local queue = require "k8s.queue"
local on_reload = require "k8s.reload"
local time = require "k8s.time"
local writes = require "k8s.writes"

return freeze("k8s", {
  after = time.after,
  ago = time.ago,
  apply = writes.apply,
  base64 = freeze("k8s.base64", raw.base64),
  command = require "k8s.command",
  controller = controller,
  create = writes.create,
  cron = time.cron,
  delete = writes.delete,
  event = event,
  every = time.every,
  factory = factory.factory,
  get = live.get,
  informer = factory.informer,
  int64 = raw.int64,
  is_leader = leader.is_leader,
  json = freeze("k8s.json", raw.json),
  leader = leader.leader,
  limits = raw.limits,
  list = live.list,
  log = freeze("k8s.log", require "k8s.log"),
  main = raw.main,
  metric = freeze("k8s.metric", require "k8s.metric"),
  now = time.now,
  null = raw.null,
  on_leader = leader.on_leader,
  on_reload = on_reload,
  object = freeze("k8s.object", require "k8s.object"),
  pages = live.pages,
  patch = writes.patch,
  quantity = raw.quantity,
  queue = queue.new,
  reads = live.reads,
  retry_on_conflict = writes.retry_on_conflict,
  sha256 = raw.sha256,
  sleep = time.sleep,
  state = require "k8s.state",
  selects = require "k8s.selects",
  traceback = raw.traceback,
  watch = live.watch,
  snapshot = raw.snapshot,
  update = writes.update,
  writes = writes.writes,
})
