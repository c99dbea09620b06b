/** Shows the AsyncAPI document of the hub, and lets its frames be sent over one connection. */

const LOG_LINES_MAX = 500;

const base = new URL('../v2/', import.meta.url);
const url = new URL('asyncapi.json', base).pathname;
const at = (id) => document.getElementById(id);
const element = (name, ...children) => {
  const made = document.createElement(name);
  made.append(...children);
  return made;
};

document.querySelector('[data-document]').href = url;
const asyncApi = await (await fetch(url)).json();
const { messages } = asyncApi.channels.socket;
const keyOf = ({ $ref }) => $ref.split('/').at(-1);
// The document has channels of remote procedure calls and MQTT as well, which this page does not open.
const operations = Object.entries(asyncApi.operations).filter(([, { channel }]) => keyOf(channel) === 'socket');

at('description').append(...asyncApi.info.description.split('\n').map((line) => element('div', line)));
showOperations();
showSchemas();
offerFrames();

function showOperations() {
  for (const [event, operation] of operations) {
    const place = at(operation.action === 'receive' ? 'received' : 'sent');
    place.append(element('h3', element('code', event)), element('p', operation.summary));
    place.append(...operation.messages.map((reference) => shownMessage(keyOf(reference))));
    const answers = (operation.reply?.messages ?? []).map(keyOf);
    if (answers.length > 0) place.append(element('p', `Answered by ${answers.join(' or ')}:`));
    place.append(...answers.map(shownMessage));
  }
}

function shownMessage(key) {
  const { summary, payload } = messages[key];
  const details = element('details', element('summary', element('code', key), summary ? ` ${summary}` : ''));
  details.append(membersOf(resolved(payload)));
  return details;
}

function showSchemas() {
  for (const [name, schema] of Object.entries(asyncApi.components.schemas)) {
    const summary = element('summary', element('code', name), ` ${schema.description ?? ''}`);
    const details = element('details', summary, membersOf(schema));
    details.id = `schema-${name}`;
    at('schemas').append(details);
  }
}

/** A table of members; those of an object within follow with its name before theirs. */
function membersOf(schema) {
  if (!schema.properties) return element('p', ...typeOf(schema));
  const body = element('tbody');
  for (const [name, type, description] of rowsOf(schema, '')) {
    body.append(
      element('tr', element('td', element('code', name)), element('td', ...type), element('td', description)),
    );
  }
  return element('table', body);
}

function rowsOf(schema, prefix) {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const mark = schema.required?.includes(name) ? '' : '?';
    const row = [`${prefix}${name}${mark}`, typeOf(member), resolved(member).description ?? ''];
    return [row, ...(member.properties ? rowsOf(member, `${prefix}${name}.`) : [])];
  });
}

/** The type of a schema, as texts and links. */
function typeOf(schema) {
  if (schema.$ref) {
    const name = keyOf(schema);
    const link = element('a', name);
    link.href = `#schema-${name}`;
    link.addEventListener('click', () => {
      at(`schema-${name}`).open = true;
    });
    return [link];
  }
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  if (schema.enum) return [schema.enum.map((word) => JSON.stringify(word)).join(' | ')];
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.flatMap((choice, i) => (i === 0 ? typeOf(choice) : [' | ', ...typeOf(choice)]));
  if (schema.type === 'array') return ['array of ', ...typeOf(schema.items ?? {})];
  return [[schema.type ?? 'anything'].flat().join(' | ')];
}

function resolved(schema) {
  return schema.$ref ? asyncApi.components.schemas[keyOf(schema)] : schema;
}

/** Lists the frames that a client may send, each filled with what its schema says. */
function offerFrames() {
  const frames = at('frames');
  const sendable = operations.filter(([, { action }]) => action === 'receive');
  for (const reference of sendable.flatMap(([, operation]) => operation.messages)) {
    const option = element('option', keyOf(reference));
    option.value = JSON.stringify(exampleOf(messages[keyOf(reference)].payload), undefined, 2);
    frames.append(option);
  }
  const choose = () => {
    at('frame').value = frames.value;
  };
  frames.addEventListener('change', choose);
  choose();
  at('send').addEventListener('click', async () => {
    const text = at('frame').value;
    const socket = await connected();
    socket.send(text);
    log('sent', text);
  });
}

function exampleOf(schema) {
  const { examples, const: constant, type, items, properties, required = [] } = resolved(schema);
  if (examples?.length > 0) return examples[0];
  if (constant !== undefined) return constant;
  if (type === 'array') return [exampleOf(items)];
  if (type === 'integer') return 1;
  if (type !== 'object') return '';
  const wanted = Object.keys(properties).filter((name) => required.includes(name) || name === 'params');
  return Object.fromEntries(wanted.map((name) => [name, exampleOf(properties[name])]));
}

let opening;

/** The connection, opened when it is first needed and after it was closed. */
function connected() {
  opening ??= new Promise((resolve, reject) => {
    const address = new URL('ws/socket', base);
    address.protocol = address.protocol.replace('http', 'ws');
    const socket = new WebSocket(address);
    socket.addEventListener('open', () => {
      at('state').textContent = 'connected';
      resolve(socket);
    });
    socket.addEventListener('message', ({ data }) => log('received', data));
    socket.addEventListener('close', ({ code, reason }) => {
      at('state').textContent = `closed with ${code} ${reason}`;
      opening = undefined;
      reject(new Error('The connection was closed'));
    });
  });
  return opening;
}

function log(what, text) {
  const lines = at('log');
  lines.append(element('div', `${new Date().toLocaleTimeString()} ${what}: ${text}`));
  while (lines.childElementCount > LOG_LINES_MAX) lines.firstElementChild.remove();
  lines.scrollTop = lines.scrollHeight;
}
