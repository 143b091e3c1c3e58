/**
 * The disks of a real cluster with sealed metadata: every byte of every file, and every key and value that LevelDB gives, is searched for what clients named.
 * [SECURITY.md: Metadata at rest]
 *
 * Rule: the same search over a cluster without the setting finds each of the marks, so it could find them here.
 */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Level } from 'level'
import { parse, stringify } from 'yaml'
import t, { type Test } from 'tap'
import { METADATA_KEY_FILE } from '../../cluster/index.ts'
import { until } from '../helpers/async.ts'
import { changeMembers, QUICK_MEMBERS, untilAllowed } from '../helpers/member-steps.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import type { NodePlan } from '../../src/cli/up/setup.ts'

const SEALED = 'node:\n  seal_metadata: true\nnotifications:\n  allow_origins: https://marked-host.example\n'
const PLAIN = 'notifications:\n  allow_origins: https://marked-host.example\n'
const BUCKET = 'marked-bucket'
const FOLDERS = ['marked-key', 'marked-other']
const OBJECTS = 60
const LAST_OBJECT = `${FOLDERS[(OBJECTS - 1) % 2]}-${OBJECTS - 1}`
/** Segments of the log are whole blocks. */
const ZEROS = Buffer.alloc(4096)

const bodyOf = (n: number): Buffer => Buffer.from(`body ${n} `.repeat(1 + (n % 3) * 300))

interface Marks {
  /** By what they are, in the spellings in which they could lie on a disk. */
  readonly all: ReadonlyMap<string, readonly Buffer[]>
}

/** Rows of every kind that names something of a client, the log entries that made them, and audit rows of reads and refusals. */
async function used(t: Test, cluster: ProcessCluster): Promise<Marks> {
  await cluster.login('n1')
  const done = async (
    method: 'PUT' | 'POST' | 'GET' | 'DELETE',
    path: string,
    body: string | Buffer | null = null,
  ) => {
    const answer = await cluster.call('n2', method, path, body)
    if (answer.status >= 400) t.fail(`${method} ${path}: ${answer.status} ${answer.body.toString()}`)
    return answer
  }
  await done('POST', '/buckets', JSON.stringify({ name: BUCKET }))
  const hook = {
    id: 'marked-hook',
    url: 'https://marked-host.example/marked-path',
    events: ['object-created'],
  }
  await done('PUT', `/buckets/${BUCKET}/notifications`, JSON.stringify({ configs: [hook] }))
  const digests: Buffer[] = []
  const etags: Buffer[] = []
  for (let n = 0; n < OBJECTS; n++) {
    const body = bodyOf(n)
    const answer = await cluster.ask('n1', {
      method: 'PUT',
      path: `/buckets/${BUCKET}/objects/${FOLDERS[n % 2]}-${n}`,
      body,
      headers: {
        'x-service-checksum-sha256': createHash('sha256').update(body).digest('base64'),
        'x-service-meta-marked-name': `marked-metadata-${n}`,
        'x-service-tagging': `marked-tag=marked-tag-value-${n}`,
      },
    })
    if (answer.status !== 200) t.fail(`PUT ${n}: ${answer.status} ${answer.body.toString()}`)
    const { etag } = JSON.parse(answer.body.toString()) as { etag: string }
    etags.push(Buffer.from(etag.replaceAll('"', '').split('-')[0] ?? ''))
    digests.push(createHash('sha256').update(body).digest())
  }
  await done('GET', `/buckets/${BUCKET}/objects/marked-key-0`)
  await cluster.call('n3', 'GET', `/buckets/${BUCKET}/objects/marked-absent`)
  await done('DELETE', `/buckets/${BUCKET}/objects/marked-key-2`)
  const listed = await cluster.call('n3', 'GET', `/buckets/${BUCKET}/objects?maxKeys=1000`)
  const { objects } = JSON.parse(listed.body.toString()) as { objects: { key: string }[] }
  t.same(
    objects.map(({ key }) => key),
    Array.from({ length: OBJECTS }, (_, n) => `${FOLDERS[n % 2]}-${n}`)
      .filter((key) => key !== 'marked-key-2')
      .toSorted(),
    'a listing is whole and in order',
  )
  const text = (mark: string): readonly Buffer[] => [
    Buffer.from(mark),
    Buffer.from(Buffer.from(mark).toString('base64').slice(0, -4)),
  ]
  return {
    all: new Map([
      ['object keys', text('marked-key')],
      ['the bucket', text(BUCKET)],
      ['metadata', text('marked-metadata')],
      ['tags', text('marked-tag')],
      ['the webhook', text('marked-host')],
      [
        'etags',
        etags
          .flatMap((etag) => [etag, Buffer.from(etag.toString(), 'hex')])
          .filter(({ length }) => length >= 8),
      ],
      [
        'digests',
        digests.flatMap((one) => [
          one,
          Buffer.from(one.toString('hex')),
          Buffer.from(one.toString('base64')),
        ]),
      ],
    ]),
  }
}

/** Every byte of every file but the zeros at its end: no mark has one, and a segment of the log is as long as it may become. */
function filesOf(dir: string): readonly Buffer[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => withoutZeros(readFileSync(file)))
}

/** All but a few of them. */
function withoutZeros(bytes: Buffer): Buffer {
  let end = bytes.length
  while (end > 0 && bytes.subarray(end - ZEROS.length, end).equals(ZEROS)) end -= ZEROS.length
  return bytes.subarray(0, end)
}

/** Tables are compressed: the rows that LevelDB makes of each directory of its own. The node must not run. */
async function rowsOf(t: Test, dir: string): Promise<readonly Buffer[]> {
  const places = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(^|\/)MANIFEST-\d+$/.test(name))
    .map((name) => dirname(join(dir, name)))
  const rows: Buffer[] = []
  for (const place of places) {
    const copy = temporaryFolder(t)
    cpSync(place, copy, { recursive: true })
    const level = new Level<Buffer, Buffer>(copy, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    for await (const [key, value] of level.iterator()) rows.push(key, value)
    await level.close()
  }
  return rows
}

async function foundOn(t: Test, nodes: readonly NodePlan[], { all }: Marks): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const { dataDir } of nodes) {
    const bytes = [...filesOf(dataDir), ...(await rowsOf(t, dataDir))]
    t.ok(bytes.length > 500, `${bytes.length} files, keys and values of ${dataDir}`)
    // One search of all of them: thousands of short ones take longer.
    const joined = Buffer.concat(bytes)
    for (const [what, spellings] of all) if (spellings.some((mark) => joined.includes(mark))) found.add(what)
  }
  return found
}

async function stop(cluster: ProcessCluster): Promise<void> {
  for (const { nodeId } of cluster.plan) await cluster.signal(nodeId, 'SIGTERM')
}

t.test('metadata on the disks of three processes', { timeout: 1_800_000 }, async (t) => {
  t.test('cannot be read with the setting, and is there after a restart and a crash', async (t) => {
    const cluster = await ProcessCluster.start(t, 3, SEALED)
    const marks = await used(t, cluster)
    await cluster.signal('n2', 'SIGKILL')
    cluster.startNode('n2')
    await cluster.allReady()
    await stop(cluster)
    for (const { dataDir } of cluster.plan) t.ok(existsSync(join(dataDir, METADATA_KEY_FILE)))
    t.same([...(await foundOn(t, cluster.plan, marks))], [])
    for (const { nodeId } of cluster.plan) cluster.startNode(nodeId)
    await cluster.allReady()
    await cluster.login('n1')
    const read = await cluster.call('n2', 'GET', `/buckets/${BUCKET}/objects/${LAST_OBJECT}`)
    t.same(read.body, bodyOf(OBJECTS - 1))
    await stop(cluster)
  })

  t.test('is found without it', async (t) => {
    const cluster = await ProcessCluster.start(t, 3, PLAIN)
    const marks = await used(t, cluster)
    await stop(cluster)
    const found = await foundOn(t, cluster.plan, marks)
    t.same(
      [...marks.all.keys()].filter((what) => !found.has(what)),
      [],
    )
  })
  t.test('is sealed node by node: one with the setting takes the place of one without', async (t) => {
    const cluster = await ProcessCluster.start(t, 3, `${PLAIN}${QUICK_MEMBERS}`, { spares: 1 })
    const marks = await used(t, cluster)
    const spare = cluster.node('n4')
    cluster.writeJoining('n4')
    const written = parse(readFileSync(spare.configFile, 'utf8')) as { readonly node: object }
    writeFileSync(spare.configFile, stringify({ ...written, node: { ...written.node, seal_metadata: true } }))
    cluster.startNode('n4', ['--join'])
    const replacement = { nodeId: 'n4', peerAddress: spare.peerAddress }
    const replace = {
      path: '/cluster/voters/n3/replace',
      body: { replacement, reason: 'its disk is to be sealed', confirm: 'n3' },
    }
    await untilAllowed(cluster, 'n1', replace)
    await changeMembers(cluster, 'n1', replace)
    await until('n4 serves', () => cluster.ready('n4'))
    const read = await cluster.call('n4', 'GET', `/buckets/${BUCKET}/objects/${LAST_OBJECT}`)
    t.same(read.body, bodyOf(OBJECTS - 1))
    await cluster.signal('n4', 'SIGTERM')
    t.ok(existsSync(join(spare.dataDir, METADATA_KEY_FILE)))
    t.same([...(await foundOn(t, [spare], marks))], [])
    await stop(cluster)
  })
  t.end()
})
