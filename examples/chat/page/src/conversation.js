const list = document.querySelector('#lines');
const KEPT = 200;

/** Elements of the messages, by id. */
const shown = new Map();

/** Shows a message, once however often it comes. `at` is missing until the server has it. */
export function show({ id, user, text, at }, isOwn) {
  const line = shown.get(id) ?? append(id, user, text, isOwn);
  if (at === undefined) return;
  line.classList.remove('waiting');
  line.querySelector('time').textContent = new Date(at).toLocaleTimeString([], { timeStyle: 'short' });
}

/** Says that the server has refused a message, and why. */
export function showRefusal(id, reason) {
  const line = shown.get(id);
  line?.classList.replace('waiting', 'refused');
  line?.querySelector('time').replaceChildren(reason);
}

/** A remark between messages. */
export function remark(text) {
  const line = document.createElement('li');
  line.className = 'remark';
  line.textContent = text;
  put(line);
}

export function clear() {
  shown.clear();
  list.replaceChildren();
}

function append(id, user, text, isOwn) {
  const line = document.createElement('li');
  line.className = isOwn ? 'own waiting' : 'waiting';
  line.dataset.id = id;
  line.style.setProperty('--hue', hueOf(user));
  const name = document.createElement('strong');
  name.textContent = user;
  const time = document.createElement('time');
  time.textContent = 'sending …';
  line.append(name, ` ${text} `, time);
  shown.set(id, line);
  put(line);
  return line;
}

function put(line) {
  list.append(line);
  while (list.childElementCount > KEPT) {
    shown.delete(list.firstElementChild.dataset.id);
    list.firstElementChild.remove();
  }
  list.scrollTop = list.scrollHeight;
}

function hueOf(name) {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + character.codePointAt(0) * 137) % 360;
  return hash;
}
