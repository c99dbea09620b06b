import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentOf, readDocuments, section } from '../documents/documents.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const DOCUMENT = 'docs/mqtt.md';
const CHAPTER = 'The broker';
/** Folder of mosquitto's files in the document. */
const ETC = '/etc/mosquitto';

/** The setup of mosquitto from docs/mqtt.md, with its files in a temporary folder. */
export class DocumentedBroker {
  /** Lines of its configuration, except the port. */
  readonly lines: readonly string[];
  /** Passwords by user. */
  readonly passwords: ReadonlyMap<string, string>;
  readonly #folder = temporaryFolder();

  /** Throws an Error if mosquitto_passwd fails. */
  constructor() {
    const document = readDocuments().find(({ path }) => path === DOCUMENT);
    if (document === undefined) throw new Error(`There is no ${DOCUMENT}`);
    const { blocks } = documentOf(DOCUMENT, section(document, CHAPTER));
    const written = (start: string): string => {
      const found = blocks.filter(({ text }) => text.startsWith(start));
      if (found.length !== 1) throw new Error(`${DOCUMENT} has ${found.length} blocks that begin with ${start}`);
      return (found[0]?.text ?? '').replaceAll(ETC, this.#folder);
    };
    const commands = written('mosquitto_passwd ').trim().split('\n');
    this.passwords = new Map(commands.map((line) => line.split(' ').slice(-2) as [string, string]));
    for (const line of commands) runPasswd(line.split(' ').slice(1));
    writeFileSync(join(this.#folder, 'acl'), written(`# ${ETC}/acl\n`));
    const lines = written(`# ${ETC}/conf.d/hub.conf\n`).trim().split('\n');
    this.lines = lines.filter((line) => !line.startsWith('listener '));
  }

  /** User and password of one of its users. */
  login(user: string): { readonly username: string; readonly password: string } {
    const password = this.passwords.get(user);
    if (password === undefined) throw new Error(`${DOCUMENT} has no user ${user}`);
    return { username: user, password };
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function runPasswd(args: readonly string[]): void {
  const { error, status, stderr } = spawnSync('mosquitto_passwd', args, { encoding: 'utf8' });
  if (error !== undefined) throw new Error(`Cannot run mosquitto_passwd: ${error.message}`);
  if (status !== 0) throw new Error(`mosquitto_passwd has failed: ${stderr}`);
}
