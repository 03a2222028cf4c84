-- `ev`, the last argument of a handler: a fresh table for each call, so that it may be kept. That of a delete gets
-- `previous` from C, where there is one.
return function(initial, final_state_unknown, resync, coalesced, filtered, warm, resource_version, time, shard)
  return {
    initial = initial,
    final_state_unknown = final_state_unknown,
    resync = resync,
    coalesced = coalesced,
    filtered = filtered,
    warm = warm,
    resource_version = resource_version,
    time = time,
    shard = shard,
  }
end
