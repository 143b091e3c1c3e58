/** Moves for every row and every request: no copy is lost, none moves twice. */
import fc from 'fast-check'
import t from 'tap'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import { movesOf } from '../../src/state-machine/chunks/copy-moves.ts'

function row(replicas: readonly string[], owed: readonly string[] = [], references = 1): ChunkRecord {
  const sizes = { size: 10, sealedSize: 38, checksum: 'sum' }
  return { id: 'c1', tenantId: 'acme', birth: 'b-0', ...sizes, replicas, owed, references, condemnedAt: null }
}

const targets = (
  chunk: ChunkRecord,
  wanted: readonly string[],
): readonly (readonly [string, string | null])[] =>
  movesOf(chunk, wanted).map(({ target, replaces }) => [target, replaces] as const)

t.test('movesOf', async (t) => {
  t.test('exchanges surplus copies for missing ones, and only adds where there is no surplus', async (t) => {
    t.strictSame(targets(row(['n1', 'n2', 'n3']), ['n2', 'n3', 'n4']), [['n4', 'n1']])
    t.strictSame(targets(row(['n1', 'n2']), ['n1', 'n2', 'n3']), [['n3', null]])
    t.strictSame(targets(row(['n1', 'n2', 'n5']), ['n3', 'n4', 'n2']), [
      ['n3', 'n1'],
      ['n4', 'n5'],
    ])
    t.strictSame(targets(row(['n1', 'n2', 'n3']), ['n3', 'n1', 'n2']), [])
  })

  t.test('ignores copies that are owed already, and chunks without references', async (t) => {
    t.strictSame(targets(row(['n1', 'n2'], ['n3']), ['n1', 'n2', 'n3']), [])
    t.strictSame(targets(row(['n1', 'n2'], [], 0), ['n2', 'n3', 'n4']), [])
  })

  t.test(
    'keeps the number of copies, replaces each at most once, and targets only wanted nodes',
    async () => {
      const nodes = fc.uniqueArray(fc.constantFrom<string[]>('n1', 'n2', 'n3', 'n4', 'n5', 'n6'), {
        maxLength: 4,
      })
      const holds = fc.property(nodes, nodes, nodes, (replicas, wanted, more) => {
        const chunk = row(
          replicas,
          more.filter((node) => !replicas.includes(node)),
        )
        const moves = movesOf(chunk, wanted)
        const gone = moves.flatMap(({ replaces }) => replaces ?? [])
        const isSound = moves.every(
          ({ target, copiesKept }) => wanted.includes(target) && copiesKept === replicas.length,
        )
        const isFree = gone.every((node) => replicas.includes(node) && !wanted.includes(node))
        return isSound && isFree && new Set(gone).size === gone.length
      })
      fc.assert(holds, { numRuns: 500 })
    },
  )
})
