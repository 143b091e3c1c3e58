import t from 'tap'
import fc from 'fast-check'
import { versionKeys, versionRanges } from '../../src/state-machine/versions/keys.ts'
import { tenantKeys, tenantRanges } from '../../src/state-machine/tenants/keys.ts'
import { chunkKeys, chunkRanges } from '../../src/state-machine/chunks/keys.ts'
import { bucketKeys, bucketRanges } from '../../src/state-machine/buckets/keys.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import { isKeyPart, kindOf, narrow, successor } from '../../src/state-machine/base/row-key.ts'

/** Any valid object key, which is well-formed text without NUL; hostile ones are frequent. */
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
          const order = byBytes(versionKeys.object('B1', a), versionKeys.object('B1', b))
          return order === byBytes(a, b) && order === byCodePoints(a, b)
        }),
        { seed: 1, numRuns: 1000 },
      )
      t.end()
    },
  )

  t.test('a row is in the range of its owner and in no other, for any names', (t) => {
    const name = objectKey.filter(isKeyPart)
    fc.assert(
      fc.property(name, name, name, (owner, other, inner) => {
        fc.pre(owner !== other)
        const within = (key: string, { start, end }: { start: string; end: string }) =>
          byBytes(start, key) <= 0 && byBytes(key, end) < 0
        const row = versionKeys.object(owner, inner)
        return (
          within(row, versionRanges.objects(owner)) &&
          !within(row, versionRanges.objects(other)) &&
          !within(bodyKeys.inlineBody(owner, inner), versionRanges.objects(owner)) &&
          within(bucketKeys.bucket(owner, inner), bucketRanges.buckets(owner)) &&
          !within(bucketKeys.bucket(owner, inner), bucketRanges.buckets(other)) &&
          within(
            chunkKeys.repair({ target: owner, copies: 2, birth: 'b', id: inner }),
            chunkRanges.repairsOf(owner),
          ) &&
          !within(
            chunkKeys.repair({ target: owner, copies: 2, birth: 'b', id: inner }),
            chunkRanges.repairsOf(other),
          ) &&
          within(chunkKeys.drop(owner, 'b', inner), chunkRanges.dropsOf(owner)) &&
          !within(chunkKeys.drop(owner, 'b', inner), chunkRanges.dropsOf(other)) &&
          !within(chunkKeys.repairTotal(), chunkRanges.repairs()) &&
          !within(tenantKeys.tenantAccessKey(owner, inner), tenantRanges.tenants()) &&
          !within(tenantKeys.adminTokenHash(inner), tenantRanges.adminTokens())
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
    t.equal(successor('a\ud7ff'), 'a\ue000', 'the surrogates are skipped')
    t.equal(successor('a\u{10ffff}'), 'b', 'the last code point is dropped')
    t.throws(() => successor(''))
    t.throws(() => successor('\u{10ffff}'))
    t.end()
  })

  t.test('a narrowed range begins and ends with its prefix', (t) => {
    const all = versionRanges.objects('B1')
    t.same(narrow(all, ''), all)
    t.same(narrow(all, 'a/'), { start: versionKeys.object('B1', 'a/'), end: versionKeys.object('B1', 'a0') })
    t.end()
  })

  t.test('manifest pages and bodies ascend with version and page', (t) => {
    const rising = [0, 1, 9, 10, 255, 256, 4096].map((page) => bodyKeys.manifestPage('B1', 'V1', page))
    t.same([...rising].sort(byBytes), rising)
    t.ok(byBytes(bodyKeys.manifestPage('B1', 'V1', 99), bodyKeys.manifestPage('B1', 'V2', 0)) < 0)
    t.end()
  })

  t.test('names that could leave their range are refused', (t) => {
    for (const bad of ['', 'a\u0000b', '\u0000', '\ud800', 'a\udc00']) t.notOk(isKeyPart(bad))
    for (const good of ['..', '//', ' ', '\u0001', '😀', '\ufffd']) t.ok(isKeyPart(good))
    t.end()
  })

  t.test('the kind of a row does not contain its names', (t) => {
    t.equal(kindOf(versionKeys.object('B1', 'secret')), 'object')
    t.equal(kindOf(bodyKeys.manifestPage('B1', 'V1', 0)), 'manifestPage')
    t.equal(kindOf(chunkKeys.chunk('acme', 'c')), 'chunk')
    t.equal(kindOf(tenantKeys.clusterKey()), 'clusterKey')
    t.end()
  })
  t.end()
})
