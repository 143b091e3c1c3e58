/**
 * Versions that go to another site in parts, over the S3 API of a Holdfast and over stores that misbehave. [docs/adr/0098-what-replication-sends.md]
 */
import { createHash } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type RemotePut, SiteFault } from '../../../src/operations/base/remote-store.ts'
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import type { ObjectRecord } from '../../../src/state-machine/versions/records.ts'
import type { PartSizes } from '../../../src/workers/sites/part-plan.ts'
import { SiteConnections } from '../../../src/workers/sites/s3-requests.ts'
import { S3Site } from '../../../src/workers/sites/s3-site.ts'
import { openTo } from '../webhooks/open-origins.ts'
import { S3World } from '../../api/s3/s3-world.ts'
import { patternBytes } from '../../helpers/content-world.ts'
import { MARK } from '../../state-machine/site-commands.ts'

const MIB = 1024 ** 2
const SIZES: PartSizes = { wholeBytesMax: MIB, partBytes: 5 * MIB }
const BODY = patternBytes(11 * MIB + 17, 5)
const md5Of = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex')

interface Target {
  readonly port: number
  readonly secret?: { readonly accessKeyId: string; readonly secretKey: string }
  readonly now?: () => number
  readonly bucket?: string
}

function siteAt(
  t: Test,
  { port, secret, now = Date.now, bucket = 'photos' }: Target,
  signal = new AbortController().signal,
) {
  const endpoint = `http://127.0.0.1:${port}`
  const settings = { allowOrigins: [openTo()(endpoint)] }
  const connections = new SiteConnections({ resolve: async () => [], settings, now })
  t.teardown(() => connections.close())
  const keys = secret ?? { accessKeyId: 'AK', secretKey: 'secret' }
  const target = {
    endpoint,
    bucket,
    region: 'us-east-1',
    isVirtualHost: false,
    accessKeyId: keys.accessKeyId,
    identity: null,
  }
  const access = { tenantId: 'acme', target, credentials: { ...keys, sessionToken: null }, signal }
  return new S3Site(connections, access, SIZES)
}

function putOf(bytes: Buffer, more: Partial<RemotePut> = {}, object: Partial<ObjectRecord> = {}): RemotePut {
  const record: ObjectRecord = {
    kind: 'object',
    key: 'large',
    versionId: MARK.versionId,
    isNull: false,
    lastModified: MARK.time,
    older: null,
    newer: null,
    size: bytes.length,
    etag: md5Of(bytes),
    contentType: 'video/mp4',
    checksums: {},
    metadata: { camera: 'one' },
    masterKeyId: 'mk-1',
    body: { kind: 'empty' },
    tags: { a: 'b' },
    retention: null,
    legalHold: false,
    ...object,
  }
  async function* body({ start, end } = { start: 0, end: bytes.length }) {
    for (let at = start; at < end; at += MIB) yield bytes.subarray(at, Math.min(end, at + MIB))
  }
  return { key: 'large', object: record, mark: MARK, expected: null, body, ...more }
}

/** Asserts the members of the fault. */
async function refused(t: Test, work: Promise<unknown>, fault: object): Promise<void> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  t.ok(error instanceof SiteFault)
  t.match(error, fault)
}

t.test('the S3 API of a Holdfast', async (t) => {
  const s3 = await S3World.start(t)
  const target = { port: s3.world.dataPort, secret: s3.secret, now: () => s3.now.getTime() }
  const site = siteAt(t, target)
  const bytesOf = async (key: string) => (await s3.call({ path: `/photos/${key}` })).bytes
  const uploads = async () =>
    (await s3.call({ path: '/photos?uploads' })).xml?.childrenNamed('Upload').length ?? -1

  await t.test('a large version arrives whole, with all that is said of it, and its mark', async (t) => {
    await site.put(putOf(BODY))
    t.ok((await bytesOf('large')).equals(BODY))
    t.match(await s3.call({ method: 'HEAD', path: '/photos/large' }), {
      headers: { 'content-type': 'video/mp4', 'x-amz-meta-camera': 'one', etag: /-3"$/ },
    })
    t.match(await site.head({ key: 'large', versionId: null }), { mark: MARK, size: BODY.length })
    t.match((await s3.call({ path: '/photos/large?tagging' })).bytes.toString(), /<Key>a<\/Key>/)
    t.equal(await uploads(), 0)
  })

  await t.test(
    'the conditions hold at the completion, and nothing is left of what they refuse',
    async (t) => {
      await refused(t, site.put(putOf(BODY)), { s3Code: 'PreconditionFailed', kind: 'failed' })
      await refused(t, site.put(putOf(BODY, { expected: 'another' })), { s3Code: 'PreconditionFailed' })
      t.equal(await uploads(), 0)
      const there = await site.head({ key: 'large', versionId: null })
      const later = { ...MARK, versionId: '1'.padStart(26, '0') }
      await site.put(putOf(BODY, { expected: there?.etag ?? '', mark: later }))
    },
  )

  await t.test('an assembled version goes in its own parts and has the same tag', async (t) => {
    const sizes = [6 * MIB, 5 * MIB + 16, 1]
    const first = md5Of(BODY.subarray(0, 6 * MIB))
    const digests = [first, md5Of(BODY.subarray(6 * MIB, -1)), md5Of(BODY.subarray(-1))]
    const etag = `${md5Of(Buffer.from(digests.join(''), 'hex'))}-3`
    const put = putOf(BODY, { key: 'assembled', assembledOf: sizes }, { etag, key: 'assembled' })
    await site.put(put)
    t.equal((await site.head({ key: 'assembled', versionId: null }))?.etag, etag)
    t.ok((await bytesOf('assembled')).equals(BODY))
  })

  await t.test(
    'bytes that cannot be read here are no fault of the target, and the upload is given up',
    async (t) => {
      const broken = new Error('this disk is broken')
      async function* body() {
        yield BODY.subarray(0, 10)
        throw broken
      }
      await t.rejects(site.put(putOf(BODY, { key: 'broken', body })), broken)
      t.equal(await uploads(), 0)
      t.equal(await site.head({ key: 'broken', versionId: null }), null)
    },
  )

  await t.test('a node that leaves duty gives its upload up', async (t) => {
    const duty = new AbortController()
    async function* body() {
      yield BODY.subarray(0, 10)
      duty.abort()
      yield BODY.subarray(10, 20)
    }
    const leaving = siteAt(t, target, duty.signal)
    await t.rejects(leaving.put(putOf(BODY, { key: 'left', body })))
    t.equal(await uploads(), 0)
  })
})

t.test('buckets of a Holdfast', async (t) => {
  const s3 = await S3World.start(t)
  const target = { port: s3.world.dataPort, secret: s3.secret, now: () => s3.now.getTime() }
  const source = { clusterId: 'c-1', name: 'photos' }
  const row = (name: string) => s3.world.memory.reader.get(bucketKeys.bucket('acme', name))

  await t.test('one is made with versions, and keeps whose it is', async (t) => {
    const site = siteAt(t, { ...target, bucket: 'made' })
    await refused(t, site.probe(), { kind: 'unreachable', s3Code: 'NoSuchBucket' })
    await site.makeBucket({ objectLock: false, source })
    t.match(row('made'), { versioning: 'Enabled', objectLockEnabled: false, replicaOf: 'c-1 photos' })
    t.match((await site.probe()).identity, { bucketId: row('made')?.id ?? '' })
    await siteAt(t, { ...target, bucket: 'locked' }).makeBucket({ objectLock: true, source })
    t.match(row('locked'), { versioning: 'Enabled', objectLockEnabled: true })
  })

  await t.test('what may not be made says so', async (t) => {
    const secret = await s3.world.memory.accessKey('acme', 'op=write:bucket=photos:prefix=')
    const site = siteAt(t, { ...target, secret, bucket: 'other' })
    await refused(t, site.makeBucket({ objectLock: false, source }), { s3Code: 'AccessDenied' })
    t.equal(row('other'), undefined)
  })

  await t.test('a store takes credentials, also of a key that may list no buckets', async (t) => {
    await siteAt(t, target).probeStore()
    const secret = await s3.world.memory.accessKey('acme', 'op=write:bucket=photos:prefix=')
    await siteAt(t, { ...target, secret }).probeStore()
    const wrong = { ...s3.secret, secretKey: 'x'.repeat(40) }
    await refused(t, siteAt(t, { ...target, secret: wrong }).probeStore(), {
      s3Code: 'SignatureDoesNotMatch',
    })
  })
})

interface Asked {
  readonly line: string
  readonly bytes: number
}
type Answer = { readonly status?: number; readonly etag?: string; readonly body?: string } | 'hang up'

/** A store with the given answers. */
async function store(t: Test, answer: (action: string, md5: string) => Answer) {
  const asked: Asked[] = []
  const server = http.createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const bytes = Buffer.concat(pieces)
    const url = new URL(request.url ?? '', 'http://store')
    const action = `${request.method} ${[...url.searchParams.keys()].sort().join(' ')}`.trim()
    asked.push({ line: action, bytes: bytes.length })
    const given = answer(action, md5Of(bytes))
    if (given === 'hang up') return request.socket.destroy()
    const { status = 200, etag, body = '' } = given
    response.writeHead(status, etag === undefined ? {} : { etag: `"${etag}"` }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { port, asked, lines: () => asked.map(({ line }) => line) }
}

const STARTED = '<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>'
const DONE = '<CompleteMultipartUploadResult/>'
const ERROR = (code: string) => `<Error><Code>${code}</Code></Error>`
const PART = 'PUT partNumber uploadId'
const COMPLETION = 'POST uploadId'
const ABORT = 'DELETE uploadId'

t.test('stores that misbehave', async (t) => {
  t.test('a part with other bytes: given up before the version becomes visible', async (t) => {
    const { port, lines } = await store(t, (action) =>
      action === 'POST uploads' ? { body: STARTED } : { etag: '0'.repeat(32) },
    )
    const put = siteAt(t, { port }).put(putOf(BODY))
    await refused(t, put, { kind: 'failed', message: /other bytes of part 1/ })
    t.same(lines(), ['POST uploads', PART, ABORT])
  })

  t.test(
    'a connection that is lost: the part is read and sent again, a bounded number of times',
    async (t) => {
      let cuts = 2
      const { port, lines } = await store(t, (action, etag) => {
        if (action === 'POST uploads') return { body: STARTED }
        if (action === PART && cuts > 0) {
          cuts--
          return 'hang up'
        }
        return { etag, body: DONE }
      })
      await siteAt(t, { port }).put(putOf(BODY))
      t.same(lines(), ['POST uploads', PART, PART, PART, PART, PART, COMPLETION])
      cuts = 100
      await refused(t, siteAt(t, { port }).put(putOf(BODY)), { kind: 'unreachable' })
      t.same(lines().slice(7), ['POST uploads', PART, PART, PART, ABORT])
    },
  )

  t.test('an error behind the status of a completion', async (t) => {
    const { port, lines } = await store(t, (action, etag) =>
      action === 'POST uploads' ? { body: STARTED } : { etag, body: ERROR('InternalError') },
    )
    await refused(t, siteAt(t, { port }).put(putOf(BODY)), { kind: 'failed', s3Code: 'InternalError' })
    t.equal(lines().at(-1), ABORT)
  })

  t.test('versions that cannot be enabled: the bucket goes again', async (t) => {
    const { port, lines } = await store(t, (action) =>
      action === 'PUT versioning' ? { status: 501, body: ERROR('NotImplemented') } : {},
    )
    const source = { clusterId: 'c-1', name: 'photos' }
    await refused(t, siteAt(t, { port }).makeBucket({ objectLock: false, source }), { kind: 'refused' })
    t.same(lines(), ['PUT', 'PUT versioning', 'DELETE'])
  })

  t.test('no conditions at the completion: it is sent without them', async (t) => {
    let completions = 0
    const { port, lines } = await store(t, (action, etag) => {
      if (action === 'POST uploads') return { body: STARTED }
      if (action !== COMPLETION) return { etag }
      completions++
      return completions === 1 ? { status: 501, body: ERROR('NotImplemented') } : { body: DONE }
    })
    await siteAt(t, { port }).put(putOf(BODY))
    t.same(lines().slice(-2), [COMPLETION, COMPLETION])
  })

  t.test('tags that are no digest: what it stored is compared, and removed if it differs', async (t) => {
    const put = putOf(BODY, {}, { checksums: { CRC64NVME: 'AAAAAAAAAAA=' } })
    const there = (crc: string) => ({
      'content-length': `${BODY.length}`,
      'x-amz-checksum-crc64nvme': crc,
      'x-amz-meta-holdfast-replica': `1 ${MARK.clusterId} ${MARK.bucketId} ${MARK.versionId} ${MARK.time}`,
    })
    for (const [crc, isKept] of [
      ['AAAAAAAAAAA=', true],
      ['BBBBBBBBBBB=', false],
    ] as const) {
      const asked: string[] = []
      const server = http.createServer((request, response) => {
        request.resume().on('end', () => {
          asked.push(request.method ?? '')
          if (request.method === 'HEAD') response.writeHead(200, there(crc)).end()
          else if (request.url?.includes('uploads')) response.end(STARTED)
          else response.writeHead(200, { etag: '"sealed-by-a-kms"' }).end(DONE)
        })
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      t.teardown(() => void server.close())
      const sent = siteAt(t, { port: (server.address() as AddressInfo).port }).put(put)
      if (isKept) await sent
      else await t.rejects(sent, SiteFault)
      t.same(asked.slice(-2), isKept ? ['POST', 'HEAD'] : ['HEAD', 'DELETE'])
      server.closeAllConnections()
    }
  })
})
