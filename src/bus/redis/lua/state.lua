-- Keeps the last message of a channel as its state. Runs after retain.lua and before publish.lua.
--
-- The state of a channel is the text `{channel}.state`: the message as it was published, without the fields of its header but `record`. It
-- names an entry, as a message of a history does, so that a subscriber can tell which live messages are newer. The id is that of the history's
-- entry where the channel has a history, too.

-- The part of a header that names the entry of a message and the one before, for a channel without a history. Ids grow, also when the
-- clock is set back.
local function next_entry(channel)
  local text = redis.call('GETRANGE', channel .. '.state', 0, 127)
  local time, count = string.match(text, '^@%S+ %S+ %S+ %S+ (%d+)%-(%d+) ')
  if not time then return ' ' .. whole(time_now()) .. '-0 -' end
  local previous = ' ' .. time .. '-' .. count
  if tonumber(time) < time_now() then return ' ' .. whole(time_now()) .. '-0' .. previous end
  return ' ' .. time .. '-' .. whole(tonumber(count) + 1) .. previous
end

-- `entry`: the rest of the header. `seconds`: '0' for ever. A tombstone (the payload `null`) stays for ten seconds: the id of the next
-- message must be greater.
local function keep_state(channel, seconds, header, entry, payload)
  if payload == 'null' then seconds = '10' end
  local expiry = seconds ~= '0' and { 'EX', seconds } or {}
  redis.call('SET', channel .. '.state', '@' .. header .. entry .. '\n' .. payload, unpack(expiry))
end
