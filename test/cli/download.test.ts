/**
 * An interrupted download resumes with the same object, and bytes that differ from the stored ones never become a file.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { crc64nvme } from '../../src/cli/objects/digests.ts'
import { download } from '../../src/cli/objects/download.ts'
import { writeFile } from '../../src/cli/objects/local-files.ts'
import { dataClient } from '../../src/client/clients.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

const BODY = Buffer.from('0123456789'.repeat(1000))

interface Received {
  readonly from: number
  readonly ifMatch: string | undefined
  readonly query: string
}

interface Requested {
  /** After how many bytes of an answer its connection breaks; the last number applies to all further answers. */
  readonly cuts: readonly number[]
  readonly sent?: Buffer
}

/** A server of one object that breaks connections. */
async function start(t: { teardown(callback: () => unknown): unknown }, { cuts, sent = BODY }: Requested) {
  const crc = await crc64nvme()
  crc.update(BODY)
  const stored = {
    etag: '"e-1"',
    'x-service-object-length': `${BODY.length}`,
    'x-service-version-id': 'v1',
    'x-service-checksum-crc64nvme': crc.digest(),
    'x-service-checksum-sha256': createHash('sha256').update(BODY).digest('base64'),
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
    received.push({ from, ifMatch: request.headers['if-match'], query: request.url?.split('?')[1] ?? '' })
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
  const fetched = writeFile(join(folder, 'a'), (take) => download(client, { ...requested, onBytes: take }))
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
