-- Runs before retain.lua, state.lua and history.lua.
--
-- The history of a channel is a stream under the channel's name. Fields of an entry:
--   c: its coordinates; b: the bytes of all payloads and records before it; p: its payload;
--   r: the field ` record=…` of its header, absent if it has none.

-- The fields by name, from the flat list that Redis returns.
local function fields_of(entry)
  local fields = {}
  for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
  return fields
end

-- Bytes of an entry that count towards the limit of its history.
local function bytes_of(fields)
  return #fields.p + #(fields.r or '')
end

-- True for the payload of the delete of a row: `null`, and what is known of the row. It concerns no other row.
local function is_delete(payload)
  return string.sub(payload, 1, 5) == 'null\n'
end

-- True if the state of the channel is a tombstone.
local function is_tombstone(channel)
  return redis.call('GETRANGE', channel .. '.state', -5, -1) == '\nnull'
end

-- The two numbers of the entry that the state of a channel (state.lua) names; nil: it has no state.
local function state_entry(channel)
  return string.match(redis.call('GETRANGE', channel .. '.state', 0, 127), '^@%S+ %S+ %S+ %S+ (%d+)%-(%d+) ')
end
