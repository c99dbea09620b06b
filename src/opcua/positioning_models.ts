import { BASE_URI, type Model, type ModelVariable, nodesetXml } from './nodeset_xml.ts';

/** Namespaces of OPC 10000-210, Relative Spatial Location, and of OPC 10000-211, Global Positioning. */
export const [SPATIAL_URI, POSITIONING_URI] = [
  'http://opcfoundation.org/UA/RSL/',
  'http://opcfoundation.org/UA/GPOS/',
] as const;

/** Numeric ids of nodes in the namespace of Global Positioning. */
export const POSITIONING_NODES = {
  zoneType: 1005,
  globalLocationType: 2003,
  globalPositionType: 2006,
  coordinate: 3003,
  globalLocation: 3004,
  groundControlPoint: 3005,
  globalPosition: 3006,
  globalLocations: 5013,
} as const;

/** Ids in namespace 0: data types, and types of variables. */
const [BOOLEAN, BYTE, UINT32, FLOAT] = ['i=1', 'i=3', 'i=7', 'i=10'] as const;
const [DOUBLE, STRING, NODE_ID] = ['i=11', 'i=12', 'i=17'] as const;
const [STRUCTURE, LOCALIZED_TEXT, ENUM_VALUES] = ['i=22', 'i=21', 'i=7594'] as const;
const [CARTESIAN, ORIENTATION] = ['i=18810', 'i=18812'] as const;
const [BASE_VARIABLE, BASE_OBJECT, ORIENTATION_TYPE] = ['i=63', 'i=58', 'i=18779'] as const;
const DISCRETE_TYPE = 'i=11238';
const LOCATIONS = 'i=31915';

const BASE = { uri: BASE_URI, version: '1.05.02', publicationDate: '2022-11-01T00:00:00Z' };

/** The types of OPC 10000-210 of which those of OPC 10000-211 are subtypes. */
const SPATIAL: Model = {
  uri: SPATIAL_URI,
  version: '1.00.1',
  publicationDate: '2023-01-12T00:00:00Z',
  required: [BASE],
  structures: [],
  folders: [],
  types: [
    {
      nodeId: 'ns=1;i=2002',
      name: '1:RelativeValueType',
      of: 'variable',
      parent: BASE_VARIABLE,
      isAbstract: true,
      children: [component('ns=1;i=6001', '1:Base', NODE_ID, 'optional')],
    },
    {
      nodeId: 'ns=1;i=2003',
      name: '1:SpatialLocationType',
      of: 'variable',
      parent: 'ns=1;i=2002',
      isAbstract: true,
      children: [
        component('ns=1;i=6002', '1:Base', NODE_ID, 'mandatory'),
        component('ns=1;i=6004', '1:Orientation', 'i=24', 'optional'),
        component('ns=1;i=6003', '1:Position', 'i=24', 'optional'),
      ],
    },
  ],
};

/** OPC 10000-211. Namespace 2 is that of SPATIAL. */
const POSITIONING: Model = {
  uri: POSITIONING_URI,
  version: '1.0.0',
  publicationDate: '2025-09-25T00:00:00Z',
  required: [BASE, SPATIAL],
  structures: [
    {
      nodeId: 'ns=1;i=3003',
      encodingId: 'ns=1;i=5014',
      name: '1:3DGeographicCoordinateDataType',
      parent: STRUCTURE,
      fields: [
        { name: 'Longitude', dataType: DOUBLE },
        { name: 'Latitude', dataType: DOUBLE },
        { name: 'Elevation', dataType: DOUBLE, isOptional: true },
      ],
    },
    {
      nodeId: 'ns=1;i=3006',
      encodingId: 'ns=1;i=5001',
      name: '1:GlobalPositionDataType',
      parent: 'ns=1;i=3003',
      fields: [
        { name: 'Accuracy', dataType: DOUBLE, isOptional: true },
        { name: 'Floor', dataType: FLOAT, isOptional: true },
      ],
    },
    {
      nodeId: 'ns=1;i=3004',
      encodingId: 'ns=1;i=5004',
      name: '1:GlobalLocationDataType',
      parent: STRUCTURE,
      fields: [
        { name: 'Position', dataType: 'ns=1;i=3006' },
        { name: 'Orientation', dataType: ORIENTATION, isOptional: true },
      ],
    },
    {
      nodeId: 'ns=1;i=3005',
      encodingId: 'ns=1;i=5008',
      name: '1:GroundControlPointDataType',
      parent: STRUCTURE,
      fields: [
        { name: 'GlobalPosition', dataType: 'ns=1;i=3003' },
        { name: 'LocalPosition', dataType: CARTESIAN },
      ],
    },
  ],
  types: [
    {
      nodeId: 'ns=1;i=1005',
      name: '1:ZoneType',
      of: 'object',
      parent: BASE_OBJECT,
      children: [
        property('ns=1;i=6043', '1:ZoneId', STRING, 'mandatory'),
        property('ns=1;i=6010', '1:Building', STRING, 'optional'),
        property('ns=1;i=6011', '1:Floor', STRING, 'optional'),
        property('ns=1;i=6026', '1:Site', STRING, 'optional'),
        {
          ...component('ns=1;i=6047', '1:GroundControlPoints', 'ns=1;i=3005', 'optional'),
          isList: true,
        },
        component('ns=1;i=6045', '1:Position', 'ns=1;i=3003', 'optional'),
        component('ns=1;i=6046', '1:Radius', DOUBLE, 'optional'),
        property('ns=1;i=6013', '1:IncompleteConfiguration', BOOLEAN, 'optional'),
      ],
    },
    {
      nodeId: 'ns=1;i=2006',
      name: '1:GlobalPositionType',
      of: 'variable',
      parent: BASE_VARIABLE,
      dataType: 'ns=1;i=3006',
      children: [
        component('ns=1;i=6027', '1:Longitude', DOUBLE, 'mandatory'),
        component('ns=1;i=6029', '1:Latitude', DOUBLE, 'mandatory'),
        component('ns=1;i=6030', '1:Elevation', DOUBLE, 'optional'),
        component('ns=1;i=6028', '1:Accuracy', DOUBLE, 'optional'),
        component('ns=1;i=6012', '1:Floor', FLOAT, 'optional'),
        property('ns=1;i=6038', '1:SourceId', NODE_ID, 'mandatory'),
        discrete('1:CoordinateReferenceSystem', UINT32, 'mandatory', [6033, 6034, 6035]),
        discrete('1:ElevationReference', BYTE, 'optional', [6049, 6050, 6051]),
      ],
    },
    {
      nodeId: 'ns=1;i=2003',
      name: '1:GlobalLocationType',
      of: 'variable',
      parent: 'ns=2;i=2003',
      dataType: 'ns=1;i=3004',
      children: [
        {
          ...component('ns=1;i=6008', '2:Orientation', ORIENTATION, 'optional'),
          type: ORIENTATION_TYPE,
          children: ['A', 'B', 'C'].map((name, n) => component(`ns=1;i=${6014 + n}`, name, DOUBLE, 'mandatory')),
        },
        {
          ...component('ns=1;i=6009', '2:Position', 'ns=1;i=3006', 'mandatory'),
          type: 'ns=1;i=2006',
          children: [
            component('ns=1;i=6031', '1:Longitude', DOUBLE, 'mandatory'),
            component('ns=1;i=6032', '1:Latitude', DOUBLE, 'mandatory'),
            property('ns=1;i=6039', '1:SourceId', NODE_ID, 'mandatory'),
            discrete('1:CoordinateReferenceSystem', UINT32, 'mandatory', [6036, 6037, 6048]),
          ],
        },
      ],
    },
  ],
  folders: [{ nodeId: 'ns=1;i=5013', name: '1:GlobalLocations', parent: LOCATIONS }],
};

/** Returns the models as NodeSet2 documents, each after those that it requires. */
export function positioningNodesets(): readonly string[] {
  return [SPATIAL, POSITIONING].map(nodesetXml);
}

type Rule = ModelVariable['rule'];

function component(nodeId: string, name: string, dataType: string, rule: Rule): ModelVariable {
  return { nodeId, name, as: 'HasComponent', rule, dataType };
}

function property(nodeId: string, name: string, dataType: string, rule: Rule): ModelVariable {
  return { ...component(nodeId, name, dataType, rule), as: 'HasProperty' };
}

/** Returns a variable whose values have names. `ids`: of the variable, of the list of values, and of the current name. */
function discrete(name: string, dataType: string, rule: Rule, ids: readonly number[]): ModelVariable {
  const [own, values, text] = ids.map((id) => `ns=1;i=${id}`) as [string, string, string];
  return {
    ...component(own, name, dataType, rule),
    type: DISCRETE_TYPE,
    children: [
      { ...property(values, 'EnumValues', ENUM_VALUES, 'mandatory'), isList: true },
      property(text, 'ValueAsText', LOCALIZED_TEXT, 'mandatory'),
    ],
  };
}
