/**
 * Digests and secrets are compared only by `timingSafeEqual`: a comparison that ends at the first difference
 * reveals how far a guess was right.
 */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

const ROOM = new URL('../../src/access/', import.meta.url)
const WORD = String.raw`\b[\w.]*(?:mac|digest|secret\w*|signature|sha256|hash|hmac)\b(?:\([^)]*\))?`
const COMPARISON = new RegExp(
  `${WORD}\\s*[!=]==?|[!=]==?\\s*${WORD}|${WORD}\\.(?:equals|compare|startsWith)\\(`,
  'i',
)
/** A check for undefined or null is no comparison. */
const isSuspect = (line: string): boolean =>
  COMPARISON.test(line.replace(/[\w.]+\s*[!=]==\s*(?:undefined|null)\b/g, ''))

t.test('no digest is compared by its text', async (t) => {
  for (const bad of ['if (mac === given)', 'x.digest() !== y', 'a === record.sha256', 'mac.equals(given)'])
    t.ok(isSuspect(bad), bad)
  for (const good of ['if (mac === undefined)', 'timingSafeEqual(digest(a), digest(b))', 'record !== null'])
    t.notOk(isSuspect(good), good)
  const files = readdirSync(ROOM).filter((name) => name.endsWith('.ts'))
  t.ok(files.length > 10)
  for (const name of files) {
    const lines = readFileSync(new URL(name, ROOM), 'utf8').split('\n')
    t.same(lines.filter(isSuspect), [], name)
  }
})
