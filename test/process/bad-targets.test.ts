/**
 * A backup target that is a bucket of a second Holdfast and goes bad: it is full, its key is revoked, it gives other bytes. Each gets a clear refusal or state; the
 * cluster serves, earlier backups stay, and the next backup continues where the failed one ended. [docs/guide/backups.md]
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import { runCommand } from '../helpers/run-command.ts'

const PREFIX = 'of/first'
const OBJECT_BYTES = 1_500_000
const OBJECTS = 8

function bytesOf(seed: string, size: number): Buffer {
  const pieces: Buffer[] = []
  for (let n = 0; n * 32 < size; n++) pieces.push(createHash('sha256').update(`${seed}/${n}`).digest())
  return Buffer.concat(pieces).subarray(0, size)
}

interface Listed {
  readonly backupId: string
  readonly backup: { readonly missingCount: number } | null
  readonly problem: string | null
}

interface Operation {
  readonly status: string
  readonly error: string | null
  readonly progress: { readonly blobsDone: number; readonly skipped: number; readonly blobsTotal: number }
}

class World {
  readonly store: ProcessCluster
  readonly cluster: ProcessCluster
  readonly #folder: string

  private constructor(t: Test, store: ProcessCluster, cluster: ProcessCluster) {
    this.store = store
    this.cluster = cluster
    this.#folder = temporaryFolder(t)
  }

  static async start(t: Test): Promise<World> {
    const [store, cluster] = [await ProcessCluster.start(t, 1), await ProcessCluster.start(t, 1)]
    await store.login('n1')
    await store.call('n1', 'POST', '/buckets', '{"name":"backups"}')
    await cluster.login('n1')
    await cluster.call('n1', 'POST', '/buckets', '{"name":"kept"}')
    return new World(t, store, cluster)
  }

  async put(key: string): Promise<void> {
    const path = `/buckets/kept/objects/${key}`
    const { status } = await this.cluster.call('n1', 'PUT', path, bytesOf(key, OBJECT_BYTES))
    if (status !== 200) throw new Error(`PUT ${key}: ${status}`)
  }

  async assertServes(t: Test, count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const { body } = await this.cluster.call('n1', 'GET', `/buckets/kept/objects/o${n}`)
      t.ok(body.equals(bytesOf(`o${n}`, OBJECT_BYTES)), `o${n}`)
    }
  }

  backup(...words: readonly string[]) {
    process.env['HOLDFAST_ADMIN_TOKEN'] = this.cluster.setup.ownerToken
    return runCommand('backup', ...words, '--admin-endpoint', this.cluster.node('n1').adminUrl, '--json')
  }

  /** Until it has ended, and how. */
  async create(): Promise<Operation> {
    const { out, err } = await this.backup('create', '--to', 'far', '--reason', 'a test', '--wait')
    const last = out.trim().split('\n').at(-1) ?? ''
    if (last === '') throw new Error(err)
    return JSON.parse(last) as Operation
  }

  async listed(): Promise<readonly Listed[]> {
    const { out } = await this.backup('list', '--from', 'far')
    return out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Listed)
  }

  setTarget(accessKeyId: string, secretKey: string) {
    const keyFile = join(this.#folder, 'far.env')
    writeFileSync(keyFile, `AWS_ACCESS_KEY_ID=${accessKeyId}\nAWS_SECRET_ACCESS_KEY=${secretKey}\n`)
    const place = ['--s3', this.store.node('n1').dataUrl, '--bucket', 'backups', '--prefix', PREFIX]
    return this.backup('target', 'set', 'far', ...place, '--key-file', keyFile)
  }

  /** Of the owner of the store. */
  async manageStore(method: 'PUT' | 'POST', path: string, body: object) {
    const answer = await this.store.admin('n1', { method, path, body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`)
    return JSON.parse(answer.body.toString() || '{}') as Record<string, unknown>
  }
}

t.test('a backup target that goes bad', { timeout: 1_200_000 }, async (t) => {
  const world = await World.start(t)
  const { store } = world
  const { accessKeyId, secretKey, tenantId } = store.setup
  for (let n = 0; n < OBJECTS; n++) await world.put(`o${n}`)
  const set = await world.setTarget(accessKeyId ?? '', secretKey ?? '')
  t.equal(set.code, 0, set.err)

  await t.test(
    'it is full: the backup fails and says so, and the next one sends only the rest',
    async (t) => {
      await world.manageStore('PUT', `/tenants/${tenantId}/quota`, { maxBytes: 5_000_000 })
      const full = await world.create()
      t.match(full, { status: 'failed', error: /it is full/ })
      t.ok(full.progress.blobsDone > 0 && full.progress.blobsDone < full.progress.blobsTotal)
      t.same(await world.listed(), [], 'no backup counts')
      await world.assertServes(t, OBJECTS)
      await world.manageStore('PUT', `/tenants/${tenantId}/quota`, { maxBytes: null })
      const done = await world.create()
      t.match(done, { status: 'succeeded', error: null })
      t.ok(done.progress.skipped >= full.progress.blobsDone, 'what was sent before is not sent again')
      t.match(await world.listed(), [{ backup: { missingCount: 0 } }])
    },
  )

  await t.test(
    'its key is revoked: refused before anything starts; with another key it continues',
    async (t) => {
      const other = await world.manageStore('POST', `/tenants/${tenantId}/keys`, {
        name: 'for backups',
        scopes: 'read,write,delete',
      })
      const key = [String(other['accessKeyId']), String(other['secretKey'])] as const
      t.equal((await world.setTarget(...key)).code, 0)
      await world.manageStore('POST', `/tenants/${tenantId}/keys/${key[0]}/revoke`, { reason: 'a test' })
      const refused = await world.backup('create', '--to', 'far', '--reason', 'a test')
      t.not(refused.code, 0)
      t.match(refused.err, /its key may not do this, or was revoked: it needs s3:ListBucket/)
      t.notMatch(refused.err + refused.out, key[1])
      const unset = await world.setTarget(accessKeyId ?? '', 'wrong'.repeat(8))
      t.not(unset.code, 0)
      t.match(unset.err, /the secret is wrong/)
      t.equal((await world.setTarget(accessKeyId ?? '', secretKey ?? '')).code, 0)
      t.match(await world.create(), { status: 'succeeded', progress: { blobsDone: 0 } })
      t.equal((await world.listed()).length, 2)
    },
  )

  await t.test(
    'it gives other bytes: that backup is named, the others count, and no chunk goes',
    async (t) => {
      const [first] = await world.listed()
      const name = `${PREFIX}/backups/${world.cluster.setup.clusterId}/${first?.backupId}/manifest.json`
      const path = `/buckets/backups/objects/${encodeURIComponent(name)}`
      const manifest = (await store.call('n1', 'GET', path)).body
      t.ok(manifest.length > 100, 'the manifest is there')
      const changed = Buffer.from(manifest.toString().replace('"chunks":', '"chunks":1'))
      t.equal((await store.call('n1', 'PUT', path, changed)).status, 200)
      t.match(await world.listed(), [
        { backup: null, problem: /its seal does not agree/ },
        { backup: { missingCount: 0 }, problem: null },
      ])
      const prune = ['prune', '--from', 'far', '--keep-last', '1', '--reason', 'a test']
      t.equal((await world.backup(...prune, '--wait')).code, 0)
      t.equal((await world.listed()).length, 2, 'what cannot be read stays')
      process.env['AWS_ACCESS_KEY_ID'] = accessKeyId ?? ''
      process.env['AWS_SECRET_ACCESS_KEY'] = secretKey ?? ''
      const from = `s3:${store.node('n1').dataUrl}/backups/${PREFIX}`
      const { configFile } = world.cluster.node('n1')
      const verify = await runCommand('backup', 'verify', '--config', configFile, '--from', from)
      t.equal(verify.code, 0, `the newest one is whole: ${verify.err}${verify.out}`)
      const restore = await runCommand('backup', 'restore', '--config', configFile, '--from', from)
      t.not(restore.code, 0)
      t.match(restore.err, /same_cluster|cluster\.id is/, 'and is not restored onto the cluster that made it')
      await world.assertServes(t, OBJECTS)
    },
  )
})
