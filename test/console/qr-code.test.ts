/** Links as QR codes: another program reads what is drawn, and a link that no code can hold has none. */
import t from 'tap'
import { qrCode } from '../../packages/console/src/judge/qr-code.ts'
import { textOfCode } from '../helpers/qr-reader.ts'

const LINK = 'https://data.example:9000/api/v1/signed/shared/2026/minutes%20of%20May.txt?token=svcurl_'
const linkOf = (length: number): string => LINK.padEnd(length, 'aZ09_-')

t.test('a code holds the link, whatever its length', async (t) => {
  for (const length of [LINK.length, 200, 400, 800, 1600, 2953]) {
    const code = qrCode(linkOf(length))
    t.equal(code === null ? null : textOfCode(code), linkOf(length), `${length} bytes`)
  }
})

t.test('four light modules are on each side', async (t) => {
  const { size, path } = qrCode(LINK) ?? { size: 0, path: '' }
  const runs = [...path.matchAll(/M(\d+) (\d+)h(\d+)/g)].map((run) => run.slice(1).map(Number))
  t.equal(Math.min(...runs.map(([x = 0]) => x)), 4)
  t.equal(Math.min(...runs.map(([, y = 0]) => y)), 4)
  t.equal(Math.max(...runs.map(([x = 0, , length = 0]) => x + length)), size - 4)
  t.equal(Math.max(...runs.map(([, y = 0]) => y + 1)), size - 4)
})

t.test('a link of more bytes than any code holds has no code', async (t) => {
  t.equal(qrCode(linkOf(2954)), null)
  const key = encodeURIComponent('ü'.repeat(512))
  t.equal(qrCode(LINK.replace('2026', key)), null, 'the longest key, all of it escaped')
  t.equal(qrCode('é'.repeat(1477)), null, 'bytes count, not characters')
})
