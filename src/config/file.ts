import { isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import { show } from '../model/error_value_text.ts';
import { keyOf } from './aliases.ts';
import { type CollectedSettings, collect } from './collect.ts';
import { KEYS, type Key, settingOf } from './schema.ts';
import { didYouMean } from './suggest.ts';
import { IGNORED_SETTINGS } from './ignored_settings.ts';
import { yamlProblem } from './yaml_problem.ts';

/**
 * Collects the settings of a configuration file. Problems are invalid YAML, keys that are settings of neither this hub
 * nor the reference, and duplicate keys. `name` is the file in messages.
 */
export function readConfigText(text: string, { name, into }: { name: string; into: CollectedSettings }): void {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const place = (offset: number) => `${name}:${lines.linePos(offset).line}`;
  const wrong = yamlProblem(document);
  if (wrong !== undefined) {
    into.problems.push(`${place(wrong.offset)}: ${wrong.text}`);
    return;
  }
  /** Start of the innermost part on the path. */
  const placeOf = (path: readonly (string | number)[]): string | undefined => {
    for (let length = path.length; length > 1; length--) {
      const part = document.getIn(path.slice(0, length), true);
      if (isNode(part) && part.range != null) return place(part.range[0]);
    }
    return undefined;
  };
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) return;
  if (!isMap(root)) {
    into.problems.push(`${place(root.range[0])}: must be lines of "key: value", found ${show(root.toJS(document))}`);
    return;
  }
  const places = new Map<string, string>();
  for (const { key: node, value } of root.items) {
    const written = String(node);
    const source = place(node.range[0]);
    const key = keyOf(written);
    const earlier = places.get(key ?? written);
    if (earlier !== undefined) into.problems.push(`${source}: ${written}: is set already, at ${earlier}`);
    else if (IGNORED_SETTINGS.has(written)) into.withoutMeaning.push(`${source}: ${written}`);
    else if (key === undefined) into.problems.push(`${source}: ${written}: ${whyUnknown(written)}`);
    else {
      const sourceOf = (path: readonly (string | number)[]) => placeOf([key, ...path]) ?? source;
      collect(into, { key, source, name: written, value: asMeant(key, value?.toJS(document) ?? null), sourceOf });
    }
    places.set(key ?? written, earlier ?? source);
  }
}

function whyUnknown(written: string): string {
  if (written === 'config_path') return 'is set by the environment variable HUB_CONFIG_PATH, not in the file';
  return `is no setting of the hub${didYouMean(written, KEYS)}`;
}

/**
 * Interprets YAML's null. An unquoted `null` may be meant as a word. A list whose entries are all commented out is also
 * null, and means an empty list.
 */
function asMeant(key: Key, value: unknown): unknown {
  if (value !== null) return value;
  if (settingOf(key).enum?.includes('null')) return 'null';
  return Array.isArray(settingOf(key).default) ? [] : value;
}
