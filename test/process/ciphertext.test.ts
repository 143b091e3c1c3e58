/**
 * The disks of a real cluster: every file of every node is searched for plaintext and secrets.
 * [SECURITY.md: Encryption at rest]
 *
 * The search is proved by finding names, which are not encrypted, and a planted marker.
 */
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { tenantDataKey, tenantDedupKey } from '../../src/access/sealing-contexts.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { openStore } from '../../src/store/open-store.ts'
import { SILENT } from '../helpers/loggers.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { tenantRanges } from '../../src/state-machine/tenants/keys.ts'

const MARKER = 'never-to-be-seen-on-any-disk'
/** Bytes of each object that the search looks for besides the marker. */
const PIECE_BYTES = 48

/** Half of it is noise, so that format 1 is used; the other half compresses well. */
function bodies(): ReadonlyMap<string, Buffer> {
  const marked = (size: number): Buffer => {
    const body = randomBytes(size)
    for (let at = 0; at + MARKER.length <= size; at += 10_000) body.write(MARKER, at)
    return body
  }
  const text = Buffer.from(Array.from({ length: 60_000 }, (_, i) => `${i} ${MARKER} on line\n`).join(''))
  return new Map([
    ['inline', marked(1500)],
    ['packed', marked(50_000)],
    ['packed-text', text.subarray(0, 100_000)],
    ['large', marked(5 * 1024 * 1024)],
    ['large-text', text],
  ])
}

/** All files below a folder, or the file itself. */
function filesOf(dir: string): readonly string[] {
  if (statSync(dir).isFile()) return [dir]
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((file) => statSync(file).isFile())
}

type Secrets = ReadonlyMap<string, Buffer>

/** `what in file` for every find. */
function search(dirs: readonly string[], secrets: Secrets): readonly string[] {
  return dirs.flatMap(filesOf).flatMap((file) => {
    const bytes = readFileSync(file)
    return [...secrets].filter(([, secret]) => bytes.includes(secret)).map(([what]) => `${what} in ${file}`)
  })
}

/** As bytes, and in the encodings in which a log line could leak them. */
function spellings(what: string, secret: Uint8Array): readonly [string, Buffer][] {
  const bytes = Buffer.from(secret)
  return [
    [what, bytes],
    [`${what} in hex`, Buffer.from(bytes.toString('hex'))],
    [`${what} in base64`, Buffer.from(bytes.toString('base64').replace(/=+$/, ''))],
    [`${what} in base64url`, Buffer.from(bytes.toString('base64url'))],
  ]
}

async function tenantKeys(dataDir: string, masterKeyFile: string): Promise<readonly [string, Buffer][]> {
  const masterKey = await MasterKey.load(masterKeyFile)
  const { stateMachine, reader } = openStore({ dir: join(dataDir, 'state'), logger: SILENT })
  await stateMachine.open()
  try {
    const { items } = await reader.page(tenantRanges.tenants(), { limit: 10 })
    return items.flatMap(({ id, dataKey, dedupKey }) => [
      ...spellings(`data key of ${id}`, masterKey.open(dataKey, tenantDataKey(id))),
      ...spellings(`dedup key of ${id}`, masterKey.open(dedupKey, tenantDedupKey(id))),
    ])
  } finally {
    await stateMachine.close()
  }
}

t.test('the disks of a cluster of three processes', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"a-bucket-name"}')).status, 201)
  const objects = bodies()
  for (const [name, body] of objects) {
    t.equal(
      (await cluster.call('n2', 'PUT', `/buckets/a-bucket-name/objects/${name}`, body)).status,
      200,
      name,
    )
    const read = await cluster.call('n3', 'GET', `/buckets/a-bucket-name/objects/${name}`)
    t.ok(read.body.equals(body), `${name} comes back`)
  }
  for (const { nodeId } of cluster.plan) t.equal(await cluster.signal(nodeId, 'SIGTERM'), 0)

  const [first] = cluster.plan
  const { secretKey, ownerToken } = cluster.setup
  if (first === undefined || ownerToken === null || secretKey === null) return t.fail('nothing to look for')
  const dirs = cluster.plan.map(({ dataDir }) => dataDir)
  const logs = cluster.plan.map(({ logFile }) => logFile)
  const secrets = new Map<string, Buffer>([
    ['the marker', Buffer.from(MARKER)],
    ['the secret key', Buffer.from(secretKey)],
    ['the owner token', Buffer.from(ownerToken)],
    ...(await tenantKeys(first.dataDir, loadConfig(first.configFile, {}).security.masterKeyFile)),
  ])
  for (const [name, body] of objects) {
    for (const at of [0, Math.floor(body.length / 2), body.length - PIECE_BYTES]) {
      secrets.set(`${name} from ${at}`, body.subarray(at, at + PIECE_BYTES))
    }
  }

  t.test('hold the stored data on all nodes', async (t) => {
    for (const dir of dirs) {
      const names = search([dir], new Map([['a name', Buffer.from('a-bucket-name')]]))
      t.ok(names.length > 0, `names are not encrypted, and the search finds them in ${dir}`)
      const size = filesOf(dir).reduce((sum, file) => sum + statSync(file).size, 0)
      t.ok(size > 5 * 1024 * 1024, 'the large object is there')
    }
  })

  t.test('hold no plain byte of an object, no secret and no key of a tenant', async (t) => {
    t.ok(secrets.size > 3 + 8 + objects.size)
    t.strictSame(search([...dirs, ...logs], secrets), [])
  })

  t.test('are searched well enough to find each of them when it is present', async (t) => {
    const planted = join(first.dataDir, 'blobs', 'planted')
    writeFileSync(
      planted,
      Buffer.concat([...secrets.values()].flatMap((secret) => [randomBytes(99), secret])),
    )
    t.strictSame(
      new Set(search([...dirs, ...logs], secrets)),
      new Set([...secrets.keys()].map((what) => `${what} in ${planted}`)),
    )
  })
})
