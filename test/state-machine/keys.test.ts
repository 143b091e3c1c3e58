import t from 'tap'
import fc from 'fast-check'
import { isKeyPart, keys, kindOf, narrow, ranges, successor } from '../../src/state-machine/keys.ts'

/** What an object key may be: any well-formed text without NUL, with much weight on what is hostile. */
export const objectKey = fc
  .oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }) },
    {
      weight: 3,
      arbitrary: fc
        .array(
          fc.constantFrom(
            'a',
            '/',
            '.',
            '\u0001',
            '\u007f',
            'é',
            '\ud7ff',
            '\ue000',
            '\uffff',
            '😀',
            '\u{10ffff}',
          ),
          {
            minLength: 1,
            maxLength: 8,
          },
        )
        .map((units) => units.join('')),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('..', '//', '../../etc/passwd', '/', '.', ' ', 'a'.repeat(1024)),
    },
  )
  .map((key) => key.replaceAll('\u0000', '') || 'x')

const byBytes = (a: string, b: string): number => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)))
const byCodePoints = (a: string, b: string): number => {
  const [left, right] = [Array.from(a), Array.from(b)]
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = left[i]!.codePointAt(0)! - right[i]!.codePointAt(0)!
    if (difference !== 0) return Math.sign(difference)
  }
  return Math.sign(left.length - right.length)
}

t.test('keys', (t) => {
  t.test(
    'objects of a bucket sort as the UTF-8 bytes of their keys, which is the order of code points',
    (t) => {
      fc.assert(
        fc.property(objectKey, objectKey, (a, b) => {
          const order = byBytes(keys.object('B1', a), keys.object('B1', b))
          return order === byBytes(a, b) && order === byCodePoints(a, b)
        }),
        { seed: 1, numRuns: 1000 },
      )
      t.end()
    },
  )

  t.test('a row lies in the range of its owner and in no other, whatever the names', (t) => {
    const name = objectKey.filter(isKeyPart)
    fc.assert(
      fc.property(name, name, name, (owner, other, inner) => {
        fc.pre(owner !== other)
        const within = (key: string, { start, end }: { start: string; end: string }) =>
          byBytes(start, key) <= 0 && byBytes(key, end) < 0
        const row = keys.object(owner, inner)
        return (
          within(row, ranges.objects(owner)) &&
          !within(row, ranges.objects(other)) &&
          !within(keys.inlineBody(owner, inner), ranges.objects(owner)) &&
          within(keys.bucket(owner, inner), ranges.buckets(owner)) &&
          !within(keys.bucket(owner, inner), ranges.buckets(other)) &&
          within(keys.repair({ target: owner, copies: 2, birth: 'b', id: inner }), ranges.repairsOf(owner)) &&
          !within(
            keys.repair({ target: owner, copies: 2, birth: 'b', id: inner }),
            ranges.repairsOf(other),
          ) &&
          within(keys.drop(owner, 'b', inner), ranges.dropsOf(owner)) &&
          !within(keys.drop(owner, 'b', inner), ranges.dropsOf(other)) &&
          !within(keys.repairTotal(), ranges.repairs()) &&
          !within(keys.tenantAccessKey(owner, inner), ranges.tenants()) &&
          !within(keys.adminTokenHash(inner), ranges.adminTokens())
        )
      }),
      { seed: 2, numRuns: 800 },
    )
    t.end()
  })

  t.test('successor is above everything with the prefix and not above anything else', (t) => {
    fc.assert(
      fc.property(objectKey, objectKey, objectKey, (prefix, rest, other) => {
        const end = successor(`x${prefix}`)
        const inside = byBytes(`x${prefix}${rest}`, end) < 0 && byBytes(`x${prefix}`, end) < 0
        const key = `x${other}`
        const outside =
          key.startsWith(`x${prefix}`) || byBytes(key, `x${prefix}`) < 0 || byBytes(key, end) >= 0
        return inside && outside && Buffer.from(end).toString('utf8') === end
      }),
      { seed: 3, numRuns: 1000 },
    )
    t.equal(successor('a\ud7ff'), 'a\ue000', 'the surrogates are stepped over')
    t.equal(successor('a\u{10ffff}'), 'b', 'the last code point is dropped')
    t.throws(() => successor(''))
    t.throws(() => successor('\u{10ffff}'))
    t.end()
  })

  t.test('a narrowed range begins and ends with its prefix', (t) => {
    const all = ranges.objects('B1')
    t.same(narrow(all, ''), all)
    t.same(narrow(all, 'a/'), { start: keys.object('B1', 'a/'), end: keys.object('B1', 'a0') })
    t.end()
  })

  t.test('manifest pages and bodies ascend with version and page', (t) => {
    const rising = [0, 1, 9, 10, 255, 256, 4096].map((page) => keys.manifestPage('B1', 'V1', page))
    t.same([...rising].sort(byBytes), rising)
    t.ok(byBytes(keys.manifestPage('B1', 'V1', 99), keys.manifestPage('B1', 'V2', 0)) < 0)
    t.end()
  })

  t.test('names that could leave their place are told', (t) => {
    for (const bad of ['', 'a\u0000b', '\u0000', '\ud800', 'a\udc00']) t.notOk(isKeyPart(bad))
    for (const good of ['..', '//', ' ', '\u0001', '😀', '\ufffd']) t.ok(isKeyPart(good))
    t.end()
  })

  t.test('the kind of a row is told without its names', (t) => {
    t.equal(kindOf(keys.object('B1', 'secret')), 'object')
    t.equal(kindOf(keys.manifestPage('B1', 'V1', 0)), 'manifestPage')
    t.equal(kindOf(keys.chunk('acme', 'c')), 'chunk')
    t.equal(kindOf(keys.clusterKey()), 'clusterKey')
    t.end()
  })
  t.end()
})
