import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { installTypeScriptGenerator } from '../clients/generators/typescript_generator.ts';
import { run } from '../clients/generators/tools.ts';
import { bannerOf, GENERATED, sdkDocument } from './sdk_document.ts';

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
  const typeScript = await installTypeScriptGenerator();
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
  ];
}
