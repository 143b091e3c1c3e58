/**
 * Bad input to every internal route of a real node: refused, without effect, and the node continues.
 * [issue: wrong length, wrong hash, unknown chunk, oversized frame, deep msgpack, replay]
 *
 * The test acts as a stopped member, because unknown peers are refused earlier (test/transport/peer-refusals.test.ts).
 */
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { pack } from 'msgpackr'
import t from 'tap'
import { BLOB_METHODS } from '../../cluster/blobs/base/blob-calls.ts'
import { DRIVER_METHODS } from '../../cluster/node/driver-methods.ts'
import { REPAIR_STATUS_METHOD } from '../../cluster/repair-statuses.ts'
import { encodeHeader } from '../../cluster/transport/frame.ts'
import { identityHeaders } from '../../cluster/transport/peer-identity.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { ask, type RawAnswer } from '../transport/raw-peer.ts'

const MIB = 1024 * 1024
const METHODS: readonly string[] = [...DRIVER_METHODS, ...Object.values(BLOB_METHODS), REPAIR_STATUS_METHOD]
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Codes that refuse a malformed request, each with its status. */
const REFUSED = [400, 404, 413, 422]

interface Identity {
  readonly clusterId: string
  readonly nodeId: string
  readonly incarnation: string
  readonly boot: number
}

function headersOf(cluster: ProcessCluster, from: string, to: string): OutgoingHttpHeaders {
  const text = readFileSync(join(cluster.node(from).dataDir, 'identity.json'), 'utf8')
  const identity = JSON.parse(text) as Identity
  const peerStatus = { boot: identity.boot, recoveryEpoch: 0, featureLevel: 1, stateLevel: 1 }
  return identityHeaders(identity, peerStatus, to)
}

function blobFiles(cluster: ProcessCluster, nodeId: string): readonly string[] {
  const files = readdirSync(join(cluster.node(nodeId).dataDir, 'blobs'), {
    recursive: true,
    withFileTypes: true,
  })
  return files.filter((file) => file.isFile() && file.parentPath.includes('blobs')).map(({ name }) => name)
}

/** Nesting that would exhaust the stack of a careless decoder. */
function deep(levels: number): Buffer {
  const value = Buffer.concat([Buffer.alloc(levels, 0x91), Buffer.of(0xc0)])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(value.length)
  return Buffer.concat([length, value])
}

function framed(header: Uint8Array, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(header.length)
  return Buffer.concat([length, header, body])
}

const WRONG_VALUES: readonly unknown[] = [
  true,
  -1,
  1.5,
  2 ** 53,
  '',
  '../../../../etc/passwd',
  'x'.repeat(30_000),
  Buffer.alloc(1000, 0xff),
  [],
  [[]],
  Array.from({ length: 5000 }, (_, n) => n),
  { id: null, birth: null, size: null, checksum: null, indexes: null, terms: null, after: null, held: null },
  {
    id: 7,
    birth: [],
    size: '1',
    checksum: {},
    indexes: [-1, 'x', null],
    terms: 'x',
    after: 'x',
    held: [1, 2],
  },
  { id: 'f'.repeat(64), birth: 'b-0', size: -1, checksum: 'f'.repeat(64), start: 5, end: 1 },
  { id: 'f'.repeat(64), birth: '../x', size: 1, checksum: 'f'.repeat(64), start: 0, end: 1 },
  { id: 'F'.repeat(64), birth: 'b-0', size: 1, checksum: 'f'.repeat(64), start: 0, end: 1 },
  { id: 'f'.repeat(64), birth: 'b-0', size: Number.MAX_SAFE_INTEGER, checksum: 'zz', start: 0, end: 2 ** 60 },
  { __proto__: { id: 'f'.repeat(64) }, constructor: 'x', indexes: Array.from({ length: 10_000 }, () => 1) },
]

const BROKEN_FRAMES: readonly Buffer[] = [
  Buffer.alloc(0),
  Buffer.of(0),
  Buffer.of(0xff, 0xff, 0xff, 0xff),
  Buffer.of(0, 0, 0, 9, 0xc0),
  Buffer.of(0x7f, 0xff, 0xff, 0xff, ...randomBytes(64)),
  framed(Buffer.of(0xc1)),
  framed(Buffer.of(0xdd, 0xff, 0xff, 0xff, 0xff)),
  framed(Buffer.of(0xdf, 0xff, 0xff, 0xff, 0xff)),
  framed(Buffer.of(0xc6, 0xff, 0xff, 0xff, 0xff)),
  framed(Buffer.of(0xd4, 0x72, 0x40)),
  framed(Buffer.of(0xc0, 0xc0)),
  deep(10_000),
  deep(60_000),
]

t.test('the peer port of a real node', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"work"}')).status, 201)
  const object = randomBytes(5 * MIB)
  t.equal((await cluster.call('n1', 'PUT', '/buckets/work/objects/kept', object)).status, 200)
  await cluster.signal('n3', 'SIGTERM')
  const headers = headersOf(cluster, 'n3', 'n1')
  const send = (method: string, body: Uint8Array): Promise<RawAnswer> =>
    ask(cluster.node('n1').peerAddress, { path: `/peer/v1/${method}`, headers, body })
  const before = blobFiles(cluster, 'n1')

  await t.test('refuses a peer with another incarnation', async (t) => {
    const unknownPeer = { ...headers, 'x-holdfast-incarnation': 'another directory' }
    const answer = await ask(cluster.node('n1').peerAddress, {
      path: '/peer/v1/blob.stat',
      headers: unknownPeer,
    })
    t.equal(answer.status, 410)
  })

  await t.test('refuses headers that do not fit the method', async (t) => {
    for (const method of METHODS) {
      for (const value of WRONG_VALUES) {
        const { status, header } = await send(method, framed(pack(value), randomBytes(100)))
        // A report needs only a name, and two of the values have a valid one.
        const isTaken = status === 200 && [...WITHOUT_HEADER, BLOB_METHODS.report].includes(method)
        t.ok(isTaken || REFUSED.includes(status), `${method} ${shown(value)}: ${status} ${shown(header)}`)
      }
    }
  })

  await t.test('refuses frames that are broken, too deep, or claim more than they hold', async (t) => {
    for (const method of [...METHODS, 'raft']) {
      for (const frame of BROKEN_FRAMES) {
        const { status, header } = await send(method, frame)
        const what = `${method} ${frame.subarray(0, 12).toString('hex')}: ${status} ${shown(header)}`
        t.ok(REFUSED.includes(status), what)
      }
    }
  })

  await t.test('refuses malformed proposals', async (t) => {
    const row = ['n3', 'i', 1, 1, 0, Buffer.from('x')]
    const bodies = [
      ...[
        null,
        1,
        {},
        [1],
        [[]],
        [row.slice(1)],
        [['n2', ...row.slice(1)]],
        [[...row.slice(0, 5), 'text']],
      ].map(pack),
      pack([['n3', 'i', 1, 1, 5, Buffer.from('x')]]),
      ...BROKEN_FRAMES.map((frame) => frame.subarray(4)),
    ]
    for (const body of bodies) {
      const { status } = await send('propose', Buffer.concat([encodeHeader(null), body]))
      t.equal(status, 422, body.subarray(0, 12).toString('hex'))
    }
  })

  await t.test('refuses blobs of another length or hash, and keeps no part of them', async (t) => {
    const bytes = randomBytes(300_000)
    const good = { id: sha256(bytes), birth: 'a-0', size: bytes.length, checksum: sha256(bytes) }
    for (const [wrong, body] of [
      [{ ...good, size: good.size + 1 }, bytes],
      [{ ...good, size: good.size - 1 }, bytes],
      [{ ...good, checksum: sha256(object) }, bytes],
      [good, bytes.subarray(1)],
      [good, Buffer.concat([bytes, bytes])],
    ] as const) {
      const { status } = await send(BLOB_METHODS.put, Buffer.concat([encodeHeader(wrong), body]))
      t.equal(status, 422)
    }
  })

  await t.test('reports a blob that it does not hold as missing', async (t) => {
    const unknown = { id: 'ab'.repeat(32), birth: 'a-0', start: 0, end: 1 }
    for (const method of [BLOB_METHODS.get, BLOB_METHODS.stat]) {
      const { status, header } = await send(method, encodeHeader(unknown))
      t.match({ status, header }, { status: 422, header: { code: 'blob_missing' } })
    }
  })

  await t.test('reads a proposal of half a gigabyte no further than its limit', async (t) => {
    const answer = await send('propose', Buffer.concat([encodeHeader(null), Buffer.alloc(64 * MIB)])).catch(
      () => null,
    )
    t.ok(
      answer === null || REFUSED.includes(answer.status),
      `${answer?.status ?? 'the connection was closed'}`,
    )
  })

  await t.test('has kept nothing, lost nothing and continues', async (t) => {
    t.strictSame(blobFiles(cluster, 'n1'), before)
    t.equal(await cluster.ready('n1'), true)
    for (const nodeId of ['n1', 'n2']) {
      const { status, body } = await cluster.call(nodeId, 'GET', '/buckets/work/objects/kept')
      t.equal(status, 200)
      t.equal(sha256(body), sha256(object))
    }
    t.equal((await cluster.call('n1', 'PUT', '/buckets/work/objects/more', object)).status, 200)
  })
})

/** Methods without input, which cannot be malformed. */
const WITHOUT_HEADER = [
  'state.checksums',
  'snapshot.open',
  'snapshot.close',
  BLOB_METHODS.disk,
  REPAIR_STATUS_METHOD,
]

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 80)
