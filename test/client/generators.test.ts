/**
 * Clients that public generators make of the documents: they compile, and put and get an object whose key has slashes.
 *
 * In whole runs, or by `npm run generators`. A generator that this machine does not have is skipped:
 * `pip install openapi-python-client`, `go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@latest`.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { ApiWorld } from '../api/api-world.ts'
import { PLAYS_WHOLE } from '../helpers/proof-size.ts'
import { generatorDocument } from './generator-document.ts'

const KEY = 'a b/ü/c.txt'

const PYTHON = `
import io, sys
from holdfast_api import AuthenticatedClient
from holdfast_api.api.buckets import list_buckets
from holdfast_api.api.objects import get_object, put_object
from holdfast_api.types import File
client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
stored = put_object.sync("photos", sys.argv[3], client=client, body=File(payload=io.BytesIO(b"hello")))
got = get_object.sync_detailed("photos", sys.argv[3], client=client)
print(stored.key, stored.size, got.content.decode(), [one.name for one in list_buckets.sync(client=client).buckets])
`

const GO = `package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"example.org/generated/api"
)

func main() {
	ctx := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	}
	client, err := api.NewClientWithResponses(os.Args[1], api.WithRequestEditorFn(authorize))
	if err != nil {
		panic(err)
	}
	body := strings.NewReader("hello")
	stored, err := client.PutObjectWithBodyWithResponse(ctx, "photos", os.Args[3], &api.PutObjectParams{}, "text/plain", body)
	if err != nil || stored.JSON200 == nil {
		panic(fmt.Sprint(err, stored))
	}
	got, err := client.GetObjectWithResponse(ctx, "photos", os.Args[3], &api.GetObjectParams{})
	if err != nil {
		panic(err)
	}
	fmt.Println(stored.JSON200.Key, stored.JSON200.Size, string(got.Body))
}
`

const has = (program: string, argument: string): boolean => spawnSync(program, [argument]).status === 0

/** Not waited for by blocking: the server runs in this process. */
async function printed(t: Test, cwd: string, command: readonly [string, ...string[]]): Promise<string> {
  const [program, ...args] = command
  const child: ChildProcess = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout?.on('data', (piece) => (out += String(piece)))
  child.stderr?.on('data', (piece) => (err += String(piece)))
  const code = await new Promise((resolve) => child.once('close', resolve).once('error', resolve))
  t.equal(code, 0, `${command.join(' ').slice(0, 200)}: ${err.slice(-1500)}`)
  return out.trim()
}

async function start(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-generators-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const plane of ['data', 'admin']) {
    const document: unknown = JSON.parse(readFileSync(join(ROOT, 'docs', 'openapi', `${plane}.json`), 'utf8'))
    const text = JSON.stringify(generatorDocument(document as Parameters<typeof generatorDocument>[0]))
    writeFileSync(join(folder, `${plane}.json`), text)
  }
  const { world, token } = await ApiWorld.withBucket(t)
  return { folder, given: [`http://127.0.0.1:${world.dataPort}`, token, KEY] as const }
}

t.test('Python: openapi-python-client', { timeout: 600_000 }, async (t) => {
  if (!PLAYS_WHOLE) return t.comment('in whole runs')
  if (!has('openapi-python-client', '--version')) return t.comment('openapi-python-client is not installed')
  const { folder, given } = await start(t)
  for (const [plane, name] of [
    ['data', 'holdfast_api'],
    ['admin', 'holdfast_admin'],
  ] as const) {
    const generate = ['generate', '--path', `${plane}.json`, '--output-path', name, '--meta', 'none'] as const
    await printed(t, folder, ['openapi-python-client', ...generate])
    await printed(t, folder, ['python3', '-m', 'compileall', '-q', name])
  }
  writeFileSync(join(folder, 'program.py'), PYTHON)
  const python = spawnSync('python3', ['-c', 'import httpx, attrs, dateutil']).status === 0
  if (!python) return t.comment('python3 has no httpx')
  t.equal(await printed(t, folder, ['python3', 'program.py', ...given]), `${KEY} 5 hello ['photos']`)
})

t.test('Go: oapi-codegen', { timeout: 600_000 }, async (t) => {
  if (!PLAYS_WHOLE) return t.comment('in whole runs')
  if (!has('oapi-codegen', '-version') || !has('go', 'version'))
    return t.comment('oapi-codegen is not installed')
  const { folder, given } = await start(t)
  mkdirSync(join(folder, 'api'))
  mkdirSync(join(folder, 'admin'))
  for (const [plane, name] of [
    ['data', 'api'],
    ['admin', 'admin'],
  ] as const) {
    const generate = ['-generate', 'types,client', '-package', name, '-o', join(name, 'client.go')] as const
    await printed(t, folder, ['oapi-codegen', ...generate, `${plane}.json`])
  }
  writeFileSync(join(folder, 'main.go'), GO)
  await printed(t, folder, ['go', 'mod', 'init', 'example.org/generated'])
  const fetched = spawnSync('go', ['get', 'github.com/oapi-codegen/runtime@v1.9.0'], { cwd: folder })
  if (fetched.status !== 0) return t.comment(`go cannot fetch the runtime: ${String(fetched.stderr)}`)
  await printed(t, folder, ['go', 'build', './...'])
  t.equal(await printed(t, folder, ['go', 'run', '.', ...given]), `${KEY} 5 hello`)
})
