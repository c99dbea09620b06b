import type { ThreadCounts } from '../mqtt/messages.ts';
import { type Family, labelled, single } from './metrics.ts';

/** Measured state of the MQTT client. */
export interface MeasuredMqtt {
  readonly isConnected: boolean;
  counts(): ThreadCounts;
  /** Rejected messages, by reason. */
  rejections(): Readonly<Record<string, number>>;
  /** Rejected claims to topics of the unified namespace, by reason. */
  unsRefusals(): Readonly<Record<string, number>>;
}

/** Returns the metrics of the MQTT client. */
export function mqttFamilies(mqtt: MeasuredMqtt): readonly Family[] {
  const gauge = (name: string, help: string, read: () => number): Family => {
    return { name, help, kind: 'gauge', labels: [], read: () => single(read()) };
  };
  const counter = (name: string, help: string, key: Exclude<keyof ThreadCounts, 'sent'>): Family => {
    return { ...gauge(name, help, () => mqtt.counts()[key]), kind: 'counter' };
  };
  return [
    gauge('hub_mqtt_connected', 'Whether the hub is connected to the broker.', () => (mqtt.isConnected ? 1 : 0)),
    counter('hub_mqtt_received_total', 'Messages received.', 'received'),
    counter('hub_mqtt_redelivered_total', 'Messages redelivered by the broker.', 'redelivered'),
    counter('hub_mqtt_lost_total', 'QoS 0 messages dropped for lack of room.', 'lost'),
    {
      name: 'hub_mqtt_rejected_total',
      help: 'Rejected messages: for their topic, retained, not JSON, another id than in the topic, or invalid.',
      kind: 'counter',
      labels: ['reason'],
      read: () => labelled('reason', Object.entries(mqtt.rejections())),
    },
    {
      name: 'hub_mqtt_uns_refused',
      help: 'Trackables without their topic in the unified namespace: for characters, levels, length, or a topic taken by another one.',
      kind: 'gauge',
      labels: ['reason'],
      read: () => labelled('reason', Object.entries(mqtt.unsRefusals())),
    },
    counter('hub_mqtt_published_total', 'Messages published to the broker.', 'published'),
    counter('hub_mqtt_replaced_total', 'Locations and motions replaced by newer ones.', 'replaced'),
    counter('hub_mqtt_dropped_total', 'Messages beyond mqtt_max_queue.', 'dropped'),
    counter('hub_mqtt_refused_total', 'Messages rejected by the broker.', 'refused'),
    gauge('hub_mqtt_waiting', 'Messages that wait for the broker.', () => mqtt.counts().waiting),
    gauge('hub_mqtt_waiting_bytes', 'Their bytes.', () => mqtt.counts().waitingBytes),
  ];
}
