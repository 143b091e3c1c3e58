/**
 * Audit rows while too few disks have room for a segment: three nodes with nothing replaced but what the disks say, and the worker
 * of each. Rows stay and are found, nothing else waits, the failure is logged, and with free space again it continues by itself.
 */
import { hash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import t from 'tap'
import { ClusterContent } from '../../src/content/cluster-content.ts'
import { rowFilter } from '../../src/operations/audit/audit-filters.ts'
import { auditPage } from '../../src/operations/audit/audit-page.ts'
import { verifyAudit } from '../../src/operations/audit/verify-audit-log.ts'
import { AuditSegments } from '../../src/operations/audit-segments/audit-segments.ts'
import { auditStatus } from '../../src/operations/audit-segments/audit-status.ts'
import { AuditSealing, SEGMENT_BOUNDS } from '../../src/workers/audit-sealing.ts'
import { UploadSessions } from '../../src/workers/upload-sessions.ts'
import { until } from '../helpers/async.ts'
import { auditRow } from '../helpers/audit-disk.ts'
import { testMasterKey } from '../helpers/content-world.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import { type RealNode, RealNodes } from '../repair/real-nodes.ts'
import { SpoiledDisk } from '../repair/spoiled-disk.ts'

const LINKS = 8
const MINUTES = 10
/** Waits of 1, 2, 4 and so on up to 60 s: in ten minutes. */
const TRIES_MAX = 16

t.test('sealing while two of three disks are full', { timeout: 1_800_000 }, async (t) => {
  const disks = new Map(['n1', 'n2', 'n3'].map((nodeId) => [nodeId, new SpoiledDisk()]))
  const disk = (nodeId: string): SpoiledDisk => disks.get(nodeId) ?? new SpoiledDisk()
  const three = await RealNodes.start(t, [1, 1, 1], (nodeId) => disk(nodeId).ops)
  const lines: LogLine[] = []
  const clock = { ms: 0 }
  let writes = 0
  const works = three.nodes.map((node) => workOf(node, clock, lines, () => writes++))
  /** As the nodes do: each asks its worker once a second, and minds no failure. */
  const seconds = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++, clock.ms += 1_000) {
      await until('a node is on duty', () => works.some(({ node }) => node.cluster.isJobRunner()))
      for (const { sealing } of works) await sealing.round().catch(() => undefined)
    }
  }
  const [first] = works
  if (first === undefined) throw new Error('There are three nodes')
  const { node, content } = first
  const { reader, propose } = node
  let shipped = 0
  const log = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++, shipped++) {
      const plain = JSON.stringify(auditRow(`r${shipped}`))
      const packed = zstdCompressSync(plain)
      const about = { first: shipped, count: 1, digest: hash('sha256', plain), packed }
      const reply = await propose({ type: 'shipAudit', node: 'n1', spool: 's', ...about })
      if (!reply.ok) throw new Error(reply.message)
    }
  }
  const segments = () => new AuditSegments(content)
  const found = async (): Promise<readonly string[]> => {
    const query = { since: 0, until: null, limit: 1_000, from: null, filter: rowFilter({}) }
    const page = await auditPage({ state: reader, segments: segments() }, query)
    return page.rows.map(({ row }) => row.requestId)
  }
  const whole = async (): Promise<void> => {
    const verdict = await verifyAudit({ state: reader, segments: segments() }, null)
    t.strictSame(verdict.faults, [])
    t.strictSame(
      await found(),
      Array.from({ length: shipped }, (_, n) => `r${shipped - 1 - n}`),
    )
  }
  const sample = (name: string): number =>
    works.reduce(
      (sum, { sealing }) => sum + (sealing.samples().find((one) => one.name === name)?.value ?? 0),
      0,
    )
  const readStatus = () => auditStatus({ cluster: node.cluster, state: reader })
  const said = (message: string): number => lines.filter((line) => line.message === message).length
  const allPlaceOn = (...nodeIds: string[]): Promise<void> =>
    until(`all place on ${nodeIds.join(' and ')}`, () =>
      three.nodes.every(({ cluster }) => [...cluster.placement('ff')].sort().join() === nodeIds.join()),
    )

  await log(LINKS)
  await until('a segment is made while there is room', async () => {
    await seconds(1)
    return (await readStatus()).segments === 1
  })
  const copies = await filesIn(three.nodes)
  for (const nodeId of ['n2', 'n3']) disk(nodeId).fillUp()
  await allPlaceOn('n1')

  await t.test('keeps the rows, finds all of them, and takes more', async (t) => {
    await log(LINKS + 3)
    writes = 0
    await seconds(MINUTES * 60)
    t.match(await readStatus(), { segments: 1, unsealed: { links: LINKS + 3 }, isSealing: true })
    await log(2)
    await whole()
    const named = { tenantId: 'acme', name: 'meanwhile', bucketsMax: 10 } as const
    const other = { versioning: 'Unversioned', objectLockEnabled: false } as const
    t.match(await propose({ type: 'createBucket', ...named, ...other }), { ok: true }, 'nothing else waits')
    t.ok(writes > 2, 'it keeps trying')
    t.ok(writes <= TRIES_MAX, `${writes} tries in ${MINUTES} minutes`)
  })

  await t.test('says so once, and in its figures', async (t) => {
    t.equal(said('audit rows wait to be sealed'), 1)
    t.equal(sample('holdfast_audit_sealing_failures_total'), writes)
    t.equal(sample('holdfast_audit_unsealed_links'), 3 * (LINKS + 5))
  })

  await t.test('leaves no copies behind on the node that has room', async (t) => {
    t.strictSame(await filesIn(three.nodes), copies)
  })

  await t.test('continues by itself when a second node has free space', async (t) => {
    disk('n3').makeRoom()
    await allPlaceOn('n1', 'n3')
    await until('the rows become a segment', async () => {
      await seconds(1)
      return (await readStatus()).segments === 2
    }).catch((cause: unknown) => {
      throw new Error(JSON.stringify(lines), { cause })
    })
    t.match(await readStatus(), { segments: 2, lookedAt: 2, incomplete: 1, lost: 0, unsealed: { links: 5 } })
    t.equal(said('audit rows are sealed again'), 1)
    await whole()
  })
})

function workOf(node: RealNode, clock: { readonly ms: number }, lines: LogLine[], onWrite: () => void) {
  const { nodeId, cluster, reader: state, propose } = node
  const uploads = new UploadSessions({ nodeId, nextSession: () => cluster.blobs.nextSession(), propose })
  const readBarrier = (): Promise<void> => cluster.readBarrier()
  const reading = { blobs: cluster.blobs, uploads, state, masterKey: testMasterKey, readBarrier }
  const content = new ClusterContent(reading)
  const sealing = new AuditSealing(
    {
      cluster,
      state,
      content: {
        store: (plain) => {
          onWrite()
          return content.store(plain)
        },
      },
      masterKey: testMasterKey,
      propose,
      now: () => cluster.time.status().confirmedTime,
      monotonic: () => clock.ms,
      logger: recordingLogger(lines),
    },
    { ...SEGMENT_BOUNDS, links: LINKS },
  )
  return { node, content, sealing }
}

/** Each file of copies with its size. */
async function filesIn(nodes: readonly RealNode[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const { nodeId, directory } of nodes)
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.parentPath.endsWith('pack-index')) continue
      const file = join(entry.parentPath, entry.name)
      found.push(`${nodeId} ${file.slice(directory.length)} ${(await stat(file)).size}`)
    }
  return found.sort()
}
