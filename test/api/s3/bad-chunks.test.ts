/**
 * Bodies of uploads that are not what was signed, announced or digested: nothing is stored of them.
 */
import { createHash } from 'node:crypto'
import net from 'node:net'
import t from 'tap'
import { until } from '../../helpers/async.ts'
import { MANY, PUT, refuses } from './bad-input.ts'
import { signedChunks } from './s3-signer.ts'
import { type S3Answer, S3World } from './s3-world.ts'

const BYTES = Buffer.alloc(150_000, 'abc')
const CHUNKS = [BYTES.subarray(0, 70_000), BYTES.subarray(70_000)]
const SIGNED = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
const WITH_TRAILER = `${SIGNED}-TRAILER`
const UNSIGNED = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'

t.test('bodies in chunks', async (t) => {
  const s3 = await S3World.start(t, MANY)
  const send = (
    payload: string,
    bodyOf: (first: string, at: Date) => Buffer,
    more: Record<string, string | undefined> = {},
  ): Promise<S3Answer> => {
    const at = s3.now
    const given = {
      'content-encoding': 'aws-chunked',
      'x-amz-decoded-content-length': `${BYTES.length}`,
      ...more,
    }
    const headers = Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    )
    const signed = s3.signed({ method: 'PUT', path: '/photos/k', payload, headers, at })
    const first = /Signature=([0-9a-f]+)/.exec(String(signed.headers?.['authorization']))?.[1] ?? ''
    return s3.sent({ ...signed, body: bodyOf(first, at) })
  }
  const whole = (first: string, at: Date): Buffer => signedChunks(s3.secret, CHUNKS, { at, first })
  const text = (change: (text: string) => string) => (first: string, at: Date) =>
    Buffer.from(change(whole(first, at).toString('latin1')), 'latin1')
  const trailed =
    (trailers: Record<string, string>, change = (all: string) => all) =>
    (first: string, at: Date) =>
      Buffer.from(
        change(signedChunks(s3.secret, CHUNKS, { at, first, trailers }).toString('latin1')),
        'latin1',
      )
  const announced = { 'x-amz-trailer': 'x-amz-checksum-crc32' }
  const crc = { 'x-amz-checksum-crc32': 'AAAAAA==' }
  const plain = (trailers: string, body = BYTES): Buffer =>
    Buffer.concat([
      Buffer.from(`${body.length.toString(16)}\r\n`),
      body,
      Buffer.from(`\r\n0\r\n${trailers}\r\n`),
    ])
  const other = { accessKeyId: s3.secret.accessKeyId, secretKey: 'x'.repeat(40) }
  const mismatch = [403, 'SignatureDoesNotMatch'] as const
  const incomplete = [400, 'IncompleteBody'] as const
  await refuses(t, s3, [
    [
      'a changed byte',
      () =>
        send(
          SIGNED,
          text((all) => all.replace('abcabc', 'abcabd')),
        ),
      ...mismatch,
    ],
    ['chunks of another request', () => send(SIGNED, (_, at) => whole('a'.repeat(64), at)), ...mismatch],
    [
      'chunks of another key',
      () => send(SIGNED, (first, at) => signedChunks(other, CHUNKS, { at, first })),
      ...mismatch,
    ],
    [
      'chunks in another order',
      () =>
        send(
          SIGNED,
          text((all) => {
            const second = all.indexOf(`${(BYTES.length - 70_000).toString(16)};`)
            const last = all.lastIndexOf('0;chunk')
            return all.slice(second, last) + all.slice(0, second) + all.slice(last)
          }),
        ),
      ...mismatch,
    ],
    [
      'the first chunk twice',
      () =>
        send(
          SIGNED,
          text((all) => {
            const second = all.indexOf(`${(BYTES.length - 70_000).toString(16)};`)
            return all.slice(0, second) + all
          }),
          { 'x-amz-decoded-content-length': `${BYTES.length + 70_000}` },
        ),
      ...mismatch,
    ],
    [
      'no last chunk',
      () =>
        send(
          SIGNED,
          text((all) => all.slice(0, all.lastIndexOf('0;chunk'))),
        ),
      ...incomplete,
    ],
    ['half of it', () => send(SIGNED, (first, at) => whole(first, at).subarray(0, 90_000)), ...incomplete],
    ['nothing', () => send(SIGNED, () => Buffer.alloc(0)), ...incomplete],
    [
      'something after the end',
      () =>
        send(
          SIGNED,
          text((all) => `${all}x`),
        ),
      ...incomplete,
    ],
    [
      'chunks without signatures',
      () =>
        send(
          SIGNED,
          text((all) => all.replace(/;chunk-signature=[0-9a-f]+/g, '')),
        ),
      ...incomplete,
    ],
    [
      'a size with a sign',
      () =>
        send(
          SIGNED,
          text((all) => `+${all}`),
        ),
      ...incomplete,
    ],
    [
      'a size beyond all sizes',
      () =>
        send(
          SIGNED,
          text((all) => `FFFFFFFFFFFFFFFF${all.slice(5)}`),
        ),
      ...incomplete,
    ],
    ['a line without an end', () => send(SIGNED, () => Buffer.alloc(100_000, 'a')), ...incomplete],
    ['trailers that were not announced', () => send(SIGNED, trailed(crc)), ...incomplete],
    [
      'more bytes than it says',
      () => send(SIGNED, whole, { 'x-amz-decoded-content-length': '10' }),
      ...incomplete,
    ],
    [
      'fewer bytes than it says',
      () => send(SIGNED, whole, { 'x-amz-decoded-content-length': '150001' }),
      ...incomplete,
    ],
    [
      'no length',
      () => send(SIGNED, whole, { 'x-amz-decoded-content-length': undefined }),
      411,
      'MissingContentLength',
    ],
    [
      'a negative length',
      () => send(SIGNED, whole, { 'x-amz-decoded-content-length': '-1' }),
      400,
      'InvalidArgument',
    ],
    [
      'a length in hexadecimal',
      () => send(SIGNED, whole, { 'x-amz-decoded-content-length': '0x10' }),
      400,
      'InvalidArgument',
    ],
    ['a wrong trailer', () => send(WITH_TRAILER, trailed(crc), announced), 400, 'BadDigest'],
    [
      'a trailer that is no digest',
      () => send(WITH_TRAILER, trailed({ 'x-amz-checksum-crc32': '!' }), announced),
      400,
      'InvalidDigest',
    ],
    [
      'a changed trailer',
      () =>
        send(
          WITH_TRAILER,
          trailed(crc, (all) => all.replace('AAAAAA==', 'AAAAAB==')),
          announced,
        ),
      ...mismatch,
    ],
    [
      'a trailer without its signature',
      () =>
        send(
          WITH_TRAILER,
          trailed(crc, (all) => all.replace(/x-amz-trailer-signature.*\r\n/, '')),
          announced,
        ),
      ...mismatch,
    ],
    ['no trailer', () => send(WITH_TRAILER, trailed({}), announced), 400, 'MalformedTrailerError'],
    [
      'another trailer',
      () => send(WITH_TRAILER, trailed({ 'x-amz-checksum-sha1': 'AAAA' }), announced),
      400,
      'MalformedTrailerError',
    ],
    [
      'a trailer of no kind',
      () => send(WITH_TRAILER, trailed({ 'x-amz-meta-a': 'b' }), { 'x-amz-trailer': 'x-amz-meta-a' }),
      400,
      'InvalidRequest',
    ],
    [
      'a wrong trailer that nothing signs',
      () => send(UNSIGNED, () => plain('x-amz-checksum-crc32:AAAAAA==\r\n'), announced),
      400,
      'BadDigest',
    ],
    [
      'a trailer twice',
      () =>
        send(
          UNSIGNED,
          () => plain('x-amz-checksum-crc32:AAAAAA==\r\nx-amz-checksum-crc32:AAAAAA==\r\n'),
          announced,
        ),
      ...incomplete,
    ],
    [
      'a thousand trailers',
      () =>
        send(
          UNSIGNED,
          () => plain(Array.from({ length: 1000 }, (_, n) => `x-amz-checksum-${n}:1\r\n`).join('')),
          announced,
        ),
      ...incomplete,
    ],
    ['a trailer beside a whole body', () => s3.call({ ...PUT, headers: announced }), 400, 'InvalidRequest'],
  ])
})

t.test('digests in headers', async (t) => {
  const s3 = await S3World.start(t, MANY)
  const put = (headers: Record<string, string>): Promise<S3Answer> => s3.call({ ...PUT, headers })
  const md5 = createHash('md5').update('other').digest('base64')
  await refuses(t, s3, [
    ['a wrong MD5', () => put({ 'content-md5': md5 }), 400, 'BadDigest'],
    ['an MD5 that is none', () => put({ 'content-md5': 'none' }), 400, 'InvalidDigest'],
    ['an MD5 in hexadecimal', () => put({ 'content-md5': 'a'.repeat(32) }), 400, 'InvalidDigest'],
    ['an empty MD5', () => put({ 'content-md5': '' }), 400, 'InvalidDigest'],
    [
      'a wrong checksum',
      () => put({ 'x-amz-checksum-sha256': createHash('sha256').digest('base64') }),
      400,
      'BadDigest',
    ],
    ['a checksum that is none', () => put({ 'x-amz-checksum-crc32c': '!' }), 400, 'InvalidDigest'],
    [
      'a right and a wrong one',
      () =>
        put({
          'x-amz-checksum-sha256': createHash('sha256').update('bytes').digest('base64'),
          'content-md5': md5,
        }),
      400,
      'BadDigest',
    ],
    ['an unknown checksum', () => put({ 'x-amz-checksum-crc16': 'AAAA' }), 501, 'NotImplemented'],
    ['an unknown algorithm', () => put({ 'x-amz-sdk-checksum-algorithm': 'CRC16' }), 400, 'InvalidRequest'],
  ])
})

t.test('an upload whose client leaves in the middle stores nothing', async (t) => {
  const s3 = await S3World.start(t, MANY)
  const { memory, dataPort } = s3.world
  const before = memory.checksum()
  const { headers = {}, method, path } = s3.signed({ ...PUT, payload: 'UNSIGNED-PAYLOAD' })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`)
  const { arrivals } = memory
  const socket = net.connect(dataPort, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}Content-Length: 100\r\n\r\nhalf`)
  await until('the upload runs', () => memory.arrivals > arrivals)
  socket.destroy()
  await until('it is recorded', () =>
    memory.auditRows.some(({ api, method: asked }) => api === 's3' && asked === 'PUT'),
  )
  t.equal(memory.checksum(), before)
  t.match(memory.auditRows.at(-1), { api: 's3', code: 'client_gone' })
})
