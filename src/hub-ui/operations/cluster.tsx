import { useRef } from 'preact/hooks';
import type { ClusterHealth, SystemHealth } from '../../model/health.ts';
import { Badge, type Tone } from '../controls/badge.tsx';
import { Card } from '../controls/card.tsx';
import { Facts } from '../controls/facts.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import { type Column, Table } from '../controls/table.tsx';
import { durationText } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { t } from '../languages/language.ts';
import { bytesText, countText, fixedText } from '../languages/numbers.ts';
import { loadMessages, sentenceOf } from '../problems/sentences.ts';
import styles from './cluster.module.css';
import { Headline } from './headline.tsx';
import type { Polled } from './polled.tsx';

await loadMessages();

interface ClusterProps {
  readonly system: Polled<SystemHealth>;
}

const ROLES: Readonly<Record<ClusterHealth['standing'], { readonly label: string; readonly tone: Tone }>> = {
  owner: { label: t('Owner'), tone: 'ok' },
  standby: { label: t('Standby'), tone: 'ok' },
  taking_over: { label: t('Taking over'), tone: 'warn' },
  joining: { label: t('Joining'), tone: 'warn' },
  out: { label: t('Out'), tone: 'danger' },
};

/**
 * State of the hub that has answered, and its view of the other members; nothing for a single hub. Behind a load balancer,
 * each request may reach another hub.
 */
export function Cluster({ system: { value: system, atMs, problem } }: ClusterProps) {
  const answers = useRef<readonly MemberAnswer[]>([]);
  const cluster = system?.cluster;
  if (cluster === undefined) return null;
  if (problem !== undefined) {
    return (
      <Card title={t('Cluster')}>
        <Headline
          tone="neutral"
          label={t('Unknown')}
          meaning={t('The state of the cluster is unknown while no hub answers.')}
        />
      </Card>
    );
  }
  const others = answers.current.filter((ownAnswer) => {
    return ownAnswer.atMs > atMs - ANSWER_MS && ownAnswer.cluster.incarnation !== cluster.incarnation;
  });
  answers.current = [...others, { cluster, atMs }];
  return (
    <Card title={t('Cluster')} flush>
      <ClusterSummary {...cluster} />
      <Table
        label={t('Hubs of the cluster')}
        columns={COLUMNS}
        rows={rowsOf(cluster, answers.current)}
        keyOf={({ incarnation }) => incarnation}
      />
    </Card>
  );
}

function ClusterSummary(cluster: ClusterHealth) {
  const { label, tone } = ROLES[cluster.standing];
  const { problem, last_takeover_duration: lastMs } = cluster;
  return (
    <div class={styles.standing}>
      <div>
        <Headline tone={problem === undefined ? tone : 'warn'} label={label} meaning={meaningOf(cluster)} />
        {problem !== undefined && <Notice tone="warn">{sentenceOf({ ...cluster, message: problem })}</Notice>}
      </div>
      <Facts
        rows={[
          [t('This hub'), cluster.hub_name],
          [t('Owned by'), ownersText(cluster)],
          [t('Cluster'), cluster.name],
          ['NATS', cluster.nats_connected ? t('connected') : t('cannot be reached')],
        ]}
      />
      <Facts
        rows={[
          [t('Objects'), cluster.settled === false ? t('are migrating') : t('at their owners')],
          [t('Waiting for the journal'), bytesText(cluster.journal_waiting_bytes)],
          [t('Takeovers by this hub'), countText(cluster.takeovers)],
          [t('Last takeover took'), lastMs === undefined ? undefined : spanText(lastMs)],
        ]}
      />
    </div>
  );
}

function ownedBy({ members }: ClusterHealth, incarnation: string): number | undefined {
  return members.find((member) => member.incarnation === incarnation)?.partitions;
}

function ownersText({ owner, members }: ClusterHealth): string {
  const owners = members.filter(({ partitions = 0 }) => partitions > 0);
  if (owner !== undefined || owners.length < 2) return owner ?? t('no hub');
  return t('{count} of {total} hubs', { count: owners.length, total: members.length });
}

function meaningOf(cluster: ClusterHealth): string {
  const { standing, owner, incarnation, members, partitions: all = 0 } = cluster;
  switch (standing) {
    case 'owner': {
      const owned = ownedBy(cluster, incarnation) ?? all;
      return owned === all
        ? t('This hub owns all objects: it processes all locations.')
        : t('This hub owns {owned} of {partitions} partitions of the objects, and processes their locations.', {
            owned,
            partitions: all,
          });
    }
    case 'taking_over':
      return t('This hub is taking over objects. Their locations wait until it has them.');
    case 'joining':
      return t('This hub is joining its cluster.');
    case 'out':
      return t('The other hubs continue without this one.');
    case 'standby':
      if (owner !== undefined)
        return t('This hub forwards locations to {owner}, and takes over if {owner} fails.', { owner });
      return members.filter(({ partitions = 0 }) => partitions > 0).length > 1
        ? t('This hub forwards locations to their owners, and takes over if one fails.')
        : t('No hub owns the objects now. Locations wait until one has taken over.');
  }
}

/** Time for which a hub's response is displayed while other hubs respond. */
const ANSWER_MS = 30_000;

interface MemberAnswer {
  readonly cluster: ClusterHealth;
  readonly atMs: number;
}

interface Row {
  readonly name: string;
  readonly incarnation: string;
  readonly isOwner: boolean;
  /** Number of owned partitions; undefined if a hub of an earlier release answers. */
  readonly partitions: number | undefined;
  readonly allPartitions: number;
  readonly ownsCollisions: boolean;
  /** Whether this member has answered. */
  readonly isAnswering: boolean;
  readonly isSuspected: boolean;
  readonly silentMs: number;
  readonly applied: number;
  /** Records that another member has applied, and this one has not. */
  readonly behind: number;
  readonly aheadMs: number | undefined;
  /** Its last response, or undefined. */
  readonly ownAnswer: ClusterHealth | undefined;
}

function rowsOf(cluster: ClusterHealth, answers: readonly MemberAnswer[]): readonly Row[] {
  const highest = Math.max(...cluster.members.map((member) => member.applied_sequence));
  return cluster.members.map((member) => ({
    name: member.name,
    incarnation: member.incarnation,
    isOwner: member.partitions === undefined ? member.name === cluster.owner : member.partitions > 0,
    partitions: member.partitions,
    allPartitions: cluster.partitions ?? 0,
    ownsCollisions: member.owns_collisions === true,
    isAnswering: member.incarnation === cluster.incarnation,
    isSuspected: member.suspected,
    silentMs: member.silence,
    applied: member.applied_sequence,
    behind: highest - member.applied_sequence,
    aheadMs: member.clock_difference,
    ownAnswer: answers.find(({ cluster: { incarnation } }) => incarnation === member.incarnation)?.cluster,
  }));
}

const UNKNOWN = <span class={typography.faint}>–</span>;

const COLUMNS: readonly Column<Row>[] = [
  { key: 'name', title: t('Hub'), cell: (row) => <Name row={row} /> },
  {
    key: 'state',
    title: t('State'),
    cell: ({ isSuspected }) => (
      <Badge tone={isSuspected ? 'warn' : 'ok'} dot>
        {isSuspected ? t('Suspected') : t('Active')}
      </Badge>
    ),
  },
  {
    key: 'partitions',
    title: t('Partitions'),
    isNumber: true,
    cell: ({ partitions, allPartitions: total }) =>
      partitions === undefined ? UNKNOWN : t('{count} of {total}', { count: partitions, total }),
  },
  {
    key: 'silence',
    title: t('Silent for'),
    isNumber: true,
    cell: ({ isAnswering, silentMs }) => (isAnswering ? UNKNOWN : spanText(silentMs)),
  },
  {
    key: 'applied',
    title: t('Record applied'),
    isNumber: true,
    class: flow.wideOnly,
    cell: ({ applied }) => countText(applied),
  },
  {
    key: 'behind',
    title: t('Behind by'),
    isNumber: true,
    cell: ({ behind }) => (behind === 1 ? t('1 record') : t('{count} records', { count: countText(behind) })),
  },
  {
    key: 'clock',
    title: t('Clock'),
    isNumber: true,
    cell: ({ aheadMs }) => (aheadMs === undefined ? UNKNOWN : clockText(aheadMs)),
  },
  {
    key: 'takeovers',
    title: t('Takeovers'),
    isNumber: true,
    cell: ({ ownAnswer }) => (ownAnswer === undefined ? UNKNOWN : takeoversText(ownAnswer)),
  },
];

function Name({ row: { name, isOwner, ownsCollisions, isAnswering } }: { readonly row: Row }) {
  return (
    <span class={flow.row}>
      <span class={typography.cut} title={name}>
        {name}
      </span>
      {isOwner && <Badge tone="accent">{t('Owner')}</Badge>}
      {ownsCollisions && <Badge tone="accent">{t('Collisions')}</Badge>}
      {isAnswering && <Badge>{t('This hub')}</Badge>}
    </span>
  );
}

function takeoversText({ takeovers, last_takeover_duration: lastMs }: ClusterHealth): string {
  return lastMs === undefined
    ? countText(takeovers)
    : t('{count}, last in {last}', { count: countText(takeovers), last: spanText(lastMs) });
}

function clockText(aheadMs: number): string {
  if (aheadMs === 0) return t('the same');
  return `${spanText(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead' : 'behind'}`;
}

/** Formats a duration, also below a second. */
function spanText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  return milliseconds < 10_000 ? `${fixedText(milliseconds / 1_000, 1)} s` : durationText(milliseconds);
}
