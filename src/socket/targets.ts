import type { Target } from '../auth/policy.ts';
import { type TopicName, topicName } from '../fanout/topic_name.ts';
import { withOlderForm } from '../model/permission.ts';
import { COMMANDS } from './commands.ts';
import type { Use } from './deps.ts';
import { TOPIC_OWNERS } from './topic_owners.ts';

/** Path of the WebSocket below a version. In permissions.yaml topics lie below it. */
const SOCKET = '/ws/socket';

const VERSIONS = ['v1', 'v2'] as const;

/** Permission targets of the WebSocket API: each topic in each version, to subscribe and to publish. */
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

  /** Target for a use of a topic on a connection at that path; undefined if there is no such use. hot */
  of(path: string, use: Use, topic: string): Target | undefined {
    return this.#byKey.get(keyOf(path.includes('/v1/') ? 'v1' : 'v2', use, topic));
  }
}

function keyOf(version: string, use: Use, topic: string): string {
  return `${version} ${use} ${topic}`;
}

/**
 * A path may end with the parameter that names the owned resource. It means the same topic, as a subscription without
 * the parameter covers everything that is permitted.
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
    // Published items may name any provider; their ownership is not checked.
    ownable: reads,
    paths: paths.flatMap((path) => withOlderForm(`/${version}${path}`)),
  };
}
