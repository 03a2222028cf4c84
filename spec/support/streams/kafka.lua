-- A broker of Kafka, by itself (KRaft), with a listener that wants TLS and a login, and one for who looks afterwards.
-- The login is PLAIN: librdkafka before 2.6.1, as Debian 12 has it, cannot log in by SCRAM at Kafka 4.
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"
local webhooks = require "spec.support.webhooks"

local kafka = {}
kafka.__index = kafka

local CLUSTER = "MkU3OEVBNTcwNTJENDM2Qk"
local CONFIG = [[
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:%d
listeners=PLAINTEXT://127.0.0.1:%d,SASL_SSL://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d
advertised.listeners=PLAINTEXT://127.0.0.1:%d,SASL_SSL://127.0.0.1:%d
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required %s;
ssl.keystore.type=PEM
ssl.keystore.location=%s/broker.pem
log.dirs=%s/kafka
num.partitions=4
offsets.topic.replication.factor=1
]]

local PORTS = [[import socket, sys
all = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*[one.getsockname()[1] for one in all])]]

local function free_ports(count)
  local text, ports = temp.run(("python3 -c '%s' %d"):format(PORTS, count)), {}
  for port in text:gmatch "%d+" do ports[#ports + 1] = tonumber(port) end
  return ports
end

local function java(self, class, words)
  local all = { "java", "-Xmx512m", "-cp", self.jars .. "/lib/*", class }
  for _, word in ipairs(words) do all[#all + 1] = word end
  all.stderr = self.folder .. "/kafka.err"
  return proc.spawn(all)
end

-- Who logs in, and how, from the next start on.
function kafka:set_login(user, password)
  local controller, plain, tls = unpack(self.ports)
  temp.write(self.folder .. "/kafka.properties",
    CONFIG:format(controller, plain, tls, controller, plain, tls, ('user_%s="%s"'):format(user, password), self.folder,
      self.folder))
end

-- `jars`: what kafka_jars printed. `user` logs in with `password`; FOLDER/broker.crt is its authority.
function kafka.new(folder, jars, user, password)
  local self = setmetatable({ folder = folder, jars = jars }, kafka)
  local plain, tls, controller = unpack(free_ports(3))
  self.plain, self.tls, self.ports = "127.0.0.1:" .. plain, "127.0.0.1:" .. tls, { controller, plain, tls }
  webhooks.certificate(folder, "broker")
  temp.write(folder .. "/broker.pem", temp.read(folder .. "/broker.key") .. temp.read(folder .. "/broker.crt"))
  self:set_login(user, password)
  local format = java(self, "kafka.tools.StorageTool", {
    "format", "-t", CLUSTER, "-c", folder .. "/kafka.properties",
  })
  assert(format:wait(60) == 0, temp.read(folder .. "/kafka.err"))
  self:start()
  return self
end

function kafka:start()
  self.process = java(self, "kafka.Kafka", { self.folder .. "/kafka.properties" })
  local deadline = proc.now() + 90
  local host, port = self.tls:match "^(.*):(%d+)$"
  while select(2, temp.run(("bash -c '</dev/tcp/%s/%s'"):format(host, port))) ~= 0 do
    assert(proc.now() < deadline and self.process:pump(proc.now() + 0.2) ~= nil and not self.process.exit_code,
      temp.read(self.folder .. "/kafka.err"))
  end
end

function kafka:stop()
  self.process:kill "KILL"
  self.process:wait(60)
end

return kafka
