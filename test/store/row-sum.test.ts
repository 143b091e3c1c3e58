/**
 * The running checksum is arithmetic: the same as with big integers, in any order, and back again.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import fc from 'fast-check'
import { frameRow } from '../../src/store/rows/row-block.ts'
import { rowHash, RowSum } from '../../src/store/rows/row-sum.ts'

const MODULUS = 2n ** 256n
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
}

t.test('RowSum', (t) => {
  t.test('adds and subtracts modulo 2^256, carries included', (t) => {
    const edges = [0x00, 0x01, 0x7f, 0x80, 0xff].map((byte) => new Uint8Array(32).fill(byte))
    const steps = fc.array(fc.tuple(fc.boolean(), fc.oneof(hash, fc.constantFrom(...edges))), {
      maxLength: 20,
    })
    fc.assert(
      fc.property(steps, (list) => {
        const sum = new RowSum()
        let expected = 0n
        for (const [isAdded, bytes] of list) {
          const text = Buffer.from(bytes).toString('latin1')
          if (isAdded) sum.add(text)
          else sum.subtract(text)
          expected = (expected + (isAdded ? 1n : -1n) * numberOf(bytes) + MODULUS) % MODULUS
        }
        return numberOf(sum.bytes()) === expected && numberOf(sum.copy().bytes()) === expected
      }),
      { seed: 31, numRuns: 500 },
    )
    t.end()
  })

  t.test('hashes a row with its lengths, so that a byte moved from key to value is seen', (t) => {
    const [key, value] = [Buffer.from('ab'), Buffer.from('c')]
    t.same(rowHash(key, value), createHash('sha256').update(frameRow(key, value)).digest('binary'))
    const large = Buffer.alloc(20_000, 'large')
    t.same(rowHash(key, large), createHash('sha256').update(frameRow(key, large)).digest('binary'))
    t.same(
      RowSum.of(Buffer.from(rowHash(key, value), 'latin1'))
        .bytes()
        .toString('latin1'),
      rowHash(key, value),
    )
    t.notSame(rowHash(key, value), rowHash(Buffer.from('a'), Buffer.from('bc')))
    t.end()
  })
  t.end()
})
