import type { ApiRoute } from '../route.ts';

/**
 * Operation ids for generated clients. Operations and tags of the public omlox Hub API have the names of that document,
 * so that code written for its clients keeps working. The hub's own operations follow the same style.
 */
const OMLOX_OPERATIONS: Readonly<Record<string, string>> = {
  'GET /zones': 'getZoneIds',
  'POST /zones': 'createZone',
  'DELETE /zones': 'deleteAllZones',
  'GET /zones/summary': 'getAllZoneObjects',
  'GET /zones/:zone_id': 'getZoneById',
  'PUT /zones/:zone_id': 'UpdateZoneById',
  'DELETE /zones/:zone_id': 'deleteZoneById',
  'PUT /zones/:zone_id/transform': 'TransformByZoneId',
  'GET /zones/:zone_id/createfence': 'createFenceFromZone',
  'GET /trackables': 'getAllTrackableIds',
  'POST /trackables': 'createNewTrackable',
  'DELETE /trackables': 'deleteAllTrackables',
  'GET /trackables/summary': 'getAllTrackableObjects',
  'GET /trackables/motions': 'getAllTrackableMotions',
  'GET /trackables/:trackable_id': 'getTrackableById',
  'PUT /trackables/:trackable_id': 'updateTrackableById',
  'DELETE /trackables/:trackable_id': 'deleteTrackableById',
  'GET /trackables/:trackable_id/fences': 'getInsideFenceForTrackable',
  'GET /trackables/:trackable_id/location': 'getMostSignificantTrackableLocation',
  'GET /trackables/:trackable_id/locations': 'getAllTrackableLocations',
  'GET /trackables/:trackable_id/motion': 'getTrackableMotion',
  'GET /trackables/:trackable_id/providers': 'get_providers_of_trackable',
  'GET /trackables/:trackable_id/sensors': 'getAllTrackableSensors',
  'GET /providers': 'getLocationProviderIds',
  'POST /providers': 'createLocationProvider',
  'DELETE /providers': 'deleteProviders',
  'GET /providers/summary': 'getAllProviderObjects',
  'GET /providers/:provider_id': 'getProviderById',
  'PUT /providers/:provider_id': 'updateProviderById',
  'DELETE /providers/:provider_id': 'deleteProviderById',
  'GET /providers/:provider_id/fences': 'getInsideFenceForProvider',
  'GET /providers/:provider_id/location': 'getLocationByProviderId',
  'PUT /providers/:provider_id/location': 'updateLocationByProviderId',
  'DELETE /providers/:provider_id/location': 'deleteProviderLocationById',
  'PUT /providers/:provider_id/proximity': 'updateProximityByProviderId',
  'GET /providers/:provider_id/sensors': 'getSensorsByProviderId',
  'PUT /providers/:provider_id/sensors': 'updateSensorsByProviderId',
  'GET /providers/locations': 'getAllLocations',
  'PUT /providers/locations': 'updateLocations',
  'DELETE /providers/locations': 'deleteLocations',
  'PUT /providers/proximities': 'updateProximities',
  'GET /fences': 'getAllFenceIds',
  'POST /fences': 'createFence',
  'DELETE /fences': 'deleteFences',
  'GET /fences/summary': 'getAllFences',
  'GET /fences/:fence_id': 'getFenceById',
  'PUT /fences/:fence_id': 'updateFenceById',
  'DELETE /fences/:fence_id': 'deleteFenceById',
  'GET /fences/:fence_id/locations': 'getLocationsInsideFence',
  'GET /fences/:fence_id/motions': 'getTrackableMotionsInsideFence',
  'GET /fences/:fence_id/providers': 'getProvidersInsideFence',
  'GET /fences/:fence_id/trackables': 'getTrackablesInside',
};

const OWN_OPERATIONS: Readonly<Record<string, string>> = {
  'PATCH /zones/:zone_id': 'patchZoneById',
  'POST /zones/:zone_id/fence': 'createFenceInZone',
  'PUT /zones/fromlocal': 'zoneFromLocal',
  'PATCH /trackables/:trackable_id': 'patchTrackableById',
  'GET /trackables/rules/locating': 'getLocatingRules',
  'PUT /trackables/rules/locating': 'updateLocatingRules',
  'POST /validator/rules/locating': 'validateLocatingRule',
  'PATCH /providers/:provider_id': 'patchProviderById',
  'GET /providers/:provider_id/trackables': 'get_trackables_of_provider',
  'POST /providers/locations': 'postLocations',
  'POST /providers/proximities': 'postProximities',
  'PATCH /fences/:fence_id': 'patchFenceById',
  'PUT /fences/fromlocal': 'fenceFromLocal',
  'POST /fences/:fence_id/events': 'createFenceEvent',
  'PUT /fences/:fence_id/events': 'putFenceEvent',
  'GET /anchors': 'getAnchorIds',
  'POST /anchors': 'createAnchor',
  'DELETE /anchors': 'deleteAllAnchors',
  'GET /anchors/summary': 'getAllAnchorObjects',
  'GET /anchors/:anchor_id': 'getAnchorById',
  'PUT /anchors/:anchor_id': 'updateAnchorById',
  'PATCH /anchors/:anchor_id': 'patchAnchorById',
  'DELETE /anchors/:anchor_id': 'deleteAnchorById',
  'GET /alerts': 'getAlerts',
  'GET /alerts/summary': 'getAlertSummary',
  'GET /alerts/:alert_id': 'getAlertById',
  'POST /alerts/acknowledge': 'acknowledgeAlerts',
  'POST /alerts/clear': 'clearAlerts',
  'POST /alerts/:alert_id/acknowledge': 'acknowledgeAlertById',
  'POST /alerts/:alert_id/clear': 'clearAlertById',
  'GET /alerts/rules': 'getAlertRules',
  'POST /alerts/rules': 'createAlertRule',
  'POST /alerts/rules/preview': 'previewAlertRule',
  'GET /alerts/rules/:rule_id': 'getAlertRuleById',
  'PUT /alerts/rules/:rule_id': 'updateAlertRuleById',
  'DELETE /alerts/rules/:rule_id': 'deleteAlertRuleById',
  'GET /views': 'getViews',
  'POST /views': 'createView',
  'GET /views/:view_id': 'getViewById',
  'PUT /views/:view_id': 'updateViewById',
  'DELETE /views/:view_id': 'deleteViewById',
  'GET /links': 'getLinks',
  'POST /links': 'createLink',
  'GET /links/:link_id': 'getLinkById',
  'PUT /links/:link_id': 'updateLinkById',
  'DELETE /links/:link_id': 'deleteLinkById',
  'GET /walk_tests': 'getWalkTests',
  'POST /walk_tests': 'createWalkTest',
  'GET /walk_tests/:walk_test_id': 'getWalkTestById',
  'PUT /walk_tests/:walk_test_id': 'updateWalkTestById',
  'DELETE /walk_tests/:walk_test_id': 'deleteWalkTestById',
  'POST /walk_tests/:walk_test_id/pass': 'markPassOfWalkTest',
  'POST /walk_tests/:walk_test_id/finish': 'finishWalkTestById',
  'GET /walk_tests/:walk_test_id/result': 'getResultOfWalkTest',
  'GET /sinks': 'getSinks',
  'POST /sinks': 'createSink',
  'GET /sinks/status': 'getStatusOfAllSinks',
  'GET /sinks/:sink_id': 'getSinkById',
  'PUT /sinks/:sink_id': 'updateSinkById',
  'PATCH /sinks/:sink_id': 'patchSinkById',
  'DELETE /sinks/:sink_id': 'deleteSinkById',
  'GET /sinks/:sink_id/status': 'getStatusOfSink',
  'GET /sinks/:sink_id/deliveries': 'getDeliveriesOfSink',
  'POST /sinks/:sink_id/test': 'testSinkById',
  'POST /sinks/:sink_id/pause': 'pauseSinkById',
  'POST /sinks/:sink_id/resume': 'resumeSinkById',
  'POST /sinks/:sink_id/replay': 'replaySinkById',
  'POST /adapters/cisco/locations': 'postCiscoLocations',
  'PUT /adapters/cisco/locations': 'updateCiscoLocations',
  'GET /health/zones/summary': 'getHealthOfAllZones',
  'GET /health/zones/:zone_id': 'getHealthOfZone',
  'GET /health/sources/summary': 'getHealthOfAllSources',
  'GET /health/sources/:source_id': 'getHealthOfSource',
  'GET /health/system': 'getHealthOfSystem',
  'GET /health/mqtt': 'getHealthOfMqtt',
  'GET /health/history': 'getHealthOfHistory',
  'GET /health/ws': 'getHealthOfWebsocket',
  'GET /trackables/:trackable_id/history': 'getHistoryOfTrackable',
  'GET /providers/:provider_id/history': 'getHistoryOfProvider',
  'GET /trackables/:trackable_id/visits': 'getVisitsOfTrackable',
  'GET /fences/:fence_id/visits': 'getVisitsOfFence',
  'GET /history/snapshot': 'getSnapshot',
  'GET /history/tracks': 'getTracks',
  'GET /history/events': 'getPastEvents',
  'GET /analytics/dwell': 'getDwell',
  'GET /analytics/occupancy': 'getOccupancy',
  'GET /analytics/flows': 'getFlows',
  'GET /analytics/heatmap': 'getHeatmap',
  'GET /analytics/trips': 'getTrips',
  'GET /ogc/mf': 'getMovingFeaturesLandingPage',
  'GET /ogc/mf/conformance': 'getMovingFeaturesConformance',
  'GET /ogc/mf/collections': 'getMovingCollections',
  'GET /ogc/mf/collections/trackables': 'getCollectionOfMovingTrackables',
  'GET /ogc/mf/collections/trackables/items': 'getMovingTrackables',
  'GET /ogc/mf/collections/trackables/items/:trackable_id': 'getMovingTrackableById',
  'GET /ogc/mf/collections/trackables/items/:trackable_id/tgsequence': 'getWayOfMovingTrackable',
  'GET /ogc/mf/collections/providers': 'getCollectionOfMovingProviders',
  'GET /ogc/mf/collections/providers/items': 'getMovingProviders',
  'GET /ogc/mf/collections/providers/items/:provider_id': 'getMovingProviderById',
  'GET /ogc/mf/collections/providers/items/:provider_id/tgsequence': 'getWayOfMovingProvider',
  'POST /import': 'importEntities',
  'GET /import': 'getImport',
  'DELETE /import': 'cancelImport',
  'POST /demo': 'startDemo',
  'GET /demo': 'getDemo',
  'DELETE /demo': 'stopDemo',
  'GET /rpc/available': 'getAvailableRpcMethods',
  'PUT /rpc': 'callRpcMethod',
  'GET /license/starttrial': 'startTrial',
  'PUT /license/key': 'updateLicenseKey',
  'GET /stats/consumption/summary': 'getAllConsumption',
  'GET /stats/consumption/current': 'getCurrentConsumption',
  'GET /stats/consumption/:year/:month': 'getConsumptionOfMonth',
  'GET /openapi.json': 'getOpenApi',
  'GET /openapi-3.0.json': 'getOpenApi30',
  'GET /asyncapi.json': 'getAsyncApi',
};

/** The operationId of a route. The default is derived from method and path: GET /a/:a_id/b is getAB. */
export function operationId({ method, path }: Pick<ApiRoute, 'method' | 'path'>): string {
  const title = `${method} ${path}`;
  return OMLOX_OPERATIONS[title] ?? OWN_OPERATIONS[title] ?? derived(method, path);
}

/** An item is named by its parameter; the collection before it adds nothing. */
function derived(method: string, path: string): string {
  const segments = path.split('/').slice(1);
  const significant = segments.filter((_, i) => segments[i + 1]?.endsWith('_id') !== true);
  const words = significant.flatMap((segment) =>
    segment
      .replace(/^:/, '')
      .replace(/_id$/, '')
      .split(/[^a-zA-Z0-9]+/),
  );
  return [method.toLowerCase(), ...words.map(capitalized)].join('');
}

/** Tags by the first segment of a path, in the order shown on pages. */
const TAGS: Readonly<Record<string, { readonly name: string; readonly description: string }>> = {
  zones: { name: 'Zones', description: 'Manage zones, and transform positions between their coordinates and WGS 84.' },
  trackables: { name: 'Trackables', description: 'Manage trackables, and read their motions and locations.' },
  providers: { name: 'Providers', description: 'Manage location providers, and send and read their locations.' },
  fences: { name: 'Fences', description: 'Manage fences, and list the objects in them.' },
  anchors: { name: 'Anchors', description: 'Manage anchors.' },
  alerts: { name: 'Alerts', description: 'Define alert rules; list, acknowledge and clear alerts.' },
  links: { name: 'Links', description: 'Accept the locations of other hubs.' },
  views: { name: 'Views', description: 'Save named views of the map.' },
  sinks: { name: 'Sinks', description: 'Deliver events to other systems.' },
  walk_tests: { name: 'Walk tests', description: 'Measure the accuracy of positions at surveyed points.' },
  events: { name: 'Events', description: 'Read events after a cursor.' },
  history: { name: 'History', description: 'Query past positions and events.' },
  analytics: {
    name: 'Analytics',
    description: 'Compute dwell times, occupancy, flows, heat maps and trips from the history.',
  },
  ogc: { name: 'Moving Features', description: 'Read the history as OGC API – Moving Features.' },
  import: { name: 'Import', description: 'Import many entities atomically.' },
  demo: { name: 'Demo', description: 'Run a simulated site in the hub.' },
  validator: { name: 'Validator', description: 'Check expressions of locating rules before using them.' },
  adapters: { name: 'Adapters', description: "Send locations in vendors' formats." },
  rpc: { name: 'RPC', description: 'Call methods of clients and devices that are connected to the hub.' },
  health: { name: 'Health', description: 'Monitor the hub and its sources of locations.' },
  stats: { name: 'Statistics', description: 'Read usage by month.' },
  license: { name: 'License', description: 'Manage the license. The hub runs without one.' },
  version: { name: 'Version', description: 'Read the versions of the hub and of its API.' },
  documents: { name: 'Documents', description: 'OpenAPI and AsyncAPI documents.' },
};

/** The tag of a route. Files at the root are documents. */
export function tagOf({ path }: Pick<ApiRoute, 'path'>): string {
  const [, first = ''] = path.split('/');
  return TAGS[first.includes('.') ? 'documents' : first]?.name ?? capitalized(first);
}

/** Descriptions of the used tags. */
export function describedTags(used: ReadonlySet<string>): readonly object[] {
  return Object.values(TAGS).filter(({ name }) => used.has(name));
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
