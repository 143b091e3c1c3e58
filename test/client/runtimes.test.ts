/**
 * The built client in runtimes that are neither Node.js nor a browser, where this machine has them in its PATH: Deno, and workerd for those at the edge.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildClient } from '../../scripts/build/client.ts'
import { ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { BucketClient } from '../api/bucket-client.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

/** The same program in each of them; `given`: endpoint, accessKeyId, secretKey. */
const PROGRAM = `
import { Holdfast, NotFoundError } from './index.js'

export async function transfers({ endpoint, accessKeyId, secretKey }) {
  const client = new Holdfast({ endpoints: endpoint, accessKeyId, secretKey })
  const bytes = new Uint8Array(6 * 1024 * 1024).map((_, n) => n * 31)
  const stored = await client.upload('films', 'a b/ü', new Blob([bytes], { type: 'video/x-own' }), {
    partSize: 5 * 1024 * 1024,
    metadata: { mtime: '1.5' },
  })
  const streamed = await client.upload('films', 'streamed', new Blob(['hello']).stream())
  const download = await client.download('films', 'a b/ü')
  const received = await download.bytes()
  const keys = []
  for await (const { key, metadata } of client.objects({ bucket: 'films', maxKeys: 1, include: 'metadata' })) keys.push([key, metadata])
  const missing = await client.getObject({ bucket: 'films', key: 'absent' }).catch((error) => error instanceof NotFoundError)
  return {
    parts: stored.partsCount,
    type: stored.contentType,
    streamed: streamed.size,
    isVerified: download.isVerified,
    isEqual: received.length === bytes.length && received.every((byte, n) => byte === bytes[n]),
    keys,
    missing,
  }
}
`

const EXPECTED = {
  parts: 2,
  type: 'video/x-own',
  streamed: 5,
  isVerified: true,
  isEqual: true,
  keys: [
    ['a b/ü', { mtime: '1.5' }],
    ['streamed', {}],
  ],
  missing: true,
}

const DENO = `
import { transfers } from './transfers.js'
console.log(JSON.stringify(await transfers(JSON.parse(Deno.args[0]))))
`

const WORKER = `
import { transfers } from 'transfers.js'
export default {
  async test(controller, env) {
    console.log(JSON.stringify(await transfers(env.GIVEN)))
  },
}
`

/** Schema of workerd's configuration: src/workerd/server/workerd.capnp of its repository. */
const workerdConfig = (given: object): string => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [
  (name = "main", worker = (
    modules = [
      (name = "worker.js", esModule = embed "worker.js"),
      (name = "transfers.js", esModule = embed "transfers.js"),
      (name = "index.js", esModule = embed "index.js"),
      (name = "shared.js", esModule = embed "shared.js"),
    ],
    bindings = [(name = "GIVEN", json = ${JSON.stringify(JSON.stringify(given))})],
    compatibilityDate = "2025-01-01",
    globalOutbound = "loopback",
  )),
  (name = "loopback", network = (allow = ["local", "private"])),
]);
`

/** False: the runtime is here. */
function reasonToSkip(name: string): string | false {
  const isThere = spawnSync(name, ['--version']).error === undefined
  return isThere
    ? false
    : `${name} is not in the PATH: npm install --prefix FOLDER ${name}, and add FOLDER/node_modules/.bin`
}

/** Its standard output; the servers of the test run in this process meanwhile. Throws when it fails. */
async function outputOf(child: ChildProcess): Promise<string> {
  const out: Buffer[] = []
  child.stdout?.on('data', (piece: Buffer) => out.push(piece))
  child.stderr?.on('data', (piece: Buffer) => out.push(piece))
  const [code] = (await once(child, 'close')) as [number | null]
  const text = Buffer.concat(out).toString()
  if (code !== 0) throw new Error(`It ended with ${code}: ${text.slice(-2000)}`)
  return text
}

/** The line of JSON in what a runtime printed. */
const resultIn = (text: string): unknown =>
  JSON.parse(text.split('\n').find((line) => line.startsWith('{"parts"')) ?? 'null')

async function prepared(t: Parameters<typeof BucketClient.start>[0] & Parameters<typeof temporaryFolder>[0]) {
  const films = await BucketClient.start(t)
  const { accessKeyId, secretKey } = await films.world.memory.accessKey('acme', 'read,write,delete')
  const folder = join(temporaryFolder(t), 'client')
  buildClient(ROOT, folder)
  const given = { endpoint: `http://127.0.0.1:${films.world.dataPort}`, accessKeyId, secretKey }
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  write('transfers.js', PROGRAM)
  return { folder, given, write }
}

t.test('the client in Deno', { skip: reasonToSkip('deno') }, async (t) => {
  const { folder, given, write } = await prepared(t)
  write('main.js', DENO)
  write('deno.json', '{}')
  const args = ['run', '--no-remote', '--no-npm', `--allow-net=${new URL(given.endpoint).host}`]
  const env = {
    ...process.env,
    DENO_DIR: join(folder, 'deno-cache'),
    DENO_NO_UPDATE_CHECK: '1',
    NO_COLOR: '1',
  }
  const child = spawn('deno', [...args, join(folder, 'main.js'), JSON.stringify(given)], { env })
  t.same(resultIn(await outputOf(child)), EXPECTED)
  t.comment(spawnSync('deno', ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0])
})

t.test('the client in workerd', { skip: reasonToSkip('workerd') }, async (t) => {
  const { folder, given, write } = await prepared(t)
  write('worker.js', WORKER)
  write('config.capnp', workerdConfig(given))
  t.match(readFileSync(join(folder, 'index.js'), 'utf8'), './shared.js', 'the two files of the package')
  const child = spawn('workerd', ['test', 'config.capnp'], { cwd: folder })
  t.same(resultIn(await outputOf(child)), EXPECTED)
  t.comment(spawnSync('workerd', ['--version'], { encoding: 'utf8' }).stdout.trim())
})
