import { walked } from '../covered_by.ts';
import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** Functions of the service. */
export const PURPOSE: readonly Statement[] = [
  {
    at: 'What the service does sentence 1',
    says: 'It is a hub between positioning systems and users of locations',
    tests: [['cli/demo.test.ts', 'demo creates the site, then sends 10 times a second, and reports']],
  },
  {
    at: 'What the service does item 1a',
    says: 'It accepts locations of location providers',
    tests: [
      by.waysIn('by PUT of one creates its provider once, is returned, and is published'),
      by.waysIn('by WebSocket v1 creates its provider once, is returned, and is published'),
    ],
  },
  {
    at: 'What the service does item 1b',
    says: 'RFID and beacons, ISO 24730 streams, and notifications of a vendor by PUT and POST are sources',
    tests: [
      by.waysIn('by PUT of one is a location at its zone, and is published as received'),
      by.filters('a subscription'),
      by.sources('A stream is forwarded from its server to a subscriber, despite garbage and a reset'),
      by.sources('Cisco notifications are forwarded by REST to a subscriber'),
      ...walked('/adapters/cisco/locations'),
    ],
  },
  {
    at: 'What the service does item 2',
    says: 'Locations belong to trackables, and are held against zones and fences',
    tests: [
      by.topics(
        'location_updates receive the locations of each provider in order, in EPSG:4326 and completed by the hub',
      ),
      by.topics('fence_events receive entries and exits of providers and of trackables'),
      ['e2e/opensky.test.ts', 'enter and exit fences as computed by brute force'],
    ],
  },
  {
    at: 'What the service does item 3',
    says: 'It publishes fence events, collision events up to their end, and motions',
    tests: [
      by.topics('fence_events receive entries and exits of providers and of trackables'),
      by.topics('collision_events receive start, colliding and end, the mover first'),
      by.topics('trackable_motions receive the trackable, its location and its shape'),
    ],
  },
  {
    at: 'What the service does item 4.1',
    says: 'There is a REST API',
    tests: [
      by.endpointTable('are the rows of the API, and were called with valid and invalid input'),
      ['contract/reference_api.test.ts', 'the omlox Hub API 2.0.0'],
    ],
  },
  {
    at: 'What the service does item 4.2',
    says: 'There is a WebSocket API to publish and subscribe',
    tests: [
      by.socketDocument('describes the commands that the hub accepts, and its responses'),
      by.socketDocument('describes all kinds of events of every topic'),
    ],
  },
  {
    at: 'What the service does item 4.3',
    says: 'There is a web UI for administration',
    tests: [
      by.served('A hub serves its web UI at /hub-ui, and redirects URLs of earlier releases to it'),
      ['hub-ui/shell.test.ts', "Every page of the navigation has a URL, and the browser's Back button works"],
      ['hub-ui/setup_fences.test.ts', 'A fence drawn on the map reports the entry into it'],
    ],
  },
  {
    at: 'What the service does item 4.4',
    says: 'Locating rules decide the location of a trackable, and a validator checks them',
    tests: [
      by.anchorsAndRules('the locating rules of the hub apply in every shard, also after a restart'),
      by.rules('significant prefers the highest priority over the newest location'),
      ...walked('/validator/rules/locating'),
    ],
  },
  {
    at: 'What the service does item 4.5',
    says: 'There are endpoints of health',
    tests: [
      by.operation('its liveness at /health and its version at /version, with and without a version in the path'),
      by.operation('its start time and its configuration without secrets at /health/system'),
    ],
  },
  {
    at: 'What the service does item 4.6',
    says: 'There are endpoints of the license',
    tests: [
      by.license(
        'A license key is valid if a configured public key verifies it, whether it is set by configuration or by API',
      ),
      by.operation('at /license/info that its key is invalid, which has no other effect'),
    ],
  },
  {
    at: 'What the service does item 4.7',
    says: 'There are statistics of consumption and usage',
    tests: [
      by.operation('the usage of this month at /stats/consumption'),
      by.operation('the usage of one month at /stats/consumption/{year}/{month}, or 404'),
    ],
  },
  {
    at: 'What the service does item 5',
    says: 'Tokens come from an OpenID server, and roles determine their permissions',
    tests: [
      by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket'),
      [
        'keycloak/keycloak.test.ts',
        'Tokens of Keycloak are accepted over REST and WebSocket, according to the realm and permissions.yaml',
      ],
      by.matrix('Every endpoint admits the permitted roles, and no others'),
    ],
  },
  {
    at: 'What the service does item 6',
    says: 'Data is in the SQL database data.dat, once config.dat, or in a wide-column database',
    tests: [
      by.contractCase('data is kept in a SQL database in the file data.dat'),
      by.oldDatabase(
        'A hub that finds the config.dat of an older version imports it into data.dat, and retains copies',
      ),
      by.wideColumn('A hub on Cassandra has all acknowledged writes after crashes and a stop'),
    ],
  },
  {
    at: 'What the service does item 7a',
    says: 'persist_locations decides whether locations are stored',
    tests: [by.overload('Without persist_locations, entities survive a restart and locations do not')],
  },
  {
    at: 'What the service does item 7b',
    says: 'They are stored by default, at the cost of writes',
    tests: [
      by.contractCase('locations are stored by default, and stationary objects are listed after a restart'),
      [
        'durability/front_doors.test.ts',
        'Without persist_locations, killed workers and deletions lose nothing in memory, and the disk has only entities',
      ],
    ],
  },
  {
    at: 'What the service does item 7c',
    says: 'A start reads them',
    tests: [
      by.contractCase('locations are stored by default, and stationary objects are listed after a restart'),
      by.restart(
        'After a crash, members are still inside, and timeouts that expired in the meantime are published once, after a delay',
      ),
    ],
  },
  {
    at: 'What the service does item 8',
    says: 'db_fast_writes makes locations faster',
    tests: [by.contractCase('with db_fast_writes a location is answered sooner than without it')],
  },
  {
    at: 'What the service does item 9',
    says: 'Settings come from hub_config.yaml and the environment',
    tests: [
      by.contractCase(
        'settings come from hub_config.yaml and from the environment, which takes precedence, and the file may be empty',
      ),
      ['config/text.test.ts', 'hub_config.yaml is the output of exampleConfigText for the schema'],
    ],
  },
  {
    at: 'What the service does item 9.1',
    says: 'The file may be empty',
    tests: [
      by.startFailures('starts with an empty file, prints its address, and exits with code 0 on a signal, repeatedly'),
    ],
  },
  {
    at: 'What the service does item 9.2',
    says: 'https_proxy and no_proxy lead HTTPS through a proxy',
    tests: [
      by.proxy('A hub accesses its identity server through the https_proxy of its environment'),
      by.proxy('A hub uses no proxy for the hosts in no_proxy'),
      ['outgoing/outgoing_fetch.test.ts', 'verifies the server behind a proxy, too'],
    ],
  },
  {
    at: 'What the service does item 9.3',
    says: 'SQLITE_TMPDIR names a folder to write into where others are read-only',
    tests: [
      by.scratch('SQLite keeps its temporary files in the folder that SQLITE_TMPDIR names'),
      by.scratch('A hub whose SQLITE_TMPDIR is not a folder does not start, and says so in one line'),
    ],
  },
  {
    at: 'What the service does item 9.4',
    says: 'widecolumn_rate and widecolumn_burst_size limit the writes to the wide-column database',
    tests: [
      by.wideColumn('The rate of writes is limited, and the newest row of each object waits for it'),
      [
        'time/token_bucket.test.ts',
        'TokenBucket limits every time span to burst and rate, and is never slower than that',
      ],
    ],
  },
  {
    at: 'What the service does item 10',
    says: 'A failed start ends with plain lines, without a stack trace',
    tests: [
      by.startFailures('a port that another program has'),
      by.startFailures('a file that is not a database'),
      by.startFailures('unknown keys and bad values, all at once'),
      by.startFailures('does not start on the database of a running hub'),
      by.starts('A hub without permissions.yaml does not start, and says why'),
      by.wideColumn('A hub whose wide-column database is unavailable at startup says so in one line and exits with 1'),
    ],
  },
  {
    at: 'What the service does item 11a',
    says: 'A restart brings back timers, counted from the last locations',
    tests: [
      by.contractCase(
        'a restart brings back fence timeouts, counted from the last location, and no tolerance and delay timers',
      ),
      by.restart(
        'After a crash, members are still inside, and timeouts that expired in the meantime are published once, after a delay',
      ),
      by.restore('a fence timeout starts at the time of receipt of the last location'),
    ],
  },
  {
    at: 'What the service does item 11b',
    says: 'It brings back no event that waited in a tolerance or a delay',
    tests: [
      by.contractCase(
        'a restart brings back fence timeouts, counted from the last location, and no tolerance and delay timers',
      ),
      by.restore('tolerance and delay timers are not restored: a member is inside until its next observation'),
    ],
  },
  {
    at: 'What the service does item 11c',
    says: 'Stationary trackables are listed after a restart',
    tests: [
      by.contractCase('locations are stored by default, and stationary objects are listed after a restart'),
      by.restore('locations and motions are available, including those of stationary objects'),
      by.contractCase('A vehicle that drives into a parked one collides with it after a restart'),
    ],
  },
];
