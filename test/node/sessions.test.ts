import fc from 'fast-check'
import t from 'tap'
import { ProposalSessions } from '../../cluster/node/base/proposal-sessions.ts'

const from = (nodeId: string, incarnation = 'a', boot = 1) => ({ nodeId, incarnation, boot })
const ask = (sequence: number, ackedBelow = 1, id = from('n1')) => ({
  ...id,
  sequence,
  ackedBelow,
  command: new Uint8Array(1),
})

t.test('ProposalSessions', async (t) => {
  t.test('admits each sequence once, in any order, and none below the acknowledged mark', async (t) => {
    // The model: a plain set, and the highest mark seen with an admitted proposal.
    const proposals = fc.array(fc.record({ sequence: fc.nat(40), back: fc.nat(12) }), { maxLength: 80 })
    fc.assert(
      fc.property(proposals, (list) => {
        let sessions = new ProposalSessions()
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
          sessions = new ProposalSessions(sessions.rows())
        }
      }),
      { seed: 7, numRuns: 60 },
    )
  })

  t.test('keeps a row as small as the gaps between applied sequences', async (t) => {
    const sessions = new ProposalSessions()
    for (let sequence = 1; sequence <= 1_000; sequence += 1) sessions.admit(ask(sequence))
    t.strictSame(sessions.rows()[0]?.applied, [1, 1_000])
    sessions.admit(ask(1_002, 500))
    t.strictSame(sessions.rows()[0]?.applied, [500, 1_000, 1_002, 1_002])
    sessions.admit(ask(1_001, 1_001))
    t.strictSame(sessions.rows()[0]?.applied, [1_001, 1_002])
  })

  t.test(
    'forgets a process when a newer one of the same directory appears, and ignores late proposals of the old one',
    async (t) => {
      const sessions = new ProposalSessions()
      t.equal(sessions.admit(ask(5)), 'fresh')
      t.equal(sessions.admit(ask(5, 1, from('n1', 'a', 2))), 'fresh')
      t.equal(sessions.admit(ask(6)), 'stale')
      t.equal(sessions.holds(from('n1'), 5), false)
      t.equal(sessions.holds(from('n1', 'a', 2), 5), true)
    },
  )

  t.test('gives a name to the first data directory that used it', async (t) => {
    const sessions = new ProposalSessions()
    t.equal(sessions.registered('n1'), null)
    sessions.admit(ask(1))
    t.equal(sessions.registered('n1')?.incarnation, 'a')
    t.equal(sessions.admit(ask(1, 1, from('n1', 'b', 9))), 'foreign')
    t.equal(sessions.registered('n1')?.incarnation, 'a')
  })
})
