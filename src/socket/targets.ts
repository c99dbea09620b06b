import type { Target } from '../auth/policy.ts';
import { type TopicName, topicName } from '../fanout/topic_name.ts';
import { withOlderForm } from '../model/permission.ts';
import { COMMANDS } from './commands.ts';
import type { Use } from './deps.ts';
import { TOPIC_OWNERS } from './topic_owners.ts';

/** Path of the WebSocket below a version. In permissions.yaml, topics are children of this path. */
const SOCKET = '/ws/socket';

const VERSIONS = ['v1', 'v2'] as const;

/** Permission targets of the WebSocket API: subscribing and publishing to each topic in each version. */
export class TopicTargets {
  readonly all: readonly Target[];
  readonly #byKey: ReadonlyMap<string, Target>;

  constructor() {
    this.#byKey = new Map(
      VERSIONS.flatMap((version) =>
        COMMANDS.flatMap(({ use, topics = [] }) =>
          use === undefined
            ? []
            : topics.map((topic) => [keyOf(version, use, topic), targetOf(version, use, topic)] as const),
        ),
      ),
    );
    this.all = [...this.#byKey.values()];
  }

  /** Returns the target for a use of a topic on a connection at a path; undefined if there is no such use. hot */
  of(path: string, use: Use, topic: string): Target | undefined {
    return this.#byKey.get(keyOf(path.includes('/v1/') ? 'v1' : 'v2', use, topic));
  }
}

function keyOf(version: string, use: Use, topic: string): string {
  return `${version} ${use} ${topic}`;
}

/**
 * Returns the target for a use of a topic. Its path may end with the parameter of the owned resource. That is the same
 * target, since a subscription without the parameter includes all permitted events.
 */
function targetOf(version: string, use: Use, name: string): Target {
  const { topic } = topicName(name) as TopicName;
  const { params, resource } = TOPIC_OWNERS[topic];
  // Permission to read a topic includes its GeoJSON form.
  const paths = [...new Set([name, topic])].flatMap((each) => {
    return ['', ...new Set([...params, resource])].map((param) => `${SOCKET}/${each}${param && `/:${param}`}`);
  });
  const reads = use === 'subscribe';
  return {
    name: `${use} ${reads ? 'to' : 'on'} ${name} in ${version}`,
    operations: reads ? ['READ'] : ['CREATE', 'UPDATE'],
    // The ownership of published items is not checked, since they may contain any provider.
    ownable: reads,
    paths: paths.flatMap((path) => withOlderForm(`/${version}${path}`)),
  };
}
