-- Object oriented: a class with methods, a queue, and a custom kind.
local k8s = require "k8s"

k8s.reads { "configmaps:get", "services:list" }
k8s.writes {
  "configmaps:create",
  "configmaps:update",
  "services:delete",
  "widgets.example.com/status:patch",
  "widgets.example.com:patch",
}

local Operator = {}
Operator.__index = Operator

function Operator.new()
  local self = setmetatable({}, Operator)
  self.widgets = k8s.informer("widgets.example.com", { namespaces = { "shop", "stock" } })
  self.queue = k8s.queue { name = "widgets", workers = 4 }
  return self
end

function Operator:config(widget)
  return {
    apiVersion = "v1",
    kind = "ConfigMap",
    metadata = { namespace = widget:namespace(), name = widget:name(), labels = { app = "widget" } },
    data = { size = tostring(widget.spec.size) },
  }
end

function Operator:report(widget, phase)
  return k8s.patch(widget, { status = { phase = phase } }, { subresource = "status" })
end

function Operator:repaint(widget)
  local paint = widget.spec.paint
  if not paint or paint.color ~= "red" then return true end
  return k8s.patch(widget, { spec = { paint = { color = "blue", gloss = k8s.null } } })
end

function Operator:write(widget)
  local map, err = k8s.get("configmaps", widget:key())
  if not map then
    if err.code ~= 404 then return nil, err end
    return k8s.create(self:config(widget))
  end
  local copy = map:copy()
  copy.data = self:config(widget).data
  return k8s.update(copy)
end

function Operator:reconcile(key, job)
  local widget = self.widgets:lister():get(key)
  if not widget then return end
  local written, err = self:write(widget)
  if not written then return job:retry(err) end
  self:repaint(widget)
  return self:report(widget, "Ready")
end

function Operator:clean(namespace)
  local services, err = k8s.list("services", { namespace = namespace, selector = "app=widget" })
  if not services then return nil, err end
  for _, service in ipairs(services) do
    if service.spec.type == "ExternalName" then
      local gone, failed = k8s.delete(service, { propagation = "background" })
      if not gone then return nil, failed end
    end
  end
end

local operator = Operator.new()
local enqueue = operator.queue:enqueuer()
operator.widgets:add_event_handler { OnAdd = enqueue, OnUpdate = enqueue, OnDelete = enqueue }
operator.queue:run(function(key, job) return operator:reconcile(key, job) end)
k8s.every("1h", function() return operator:clean "shop" end)
