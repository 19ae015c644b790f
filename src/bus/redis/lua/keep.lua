-- Keeps texts until they expire, and publishes those that are new on the channel of the same name as the key.
--
-- KEYS[1]: sorted set of texts, by when they expire in ms since 1970
-- ARGV[1]: texts that it may have at most
-- From ARGV[2] on, in pairs: a text, and when it expires
--
-- Replies with the number of texts that found no room.
local key, call = KEYS[1], redis.call
local time = call('TIME')
call('ZREMRANGEBYSCORE', key, '-inf', time[1] .. string.format('%03d', math.floor(time[2] / 1000)))
local room = tonumber(ARGV[1]) - call('ZCARD', key)
local refused = 0
for i = 2, #ARGV, 2 do
  local is_new = not call('ZSCORE', key, ARGV[i])
  if is_new and room <= 0 then
    refused = refused + 1
  else
    call('ZADD', key, ARGV[i + 1], ARGV[i])
    if is_new then
      room = room - 1
      call(PUBLISH, key, ARGV[i])
    end
  end
end
-- Nothing stays behind once nobody keeps anything here any more.
local last = call('ZRANGE', key, -1, -1, 'WITHSCORES')
if last[2] then call('PEXPIREAT', key, string.format('%.0f', tonumber(last[2]))) end
return refused
