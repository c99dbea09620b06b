import type { ThreadCounts } from '../mqtt/messages.ts';
import { type Family, labelled, single } from './metrics.ts';

/** What is measured of the hub as a client of an MQTT broker. */
export interface MeasuredMqtt {
  readonly isConnected: boolean;
  counts(): ThreadCounts;
  /** Messages that were refused, by reason. */
  rejections(): Readonly<Record<string, number>>;
  /** Trackables that claim a topic of the unified namespace in vain, by reason. */
  unsRefusals(): Readonly<Record<string, number>>;
}

/** Metrics of the MQTT client; a hub without a broker has none of them. */
export function mqttFamilies(mqtt: MeasuredMqtt): readonly Family[] {
  const gauge = (name: string, help: string, read: () => number): Family => {
    return { name, help, kind: 'gauge', labels: [], read: () => single(read()) };
  };
  const counter = (name: string, help: string, key: Exclude<keyof ThreadCounts, 'sent'>): Family => {
    return { ...gauge(name, help, () => mqtt.counts()[key]), kind: 'counter' };
  };
  return [
    gauge('hub_mqtt_connected', 'Whether the connection to the broker stands.', () => (mqtt.isConnected ? 1 : 0)),
    counter('hub_mqtt_received_total', 'Messages that came in.', 'received'),
    counter('hub_mqtt_redelivered_total', 'Messages that the broker has sent once more.', 'redelivered'),
    counter('hub_mqtt_lost_total', 'Messages of QoS 0 for which there was no room.', 'lost'),
    {
      name: 'hub_mqtt_rejected_total',
      help: 'Messages that were refused: for their topic, retained, no JSON, another id than the topic, or invalid.',
      kind: 'counter',
      labels: ['reason'],
      read: () => labelled('reason', Object.entries(mqtt.rejections())),
    },
    {
      name: 'hub_mqtt_uns_refused',
      help: 'Trackables without their topic in the unified namespace: for characters, levels, length, or taken by another one.',
      kind: 'gauge',
      labels: ['reason'],
      read: () => labelled('reason', Object.entries(mqtt.unsRefusals())),
    },
    counter('hub_mqtt_published_total', 'Messages that were handed to the broker.', 'published'),
    counter('hub_mqtt_replaced_total', 'Locations and motions whose place a newer one took.', 'replaced'),
    counter('hub_mqtt_dropped_total', 'Messages beyond mqtt_max_queue.', 'dropped'),
    counter('hub_mqtt_refused_total', 'Messages that the broker has refused.', 'refused'),
    gauge('hub_mqtt_waiting', 'Messages that wait for the broker.', () => mqtt.counts().waiting),
    gauge('hub_mqtt_waiting_bytes', 'Their bytes.', () => mqtt.counts().waitingBytes),
  ];
}
