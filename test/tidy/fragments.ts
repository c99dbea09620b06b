import type { SourceFile } from './source_file.ts';

/**
 * Short files that only one other file of their room uses, and the reason why they are separate. A folder stands for all
 * files in it. Remove entries that are no longer needed.
 */
export const FRAGMENTS: Readonly<Record<string, string>> = {
  'src/adapters/cisco/hierarchy.ts': 'an index with a state of its own',
  'src/adapters/iso24730/noise.ts': 'a state of its own: what was logged already',
  'src/alerts/gate_rules.ts': 'a rule about fences',
  'src/api/docs/files.ts': 'reads files of a package',
  'src/api/query.ts': 'the text of a query, whatever the route',
  'src/api/routes': 'the routes of one resource each',
  'src/cli/data/history_prune.ts': 'a command',
  'src/cli/default_hub_url.ts': 'what the settings here say of the hub',
  'src/cli/sinks.ts': 'a command with its own subcommands',
  'src/cli/support/command.ts': 'a command, whose code is loaded with it',
  'src/cli/support/scrub.ts': 'the rule of what is secret',
  'src/cli/tail.ts': 'a command',
  'src/cluster/nats/message_checks.ts': 'what no bus takes, that of simulations included',
  'src/cli/data/pseudonyms.ts': 'ids of an export, with a key of their own',
  'src/config/claims.ts': 'the rule of one setting',
  'src/config/opcua.ts': 'the settings of one part',
  'src/config/proxies.ts': 'the rules of two settings about proxies',
  'src/core/handlers': 'one kind of item each',
  'src/entities/pending_providers.ts': 'a state of its own',
  'src/entities/subdivided.ts': 'a rule of its own about long edges',
  'src/fanout/copy_buffer.ts': 'memory with an owner of its own',
  'src/fanout/renderings.ts': 'a state of its own',
  'src/fanout/sent.ts': 'counters of what was sent',
  'src/history/queries/quality.ts': 'a query of its own, with an oracle',
  'src/history/queries/crossings.ts': 'a query of its own, like the others of the folder',
  'src/hub-ui/audit/difference.tsx': 'a component without a page',
  'src/hub-ui/events/events_page.tsx': 'a page',
  'src/hub-ui/first_steps/send_lines.ts': 'commands without a page',
  'src/hub-ui/formats/dxf_plan.ts': 'a file format',
  'src/hub-ui/formats/imdf.ts': 'a file format',
  'src/hub-ui/formats/kml_coordinates.ts': 'a rule of a file format',
  'src/hub-ui/formats/swapped_positions.ts': 'geometry without a page',
  'src/hub-ui/history/event_density.ts': 'a query with a state of its own',
  'src/hub-ui/history/flow_matrix.ts': 'sums without a page',
  'src/hub-ui/history/heat_difference.ts': 'sums without a page',
  'src/hub-ui/finder/scanner.ts': 'a device of the browser',
  'src/hub-ui/home/alert_tile.tsx': 'a component with a state of its own',
  'src/hub-ui/home/first_steps_bar.tsx': 'a component with a state of its own',
  'src/hub-ui/home/home_page.tsx': 'a page',
  'src/hub-ui/home/seen_before.ts': 'a query with a state of its own',
  'src/hub-ui/map_page/history_on_map.tsx': 'a part that is loaded only where it is needed',
  'src/hub-ui/history/panel_history.tsx': 'a part that is loaded only where it is needed',
  'src/hub-ui/history/past_layer.tsx': 'a layer with tracks of its own',
  'src/hub-ui/history/read_tracks.ts': 'a thread with a state of its own',
  'src/hub-ui/history/strip.ts': 'geometry without a page',
  'src/hub-ui/history/tracks_thread.ts': 'the entry of a thread',
  'src/hub-ui/languages/catalogs.ts': 'the table of languages, which tests read as well',
  'src/hub-ui/lists/import_warnings.ts': 'rules about a file, without a page',
  'src/hub-ui/lists/pager.tsx': 'a control',
  'src/hub-ui/map_page/filter/preview_form.tsx': 'a form',
  'src/hub-ui/map_page/panel/properties.tsx': 'the same for every kind of entity',
  'src/hub-ui/map_page/wall/scenes.ts': 'rules without a page',
  'src/hub-ui/muster/checked.ts': 'a state of its own',
  'src/hub-ui/muster/muster_list.ts': 'rules without a page',
  'src/hub-ui/palette/commands.ts': 'a search without a page',
  'src/hub-ui/reports/fence_use.ts': 'sums without a page',
  'src/hub-ui/setup/editor/erase_history.tsx': 'a dialog with a reply of its own',
  'src/hub-ui/setup/zones/svg_size.ts': 'a rule of a file format, without a page',
  'src/hub-ui/shell/lost_banner.tsx': 'a component with a state of its own',
  'src/hub-ui/shell/palette_key.tsx': 'a component with a state of its own',
  'src/hub-ui/shell/preferences.tsx': 'a dialog with choices of its own',
  'src/sources/tcp.ts': 'loaded for its kind of source',
  'src/sources/udp.ts': 'loaded for its kind of source',
  'src/hub-ui/walk_tests/walk_points.ts': 'a file format',
  'src/ingest/rejections.ts': 'a count of its own',
  'src/hub/connect_opcua.ts': 'connects a part that few hubs have',
  'src/mqtt/docs': 'what the document says of one matter each',
  'src/mqtt/packets.ts': 'a wire format',
  'src/transport/proxy_header.ts': 'a wire format',
  'workers/warm_stage.ts': 'what an entry of a thread runs first',
};

/** Longer files contain a concept, and may be used by one file. */
const LINES_MAX = 60;
const CODE = /^(src|workers|wasm)\//;

/** Returns the only file of the same room that uses a short file; undefined for all other files. */
export function soleImporter({ path, text }: SourceFile, all: readonly SourceFile[]): string | undefined {
  if (!CODE.test(path) || text.split('\n').length - 1 > LINES_MAX) return undefined;
  const importers = all.filter((other) => CODE.test(other.path) && other.imports.some(({ ours }) => ours === path));
  const [importer, another] = importers.map((other) => other.path);
  if (importer === undefined || another !== undefined || roomOf(importer) !== roomOf(path)) return undefined;
  return importer;
}

export function isException(path: string): boolean {
  return path in FRAGMENTS || path.slice(0, path.lastIndexOf('/')) in FRAGMENTS;
}

/** Exceptions that no file needs. */
export function idleExceptions(all: readonly SourceFile[]): string[] {
  const used = all.filter((file) => soleImporter(file, all) !== undefined).map(({ path }) => path);
  return Object.keys(FRAGMENTS).filter((place) => {
    return !used.some((path) => path === place || path.slice(0, path.lastIndexOf('/')) === place);
  });
}

/** Room of a path: `src/api` for everything below it; the first folder outside of src. */
function roomOf(path: string): string {
  return path.split('/', path.startsWith('src/') ? 2 : 1).join('/');
}
