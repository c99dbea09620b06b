/** The part of an OpenAPI document that operations in Python are made of. */
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

interface Reference {
  readonly $ref: string;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly items?: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
const TYPES: Readonly<Record<string, string>> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' };
const RESERVED = ['from', 'in', 'class', 'global', 'is', 'not', 'type'];

/** Returns a class in Python with a method for each operation. The names of the schemas are types of the same module. */
export function pythonOperations({ paths, components }: OpenApi): string {
  const resolve = (one: Parameter | Reference): Parameter => {
    if (!('$ref' in one)) return one;
    const found = components.parameters[one.$ref.split('/').at(-1) ?? ''];
    if (found === undefined) throw new Error(`Cannot find ${one.$ref}`);
    return found;
  };
  const methods = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [methodOf(operation, { path, method, resolve })];
    }),
  );
  return `class Operations:
    """The operations of the REST API. Each raises HubError for a status other than 2xx."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call
${methods.join('')}`;
}

interface Place {
  readonly path: string;
  readonly method: string;
  resolve(one: Parameter | Reference): Parameter;
}

function methodOf(operation: Operation, { path, method, resolve }: Place): string {
  const parameters = (operation.parameters ?? []).map(resolve);
  const inPath = parameters.filter((one) => one.in === 'path');
  const query = parameters.filter((one) => one.in === 'query');
  const body = contentType(operation.requestBody?.content);
  const isRequired = operation.requestBody?.required === true;
  const args = [
    'self',
    ...inPath.map(({ name }) => `${pythonName(name)}: str`),
    ...(body === undefined ? [] : [isRequired ? `body: ${body}` : `body: ${body} | None = None`]),
    ...(query.length > 0 ? ['*'] : []),
    ...query.map(({ name, schema }) => `${pythonName(name)}: ${pythonType(schema)} | None = None`),
  ];
  const result = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => contentType(content) ?? 'None');
  const url = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => `{quote(${pythonName(name)}, safe='')}`);
  const values = query.map(({ name }) => `"${name}": ${pythonName(name)}`).join(', ');
  const call = [
    `"${method.toUpperCase()}"`,
    inPath.length > 0 ? `f"${url}"` : `"${url}"`,
    ...(query.length > 0 ? [`query={${values}}`] : []),
    ...(body === undefined ? [] : ['body=body']),
  ];
  const returned = [...new Set(result)].join(' | ') || 'None';
  return `
    async def ${snakeCase(operation.operationId)}(${args.join(', ')}) -> ${returned}:
        """${operation.summary}."""
        ${returned === 'None' ? '' : 'return '}await self._call(${call.join(', ')})
`;
}

function contentType(content: Content | undefined): string | undefined {
  const json = content?.['application/json'] ?? content?.['application/merge-patch+json'];
  if (json !== undefined) return pythonType(json.schema);
  return content === undefined ? undefined : 'Any';
}

function pythonType({ $ref, type, items }: Schema): string {
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? 'Any';
  if (type === 'array' && items !== undefined) return `list[${pythonType(items)}]`;
  return typeof type === 'string' ? (TYPES[type] ?? 'Any') : 'Any';
}

function pythonName(name: string): string {
  const plain = name.replaceAll(/\W/g, '_');
  return RESERVED.includes(plain) ? `${plain}_` : plain;
}

/** `getZoneIds` as `get_zone_ids`. */
function snakeCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}
