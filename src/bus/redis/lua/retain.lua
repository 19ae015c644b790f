-- Keeps messages in the histories of their channels. Runs after entry.lua and before publish.lua.
--
-- Beside a channel's stream is its head, the text `{channel}.head` (a channel's name ends with `}`): to add an entry, no payload is
-- read, which would cost Redis more than everything else. Stream and head expire together. A head that is gone (evicted, or deleted
-- by a person) is rebuilt from the stream; a head without its stream continues as if the stream had been trimmed.
--
-- The head's fields: `last`, id of the last entry ('-': none); `total`, bytes of all payloads and records; `first` and `before`, id of the
-- oldest entry and the bytes before it, as of the last look (that entry may be gone since).
local now
local heads = {}
local NO_RECORD = {}

-- In ms since 1970, the same for the whole script.
local function time_now()
  if not now then
    local time = redis.call('TIME')
    now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  return now
end

local function head_of(channel)
  local text = redis.call('GET', channel .. '.head') or ''
  local last, total, first, before = string.match(text, '^(%S+) (%d+) (%S+) (%d+)$')
  if last then return { last = last, total = tonumber(total), first = first, before = tonumber(before) } end
  local entry = redis.call('XREVRANGE', channel, '+', '-', 'COUNT', 1)[1]
  if not entry then return { last = '-', total = 0, first = '0-1', before = 0 } end
  local fields = fields_of(entry)
  return { last = entry[1], total = tonumber(fields.b) + bytes_of(fields), first = '0-1', before = 0 }
end

-- Adds a message. `record`: the field of its header, or ''. Returns the part of its header that names its entry and the one before.
local function keep(channel, limits, coordinates, record, payload)
  local head = heads[channel]
  if not head then
    head = head_of(channel)
    heads[channel] = head
  end
  head.limits = limits
  local previous = head.last
  head.last = redis.call('XADD', channel, 'MINID', '=', time_now() - limits.seconds * 1000, '*',
    'c', coordinates, 'b', head.total, 'p', payload, unpack(record == '' and NO_RECORD or { 'r', record }))
  head.total = head.total + #payload + #record
  return ' ' .. head.last .. ' ' .. previous
end

-- Applies the limits of a channel. Called once for each channel, at the end.
local function bound(channel, head)
  local expiry = time_now() + head.limits.seconds * 1000
  redis.call('XTRIM', channel, 'MAXLEN', '=', head.limits.entries)
  while head.total - head.before > head.limits.bytes and head.first ~= head.last do
    redis.call('XDEL', channel, head.first)
    local first = redis.call('XRANGE', channel, '-', '+', 'COUNT', 1)[1]
    head.first, head.before = first[1], tonumber(fields_of(first).b)
  end
  local text = head.last .. ' ' .. whole(head.total) .. ' ' .. head.first .. ' ' .. whole(head.before)
  redis.call('PEXPIREAT', channel, expiry)
  redis.call('SET', channel .. '.head', text, 'PXAT', expiry)
end
