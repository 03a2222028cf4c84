-- Flags of `kubelua publish` and `kubelua run --from` that are wrong: no NATS is asked.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

-- CI has everything.
local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
local file = io.open(binary:match "^(.*)/" .. "/lib/kubelua/nats_bucket.so")
if not file then
  assert(not os.getenv "KUBELUA_REQUIRE_REAL", "libnats-dev is not installed")
  describe("wrong flags of buckets", function() pending "libnats-dev is not installed" end)
  return
end
file:close()

describe("wrong flags of buckets", function()
  local sim, folder
  local url = "nats://127.0.0.1:1/test"

  before_each(function()
    sim, folder = cluster.sim(), temp.folder()
    temp.write(folder .. "/it.lua", 'require("k8s").informer("pods")\n')
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("are refused with a message", function()
    local function fails(words, pattern)
      local p = cluster.kubelua(words)
      assert.are.equal(2, p:wait(), p:report())
      assert.matches(pattern, p:err())
    end
    fails({ "publish", "pods", "-s", sim.server }, "no bucket given; use %-%-to nats://HOST/BUCKET")
    fails({ "publish", "--to", url, "-s", sim.server }, "nothing to publish; give KINDs")
    fails({ "publish", "pods", "--to", "nats://u:secret@h/b", "-s", sim.server }, "without a user")
    local long = "nats://" .. ("h,"):rep(1019) .. "h/b"
    fails({ "publish", "pods", "--to", long .. "b", "-s", sim.server }, "%-%-to: must have at most 2048 characters")
    fails({ "run", "-f", folder .. "/it.lua", "--from", long .. "b" }, "%-%-from: must have at most 2048 characters")
    fails({ "run", "-f", folder .. "/it.lua", "--from", "nats://h/b.c" }, "a bucket's name has at most")
    fails({ "run", "-f", folder .. "/it.lua", "--from", "http://h/b" }, "%-%-from: must be nats://HOST")
    fails({ "publish", "pods", "--to", url, "-s", sim.server, "--nats-token-file", folder .. "/none" },
      "%-%-nats%-token%-file: ")
    fails({ "publish", "pods", "--to", url, "-s", sim.server, "--nats-creds-file", folder .. "/it.lua" },
      "credentials must be the content of a creds file: there is no NATS USER JWT")
    fails({ "publish", "pods", "--to", url, "-s", sim.server, "--nats-ca-file", folder .. "/it.lua" },
      "ca is neither PEM nor a path")
    fails({ "publish", "pods", "--to", url, "-s", sim.server, "--nats-user", "me" }, "are required together")
    fails({ "publish", "pods", "--to", url, "-s", sim.server, "--nats-key-file", "me" }, "are required together")
    for _, part in ipairs { "3/3", "0/0", "-1/2", "1", "0/1001", "" } do
      fails({ "run", "-f", folder .. "/it.lua", "--from", url, "--partition", part }, "%-%-partition: .*must be I/N")
    end
    fails({ "run", "-f", folder .. "/it.lua", "-s", sim.server, "--partition", "0/2" },
      "%-%-partition requires %-%-from")
    fails({ "run", "-f", folder .. "/it.lua", "--from", url, "--cache-dir", folder .. "/cache" },
      "%-%-cache%-dir and %-%-from are mutually exclusive; the bucket has the state")
    fails({ "run", "-f", folder .. "/it.lua", "--from", url, "--shard" },
      "%-%-shard and %-%-from are mutually exclusive; use %-%-partition")
    fails({ "publish", "podz", "--to", url, "-s", sim.server }, "podz")
  end)
end)
