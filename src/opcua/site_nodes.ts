import type { AddressSpace, BaseNode, Namespace, UAObject, UAVariable } from 'node-opcua-address-space';
import { coerceNodeId, makeNodeId, NodeId } from 'node-opcua-nodeid';
import { StatusCodes } from 'node-opcua-status-code';
import { DataType, Variant, VariantArrayType } from 'node-opcua-variant';
import type { TrackableFacts, TrackablePosition, ZoneFacts } from './site_facts.ts';
import { POSITIONING_NODES, POSITIONING_URI, SPATIAL_URI } from './positioning_models.ts';

/** Namespace of zones and trackables. It is the same for all hubs, so that node ids outlast a hub. */
const SITE_URI = 'urn:location-hub:site';
const WGS84 = 4326;
const STRUCTURES = ['coordinate', 'globalPosition', 'globalLocation', 'groundControlPoint'] as const;
/** Structures of the standard whose names begin with a digit. */
const STANDARD_3D = /^3D(CartesianCoordinates|Orientation)$/;
/** Least interval between two samples of a position, in milliseconds. */
export const SAMPLING_MIN_MS = 100;
/** Objects of a kind beyond this number are left out: each trackable takes 31 kB, and 1 ms at the start. */
export const NODES_MAX = 10_000;

interface ZoneNode {
  readonly object: UAObject;
  readonly facts: ZoneFacts;
}

interface TrackableNode {
  readonly object: UAObject;
  readonly facts: TrackableFacts;
  readonly location: UAVariable;
  readonly position: UAVariable;
  readonly longitude: UAVariable;
  readonly latitude: UAVariable;
  readonly accuracy: UAVariable;
  readonly floor: UAVariable;
  readonly source: UAVariable;
  /** Time of the position; undefined without one. */
  at: Date | undefined;
}

interface Below {
  readonly parent: BaseNode;
  readonly path: string;
}

/**
 * Zones and trackables in the address space:
 *
 *     Objects / Locations / GlobalLocations / zone          ZoneType
 *     Objects / Trackables / trackable / GlobalLocation     GlobalLocationType
 *
 * Ids of nodes are strings such as `trackables/ID/GlobalLocation/Position/Latitude`.
 */
export class SiteNodes {
  readonly #space: AddressSpace;
  readonly #own: Namespace;
  /** Indexes of the namespaces of OPC 10000-211 and 10000-210. */
  readonly #positioning: number;
  readonly #spatial: number;
  readonly #zoneFolder: UAObject;
  readonly #trackableFolder: UAObject;
  readonly #zones = new Map<string, ZoneNode>();
  /** Ids of zones by the foreign ids. */
  readonly #foreign = new Map<string, string>();
  readonly #trackables = new Map<string, TrackableNode>();

  constructor(space: AddressSpace) {
    this.#space = space;
    this.#own = space.registerNamespace(SITE_URI);
    this.#positioning = space.getNamespaceIndex(POSITIONING_URI);
    this.#spatial = space.getNamespaceIndex(SPATIAL_URI);
    for (const name of STRUCTURES) correctSchema(space, this.#model(name));
    this.#zoneFolder = space.findNode(this.#model('globalLocations')) as UAObject;
    this.#trackableFolder = this.#own.addObject({
      browseName: 'Trackables',
      nodeId: this.#id('trackables'),
      organizedBy: space.rootFolder.objects,
      typeDefinition: 'FolderType',
    });
  }

  /** Adds or replaces the object of a zone. Returns false if there are too many. */
  setZone(facts: ZoneFacts): boolean {
    this.removeZone(facts.id);
    if (this.#zones.size >= NODES_MAX) return false;
    const path = `zones/${facts.id}`;
    const object = this.#own.addObject({
      browseName: { namespaceIndex: this.#own.index, name: facts.name },
      nodeId: this.#id(path),
      organizedBy: this.#zoneFolder,
      typeDefinition: this.#model('zoneType'),
    });
    const below = { parent: object, path };
    this.#property(below, 'ZoneId', new Variant({ dataType: DataType.String, value: facts.id }));
    for (const [name, value] of [
      ['Site', facts.site],
      ['Building', facts.building],
      ['Floor', facts.floor],
    ] as const) {
      if (value !== undefined) this.#property(below, name, new Variant({ dataType: DataType.String, value }));
    }
    const { isIncomplete } = facts;
    this.#property(below, 'IncompleteConfiguration', new Variant({ dataType: DataType.Boolean, value: isIncomplete }));
    if (facts.position !== undefined) {
      const [longitude, latitude] = facts.position;
      const value = this.#structure('coordinate', { longitude, latitude });
      this.#component(below, 'Position', value, this.#model('coordinate'));
    }
    if (facts.radius !== undefined) {
      this.#component(below, 'Radius', new Variant({ dataType: DataType.Double, value: facts.radius }), 'Double');
    }
    if (facts.controlPoints.length > 0) {
      const value = facts.controlPoints.map(([longitude, latitude, x, y]) =>
        this.#space.constructExtensionObject(this.#model('groundControlPoint'), {
          globalPosition: { longitude, latitude },
          localPosition: { x, y, z: 0 },
        }),
      );
      const list = new Variant({ dataType: DataType.ExtensionObject, arrayType: VariantArrayType.Array, value });
      this.#component(below, 'GroundControlPoints', list, this.#model('groundControlPoint'));
    }
    this.#zones.set(facts.id, { object, facts });
    if (facts.foreignId !== undefined) this.#foreign.set(facts.foreignId, facts.id);
    return true;
  }

  removeZone(id: string): void {
    const zone = this.#zones.get(id);
    if (zone === undefined) return;
    this.#space.deleteNode(zone.object);
    this.#zones.delete(id);
    const { foreignId } = zone.facts;
    if (foreignId !== undefined && this.#foreign.get(foreignId) === id) this.#foreign.delete(foreignId);
  }

  /** Adds the object of a trackable, or renames it. Returns false if there are too many. */
  setTrackable(facts: TrackableFacts): boolean {
    const known = this.#trackables.get(facts.id);
    if (known?.facts.name === facts.name) return true;
    if (known !== undefined) {
      known.object.setDisplayName(facts.name);
      this.#trackables.set(facts.id, { ...known, facts });
      return true;
    }
    if (this.#trackables.size >= NODES_MAX) return false;
    this.#trackables.set(facts.id, this.#newTrackable(facts));
    return true;
  }

  removeTrackable(id: string): void {
    const trackable = this.#trackables.get(id);
    if (trackable === undefined) return;
    this.#space.deleteNode(trackable.object);
    this.#trackables.delete(id);
  }

  /** Returns the time of the position of a trackable; undefined without one. */
  timeOf(id: string): Date | undefined {
    return this.#trackables.get(id)?.at;
  }

  /** Sets the position of a trackable; one without an object is ignored. hot */
  move(id: string, { longitude, latitude, accuracy, floor, source, at }: TrackablePosition): void {
    const node = this.#trackables.get(id);
    if (node === undefined) return;
    node.at = at;
    const position = {
      longitude,
      latitude,
      ...(accuracy !== undefined && { accuracy }),
      ...(floor !== undefined && { floor }),
    };
    const good = StatusCodes.Good;
    const set = (variable: UAVariable, value: Variant, status = good): void =>
      variable.setValueFromSource(value, status, at);
    const double = (value: number): Variant => new Variant({ dataType: DataType.Double, value });
    set(node.location, this.#structure('globalLocation', { position }));
    set(node.position, this.#structure('globalPosition', position));
    set(node.longitude, double(longitude));
    set(node.latitude, double(latitude));
    set(node.accuracy, double(accuracy ?? 0), accuracy === undefined ? StatusCodes.BadNoData : good);
    const floorValue = new Variant({ dataType: DataType.Float, value: floor ?? 0 });
    set(node.floor, floorValue, floor === undefined ? StatusCodes.BadNoData : good);
    set(node.source, new Variant({ dataType: DataType.NodeId, value: this.#sourceOf(node, source) }));
  }

  /** Returns the node of the zone of a location. A position that no zone computed names itself as its source. */
  #sourceOf({ position }: TrackableNode, source: string | undefined): NodeId {
    const zone = source === undefined ? undefined : this.#zones.get(this.#foreign.get(source) ?? source);
    return zone?.object.nodeId ?? position.nodeId;
  }

  #newTrackable(facts: TrackableFacts): TrackableNode {
    const path = `trackables/${facts.id}`;
    const object = this.#own.addObject({
      browseName: { namespaceIndex: this.#own.index, name: facts.name },
      nodeId: this.#id(path),
      organizedBy: this.#trackableFolder,
      typeDefinition: 'BaseObjectType',
    });
    const location = this.#own.addVariable({
      ...this.#options({ parent: object, path }, { name: 'GlobalLocation', namespaceIndex: this.#own.index }),
      componentOf: object,
      dataType: this.#model('globalLocation'),
      typeDefinition: this.#model('globalLocationType'),
    });
    const ofLocation = { parent: location, path: `${path}/GlobalLocation` };
    // Null: the location is in the global reference frame.
    const base = new Variant({ dataType: DataType.NodeId, value: NodeId.nullNodeId });
    this.#component(ofLocation, 'Base', base, 'NodeId', this.#spatial);
    const position = this.#own.addVariable({
      ...this.#options(ofLocation, { name: 'Position', namespaceIndex: this.#spatial }),
      componentOf: location,
      dataType: this.#model('globalPosition'),
      typeDefinition: this.#model('globalPositionType'),
    });
    const below = { parent: position, path: `${path}/GlobalLocation/Position` };
    this.#addReferenceSystem(below);
    const values = {
      ...{ location, position },
      longitude: this.#component(below, 'Longitude', undefined, 'Double'),
      latitude: this.#component(below, 'Latitude', undefined, 'Double'),
      accuracy: this.#component(below, 'Accuracy', undefined, 'Double'),
      floor: this.#component(below, 'Floor', undefined, 'Float'),
      source: this.#property(below, 'SourceId', undefined, 'NodeId'),
    };
    const none = new Variant({ dataType: DataType.Null });
    for (const variable of Object.values(values)) {
      variable.setValueFromSource(none, StatusCodes.BadWaitingForInitialData);
    }
    return { ...values, object, facts, at: undefined };
  }

  #addReferenceSystem({ parent, path }: Below): void {
    this.#own.addMultiStateValueDiscrete({
      ...this.#options({ parent, path }, { name: 'CoordinateReferenceSystem', namespaceIndex: this.#positioning }),
      componentOf: parent,
      dataType: 'UInt32',
      enumValues: [{ displayName: 'EPSG:4326', value: WGS84 }],
      value: WGS84,
    } as never);
  }

  #component(below: Below, name: string, value: Variant | undefined, dataType: string | NodeId, index?: number) {
    const variable = this.#own.addVariable({
      ...this.#options(below, { name, namespaceIndex: index ?? this.#positioning }),
      componentOf: below.parent,
      dataType,
      ...(value?.arrayType === VariantArrayType.Array && { valueRank: 1 }),
    });
    if (value !== undefined) variable.setValueFromSource(value);
    return variable;
  }

  #property(below: Below, name: string, value: Variant | undefined, dataType?: string): UAVariable {
    const variable = this.#own.addVariable({
      ...this.#options(below, { name, namespaceIndex: this.#positioning }),
      propertyOf: below.parent,
      typeDefinition: 'PropertyType',
      dataType: dataType ?? DataType[value?.dataType ?? DataType.Null],
    });
    if (value !== undefined) variable.setValueFromSource(value);
    return variable;
  }

  #options({ path }: Below, browseName: { readonly name: string; readonly namespaceIndex: number }) {
    return {
      browseName,
      nodeId: this.#id(`${path}/${browseName.name}`),
      accessLevel: 'CurrentRead',
      userAccessLevel: 'CurrentRead',
      minimumSamplingInterval: SAMPLING_MIN_MS,
    };
  }

  #structure(type: keyof typeof POSITIONING_NODES, members: object): Variant {
    const value = this.#space.constructExtensionObject(this.#model(type), members as Record<string, unknown>);
    return new Variant({ dataType: DataType.ExtensionObject, value });
  }

  #model(name: keyof typeof POSITIONING_NODES): NodeId {
    return makeNodeId(POSITIONING_NODES[name], this.#positioning);
  }

  #id(path: string): NodeId {
    return coerceNodeId(`ns=${this.#own.index};s=${path}`);
  }
}

/**
 * Corrects what the library derives from a structure:
 *
 * - The types of members whose structures belong to the standard and begin with a digit: it looks for `3DOrientation`, but
 *   has registered `ThreeDOrientation`.
 * - The bits that say which optional members follow. Those of a subtype come after those of the optional members that it
 *   inherits; the library counts all inherited members.
 */
function correctSchema(space: AddressSpace, structure: NodeId): void {
  const { schema } = space.getExtensionObjectConstructor(structure);
  let bit = schema.getBaseSchema()?.fields.filter(({ switchBit }) => switchBit !== undefined).length ?? 0;
  for (const field of schema.fields) {
    field.fieldType = field.fieldType.replace(STANDARD_3D, 'ThreeD$1');
    if (field.switchBit !== undefined) field.switchBit = bit++;
  }
}
