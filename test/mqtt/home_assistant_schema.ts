import assert from 'node:assert/strict';

/**
 * Options that Home Assistant documents for device discovery, since its release 2024.11: the pages "MQTT", "MQTT device
 * tracker", "MQTT sensor" and "MQTT binary sensor" of its integrations. An option has the type of its value.
 */
type Kind = 'string' | 'name' | 'topic' | 'template' | 'strings' | 'list' | 'object' | readonly string[];
type Options = Readonly<Record<string, Kind>>;

const AVAILABILITY: Options = {
  topic: 'topic',
  payload_available: 'string',
  payload_not_available: 'string',
  value_template: 'template',
};
const DEVICE: Options = {
  ...{ configuration_url: 'string', connections: 'list', hw_version: 'string', identifiers: 'strings' },
  ...{ manufacturer: 'string', model: 'string', model_id: 'string', name: 'string', serial_number: 'string' },
  ...{ suggested_area: 'string', sw_version: 'string', via_device: 'string' },
};
const ORIGIN: Options = { name: 'string', sw_version: 'string', support_url: 'string' };
const SHARED: Options = {
  ...{ device: 'object', origin: 'object', components: 'object' },
  ...{ availability: 'list', availability_mode: ['all', 'any', 'latest'], availability_topic: 'topic' },
};
const ENTITY: Options = {
  ...{ platform: ['device_tracker', 'sensor', 'binary_sensor'], unique_id: 'string', name: 'name', icon: 'string' },
  ...{ json_attributes_topic: 'topic', json_attributes_template: 'template', state_topic: 'topic' },
  value_template: 'template',
};
const PLATFORMS: Readonly<Record<string, Options>> = {
  device_tracker: {
    ...ENTITY,
    ...{ payload_home: 'string', payload_not_home: 'string', payload_reset: 'string' },
    source_type: ['gps', 'router', 'bluetooth', 'bluetooth_le'],
  },
  sensor: { ...ENTITY, state_class: ['measurement', 'total', 'total_increasing'], unit_of_measurement: 'string' },
  binary_sensor: { ...ENTITY, device_class: ['occupancy', 'presence'], payload_on: 'string', payload_off: 'string' },
};
/** Components, nodes and objects of discovery topics. */
const TOPIC = /^[^/]+\/device\/[a-zA-Z0-9_-]+\/[a-zA-Z0-9_-]+\/config$/;
/** A template that is one member of the JSON message. */
const TEMPLATE = /^\{\{ value_json\.([a-z_]+) \}\}$/;

type Json = Readonly<Record<string, unknown>>;

/** Checks a discovery document. Returns its components. */
export function checkDocument(topic: string, value: unknown): Readonly<Record<string, Json>> {
  assert.match(topic, TOPIC);
  const document = checkOptions('document', value, SHARED);
  const device = checkOptions('device', document['device'], DEVICE);
  assert.ok((device['identifiers'] as readonly string[]).length > 0);
  const origin = checkOptions('origin', document['origin'], ORIGIN);
  assert.equal(typeof origin['name'], 'string', 'origin.name is required');
  for (const each of document['availability'] as readonly unknown[]) {
    const { topic: status } = checkOptions('availability', each, AVAILABILITY);
    assert.equal(typeof status, 'string', 'availability.topic is required');
  }
  const components = document['components'] as Readonly<Record<string, Json>>;
  for (const [name, component] of Object.entries(components)) {
    const platform = String(component['platform']);
    const options = PLATFORMS[platform];
    assert.ok(options, `${name}.platform: ${platform}`);
    checkOptions(name, component, options);
    assert.equal(typeof component['unique_id'], 'string', `${name}.unique_id is required`);
    const hasState = typeof component['state_topic'] === 'string';
    const isTracker = platform === 'device_tracker' && typeof component['json_attributes_topic'] === 'string';
    assert.ok(hasState || isTracker, `${name}.state_topic is required`);
  }
  return components;
}

/** Returns what a template makes of a message. */
export function rendered(template: unknown, message: unknown): unknown {
  const [, member = ''] = TEMPLATE.exec(String(template)) ?? [];
  assert.notEqual(member, '', `a template of one member: ${template}`);
  return (message as Json)[member];
}

function checkOptions(name: string, value: unknown, options: Options): Json {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${name} is an object`);
  for (const [option, found] of Object.entries(value)) {
    const kind = options[option];
    assert.ok(kind !== undefined, `${name}.${option} is a documented option`);
    assert.ok(isOf(kind, found), `${name}.${option}: ${JSON.stringify(found)}`);
  }
  return value as Json;
}

function isOf(kind: Kind, value: unknown): boolean {
  if (typeof kind !== 'string') return kind.includes(value as string);
  switch (kind) {
    case 'string':
      return typeof value === 'string' && value !== '';
    case 'name':
      return value === null || (typeof value === 'string' && value !== '');
    case 'topic':
      return typeof value === 'string' && value !== '' && !/[+#\0]/.test(value);
    case 'template':
      return TEMPLATE.test(String(value));
    case 'strings':
      return Array.isArray(value) && value.every((each) => typeof each === 'string');
    case 'list':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
}
