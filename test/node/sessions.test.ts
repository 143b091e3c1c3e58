import fc from 'fast-check'
import t from 'tap'
import { Sessions } from '../../cluster/node/base/sessions.ts'

const from = (nodeId: string, incarnation = 'a', boot = 1) => ({ nodeId, incarnation, boot })
const ask = (sequence: number, ackedBelow = 1, id = from('n1')) => ({
  ...id,
  sequence,
  ackedBelow,
  command: new Uint8Array(1),
})

t.test('Sessions', async (t) => {
  t.test('admits each sequence once, in any order, and nothing below what is acked', async (t) => {
    // The model: a plain set, and the highest mark seen with an admitted proposal.
    const proposals = fc.array(fc.record({ sequence: fc.nat(40), back: fc.nat(12) }), { maxLength: 80 })
    fc.assert(
      fc.property(proposals, (list) => {
        let sessions = new Sessions()
        const applied = new Set<number>()
        let mark = 0
        for (const { sequence, back } of list) {
          const ackedBelow = Math.max(0, sequence - back)
          const isNew = sequence >= mark && !applied.has(sequence)
          t.equal(sessions.admit(ask(sequence, ackedBelow)), isNew ? 'fresh' : 'duplicate')
          if (isNew) {
            applied.add(sequence)
            mark = Math.max(mark, ackedBelow)
          }
          // Through the record and back, as after a restart.
          sessions = new Sessions(sessions.rows())
        }
      }),
      { seed: 7, numRuns: 60 },
    )
  })

  t.test('keeps a row as small as the gaps between what was applied', async (t) => {
    const sessions = new Sessions()
    for (let sequence = 1; sequence <= 1_000; sequence += 1) sessions.admit(ask(sequence))
    t.strictSame(sessions.rows()[0]?.applied, [1, 1_000])
    sessions.admit(ask(1_002, 500))
    t.strictSame(sessions.rows()[0]?.applied, [500, 1_000, 1_002, 1_002])
    sessions.admit(ask(1_001, 1_001))
    t.strictSame(sessions.rows()[0]?.applied, [1_001, 1_002])
  })

  t.test(
    'forgets a process when a newer one of the same directory appears, and ignores what comes late',
    async (t) => {
      const sessions = new Sessions()
      t.equal(sessions.admit(ask(5)), 'fresh')
      t.equal(sessions.admit(ask(5, 1, from('n1', 'a', 2))), 'fresh')
      t.equal(sessions.admit(ask(6)), 'stale')
      t.equal(sessions.holds(from('n1'), 5), false)
      t.equal(sessions.holds(from('n1', 'a', 2), 5), true)
    },
  )

  t.test('gives a name to the first data directory that used it', async (t) => {
    const sessions = new Sessions()
    t.equal(sessions.registered('n1'), null)
    sessions.admit(ask(1))
    t.equal(sessions.registered('n1')?.incarnation, 'a')
    t.equal(sessions.admit(ask(1, 1, from('n1', 'b', 9))), 'foreign')
    t.equal(sessions.registered('n1')?.incarnation, 'a')
  })
})
