import type { Target } from '../auth/policy.ts';
import { type TopicName, topicName } from '../fanout/topic_name.ts';
import { withOlderForm } from '../model/permission.ts';
import { COMMANDS } from './commands.ts';
import type { Use } from './deps.ts';
import { TOPIC_OWNERS } from './topic_owners.ts';

/** The path of the WebSocket below a version; topics lie below it in permissions.yaml. */
const SOCKET = '/ws/socket';

const VERSIONS = ['v1', 'v2'] as const;

/** What can be permitted of the WebSocket API: each topic in each version, to subscribe and to publish. */
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

  /** The target of a use of a topic on a connection with that path; undefined when there is no such use. hot */
  of(path: string, use: Use, topic: string): Target | undefined {
    return this.#byKey.get(keyOf(path.includes('/v1/') ? 'v1' : 'v2', use, topic));
  }
}

function keyOf(version: string, use: Use, topic: string): string {
  return `${version} ${use} ${topic}`;
}

/**
 * A path may go on with the parameter that names what is owned: it then means the topic as much as without it, since a
 * subscription without that parameter is for everything that is permitted.
 */
function targetOf(version: string, use: Use, name: string): Target {
  const { topic } = topicName(name) as TopicName;
  const { params, resource } = TOPIC_OWNERS[topic];
  // Who may read a topic may read it as GeoJSON.
  const paths = [...new Set([name, topic])].flatMap((each) => {
    return ['', ...new Set([...params, resource])].map((param) => `${SOCKET}/${each}${param && `/:${param}`}`);
  });
  const reads = use === 'subscribe';
  return {
    name: `${use} ${reads ? 'to' : 'on'} ${name} in ${version}`,
    operations: reads ? ['READ'] : ['CREATE', 'UPDATE'],
    // What is published names any providers, and ownership of them is not asked for.
    ownable: reads,
    paths: paths.flatMap((path) => withOlderForm(`/${version}${path}`)),
  };
}
