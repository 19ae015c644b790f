/**
 * The scripts that run in Redis (6.2 or later): each is one round trip and one atomic step.
 *
 * Both keep the hash `{prefix}owners`: by topic its epoch, by `topic/partition` who publishes for it (a token), the offset up to
 * which everything was published, and the last start id. A topic's name has no `/`.
 *
 * The history of a channel is a stream under the channel's name: `c` are an entry's coordinates, `b` the bytes of all payloads
 * before it, `p` its payload. Beside it is its head, the text `{channel}.head` (a channel's name ends with `}`), so that to add an
 * entry no payload is read, which cost Redis more than all the rest. They expire together. A head that is gone (evicted, or
 * deleted by a person) is made anew from the stream; without its stream it goes on as if that had been trimmed.
 */

/** Of `owners`: an entry as its token, its offset and its start id ('': none). */
const OWNER = `
local owner = redis.call('HMGET', KEYS[1], ARGV[1], ARGV[1] .. '/' .. ARGV[2])
local token, position, start_id
if owner[2] then token, position, start_id = string.match(owner[2], '^(%S+) (%-?%d+) ?(%S*)$') end
position = tonumber(position)
local function whole(number) return string.format('%.0f', number) end
`;

/**
 * ARGV: topic, partition, new token, epoch that the worker knows (0: none), offset up to which it knows of (-1: none), start id
 * ('': its records continue the earlier ones), time in ms; offset up to which the worker's messages were accepted here before (-1: none),
 * and the start id at that time.
 * Replies with the epoch, the offset up to which messages are left out, and the start id.
 */
export const LEASE_SCRIPT = `${OWNER}
local epoch, known_epoch, known = tonumber(owner[1] or 0), tonumber(ARGV[4]), tonumber(ARGV[5])
local is_fresh = ARGV[6] ~= '' and ARGV[6] ~= start_id
if ARGV[6] ~= '' then start_id = ARGV[6] end
start_id = start_id or ''
if start_id == '' or start_id == ARGV[9] then known = math.max(known, tonumber(ARGV[8])) end
local is_broken = epoch == 0
if is_fresh and (position or -1) >= 0 then
  is_broken = true
elseif (position or -1) < known then
  is_broken = is_broken or known_epoch == epoch or (known_epoch == 0 and position ~= nil)
end
if is_broken then
  epoch = math.max(tonumber(ARGV[7]), epoch + 1, known_epoch + 1)
  redis.call('HSET', KEYS[1], ARGV[1], whole(epoch))
end
if is_fresh then position = known else position = math.max(position or -1, known) end
redis.call('HSET', KEYS[1], ARGV[1] .. '/' .. ARGV[2], ARGV[3] .. ' ' .. whole(position) .. ' ' .. start_id)
return { whole(epoch), whole(position), start_id }
`;

/** Of a stream's entry: fields by name, from the flat list that Redis gives. */
const FIELDS = `
local function fields_of(entry)
  local fields = {}
  for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
  return fields
end
`;

/**
 * Of a channel's head: `last` is the id of the last entry ('-': there is none), `total` the bytes of all payloads; `first` and `before`
 * are the id of the oldest entry and the bytes before it when that was looked at last (it may be gone since). `keep` adds a
 * message and gives the part of its header that is about its entry; `bound` once for each channel, at the end.
 */
const KEEP = `${FIELDS}
local now
local heads = {}

local function head_of(channel)
  if not now then
    local time = redis.call('TIME')
    now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  local text = redis.call('GET', channel .. '.head') or ''
  local last, total, first, before = string.match(text, '^(%S+) (%d+) (%S+) (%d+)$')
  if last then return { last = last, total = tonumber(total), first = first, before = tonumber(before) } end
  local entry = redis.call('XREVRANGE', channel, '+', '-', 'COUNT', 1)[1]
  if not entry then return { last = '-', total = 0, first = '0-1', before = 0 } end
  local fields = fields_of(entry)
  return { last = entry[1], total = tonumber(fields.b) + #fields.p, first = '0-1', before = 0 }
end

local function keep(channel, limits, coordinates, payload)
  local head = heads[channel]
  if not head then
    head = head_of(channel)
    heads[channel] = head
  end
  head.limits = limits
  local previous = head.last
  head.last = redis.call('XADD', channel, 'MINID', '=', now - limits.seconds * 1000, '*',
    'c', coordinates, 'b', head.total, 'p', payload)
  head.total = head.total + #payload
  return ' ' .. head.last .. ' ' .. previous
end

local function bound(channel, head)
  local expiry = now + head.limits.seconds * 1000
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
`;

/**
 * ARGV: topic, partition, token, offset up to which this publishes, offset up to which the publisher knows of, least offset of a message;
 * the channel of marks ('': nothing is marked), bytes of the stream before these, '?' where the publisher waits for an answer;
 * then in threes either a message: channel, `offset timestamp`, payload ('': that of the message before); or how much of each message
 * from here on is kept in a history: '', `entries bytes seconds` (0 entries, as at the beginning: nothing), ''.
 * Replies with the bytes of payloads that somebody received; with -1 when the lease must be acquired (again): then nothing was
 * published.
 *
 * Redis spends its time here on calls and on making texts: of a message without a history nothing is taken apart.
 */
export const PUBLISH_SCRIPT = `${OWNER}${KEEP}
local args, call, match = ARGV, redis.call, string.match
if not owner[1] or token ~= args[3] or position < tonumber(args[5]) then return -1 end
local are_new = tonumber(args[6]) > position
local before, behind = args[2] .. ' ', ' ' .. owner[1]
local at_before, behind_line = '@' .. before, behind .. '\\n'
local limits, payload
local text, text_place
local received = 0

local function limits_of(text)
  local entries, bytes, seconds = match(text, '^(%S+) (%S+) (%S+)$')
  if entries ~= '0' then return { entries = entries, bytes = tonumber(bytes), seconds = tonumber(seconds) } end
end

for i = 10, #args, 3 do
  local channel, place = args[i], args[i + 1]
  if channel == '' then
    limits = limits_of(place)
  else
    if args[i + 2] ~= '' then payload = args[i + 2] end
    if are_new or tonumber(match(place, '^%S+')) > position then
      local receivers
      if limits then
        local header = before .. place .. behind
        text_place = nil
        receivers = call('PUBLISH', channel, '@' .. header .. keep(channel, limits, header, payload) .. '\\n' .. payload)
      else
        -- The messages of a record are one text.
        if args[i + 2] ~= '' or place ~= text_place then
          text, text_place = at_before .. place .. behind_line .. payload, place
        end
        receivers = call('PUBLISH', channel, text)
      end
      if receivers > 0 then received = received + #payload end
    end
  end
end
for channel, head in pairs(heads) do bound(channel, head) end
if tonumber(args[4]) > position then
  call('HSET', KEYS[1], args[1] .. '/' .. args[2], token .. ' ' .. args[4] .. ' ' .. start_id)
end
if args[7] ~= '' and received > 0 then
  call('PUBLISH', args[7], args[1] .. ' ' .. args[2] .. ' ' .. token .. ' ' .. whole(tonumber(args[8]) + received) .. args[9])
end
return received
`;

/**
 * KEYS: owners, channel. ARGV: topic, id of the entry to begin with ('': only the last one), most entries, most bytes of payload.
 * Replies with the topic's epoch and, for each entry, `@coordinates id -\npayload`; with no entry where there are more.
 */
export const HISTORY_SCRIPT = `${FIELDS}
local epoch = redis.call('HGET', KEYS[1], ARGV[1]) or '0'
local reply = { epoch }
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
local entries = last
if ARGV[2] ~= '' and last[1] then
  local first = redis.call('XRANGE', KEYS[2], ARGV[2], '+', 'COUNT', 1)[1]
  if not first then return reply end
  if tonumber(fields_of(last[1]).b) - tonumber(fields_of(first).b) > tonumber(ARGV[4]) then return reply end
  entries = redis.call('XRANGE', KEYS[2], ARGV[2], '+', 'COUNT', tonumber(ARGV[3]) + 1)
  if #entries > tonumber(ARGV[3]) then return reply end
end
for i = 1, #entries do
  local fields = fields_of(entries[i])
  reply[i + 1] = '@' .. fields.c .. ' ' .. entries[i][1] .. ' -\\n' .. fields.p
end
return reply
`;
