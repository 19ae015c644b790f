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
--   channel, `offset timestamp`, payload ('': that of the previous message). The channel '*': a tombstone for the channels whose states are
--   of its key hash. `offset timestamp -`: a tombstone for a state of the channel without a key hash;
--   '', `entries bytes seconds state`, index: what is kept of the messages that follow (0 entries, as at the beginning: no history). `state`:
--   seconds for which the last one is the state of its channel (0: for ever; '-', as at the beginning: it has no state). `index`: that of
--   the states by key hash ('': there is none);
--   '', '.', key hash of the messages that follow ('', as at the beginning: none);
--   '', '', ` name=value …`: the fields that end the headers of the messages that follow ('', as at the beginning: none). History and state
--   keep the field `record` only.
--
-- A message whose key hash is new to its channel, or may be, brings a tombstone for the other channels whose states are of this hash.
--
-- Replies with the bytes of the payloads that at least one subscriber received; in a Redis Cluster followed by the numbers of the messages
-- whose tombstones other hash tags need, if there are any. With -1 when the worker must acquire the lease (again): then nothing was published.
--
-- Redis spends its time here on calls and on building strings: a message without a history is not taken apart.
local args, call, match = ARGV, redis.call, string.match
local MINUS = 45
if not owner[1] or token ~= args[3] or position < tonumber(args[5]) then return -1 end
local are_new = tonumber(args[6]) > position
local before, after = args[2] .. ' ', ' ' .. owner[1]
local at_before, after_line = '@' .. before, after .. '\n'
local line_end, record = '\n', ''
local limits, payload
local key = ''
local text, text_stamp
local received = 0
-- Messages so far, and the numbers of those that replace states of their keys elsewhere.
local count, arrived = 0, {}

local function limits_of(text, index)
  local entries, bytes, seconds, state = match(text, '^(%S+) (%S+) (%S+) (%S+)$')
  if state == '-' then state = nil end
  if entries == '0' and not state then return end
  return {
    entries = entries ~= '0' and entries, bytes = tonumber(bytes), seconds = tonumber(seconds), state = state, index = index ~= '' and index,
  }
end

local depart_all

-- `hash`: of its record's key; `ending`: the end of its header; `parts`: the field `record` of it.
local function publish_kept(channel, stamp, text, hash, ending, parts)
  local former = limits.index and key_of(channel)
  local deletes = is_delete(text)
  if hash ~= '' and former and former ~= hash and not deletes then
    -- What the message carries of its record is not for the channels that the record leaves.
    depart_all(stamp, '\n', '')
    if IS_CLUSTER then arrived[#arrived + 1] = count end
  end
  local header = before .. stamp .. after
  local entry = limits.entries and keep(channel, limits, header, parts, text) or next_entry(channel)
  if deletes and former and former ~= '' and former ~= hash then
    move_state(channel, entry)
  elseif limits.state then
    keep_state(channel, limits, header, entry, parts, former, hash, deletes and 'null' or text)
  end
  if call(PUBLISH, channel, '@' .. header .. entry .. ending .. text) > 0 then received = received + #text end
end

-- True if the state was kept before the fill of its partition: nobody is shown it.
local function is_outdated(partition, epoch)
  local fill = KEYS[2] and call('HGET', KEYS[2], args[1] .. '/' .. partition) or '0'
  return tonumber(epoch) < tonumber(match(fill, '^%d+'))
end

-- Ends the state of a channel with a tombstone if it is of this hash, and of an earlier record. An outdated state of a later one ends silently:
-- its record is read again.
local function depart(channel, stamp, hash, ending, parts)
  local partition, offset, epoch, own_hash = state_of(channel)
  if own_hash ~= hash then return end
  if partition ~= args[2] or tonumber(offset) < tonumber(match(stamp, '^%S+')) then
    publish_kept(channel, stamp, 'null', '', ending, parts)
  elseif hash ~= '' and is_outdated(partition, epoch) then
    forget_state(channel)
  end
end

function depart_all(stamp, ending, parts)
  for _, channel in ipairs(channels_of(limits.index, key)) do depart(channel, stamp, key, ending, parts) end
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
    count = count + 1
    local is_new = are_new or tonumber(match(stamp, '^%S+')) > position
    if not limits then
      if is_new then
        -- The messages of one record share a text.
        if args[i + 2] ~= '' or stamp ~= text_stamp then
          text, text_stamp = at_before .. stamp .. after_line .. payload, stamp
        end
        if call(PUBLISH, channel, text) > 0 then received = received + #payload end
      end
    else
      text_stamp = nil
      -- In a Redis Cluster it may be published after messages that follow it; `depart` compares.
      if channel == '*' and (is_new or IS_CLUSTER) then
        depart_all(stamp, line_end, record)
      elseif is_new then
        if string.byte(stamp, -1) == MINUS then
          if not is_tombstone(channel) then depart(channel, string.sub(stamp, 1, -3), '', line_end, record) end
        elseif not is_of_other_key(channel) then
          publish_kept(channel, stamp, payload, key, line_end, record)
        end
      elseif IS_CLUSTER and limits.index and key ~= '' then
        arrived[#arrived + 1] = count
      end
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
if not arrived[1] then return received end
table.insert(arrived, 1, received)
return arrived
