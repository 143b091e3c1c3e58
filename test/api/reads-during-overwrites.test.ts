/**
 * Objects that are overwritten or deleted while they are read arrive complete: small and large, in one piece and in parts.
 *
 * Rule: the clock of the workers is moved by the test, and the worker that releases bodies runs until it has nothing to do.
 */
import assert from 'node:assert/strict'
import http from 'node:http'
import t, { type Test } from 'tap'
import { patternBytes } from '../helpers/content-world.ts'
import { BucketClient } from './bucket-client.ts'
import { DELAY_MS, Workers } from './removal-workers.ts'
import { MIB, MultipartClient, PART_MIN } from './multipart-client.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'

const PARTS = 6
/** Uploads of each of four writers. */
const PUTS = 5
const LEVELS = [2, 3] as const

async function beside(t: Test, featureLevel: number, body: (n: number) => Buffer): Promise<void> {
  const films = await BucketClient.start(t)
  films.world.memory.featureLevel = featureLevel
  await films.put('k', body(0))
  const workers = new Workers(films.world.memory)
  let writing = true
  const writer = async (first: number): Promise<void> => {
    for (let n = first; n < first + PUTS; n++) {
      assert.equal((await films.put('k', body(n))).status, 200)
      await workers.run()
    }
  }
  const statuses = new Map<string, number>()
  const reader = async (n: number): Promise<void> => {
    do {
      const range = n % 4 === 3
      const { status, bytes } =
        n % 4 === 2 ? await films.head('k') : await films.get('k', range ? { range: 'bytes=0-99' } : {})
      const about = `${status} ${n % 4 === 2 || bytes.length > 0}`
      statuses.set(about, (statuses.get(about) ?? 0) + 1)
    } while (writing)
  }
  const readers = Array.from({ length: 12 }, (_, n) => reader(n))
  await Promise.all([0, 1, 2, 3].map((n) => writer(1 + PUTS * n)))
  writing = false
  await Promise.all(readers)
  t.same([...statuses.keys()].sort(), ['200 true', '206 true'], JSON.stringify([...statuses]))
}

/** A download whose answer has started, with the rest unread. */
async function started({ world, token }: MultipartClient, key: string): Promise<http.IncomingMessage> {
  const path = `/api/v1/buckets/photos/objects/${key}`
  const headers = { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const request = http.get({ port: world.dataPort, path, headers })
    request.once('error', reject)
    request.once('response', (response) => {
      response.once('readable', () => resolve(response))
    })
  })
}

async function rest(response: http.IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

t.test('GET, HEAD and ranges during PUTs of the same key', async (t) => {
  for (const level of LEVELS) {
    await t.test(`always find a body that lies in the rows [objects.get.beside] (level ${level})`, (t) =>
      beside(t, level, (n) => Buffer.alloc(500, `${n}`)),
    )
    await t.test(`always find a body of chunks (level ${level})`, (t) =>
      beside(t, level, (n) => patternBytes(100_000, n)),
    )
  }
})

t.test('a download in progress', async (t) => {
  for (const what of ['deleted', 'replaced'] as const)
    await t.test(
      `of an object of parts ends well when that is ${what}, and the bytes go after the delay`,
      async (t) => {
        const photos = await MultipartClient.start(t)
        const workers = new Workers(photos.world.memory)
        const upload = { key: 'k', id: await photos.begin('k') }
        const bytes = patternBytes(PARTS * PART_MIN, 7)
        const named = []
        for (let n = 0; n < PARTS; n++)
          named.push(await photos.part(upload, n + 1, bytes.subarray(n * PART_MIN, (n + 1) * PART_MIN)))
        t.equal((await photos.complete(upload, named)).status, 200)
        const response = await started(photos, 'k')
        const method = what === 'deleted' ? 'DELETE' : 'PUT'
        const path = '/api/v1/buckets/photos/objects/k'
        await photos.world.call({
          method,
          path,
          token: photos.token,
          ...(what === 'deleted' ? {} : { body: 'new' }),
        })
        t.match(photos.usage, { logicalBytes: what === 'deleted' ? 0 : 3, chunkBytes: PARTS * PART_MIN })
        await workers.run()
        workers.now = DELAY_MS - 1
        await workers.run()
        t.ok((await rest(response)).equals(bytes), `${(PARTS * PART_MIN) / MIB} MiB`)
        for (let n = 1; n <= 3; n++) {
          workers.now = n * DELAY_MS
          await workers.run()
        }
        t.match(photos.usage, { chunkBytes: 0, chunkCount: 0 })
        t.match(await recountState(photos.world.memory.reader, () => true), { differences: [] })
      },
    )
})
