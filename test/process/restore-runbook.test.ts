/**
 * The lines of the runbook about restores are typed at machines that have nothing but a configuration and the key file: three nodes from a directory, and one from a
 * bucket of a second Holdfast, in which one chunk has other bytes and one is gone. [deploy/runbooks/restore-from-backup.md]
 */
import { createHash, randomUUID } from 'node:crypto'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import { dataClient } from '../../src/client/clients.ts'
import { freeBasePort, ProcessCluster, sha256, temporaryFolder } from '../helpers/process-cluster.ts'
import { runCommand } from '../helpers/run-command.ts'
import { TypedMachines } from '../helpers/typed-machines.ts'
import { TypedPage } from '../helpers/typed-page.ts'
import { startBackedUp } from './backup-world.ts'

const PAGE = fileURLToPath(new URL('../../deploy/runbooks/restore-from-backup.md', import.meta.url))
const FOUNDERS = ['n1', 'n2', 'n3']
/** The machine of the cluster that comes from the bucket. */
const ALONE = 'n9'
const PREFIX = 'of/cluster-1'
/** Inline, in a pack, in a file, of two chunks. */
const SIZES = [300, 20_000, 600_000, 5_000_000]

function bytesOf(seed: string, size: number): Buffer {
  const pieces: Buffer[] = []
  for (let n = 0; n * 32 < size; n++) pieces.push(createHash('sha256').update(`${seed}/${n}`).digest())
  return Buffer.concat(pieces).subarray(0, size)
}

/** Digests of the bodies by key. */
type Stored = ReadonlyMap<string, string>

async function fill(cluster: ProcessCluster): Promise<Stored> {
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', '{"name":"kept"}')
  const stored = new Map<string, string>()
  for (let n = 0; n < 3 * SIZES.length; n++) {
    const [key, body] = [`o${n}`, bytesOf(`o${n}`, SIZES[n % SIZES.length] ?? 0)]
    const { status } = await cluster.call('n1', 'PUT', `/buckets/kept/objects/${key}`, body)
    if (status !== 200) throw new Error(`PUT ${key}: ${status}`)
    stored.set(key, sha256(body))
  }
  return stored
}

class Restored {
  readonly machines: TypedMachines
  readonly #origin: ProcessCluster
  readonly #store: ProcessCluster
  readonly #basePort: number
  /** By the block that was typed last. */
  printed = ''

  constructor(t: Test, origin: ProcessCluster, store: ProcessCluster, basePort: number) {
    this.machines = new TypedMachines(t, temporaryFolder(t))
    this.#origin = origin
    this.#store = store
    this.#basePort = basePort
  }

  #address(nodeId: string, offset: number): string {
    return `127.0.0.1:${this.#basePort + 10 * Number(nodeId.slice(1)) + offset}`
  }

  dataUrl(nodeId: string): string {
    return `http://${this.#address(nodeId, 0)}`
  }

  /** What the first step of the page asks for. */
  prepare(nodes: readonly string[]): void {
    const clusterId = randomUUID()
    const members = nodes.map((id) => ({ id, peer: this.#address(id, 2) }))
    for (const nodeId of nodes) {
      const folder = this.machines.folder(nodeId)
      const key = join(dirname(this.#origin.node('n1').configFile), 'master.key')
      copyFileSync(key, join(folder, 'master.key'))
      const [data, admin, peer] = [0, 1, 2].map((offset) => this.#address(nodeId, offset))
      const config = {
        node: { id: nodeId, data_dir: 'data' },
        cluster: { id: clusterId, members },
        listeners: { data, admin, peer },
        security: { master_key_file: 'master.key' },
      }
      writeFileSync(join(folder, `${nodeId}.yaml`), stringify(config))
      const { accessKeyId, secretKey } = this.#store.setup
      const lines = `AWS_ACCESS_KEY_ID=${accessKeyId}\nAWS_SECRET_ACCESS_KEY=${secretKey}\n`
      writeFileSync(join(folder, 'far.env'), lines)
    }
  }

  page(backups: string): TypedPage {
    const bucket = `s3:${this.#store.node('n1').dataUrl}/backups/${PREFIX}`
    return new TypedPage({
      page: PAGE,
      local: (text) =>
        text
          .replaceAll('/mnt/backups', backups)
          .replaceAll('s3:https://s3.example.net/backups/of/cluster-1', bucket),
      // Columns are as wide as their contents.
      type: async (machine, lines) => {
        this.printed = (await this.machines.type(machine, lines)).replaceAll(/ +/g, ' ')
        return this.printed
      },
    })
  }

  /** Keys whose bodies are not what was stored. */
  async wrongAt(nodeId: string, stored: Stored): Promise<readonly string[]> {
    const { accessKeyId, secretKey } = this.#origin.setup
    if (accessKeyId === null || secretKey === null) throw new Error('the cluster has a demo key')
    const client = dataClient({ endpoints: [this.dataUrl(nodeId)], accessKeyId, secretKey, repeat: {} })
    const wrong: string[] = []
    try {
      for (const [key, digest] of stored) {
        const body = await client
          .call('getObject', { params: { bucket: 'kept', key } })
          .then(async ({ answer }) => Buffer.concat(await answer.toArray()))
          .catch(() => Buffer.alloc(0))
        if (sha256(body) !== digest) wrong.push(key)
      }
      return wrong
    } finally {
      await client.close()
    }
  }
}

interface RestoredOut {
  readonly missing: readonly string[]
  readonly damaged: readonly string[]
  readonly lost: { readonly named: readonly { readonly key: string }[] }
}

/** Of the chunks in the bucket, in the order of their names. */
async function chunksIn(store: ProcessCluster): Promise<readonly { key: string; size: number }[]> {
  const prefix = encodeURIComponent(`${PREFIX}/chunks/`)
  const { body } = await store.call('n1', 'GET', `/buckets/backups/objects?prefix=${prefix}&maxKeys=1000`)
  return (JSON.parse(body.toString()) as { readonly objects: { key: string; size: number }[] }).objects
}

t.test('the lines of restore-from-backup.md', { timeout: 1_800_000 }, async (t) => {
  const store = await ProcessCluster.start(t, 1)
  await store.login('n1')
  await store.call('n1', 'POST', '/buckets', '{"name":"backups"}')
  const { cluster: origin, backups } = await startBackedUp(t, 1)
  const stored = await fill(origin)
  const restored = new Restored(t, origin, store, await freeBasePort(10))
  process.env['HOLDFAST_ADMIN_TOKEN'] = origin.setup.ownerToken
  process.env['AWS_ACCESS_KEY_ID'] = store.setup.accessKeyId ?? ''
  process.env['AWS_SECRET_ACCESS_KEY'] = store.setup.secretKey ?? ''
  const run = async (...words: readonly string[]): Promise<void> => {
    const { code, err } = await runCommand('backup', ...words, '--admin-endpoint', origin.node('n1').adminUrl)
    t.equal(code, 0, `${words.join(' ')}: ${err}`)
  }
  await run('create', '--to', 'directory:weekly', '--reason', 'a test', '--wait')
  const at = ['--s3', store.node('n1').dataUrl, '--bucket', 'backups', '--prefix', PREFIX]
  await run('target', 'set', 'far', ...at)
  await run('create', '--to', 'far', '--reason', 'a test', '--wait')
  await origin.signal('n1', 'SIGKILL')
  for (const name of ['HOLDFAST_ADMIN_TOKEN', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
    delete process.env[name]
  const page = restored.page(backups)

  await t.test('three nodes from a directory', async (t) => {
    restored.prepare(FOUNDERS)
    const token = `export HOLDFAST_ADMIN_TOKEN='${origin.setup.ownerToken}'`
    const admin = restored.dataUrl('n1').replace(/\d+$/, (port) => String(Number(port) + 1))
    await restored.machines.type('', `${token} HOLDFAST_ADMIN_ENDPOINT='${admin}'`)
    for (const heading of ['2. Check the backup', '3. Lay out the data directories', '4. Start'])
      await page.type(t, heading)
    for (const nodeId of FOUNDERS) t.same(await restored.wrongAt(nodeId, stored), [], nodeId)
    for (const nodeId of FOUNDERS) await restored.machines.end(nodeId, 'SIGTERM')
  })

  await t.test('one node from a bucket in which a chunk is damaged and another one is gone', async (t) => {
    const [damaged, gone] = (await chunksIn(store)).filter(({ size }) => size > 500_000)
    if (damaged === undefined || gone === undefined) return t.fail('there are large chunks')
    const pathOf = ({ key }: { readonly key: string }): string =>
      `/buckets/backups/objects/${encodeURIComponent(key)}`
    const other = bytesOf('other', damaged.size)
    t.equal((await store.call('n1', 'PUT', pathOf(damaged), other)).status, 200)
    t.equal((await store.call('n1', 'DELETE', pathOf(gone))).status, 204)
    restored.prepare([ALONE])
    const there = (text: string): string => text.replace(/\bn1\b/g, ALONE)
    await page.type(t, 'From a bucket', there)
    const out = readFileSync(join(restored.machines.folder(ALONE), `${ALONE}.restored.json`), 'utf8')
    const { missing, damaged: found, lost } = JSON.parse(out) as RestoredOut
    const nameOf = ({ key }: { readonly key: string }): string => key.slice(PREFIX.length + 1)
    t.same([found, missing], [[nameOf(damaged)], [nameOf(gone)]])
    for (const line of [`damaged ${nameOf(damaged)}`, `missing ${nameOf(gone)}`])
      t.equal(restored.printed.split(line).length, 3, `verify and restore: ${line}`)
    t.equal(restored.printed.match(/^exit code 1$/gm)?.length, 2, 'verify and restore say so')
    await restored.machines.type(ALONE, `holdfast server --config ${ALONE}.yaml`)
    const named = lost.named.map(({ key }) => key)
    t.ok(named.length > 0)
    t.same((await restored.wrongAt(ALONE, stored)).toSorted(), named.toSorted(), 'the rest is whole')
    await restored.machines.end(ALONE, 'SIGTERM')
  })

  t.same(page.untyped, [], 'every line was typed')
})
