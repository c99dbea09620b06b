import type { ThreadCounts } from '../mqtt/messages.ts';
import { type Family, metric, metricBy } from './metrics.ts';

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
  const count = (name: string, help: string, key: Exclude<keyof ThreadCounts, 'sent'>) =>
    metric(name, help, () => mqtt.counts()[key]);
  return [
    metric('hub_mqtt_connected', 'Whether the hub is connected to the broker.', () => (mqtt.isConnected ? 1 : 0)),
    count('hub_mqtt_received_total', 'Messages received.', 'received'),
    count('hub_mqtt_redelivered_total', 'Messages redelivered by the broker.', 'redelivered'),
    count('hub_mqtt_lost_total', 'QoS 0 messages dropped for lack of room.', 'lost'),
    metricBy(
      'reason',
      'hub_mqtt_rejected_total',
      'Rejected messages: for their topic, retained, not JSON, another id than in the topic, or invalid.',
      () => Object.entries(mqtt.rejections()),
    ),
    metricBy(
      'reason',
      'hub_mqtt_uns_refused',
      'Trackables without their topic in the unified namespace: for characters, levels, length, or a topic taken by another one.',
      () => Object.entries(mqtt.unsRefusals()),
    ),
    count('hub_mqtt_published_total', 'Messages published to the broker.', 'published'),
    count('hub_mqtt_replaced_total', 'Locations and motions replaced by newer ones.', 'replaced'),
    count('hub_mqtt_dropped_total', 'Messages beyond mqtt_max_queue.', 'dropped'),
    count('hub_mqtt_refused_total', 'Messages rejected by the broker.', 'refused'),
    count('hub_mqtt_waiting', 'Messages that wait for the broker.', 'waiting'),
    count('hub_mqtt_waiting_bytes', 'Their bytes.', 'waitingBytes'),
  ];
}
