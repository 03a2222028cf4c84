local new_loader = require "spec.lua.support.load"
local raw_verbs = require "spec.lua.support.raw"

describe("options tables", function()
  local options = new_loader(raw_verbs.new())("k8s.options")
  local known = { namespace = "string", selector = "string", OnAdd = "function" }

  it("may be left out", function() assert.same({}, options.check("verb", nil, known)) end)

  it("are copied when every name and type is right", function()
    local given = { namespace = "shop", OnAdd = print }
    local own = options.check("verb", given, known)
    assert.same({ namespace = "shop", OnAdd = print }, own)
    given.namespace, given.selector = "other", "a=b"
    assert.same({ namespace = "shop", OnAdd = print }, own)
  end)

  it("are read without metamethods, and without a text of a key", function()
    local asked = {}
    local function trap(t)
      local function ask() asked[#asked + 1] = t end
      return setmetatable(t, { __index = ask, __tostring = ask, __len = ask, __call = ask, __lt = ask })
    end
    local own = options.check("verb", trap { namespace = "shop" }, known)
    assert.is_nil(own.selector)
    assert.is_nil(getmetatable(own))
    assert.error_matches(
      function() options.check("verb", { [trap {}] = 1, [trap { 1 }] = 2 }, known) end,
      "verb: unknown option of a table, known are OnAdd, namespace, selector"
    )
    assert.equal("shop", options.field(trap { namespace = "shop" }, "namespace"))
    assert.is_nil(options.field(trap {}, "namespace"))
    assert.same({}, asked)
  end)

  it("name the nearest known option for an unknown one", function()
    assert.error_matches(
      function() options.check("verb", { namespcae = "shop" }, known) end,
      'verb: unknown option "namespcae", did you mean "namespace"%?'
    )
    local function snake_case() options.check("verb", { on_add = print }, known) end
    assert.error_matches(snake_case, 'did you mean "OnAdd"')
    local selectors = { selector = "string", field_selector = "string" }
    local function as_elsewhere() options.check("verb", { labelSelector = "a" }, selectors) end
    assert.error_matches(as_elsewhere, 'did you mean "selector"')
    for _, name in ipairs { "lable_selector", "labelSelectr", "label_selectors" } do
      assert.error_matches(function() options.check("verb", { [name] = "a" }, selectors) end, 'did you mean "selector"')
    end
    local function field() options.check("verb", { fild_selector = "a" }, selectors) end
    assert.error_matches(field, 'did you mean "field_selector"')
  end)

  it("name all known options when none is near", function()
    assert.error_matches(
      function() options.check("verb", { zzz = 1 }, known) end,
      'unknown option "zzz", known are OnAdd, namespace, selector'
    )
    local function positional() options.check("verb", { "shop" }, known) end
    assert.error_matches(positional, "unknown option 1, known are")
  end)

  it("name the first by name of several that are wrong, whatever the order of the table", function()
    local letters = "abcdefghijklmnopqrstuvwxyz"
    for first = 1, 18 do
      local given = { selector = 1, [true] = 1 }
      for i = first, #letters do
        given[letters:sub(i, i):rep(9)] = 1
      end
      assert.error_matches(
        function() options.check("verb", given, known) end,
        'unknown option "' .. letters:sub(first, first):rep(9) .. '"'
      )
    end
    assert.error_matches(
      function() options.check("verb", { namespace = 1, selector = 1, zzz = 1, OnAdd = 1 }, known) end,
      "verb: OnAdd must be a function, not number"
    )
  end)

  it("have no NUL byte in a text, but in bytes", function()
    local forms = { namespace = "string", every = "duration", body = "bytes" }
    for _, name in ipairs { "namespace", "every" } do
      assert.error_matches(
        function() options.check("verb", { [name] = "\0a" }, forms) end,
        "verb: " .. name .. " must not contain a NUL byte"
      )
    end
    assert.same({ body = "a\0" }, options.check("verb", { body = "a\0" }, forms))
    assert.error_matches(
      function() options.check("verb", { body = 1 }, forms) end,
      "verb: body must be a string, not number"
    )
  end)

  it("report which type a value must have", function()
    assert.error_matches(
      function() options.check("verb", { selector = 1 }, known) end,
      "verb: selector must be a string, not number"
    )
    assert.error_matches(
      function() options.check("verb", "shop", known) end,
      "verb: options must be a table, not string"
    )
  end)
end)
