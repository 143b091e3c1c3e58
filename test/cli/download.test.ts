/**
 * An interrupted download resumes with the same object, and bytes that differ from the stored ones never become a file.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { crc64nvme } from '../../src/cli/objects/digests.ts'
import { download } from '../../src/cli/objects/download.ts'
import { downloadToFile } from '../../src/cli/objects/file-download.ts'
import { stateOf, unfinishedPath } from '../../src/cli/objects/unfinished-files.ts'
import { dataClient } from '../../src/client/clients.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

const BODY = Buffer.from('0123456789'.repeat(1000))

interface Received {
  readonly method?: string
  readonly from: number
  readonly ifMatch: string | undefined
  readonly query: string
}

interface Requested {
  /** After how many bytes of an answer its connection breaks; the last number applies to all further answers. */
  readonly cuts: readonly number[]
  readonly body?: Buffer
  readonly sent?: Buffer
}

/** A server of one object that breaks connections. */
async function start(
  t: { teardown(callback: () => unknown): unknown },
  { cuts, body = BODY, sent = body }: Requested,
) {
  const crc = await crc64nvme()
  crc.update(body)
  const stored = {
    etag: '"e-1"',
    'x-service-object-length': `${body.length}`,
    'x-service-version-id': 'v1',
    'x-service-checksum-crc64nvme': crc.digest(),
    'x-service-checksum-sha256': createHash('sha256').update(body).digest('base64'),
    'last-modified': new Date(0).toUTCString(),
    'x-request-id': 'r-1',
  }
  const received: Received[] = []
  const answer = (response: ServerResponse, from: number): void => {
    const cut = cuts[Math.min(received.length, cuts.length) - 1] ?? Infinity
    response.writeHead(from === 0 ? 200 : 206, { ...stored, 'content-length': `${sent.length - from}` })
    const piece = sent.subarray(from, from + cut)
    response.write(piece, () => (from + piece.length < sent.length ? response.destroy() : response.end()))
  }
  const server = createServer((request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const method = request.method === 'HEAD' ? { method: 'HEAD' } : {}
    received.push({
      ...method,
      from,
      ifMatch: request.headers['if-match'],
      query: request.url?.split('?')[1] ?? '',
    })
    answer(response, from)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = dataClient({ endpoints: [endpoint], token: 'svctk_x', repeat: { attemptsMax: 1 } })
  t.teardown(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  const got: Uint8Array[] = []
  const requested = {
    bucket: 'photos',
    key: 'a',
    signal: new AbortController().signal,
    onSize: () => {},
    onBytes: async (piece: Uint8Array) => void got.push(Buffer.from(piece)),
  }
  return { client, received, requested, got: () => Buffer.concat(got) }
}

const nameOf = ({ bucket, key, signal }: { bucket: string; key: string; signal: AbortSignal }) => ({
  bucket,
  key,
  signal,
})

t.test('resumes where it broke, with the same version and etag', async (t) => {
  const { client, received, requested, got } = await start(t, { cuts: [1000, 2500, Infinity] })
  const { verified, versionId } = await download(client, requested)
  t.ok(got().equals(BODY))
  t.match(verified, { CRC64NVME: /=$/, SHA256: /=$/ })
  t.equal(versionId, 'v1')
  t.same(received, [
    { from: 0, ifMatch: undefined, query: '' },
    { from: 1000, ifMatch: '"e-1"', query: 'versionId=v1' },
    { from: 3500, ifMatch: '"e-1"', query: 'versionId=v1' },
  ])
})

t.test('gives up after five attempts in a row without a further byte', async (t) => {
  const { client, received, requested } = await start(t, { cuts: [4, 0] })
  await t.rejects(download(client, requested), { code: 'broken_off', message: /byte 4 of 10000/ })
  t.equal(received.length, 5)
})

t.test('bytes that differ from the stored ones are refused, and the file stays unchanged', async (t) => {
  const flipped = Buffer.from(BODY)
  flipped[5000] = 0
  const { client, requested } = await start(t, { cuts: [Infinity], sent: flipped })
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'a'), 'what was there')
  const fetched = downloadToFile(client, { ...nameOf(requested), path: join(folder, 'a') })
  await t.rejects(fetched, { code: 'checksum_mismatch', requestId: 'r-1' })
  t.equal(readFileSync(join(folder, 'a'), 'utf8'), 'what was there')
  t.same(readdirSync(folder), ['a'], 'and no partial file')
})

t.test('a full local disk is not treated as a broken connection', async (t) => {
  const { client, received, requested } = await start(t, { cuts: [Infinity] })
  const onBytes = () => Promise.reject(new Error('no space'))
  await t.rejects(download(client, { ...requested, onBytes }), { message: 'no space' })
  t.equal(received.length, 1)
})

t.test('a download that a kill ended', async (t) => {
  const object = { etag: '"e-1"', 'x-service-version-id': 'v1' }
  /** Of a process that runs no more. */
  const gone = spawnSync(process.execPath, ['--version']).pid
  const left = (
    folder: string,
    bytes: Uint8Array,
    headers: Record<string, string> = object,
    pid = gone,
  ): void => {
    const path = unfinishedPath({ path: join(folder, 'a'), bucket: 'photos', key: 'a' }, stateOf(headers))
    writeFileSync(path.replace(`-${process.pid}.part`, `-${pid}.part`), bytes)
  }
  const startedIn = async (t: Parameters<typeof start>[0] & Parameters<typeof temporaryFolder>[0]) => {
    const { client, received, requested } = await start(t, { cuts: [Infinity] })
    const folder = temporaryFolder(t)
    const counted: number[] = []
    const onBytes = (bytes: number): void => void counted.push(bytes)
    const get = () => downloadToFile(client, { ...nameOf(requested), path: join(folder, 'a'), onBytes })
    return { folder, received, counted, get, content: () => readFileSync(join(folder, 'a')) }
  }

  await t.test('continues behind the bytes that are there', async (t) => {
    const { folder, received, counted, get, content } = await startedIn(t)
    left(folder, BODY.subarray(0, 4000))
    t.match((await get()).verified, { CRC64NVME: /=$/, SHA256: /=$/ })
    t.ok(content().equals(BODY))
    t.same(
      received.map(({ method = 'GET', from, ifMatch }) => [method, from, ifMatch]),
      [
        ['HEAD', 0, undefined],
        ['GET', 4000, '"e-1"'],
      ],
    )
    t.equal(counted[0], 4000, 'progress counts what was there')
    t.same(readdirSync(folder), ['a'])
  })

  await t.test('asks for no byte when all are there', async (t) => {
    const { folder, received, get, content } = await startedIn(t)
    left(folder, BODY)
    await get()
    t.ok(content().equals(BODY))
    t.same(
      received.map(({ method }) => method),
      ['HEAD'],
    )
  })

  await t.test('begins again when the object has changed, or the file has more than it', async (t) => {
    for (const [bytes, headers] of [
      [BODY.subarray(0, 4000), { ...object, etag: '"e-0"' }],
      [BODY.subarray(0, 4000), { ...object, 'x-service-version-id': 'v0' }],
      [Buffer.concat([BODY, BODY]), object],
      [Buffer.alloc(0), object],
    ] as const) {
      const { folder, get, content } = await startedIn(t)
      left(folder, bytes, headers)
      await get()
      t.ok(content().equals(BODY))
      t.same(readdirSync(folder), ['a'], 'nothing of it is left')
    }
  })

  await t.test('keeps nothing when the bytes that were there are wrong', async (t) => {
    const { folder, get, content } = await startedIn(t)
    left(folder, Buffer.alloc(4000))
    await t.rejects(get(), { code: 'checksum_mismatch' })
    t.same(readdirSync(folder), [])
    await get()
    t.ok(content().equals(BODY), 'the next command begins again')
  })

  await t.test('leaves alone what another process writes, and what is for another file', async (t) => {
    const { folder, received, get } = await startedIn(t)
    left(folder, BODY.subarray(0, 4000), object, process.ppid)
    writeFileSync(join(folder, '.holdfast-0123456789abcdef.part'), 'of an earlier release')
    await get()
    t.equal(received[0]?.from, 0)
    t.equal(readdirSync(folder).length, 3)
  })

  await t.test('removes what is left twice', async (t) => {
    const { folder, get } = await startedIn(t)
    left(folder, BODY.subarray(0, 10))
    left(folder, BODY.subarray(0, 20), { ...object, etag: '"e-0"' })
    await get()
    t.same(readdirSync(folder), ['a'])
  })
})

t.test('what arrived of a large object is kept for the next command, unless it is wrong', async (t) => {
  const body = Buffer.alloc(17 * 1024 * 1024, 'large')
  const folder = temporaryFolder(t)
  const path = join(folder, 'a')
  const wrong = Buffer.from(body)
  wrong[wrong.length - 1] = 0
  const [right, damaged] = [
    await start(t, { cuts: [Infinity], body }),
    await start(t, { cuts: [Infinity], body, sent: wrong }),
  ]
  let bytes = 0
  const stopped = downloadToFile(right.client, {
    ...nameOf(right.requested),
    path,
    onBytes: (more) => {
      bytes += more
      if (bytes >= 16 * 1024 * 1024) throw new Error('stopped')
    },
  })
  await t.rejects(stopped, { message: 'stopped' })
  t.equal(readdirSync(folder).length, 1)
  await t.rejects(downloadToFile(damaged.client, { ...nameOf(damaged.requested), path }), {
    code: 'checksum_mismatch',
  })
  t.same(readdirSync(folder), [])
  t.ok((damaged.received.at(-1)?.from ?? 0) >= 16 * 1024 * 1024, 'it continued with what was kept')
})
