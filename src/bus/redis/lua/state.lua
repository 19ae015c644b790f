-- Keeps the last message of a channel as its state. Runs after retain.lua and before publish.lua.
--
-- The state of a channel is the text `{channel}.state`: the message as it was published, without the fields of its header but `record`. It
-- names an entry, as a message of a history does, so that a subscriber can tell which live messages are newer. The id is that of the history's
-- entry where the channel has a history, too.
--
-- Where tombstones may have to be routed by the state, the header has the field `key`, the hash of its record's key. The text
-- `{index}{hash}` names the channels whose states have that hash, each on a line: at most 16, those that got it last. It expires with the
-- last of them.
local MAX_CHANNELS = 16
-- Deletes a text: crier needs no right to use DEL.
local NOW = { 'PX', 1 }

-- The part of a header that names the entry of a message and the one before, for a channel without a history. Ids grow, also when the
-- clock is set back.
local function next_entry(channel)
  local time, count = state_entry(channel)
  if not time then return ' ' .. whole(time_now()) .. '-0 -' end
  local previous = ' ' .. time .. '-' .. count
  if tonumber(time) < time_now() then return ' ' .. whole(time_now()) .. '-0' .. previous end
  return ' ' .. time .. '-' .. whole(tonumber(count) + 1) .. previous
end

-- The hash of the key that the state of a channel is of; '': it has no state, or one without a hash.
local function key_of(channel)
  return string.match(redis.call('GETRANGE', channel .. '.state', 0, 255), '^@[^\n]- key=(%S+)') or ''
end

-- The channels whose states have a hash, oldest first.
local function channels_of(index, key)
  local channels = {}
  for channel in string.gmatch(redis.call('GET', index .. key) or '', '[^\n]+') do channels[#channels + 1] = channel end
  return channels
end

-- Without this channel: it is at the end of the list then, or not in it.
local function without(channels, channel)
  local others = {}
  for _, other in ipairs(channels) do
    if other ~= channel then others[#others + 1] = other end
  end
  return others
end

-- Moves a channel from the list of one hash to that of another.
local function index_state(channel, limits, before, key)
  if before ~= '' and before ~= key then
    local others = without(channels_of(limits.index, before), channel)
    local expiry = #others == 0 and NOW or { 'KEEPTTL' }
    redis.call('SET', limits.index .. before, table.concat(others, '\n'), unpack(expiry))
  end
  if key == '' then return end
  if before ~= key then
    local channels = without(channels_of(limits.index, key), channel)
    channels[#channels + 1] = channel
    local first = math.max(1, #channels - MAX_CHANNELS + 1)
    redis.call('SET', limits.index .. key, table.concat(channels, '\n', first))
  end
  if limits.state ~= '0' then redis.call('PEXPIREAT', limits.index .. key, time_now() + tonumber(limits.state) * 1000) end
end

-- `entry`: the rest of the header; `record`: the field of its record, or ''; `key`: the hash of its record's key, or ''. A tombstone (the
-- payload `null`) stays for ten seconds: the id of the next message must be greater.
local function keep_state(channel, limits, header, entry, record, key, payload)
  local seconds = limits.state
  if payload == 'null' then
    seconds = '10'
    key = ''
  end
  if limits.index then index_state(channel, limits, key_of(channel), key) end
  local field = key == '' and '' or ' key=' .. key
  local expiry = seconds ~= '0' and { 'EX', seconds } or {}
  redis.call('SET', channel .. '.state', '@' .. header .. entry .. field .. record .. '\n' .. payload, unpack(expiry))
end
