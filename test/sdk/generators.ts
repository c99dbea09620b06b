import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { installTypeScriptGenerator } from '../clients/generators/typescript_generator.ts';
import { run } from '../clients/generators/tools.ts';
import { pythonOperations } from './python_operations.ts';
import { installPythonTools } from './python_tools.ts';
import { bannerOf, GENERATED, sdkDocument } from './sdk_document.ts';

const PYTHON_OPTIONS = (
  '--input-file-type openapi --output-model-type typing.TypedDict --target-python-version 3.11 ' +
  '--use-standard-collections --use-union-operator --disable-timestamp --formatters builtin'
).split(' ');
const PYTHON_IMPORTS = `from collections.abc import Awaitable, Callable
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict
from urllib.parse import quote`;

interface Generator {
  /** Path of the generated file below `sdk`. */
  readonly path: (typeof GENERATED)[number];
  /** Why it cannot run; false if it can. */
  readonly skip: string | false;
  /** Returns the text of the file. Uses a folder for its input and output. */
  generate(folder: string): Promise<string>;
}

/** Downloads the generators of the SDKs unless they are installed. */
export async function generators(): Promise<readonly Generator[]> {
  const [typeScript, python] = await Promise.all([installTypeScriptGenerator(), installPythonTools()]);
  return [
    {
      path: GENERATED[0],
      skip: typeScript.skip,
      async generate(cwd) {
        const document = await sdkDocument();
        await writeFile(join(cwd, 'openapi.json'), document);
        const program = join(typeScript.folder, 'node_modules/openapi-typescript/bin/cli.js');
        await run(process.execPath, [program, 'openapi.json', '--output', 'generated.ts'], { cwd });
        return `// ${bannerOf(document)}\n${readFileSync(join(cwd, 'generated.ts'), 'utf8')}`;
      },
    },
    {
      path: GENERATED[1],
      skip: python.skip,
      async generate(cwd) {
        const document = await sdkDocument();
        await writeFile(join(cwd, 'openapi.json'), document);
        const program = join(python.folder, 'bin/datamodel-codegen');
        await run(program, ['--input', 'openapi.json', '--output', 'generated.py', ...PYTHON_OPTIONS], { cwd });
        const types = readFileSync(join(cwd, 'generated.py'), 'utf8')
          .replace(/^from typing import .*$/m, PYTHON_IMPORTS)
          .replace(/^#.*\n#.*\n/, '');
        return `# ${bannerOf(document)}\n# mypy: disable-error-code="no-any-return"\n${types}\n\n${pythonOperations(JSON.parse(document))}`;
      },
    },
  ];
}
