/**
 * XML that breaks parsers, at every action that takes XML.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { MANY, PUT, refuses, type Row } from './bad-input.ts'
import { S3_ROUTES, sampleOf } from './s3-samples.ts'
import { type S3Answer, S3World } from './s3-world.ts'

const MIB = 1024 * 1024
const XML: Readonly<Record<string, string | Buffer>> = {
  'no XML': 'hello',
  JSON: '{"a":1}',
  'an open element': '<ROOT><A>',
  'two roots': '<ROOT/><ROOT/>',
  'another root': '<Other/>',
  'a billion laughs': `<!DOCTYPE ROOT [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><ROOT>&b;</ROOT>`,
  'an external entity': '<!DOCTYPE ROOT [<!ENTITY a SYSTEM "file:///etc/passwd">]><ROOT>&a;</ROOT>',
  'a document type': '<!DOCTYPE ROOT><ROOT/>',
  'an unknown entity': '<ROOT>&nbsp;</ROOT>',
  'a NUL': '<ROOT>\0</ROOT>',
  'a character that is none': '<ROOT>&#0;</ROOT>',
  'bytes that are no UTF-8': Buffer.from('<ROOT>\xff</ROOT>', 'latin1'),
  'UTF-16': Buffer.from('\ufeff<ROOT/>', 'utf16le'),
  'a deep nest': `<ROOT>${'<A>'.repeat(1000)}${'</A>'.repeat(1000)}</ROOT>`,
  'many attributes': `<ROOT ${Array.from({ length: 1000 }, (_, n) => `a${n}="1"`).join(' ')}/>`,
}

t.test('XML that breaks parsers is refused by every action that takes XML', async (t) => {
  const s3 = await S3World.start(t, MANY)
  await s3.call({ ...PUT, path: '/photos/2026/cat.txt' })
  for (const route of S3_ROUTES) {
    const { body } = route
    if (body.kind !== 'xml') continue
    const sample = sampleOf(route)
    const send = (document: string | Buffer): Promise<S3Answer> => {
      const bytes = Buffer.isBuffer(document) ? document : Buffer.from(document.replaceAll('ROOT', body.root))
      const md5 = createHash('md5').update(bytes).digest('base64')
      return s3.call({ ...sample, headers: { ...sample.headers, 'content-md5': md5 }, body: bytes })
    }
    const rows = Object.entries(XML).map(
      ([name, document]): Row => [`${route.action}, ${name}`, () => send(document), 400, 'MalformedXML'],
    )
    await refuses(t, s3, rows)
    const nested = '<A>'.repeat(Math.floor(body.bytesMax / 3))
    await refuses(t, s3, [
      [`${route.action}, nesting up to its bound`, () => send(nested), 400, 'MalformedXML'],
    ])
    const { headers = {}, method, path } = s3.signed({ ...sample, payload: 'UNSIGNED-PAYLOAD' })
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`)
    const head = `${method} ${path} HTTP/1.1\r\n${lines.join('')}Connection: close\r\n`
    const received = await s3.world.raw(`${head}Content-Length: ${10 * MIB}\r\n\r\n`)
    t.match(received, /^HTTP\/1\.1 400 [^]*<Code>EntityTooLarge</, `${route.action}, 10 MiB`)
    const unproved = {
      ...sample,
      headers: { ...sample.headers, 'content-md5': createHash('md5').digest('base64') },
    }
    await refuses(t, s3, [[`${route.action}, another MD5`, () => s3.call(unproved), 400, 'BadDigest']])
    const unsigned = { ...sample, payload: 'a'.repeat(64) }
    await refuses(t, s3, [
      [`${route.action}, another body`, () => s3.call(unsigned), 400, 'XAmzContentSHA256Mismatch'],
    ])
  }
})
