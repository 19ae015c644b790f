-- Publishes messages of one partition and moves its offset. Runs after partition.lua, entry.lua, retain.lua and state.lua.
--
-- KEYS[2]: the hash of the fills (fills.lua); absent where the worker keeps no states
-- ARGV[1], ARGV[2], ARGV[3]: topic, partition, token of the lease
-- ARGV[4]: offset up to which everything is published with these messages
-- ARGV[5]: offset up to which the worker knows that everything was published
-- ARGV[6]: least offset of a message
-- ARGV[7]: the channel of marks ('': no mark is due)
-- ARGV[8]: bytes of the stream before these messages
-- ARGV[9]: '?' where the worker waits for credit, else ''
-- From ARGV[10] on, in threes, one of
--   channel, `offset timestamp`, payload ('': that of the previous message). The channel '*': a tombstone for all channels whose states are
--   of its key hash;
--   '', `entries bytes seconds state`, index: what is kept of the messages that follow (0 entries, as at the beginning: no history). `state`:
--   seconds for which the last one is the state of its channel (0: for ever; '-', as at the beginning: it has no state). `index`: that of
--   the states by key hash ('': there is none);
--   '', '.', key hash of the messages that follow ('', as at the beginning: none);
--   '', '', ` name=value …`: the fields that end the headers of the messages that follow ('', as at the beginning: none). History and state
--   keep the field `record` only.
--
-- Replies with the bytes of the payloads that at least one subscriber received; with -1 when the worker must acquire the lease (again):
-- then nothing was published.
--
-- Redis spends its time here on calls and on building strings: a message without a history is not taken apart.
local args, call, match = ARGV, redis.call, string.match
if not owner[1] or token ~= args[3] or position < tonumber(args[5]) then return -1 end
local are_new = tonumber(args[6]) > position
local before, after = args[2] .. ' ', ' ' .. owner[1]
local at_before, after_line = '@' .. before, after .. '\n'
local line_end, record = '\n', ''
local limits, payload
local key = ''
local text, text_stamp
local received = 0

local function limits_of(text, index)
  local entries, bytes, seconds, state = match(text, '^(%S+) (%S+) (%S+) (%S+)$')
  if state == '-' then state = nil end
  if entries == '0' and not state then return end
  return {
    entries = entries ~= '0' and entries, bytes = tonumber(bytes), seconds = tonumber(seconds), state = state, index = index ~= '' and index,
  }
end

local function publish_kept(channel, stamp)
  local header = before .. stamp .. after
  local entry = limits.entries and keep(channel, limits, header, record, payload) or next_entry(channel)
  if limits.state then keep_state(channel, limits, header, entry, record, key, payload) end
  return call(PUBLISH, channel, '@' .. header .. entry .. line_end .. payload)
end

-- Publishes a tombstone to all channels whose states are of its key.
local function publish_by_state(stamp)
  local receivers = 0
  for _, channel in ipairs(channels_of(limits.index, key)) do receivers = receivers + publish_kept(channel, stamp) end
  return receivers
end

-- True if the state of the channel is of a record whose key does not name the channel: a tombstone that names it is not its own.
local function is_of_other_key(channel)
  return limits.index and payload == 'null' and key_of(channel) ~= ''
end

for i = 10, #args, 3 do
  local channel, stamp = args[i], args[i + 1]
  if channel == '' and stamp == '' then
    line_end = args[i + 2] .. '\n'
    after_line, text_stamp = after .. line_end, nil
    record = match(args[i + 2], ' record=%S+') or ''
  elseif channel == '' and stamp == '.' then
    key = args[i + 2]
  elseif channel == '' then
    limits = limits_of(stamp, args[i + 2])
  else
    if args[i + 2] ~= '' then payload = args[i + 2] end
    if are_new or tonumber(match(stamp, '^%S+')) > position then
      local receivers
      if limits then
        text_stamp = nil
        if channel == '*' then
          receivers = publish_by_state(stamp)
        elseif is_of_other_key(channel) then
          receivers = 0
        else
          receivers = publish_kept(channel, stamp)
        end
      else
        -- The messages of one record share a text.
        if args[i + 2] ~= '' or stamp ~= text_stamp then
          text, text_stamp = at_before .. stamp .. after_line .. payload, stamp
        end
        receivers = call(PUBLISH, channel, text)
      end
      if receivers > 0 then received = received + #payload end
    end
  end
end
for channel, head in pairs(heads) do bound(channel, head) end
if tonumber(args[4]) > position then
  local field = args[1] .. '/' .. args[2]
  call('HSET', KEYS[1], field, token .. ' ' .. args[4] .. ' ' .. start_id)
  if KEYS[2] then call('HSET', KEYS[2], field .. '/position', args[4]) end
end
if args[7] ~= '' and received > 0 then
  call(PUBLISH, args[7], args[1] .. ' ' .. args[2] .. ' ' .. token .. ' ' .. whole(tonumber(args[8]) + received) .. args[9])
end
return received
