import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { GO as FOUND_GO } from '../../bench/process/go.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { openWebhookServer, type ReceivedRequest } from '../support/webhook_server.ts';
import { installed, run, runInstall } from './generators/tools.ts';

const GO = FOUND_GO ?? '';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GO_LIBRARY = 'github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1';
const PIP = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '20'];
/** The key in the snippets of docs/sinks.md. */
const KEY = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const python =
  spawnSync('python3', ['--version']).status === 0
    ? await installed('standardwebhooks-1.0.1', async (folder) => {
        await runInstall('python3', ['-m', 'venv', folder], { cwd: folder });
        await runInstall(join(folder, 'bin/python'), ['-m', 'pip', ...PIP, 'standardwebhooks==1.0.1'], { cwd: folder });
      })
    : { folder: '', skip: 'python3 is not installed' };
const go =
  FOUND_GO === undefined
    ? { folder: '', skip: 'go is not installed' }
    : await installed('standardwebhooks-go-0.0.1', async (folder) => {
        await runInstall(GO, ['mod', 'init', 'receiver'], { cwd: folder });
        await runInstall(GO, ['get', GO_LIBRARY], { cwd: folder });
      });

/** Returns the snippet of docs/sinks.md in a language. */
function snippet(language: string): string {
  const section = readFileSync(join(ROOT, 'docs/sinks.md'), 'utf8').split('## Verify signatures')[1] ?? '';
  return (
    new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(section)?.[1] ?? assert.fail(`none in ${language}`)
  );
}

/** A delivery of a hub, and one whose body was changed on its way. */
let delivery: ReceivedRequest;
let forged: ReceivedRequest;
let folder: string;

before(async () => {
  folder = temporaryFolder();
  const [hub, target] = [await openTestHub({ sink_allowed_hosts: '["127.0.0.1"]' }), await openWebhookServer()];
  const sink = { name: 'A', type: 'webhook', url: target.url, topics: ['location_updates'], secret: KEY };
  assert.equal((await hub.post('/sinks', sink)).status, 201);
  const location = { position: { type: 'Point', coordinates: [8, 50] }, provider_type: 'uwb', source: 'täg' };
  await hub.put('/providers/locations', [{ ...location, provider_id: 'tag', crs: 'EPSG:4326' }]);
  await target.until(1);
  delivery = target.requests[0] ?? assert.fail('no request');
  forged = { ...delivery, body: delivery.body.replace('"tag"', '"cat"') };
  await Promise.all([hub.close(), target.close()]);
});

/** Runs a program, which reads a request as JSON from a file, on the delivery and on the forged one. */
async function verify(runOn: (file: string) => Promise<string>): Promise<void> {
  const files = [delivery, forged].map((request, i) => {
    const file = join(folder, `request-${i}.json`);
    writeFileSync(file, JSON.stringify(request));
    return file;
  });
  assert.match(await runOn(files[0] ?? ''), /^verified com\.omlox\.location_updates tag$/m);
  await assert.rejects(runOn(files[1] ?? ''), /signature/i);
}

test('standardwebhooks of PyPI verifies a delivery by the documented lines of Python', {
  skip: python.skip,
}, async () => {
  const program = `
import json, sys
request = json.load(open(sys.argv[1]))
headers, body = request["headers"], request["body"]
${snippet('python')}
print("verified", event["type"], event["subject"])
`;
  const path = join(folder, 'receive.py');
  writeFileSync(path, program);
  await verify((file) => run(join(python.folder, 'bin/python'), [path, file], { cwd: folder }));
});

test('The documented lines of TypeScript verify a delivery', async () => {
  const program = `
import { readFileSync } from 'node:fs';
const { headers, body } = JSON.parse(readFileSync(process.env['REQUEST'] ?? '', 'utf8'));
${snippet('ts')}
const { type, subject } = event as Readonly<Record<string, string>>;
console.log('verified', type, subject);
`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '--eval', program];
  await verify((file) => run(process.execPath, args, { cwd: ROOT, env: { REQUEST: file } }));
});

test('The documented lines of Go verify a delivery', { skip: go.skip }, async () => {
  const [line = '', ...statements] = snippet('go').split('\n');
  const program = `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

${line}

func main() {
	var received struct {
		Headers map[string]string
		Body    string
	}
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(text, &received)
	}
	if err == nil {
		err = verify([]byte(received.Body), &http.Request{Header: headerOf(received.Headers)})
	}
	var event struct{ Type, Subject string }
	if err == nil {
		err = json.Unmarshal([]byte(received.Body), &event)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("verified", event.Type, event.Subject)
}

func headerOf(fields map[string]string) http.Header {
	header := http.Header{}
	for name, value := range fields {
		header.Set(name, value)
	}
	return header
}

func verify(body []byte, request *http.Request) error {
${statements.join('\n')}
	return err
}
`;
  writeFileSync(join(go.folder, 'main.go'), program);
  await verify((file) => run(GO, ['run', '.', file], { cwd: go.folder }));
});
