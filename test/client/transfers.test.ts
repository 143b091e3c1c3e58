/**
 * Uploads in parts and downloads that are resumed, against a real server; connections break at the edge of `fetch`.
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import {
  ChecksumMismatchError,
  type DataOptions,
  type DownloadProgress,
  Holdfast,
  type UploadProgress,
} from '../../packages/client/src/index.ts'
import { Crc64Nvme } from '../../packages/client/src/transfers/crc64nvme.ts'
import { base64 } from '../../packages/client/src/transfers/digests.ts'
import { Sha256 } from '../../packages/client/src/transfers/sha256.ts'
import { crc64nvme } from '../../src/cli/objects/digests.ts'
import { ApiWorld } from '../api/api-world.ts'

const MIB = 1024 * 1024
const PART = 5 * MIB
const NO_WAIT = { now: () => 0, wait: async () => {} }
const name = { bucket: 'photos', key: 'film/a b' }

async function start(t: Test, more: Partial<DataOptions> = {}) {
  const { world, token } = await ApiWorld.withBucket(t)
  const endpoints = `http://127.0.0.1:${world.dataPort}`
  return { world, client: new Holdfast({ endpoints, token, clock: NO_WAIT, ...more }) }
}

/** The platform's `fetch`, whose requests are recorded, and may be changed. */
function watchedFetch(change: (answer: Response, asked: Asked) => Response = (answer) => answer) {
  const asked: Asked[] = []
  const watched: typeof fetch = async (input, init = {}) => {
    const one = { method: init.method ?? 'GET', url: input as string, headers: new Headers(init.headers) }
    asked.push(one)
    return change(await fetch(input, init), one)
  }
  return { fetch: watched, asked, parts: () => asked.filter(({ url }) => /\/parts\/\d/.test(url)).length }
}

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Headers
}

/** The same answer, whose connection breaks after so many bytes. */
function brokenAfter(answer: Response, bytes: number): Response {
  let rest = bytes
  const reader = answer.body?.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await reader?.read()
      const piece = next?.value?.subarray(0, rest) ?? new Uint8Array()
      if (piece.length > 0) controller.enqueue(piece)
      rest -= piece.length
      if (rest > 0) return
      void reader?.cancel()
      controller.error(new Error('the connection broke'))
    },
  })
  return new Response(body, { status: answer.status, headers: answer.headers })
}

t.test('digests in pieces of any size', async (t) => {
  const bytes = randomBytes(100_000)
  for (const sizes of [[1], [63, 64, 65], [100_000], [7, 4096]]) {
    const [sha, crc, known] = [new Sha256(), new Crc64Nvme(), await crc64nvme()]
    for (let at = 0, n = 0; at < bytes.length; n++) {
      const piece = bytes.subarray(at, at + (sizes[n % sizes.length] ?? 1))
      for (const one of [sha, crc, known]) one.update(piece)
      at += piece.length
    }
    t.equal(base64(sha.digest()), createHash('sha256').update(bytes).digest('base64'))
    t.equal(base64(crc.digest()), known.digest())
  }
  for (const length of [0, 55, 56, 63, 64, 119, 120]) {
    const sha = new Sha256()
    sha.update(bytes.subarray(0, length))
    t.equal(base64(sha.digest()), createHash('sha256').update(bytes.subarray(0, length)).digest('base64'))
  }
})

t.test('uploads of every form, whole and in parts', async (t) => {
  const { client } = await start(t)
  const bytes = new Uint8Array(randomBytes(11 * MIB))
  const forms = {
    bytes,
    blob: new Blob([bytes]),
    stream: new Blob([bytes]).stream(),
    source: { open: () => new Blob([bytes]).stream(), length: bytes.length },
  }
  for (const [key, body] of Object.entries(forms)) {
    const seen: UploadProgress[] = []
    const options = { partSize: PART, parallel: 3, onProgress: (one: UploadProgress) => void seen.push(one) }
    const stored = await client.upload('photos', key, body, { ...options, metadata: { from: key } })
    t.match(stored, { size: bytes.length, partsCount: 3, metadata: { from: key } }, key)
    t.match(seen.at(-1), { storedBytes: bytes.length, reusedBytes: 0 })
    t.equal(seen.at(-1)?.totalBytes, key === 'stream' ? null : bytes.length)
    const download = await client.download('photos', key)
    t.ok(download.isVerified)
    t.ok(Buffer.from(await download.bytes()).equals(bytes), key)
  }
  const small = await client.upload('photos', 'small', new Blob(['hello'], { type: 'text/x-own' }))
  t.match(small, { size: 5, contentType: 'text/x-own', partsCount: 1 })
  t.match(await client.upload('photos', 'empty', ''), { size: 0 })
  t.equal(await (await client.download('photos', 'empty')).text(), '')
  t.match(await client.upload('photos', 'exact', new Uint8Array(PART), { partSize: PART }), { partsCount: 1 })
  await t.rejects(client.upload('photos', 'small', 'x', { ifNoneMatch: '*' }), {
    name: 'PreconditionFailedError',
  })
})

t.test('what cannot be uploaded is refused before anything is sent', async (t) => {
  const client = new Holdfast({ endpoints: 'http://127.0.0.1:9', token: 't' })
  await t.rejects(client.upload('b', 'k', 'x', { partSize: 1000 }), { message: /'partSize' is from 5 MiB/ })
  await t.rejects(client.upload('b', 'k', 'x', { parallel: 0 }), { message: /'parallel' is from 1 to 64/ })
  const huge = { open: () => new Blob([]).stream(), length: 2 ** 40 }
  await t.rejects(client.upload('b', 'k', huge, { partSize: PART }), { message: /at most 10000 parts/ })
  await t.rejects(client.upload('b', 'k', 5 as never), {
    name: 'ArgumentError',
    message: /'body' is a string/,
  })
})

t.test('an upload that broke off is resumed by the parts that are there and equal', async (t) => {
  const bytes = new Uint8Array(randomBytes(22 * MIB))
  const stop = new AbortController()
  const broken = watchedFetch()
  const { client, world } = await start(t, { fetch: broken.fetch })
  const onProgress = ({ storedBytes }: UploadProgress): void => {
    if (storedBytes >= 2 * PART) stop.abort(new Error('enough'))
  }
  const options = { partSize: PART, parallel: 1 }
  const started = client.upload(name.bucket, name.key, bytes, { ...options, onProgress, signal: stop.signal })
  await t.rejects(started, { message: 'enough' })
  await t.rejects(client.headObject(name), { name: 'NotFoundError' })
  // The second part of another file: it is there, and it is not equal.
  const changed = bytes.slice()
  changed[PART + 1] = (changed[PART + 1] ?? 0) ^ 1
  const watched = watchedFetch()
  const token = await world.memory.bearer('acme')
  const again = new Holdfast({ endpoints: `http://127.0.0.1:${world.dataPort}`, token, fetch: watched.fetch })
  const seen: UploadProgress[] = []
  const stored = await again.upload(name.bucket, name.key, changed, {
    ...options,
    resume: true,
    onProgress: (one) => void seen.push(one),
  })
  t.match(seen.at(-1), { storedBytes: 22 * MIB, reusedBytes: PART, totalBytes: 22 * MIB })
  t.equal(watched.parts(), 4, 'one of five is there and equal')
  t.equal(stored.partsCount, 5)
  t.ok(Buffer.from(await (await again.download(name.bucket, name.key)).bytes()).equals(changed))
  const uploads: string[] = []
  for await (const { key } of again.uploads({ bucket: name.bucket })) uploads.push(key)
  t.same(uploads, [], 'the same upload was completed')
})

t.test('a part that fails ends the upload, also one whose body is never ready', async (t) => {
  const { client } = await start(t, { repeat: { attemptsMax: 1 } })
  const never = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) })
  const stop = new AbortController()
  const waiting = client.upload('photos', 'never', never, { signal: stop.signal })
  stop.abort(new Error('enough'))
  await t.rejects(waiting, { message: 'enough' })
  const bodies = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('the disk failed')),
  })
  await t.rejects(client.upload('photos', 'failed', bodies), { message: 'the disk failed' })
  const gone = client.upload('absent', 'k', new Uint8Array(PART + 1), { partSize: PART })
  await t.rejects(gone, { name: 'NotFoundError', operation: 'createMultipartUpload' })
})

t.test('a download continues where the connection broke', async (t) => {
  const bytes = new Uint8Array(randomBytes(3 * MIB))
  let breaks = 6
  const watched = watchedFetch((answer, { method, url }) =>
    method === 'GET' && url.includes('/objects/') && breaks-- > 0 ? brokenAfter(answer, 300_000) : answer,
  )
  const { client } = await start(t, { fetch: watched.fetch })
  await client.upload(name.bucket, name.key, bytes)
  const seen: DownloadProgress[] = []
  const download = await client.download(name.bucket, name.key, { onProgress: (one) => void seen.push(one) })
  t.ok(Buffer.from(await download.bytes()).equals(bytes))
  t.same(seen.at(-1), { receivedBytes: bytes.length, totalBytes: bytes.length })
  const ranges = watched.asked.flatMap(({ headers }) => headers.get('range') ?? [])
  t.same(
    ranges,
    [1, 2, 3, 4, 5, 6].map((n) => `bytes=${n * 300_000}-`),
  )
  const matches = watched.asked.flatMap(({ headers }) => headers.get('if-match') ?? [])
  t.same([...new Set(matches)], [`"${download.etag}"`])
})

t.test('a download that never gets on is given up; one that was replaced is not mixed', async (t) => {
  let isBroken = true
  const watched = watchedFetch((answer, { method, url }) =>
    method === 'GET' && url.includes('/objects/') && isBroken ? brokenAfter(answer, 0) : answer,
  )
  const { client } = await start(t, { fetch: watched.fetch })
  await client.upload(name.bucket, name.key, 'hello')
  await t.rejects((await client.download(name.bucket, name.key)).text(), {
    name: 'BrokenOffError',
    message: /broke off at byte 0 of 5, 5 times in a row/,
  })
  const replaced = await client.download(name.bucket, name.key)
  isBroken = false
  await client.upload(name.bucket, name.key, 'other')
  await t.rejects(replaced.text(), { name: 'PreconditionFailedError' })
})

t.test('bytes that are not those that are stored fail the stream at its end', async (t) => {
  const watched = watchedFetch((answer, { method, url }) => {
    if (method !== 'GET' || !url.includes('/objects/')) return answer
    return new Response('hellO', { status: answer.status, headers: answer.headers })
  })
  const { client } = await start(t, { fetch: watched.fetch })
  await client.upload(name.bucket, name.key, 'hello')
  const error = await (await client.download(name.bucket, name.key)).text().catch((caught: unknown) => caught)
  assert.ok(error instanceof ChecksumMismatchError)
  t.match(error, { message: /received with \w+ \S+, but is stored with/ })
})

t.test('a download can be aborted and cancelled', async (t) => {
  const { client } = await start(t)
  await client.upload(name.bucket, name.key, new Uint8Array(PART))
  const stop = new AbortController()
  const { body } = await client.download(name.bucket, name.key, { signal: stop.signal })
  const reader = body.getReader()
  await reader.read()
  stop.abort(new Error('enough'))
  const rest = async (): Promise<void> => {
    for (;;) if ((await reader.read()).done) return
  }
  await t.rejects(rest(), { message: 'enough' })
  await (await client.download(name.bucket, name.key)).body.cancel()
})

t.test('an object with a Content-Encoding is decoded by the platform, and not verified', async (t) => {
  const { client } = await start(t)
  const packed = new Blob(['hello hello']).stream().pipeThrough(new CompressionStream('gzip'))
  await client.upload(name.bucket, name.key, packed, { contentEncoding: 'gzip' })
  const download = await client.download(name.bucket, name.key)
  t.equal(download.isVerified, false)
  t.equal(await download.text(), 'hello hello')
})
