/** Modelling rules and reference types of the standard, by their numeric ids in namespace 0. */
const RULES = { mandatory: 'i=78', optional: 'i=80' } as const;
const ENCODING_TYPE = 'i=76';
const HAS_ENCODING = 'i=38';
const HAS_TYPE_DEFINITION = 'i=40';
const HAS_SUBTYPE = 'i=45';
const HAS_MODELLING_RULE = 'i=37';
const REFERENCES = { HasProperty: 'i=46', HasComponent: 'i=47', Organizes: 'i=35' } as const;

/** A variable below a type. Ids such as `ns=1;i=5` refer to the namespaces of the model, `i=5` to the standard. */
export interface ModelVariable {
  readonly nodeId: string;
  /** Browse name with the index of its namespace, such as `1:Latitude`. */
  readonly name: string;
  readonly as: 'HasProperty' | 'HasComponent';
  readonly rule: keyof typeof RULES;
  readonly dataType: string;
  /** Type of the variable; BaseDataVariableType or PropertyType by default. */
  readonly type?: string;
  /** Whether the value is a list. */
  readonly isList?: boolean;
  readonly children?: readonly ModelVariable[];
}

/** A type of objects or of variables. */
export interface ModelType {
  readonly nodeId: string;
  readonly name: string;
  readonly of: 'object' | 'variable';
  readonly parent: string;
  readonly isAbstract?: boolean;
  /** Type of the value of a variable. */
  readonly dataType?: string;
  readonly children: readonly ModelVariable[];
}

/** A structure, with the id of its binary encoding. */
export interface ModelStructure {
  readonly nodeId: string;
  readonly encodingId: string;
  readonly name: string;
  readonly parent: string;
  readonly fields: readonly { readonly name: string; readonly dataType: string; readonly isOptional?: boolean }[];
}

/** A folder that servers have. */
export interface ModelFolder {
  readonly nodeId: string;
  readonly name: string;
  /** Node that organizes it. */
  readonly parent: string;
}

/** An information model. Namespace 1 is its own, the next ones are those of `required`. */
export interface Model {
  readonly uri: string;
  readonly version: string;
  readonly publicationDate: string;
  readonly required: readonly { readonly uri: string; readonly version: string; readonly publicationDate: string }[];
  readonly types: readonly ModelType[];
  readonly structures: readonly ModelStructure[];
  readonly folders: readonly ModelFolder[];
}

/** Returns the model as a NodeSet2 document. */
export function nodesetXml({ uri, version, publicationDate, required, types, structures, folders }: Model): string {
  // The base namespace is not listed, and has the index 0.
  const uris = [uri, ...required.map((each) => each.uri).filter((each) => each !== BASE_URI)];
  const requirements = required.map((each) => element('RequiredModel', modelAttributes(each)));
  const nodes = [...structures.map(structureXml), ...types.map(typeXml), ...folders.map(folderXml)];
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    element('UANodeSet', { xmlns: 'http://opcfoundation.org/UA/2011/03/UANodeSet.xsd' }, [
      element(
        'NamespaceUris',
        {},
        uris.map((each) => element('Uri', {}, [escaped(each)])),
      ),
      element('Models', {}, [element('Model', modelAttributes({ uri, version, publicationDate }), requirements)]),
      ...nodes,
    ]),
  ].join('\n');
}

export const BASE_URI = 'http://opcfoundation.org/UA/';

function modelAttributes({
  uri,
  version,
  publicationDate,
}: Pick<Model, 'uri' | 'version' | 'publicationDate'>): Attributes {
  return { ModelUri: uri, Version: version, PublicationDate: publicationDate };
}

function structureXml({ nodeId, encodingId, name, parent, fields }: ModelStructure): string {
  const definition = element(
    'Definition',
    { Name: name },
    fields.map(({ name: field, dataType, isOptional = false }) =>
      element('Field', { Name: plainName(field), DataType: dataType, ...(isOptional && { IsOptional: 'true' }) }),
    ),
  );
  const type = nodeXml('UADataType', { nodeId, name }, [reference(HAS_SUBTYPE, parent, true)], {}, [definition]);
  const encoding = nodeXml('UAObject', { nodeId: encodingId, name: 'Default Binary' }, [
    reference(HAS_ENCODING, nodeId, true),
    reference(HAS_TYPE_DEFINITION, ENCODING_TYPE),
  ]);
  return `${type}\n${encoding}`;
}

function typeXml({ nodeId, name, of, parent, isAbstract = false, dataType, children }: ModelType): string {
  const attributes = {
    ...(isAbstract && { IsAbstract: 'true' }),
    ...(dataType !== undefined && { DataType: dataType }),
  };
  const tag = of === 'object' ? 'UAObjectType' : 'UAVariableType';
  const own = nodeXml(tag, { nodeId, name }, [reference(HAS_SUBTYPE, parent, true)], attributes);
  return [own, ...children.map((child) => variableXml(child, nodeId))].join('\n');
}

function variableXml({ nodeId, name, as, rule, dataType, type, isList, children = [] }: ModelVariable, parent: string) {
  const definition = type ?? (as === 'HasProperty' ? 'i=68' : 'i=63');
  const own: string = nodeXml(
    'UAVariable',
    { nodeId, name },
    [
      reference(REFERENCES[as], parent, true),
      reference(HAS_TYPE_DEFINITION, definition),
      reference(HAS_MODELLING_RULE, RULES[rule]),
    ],
    { DataType: dataType, ...(isList === true && { ValueRank: '1' }) },
  );
  const below: readonly string[] = children.map((child) => variableXml(child, nodeId));
  return [own, ...below].join('\n');
}

function folderXml({ nodeId, name, parent }: ModelFolder): string {
  return nodeXml('UAObject', { nodeId, name }, [
    reference(REFERENCES.Organizes, parent, true),
    reference(HAS_TYPE_DEFINITION, 'i=61'),
  ]);
}

type Attributes = Readonly<Record<string, string>>;

function nodeXml(
  tag: string,
  { nodeId, name }: { readonly nodeId: string; readonly name: string },
  references: readonly string[],
  attributes: Attributes = {},
  more: readonly string[] = [],
): string {
  return element(tag, { NodeId: nodeId, BrowseName: name, ...attributes }, [
    element('DisplayName', {}, [escaped(plainName(name))]),
    element('References', {}, references),
    ...more,
  ]);
}

function reference(type: string, target: string, isInverse = false): string {
  return element('Reference', { ReferenceType: type, ...(isInverse && { IsForward: 'false' }) }, [target]);
}

/** Returns a browse name without the index of its namespace. */
function plainName(name: string): string {
  return name.replace(/^\d+:/, '');
}

function element(tag: string, attributes: Attributes, content: readonly string[] = []): string {
  const pairs = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  return `<${tag}${pairs.join('')}>${content.join('')}</${tag}>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
