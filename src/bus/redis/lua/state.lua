-- Keeps the last message of a channel as its state. Runs after retain.lua and before publish.lua.
--
-- The state of a channel is the text `{channel}.state`: the message as it was published, without the fields of its header but `record`. It
-- names an entry, as a message of a history does, so that a subscriber can tell which live messages are newer. The id is that of the history's
-- entry where the channel has a history, too.
--
-- Where a record may have to be found by the state, the header has the field `key`, the hash of its record's key. The text `{index}{hash}`
-- names the channel whose state has that hash, and expires with it. Earlier releases named several, each on a line.
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

-- Partition, offset and epoch of the record that the state of a channel is of, and the hash of its key ('': without one); nil: it has no state.
local function state_of(channel)
  local header = string.match(redis.call('GETRANGE', channel .. '.state', 0, 255), '^@[^\n]*')
  if not header then return end
  local partition, offset, epoch = string.match(header, '^@(%S+) (%S+) %S+ (%S+)')
  return partition, offset, epoch, string.match(header, ' key=(%S+)') or ''
end

local function forget_state(channel)
  redis.call('SET', channel .. '.state', '', unpack(NOW))
end

-- The state stays, and a message came after it: a subscriber that begins with the state must tell which live messages are newer.
local function move_state(channel, entry)
  local text = redis.call('GET', channel .. '.state')
  redis.call('SET', channel .. '.state', string.gsub(text, '^(@%S+ %S+ %S+ %S+) %S+ %S+', '%1' .. entry, 1), 'KEEPTTL')
end

-- The channels whose states may have a hash.
local function channels_of(index, key)
  local channels = {}
  for channel in string.gmatch(redis.call('GET', index .. key) or '', '[^\n]+') do channels[#channels + 1] = channel end
  return channels
end

-- The state of the channel has another hash than before.
local function index_state(channel, limits, before, key)
  if before ~= '' and before ~= key and redis.call('GET', limits.index .. before) == channel then
    redis.call('SET', limits.index .. before, '', unpack(NOW))
  end
  if key == '' then return end
  if before ~= key then redis.call('SET', limits.index .. key, channel) end
  if limits.state ~= '0' then redis.call('PEXPIREAT', limits.index .. key, time_now() + tonumber(limits.state) * 1000) end
end

-- `entry`: the rest of the header; `record`: the field of its record, or ''; `before`: the hash that the channel's state had, or '', nil without an
-- index; `key`: the hash of its record's key, or ''. A tombstone (the payload `null`) stays for ten seconds: the id of the next message must be
-- greater.
local function keep_state(channel, limits, header, entry, record, before, key, payload)
  local seconds = limits.state
  if payload == 'null' then
    seconds = '10'
    key = ''
  end
  if before then index_state(channel, limits, before, key) end
  local field = key == '' and '' or ' key=' .. key
  local expiry = seconds ~= '0' and { 'EX', seconds } or {}
  redis.call('SET', channel .. '.state', '@' .. header .. entry .. field .. record .. '\n' .. payload, unpack(expiry))
end
