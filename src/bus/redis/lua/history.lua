-- Reads the history of a channel. Runs after entry.lua.
--
-- KEYS[1]: the hash of the partition owners (partition.lua); KEYS[2]: the channel; KEYS[3]: the hash of the fills (fills.lua)
-- ARGV[1]: topic
-- ARGV[2]: id of the first entry to read ('': only the last one)
-- ARGV[3]: most entries; ARGV[4]: most bytes of payloads and records
--
-- Replies with the topic's epoch and, for each entry, `@coordinates id - record=…\npayload`; with no entry where there are more. Where no
-- history is kept, the state of the channel (state.lua) is its only entry. So it is where a worker without the history has published since:
-- then the state is newer than the last entry.

-- True if the channel has a state that is newer than an entry of its history.
local function is_behind_state(id)
  local time, count = state_entry(KEYS[2])
  if not time then return false end
  local own_time, own_count = string.match(id, '^(%d+)%-(%d+)$')
  if time ~= own_time then return tonumber(time) > tonumber(own_time) end
  return tonumber(count) > tonumber(own_count)
end

-- True if an entry is the delete of another row than that of the channel's state.
local function is_beside_state(fields)
  return is_delete(fields.p) and state_entry(KEYS[2]) and not is_tombstone(KEYS[2])
end

local epoch = redis.call('HGET', KEYS[1], ARGV[1]) or '0'
local reply = { epoch }
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
if last[1] and is_behind_state(last[1][1]) then last = {} end
if ARGV[2] == '' and last[1] and is_beside_state(fields_of(last[1])) then last = {} end
local entries = last
if ARGV[2] ~= '' and last[1] then
  local first = redis.call('XRANGE', KEYS[2], ARGV[2], '+', 'COUNT', 1)[1]
  if not first then return reply end
  if tonumber(fields_of(last[1]).b) - tonumber(fields_of(first).b) > tonumber(ARGV[4]) then return reply end
  entries = redis.call('XRANGE', KEYS[2], ARGV[2], '+', 'COUNT', tonumber(ARGV[3]) + 1)
  if #entries > tonumber(ARGV[3]) then return reply end
end
if not last[1] then
  local text = redis.call('GET', KEYS[2] .. '.state') or ''
  local partition, state_epoch, entry = string.match(text, '^@(%S+) %S+ %S+ (%S+) (%S+)')
  -- A state from before the fill of its partition may be of a key that the topic no longer has.
  local fill = partition and redis.call('HGET', KEYS[3], ARGV[1] .. '/' .. partition) or '0'
  local is_valid = partition and tonumber(state_epoch) >= tonumber(string.match(fill, '^%d+'))
  if is_valid and (ARGV[2] == '' or ARGV[2] == entry) and string.sub(text, -5) ~= '\nnull' then reply[2] = text end
end
for i = 1, #entries do
  local fields = fields_of(entries[i])
  reply[i + 1] = '@' .. fields.c .. ' ' .. entries[i][1] .. ' -' .. (fields.r or '') .. '\n' .. fields.p
end
return reply
