import { client, request } from './connection.js';
import { clear, remark, show, showRefusal } from './conversation.js';
import { endTyping, hideTyping, showTyping, tellTyping } from './typing.js';

const SAID = 'subscription ($room: ID!) { said(room: $room) { id user text at } }';
const TYPING = 'subscription ($room: ID!) { typing(room: $room) { user } }';
const SAY = `mutation ($room: ID!, $user: String!, $text: String!, $id: ID) {
  say(room: $room, user: $user, text: $text, id: $id) { id user text at }
}`;

const rooms = document.querySelector('#rooms');
const userInput = document.querySelector('#user');
const textInput = document.querySelector('#text');

const user = () => userInput.value.trim() || 'Somebody';
userInput.value = sessionStorage.getItem('user') ?? `Guest ${Math.floor(Math.random() * 900 + 100)}`;
userInput.addEventListener('change', () => sessionStorage.setItem('user', userInput.value));

let room;
let leave = () => {};

function enter(name) {
  leave();
  clear();
  room = name;
  for (const link of rooms.children) link.ariaCurrent = link.hash === `#${name}` ? 'page' : null;
  const stops = [
    subscribe(SAID, ({ data: { said }, extensions }) => {
      // Nobody keeps the messages of this graph, so none can be sent again.
      if (extensions?.resumed === false || extensions?.gap)
        remark('The connection was lost for a while: messages may be missing here.');
      show(said, said.user === user());
      hideTyping(said.user);
    }),
    subscribe(TYPING, ({ data: { typing } }) => typing.user !== user() && showTyping(typing.user)),
  ];
  leave = () => stops.forEach((stop) => stop());
}

/** Over a lost socket, too: the client subscribes again. */
function subscribe(query, next) {
  return client.subscribe(
    { query, variables: { room } },
    {
      next,
      error: (problem) => remark(`This room cannot be read: ${problem[0]?.message ?? problem}`),
      complete: () => {},
    },
  );
}

async function say(text) {
  const message = { id: crypto.randomUUID(), user: user(), text };
  show(message, true);
  try {
    const { say: said } = await request(SAY, { room, ...message });
    show(said, true);
  } catch (error) {
    showRefusal(message.id, error.message);
  }
}

document.querySelector('#say').addEventListener('submit', (event) => {
  event.preventDefault();
  void say(textInput.value);
  textInput.value = '';
  endTyping();
});
textInput.addEventListener('input', () => tellTyping(room, user()));

const roomOfAddress = () => decodeURIComponent(location.hash.slice(1)) || 'lobby';
addEventListener('hashchange', () => enter(roomOfAddress()));
enter(roomOfAddress());

const { rooms: names } = await request('{ rooms }');
for (const name of names) {
  const link = document.createElement('a');
  link.href = `#${name}`;
  link.textContent = name;
  link.ariaCurrent = name === room ? 'page' : null;
  rooms.append(link);
}
