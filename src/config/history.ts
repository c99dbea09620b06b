import Type from 'typebox';
import { HISTORY_TOPICS, type HistoryTopic } from '../model/history.ts';

/** Settings of the history, see docs/history.md. */
export const HistoryProperties = {
  history: Type.Boolean({
    default: false,
    description: 'Whether the hub records positions and events, and answers history queries.',
  }),
  history_topics: Type.Array(Type.Unsafe<HistoryTopic>(Type.String({ pattern: `^(${HISTORY_TOPICS.join('|')})$` })), {
    default: [...HISTORY_TOPICS],
    description: 'What is recorded: locations, motions, fence_events, collision_events.',
  }),
  history_path: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    default: null,
    description: 'Folder of the history files. null: the folder history next to this file.',
  }),
  history_properties: Type.Boolean({
    default: false,
    description: 'Whether the properties of locations are recorded.',
  }),
  history_flush_interval: Type.Integer({
    minimum: 100,
    maximum: 600_000,
    default: 5000,
    description: 'Time between two files of locations and motions, in milliseconds; at most a second for events.',
  }),
  history_retention_days: Type.Union([Type.Integer({ minimum: 1, maximum: 36_500 }), Type.Null()], {
    default: 30,
    description:
      'Retention of the history, in days. Older hours are deleted, and older data is not recorded. null: unlimited.',
  }),
  history_max_size: Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), Type.Null()], {
    default: null,
    description:
      'Maximum size of the history files, in MiB. Beyond it the earliest hours are deleted. null: unlimited.',
  }),
  history_min_interval: Type.Integer({
    minimum: 0,
    maximum: 86_400_000,
    default: 0,
    description: 'Minimum time between two recorded positions of one object, in milliseconds.',
  }),
  history_min_distance: Type.Number({
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
    description:
      'Minimum distance of recorded positions of an object, in meters. Objects at rest are recorded every 30 s.',
  }),
  timescaledb_host: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    default: null,
    description:
      'PostgreSQL server that the history is copied to, with TimescaleDB or without. null: none. Needs history.',
  }),
  timescaledb_port: Type.Integer({ minimum: 1, maximum: 65_535, default: 5432, description: 'Port of that server.' }),
  timescaledb_db: Type.String({ minLength: 1, default: 'omlox', description: 'Name of the database.' }),
  timescaledb_user: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    default: null,
    description: 'User name for signing in to it.',
  }),
  timescaledb_password: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    default: null,
    secret: true,
    description: 'Password of that user.',
  }),
  timescaledb_tls: Type.Boolean({ default: false, description: 'Whether the connection to it is encrypted.' }),
  history_query_threads: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 1,
    description: 'Processes that answer history queries.',
  }),
  history_query_memory: Type.Integer({
    minimum: 64,
    maximum: 1_000_000,
    default: 512,
    description: 'Maximum memory of one query, in MiB.',
  }),
  history_query_timeout: Type.Integer({
    minimum: 100,
    maximum: 3_600_000,
    default: 30_000,
    description:
      'Maximum duration of one query, in milliseconds. Before it starts, it may wait twice as long for a process.',
  }),
};
