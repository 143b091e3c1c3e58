/**
 * What a damaged node is missing, and the order of its repair.
 */
import t from 'tap'
import { encodeMachineRecord } from '../../cluster/node/base/machine-record.ts'
import { type Found, missingLogOf, membersIn } from '../../cluster/node/lifecycle/log-repair-plan.ts'
import { encodeConfiguration } from '../../cluster/raft/configuration.ts'
import type { Entry, Term } from '../../cluster/raft/types.ts'

const configuration = { voters: ['n1', 'n2', 'n3'], learners: [], outgoing: [] }

function recordAt(appliedIndex: number, appliedTerm: Term): Uint8Array {
  return encodeMachineRecord({
    appliedIndex,
    appliedTerm,
    lastTime: 0,
    withheldMs: 0,
    highTime: 0,
    configuration,
    sessions: [],
    recoveryEpoch: 0,
    featureLevel: 1,
    configurationIndex: 0,
  })
}

/** A log with the base (4, 1) and entries 5 to 9 of term 2; the state ends at 7. */
function found(
  changes: { holes?: [number, Term | null][]; record?: Uint8Array | null; fault?: string } = {},
): Found {
  const entries: Entry[] = [5, 6, 7, 8, 9].map((index) => {
    return { index, term: 2, kind: 'command', data: new Uint8Array(1) }
  })
  const holes = (changes.holes ?? []).map(([index, term]) => ({ index, term }))
  const log = { hardState: { currentTerm: 2, votedFor: null }, base: { index: 4, term: 1 }, entries, holes }
  const { record = recordAt(7, 2), fault = null } = changes
  return { log, record, fault }
}

t.test('missingLogOf', async (t) => {
  t.test('finds nothing where log and state are whole', async (t) => {
    t.equal(missingLogOf(found()), null)
    t.equal(missingLogOf(found({ record: recordAt(4, 1) })), null, 'a state that ends where the log begins')
  })

  t.test('first requests a state when this one is damaged', async (t) => {
    const missing = missingLogOf(found({ record: null, fault: 'a row', holes: [[8, 2]] }))
    t.strictSame(missing, { of: 'state', why: 'a row', atLeast: 4 })
  })

  t.test('requests a state when the log begins after this one', async (t) => {
    t.match(missingLogOf(found({ record: recordAt(3, 1) })), { of: 'state', atLeast: 4 })
    t.match(missingLogOf(found({ record: null })), { of: 'state', atLeast: 4 })
  })

  t.test('gives up holes that the state holds', async (t) => {
    const base = { index: 7, term: 2 }
    t.strictSame(
      missingLogOf(
        found({
          holes: [
            [5, null],
            [7, 2],
          ],
        }),
      ),
      { of: 'base', base },
    )
  })

  t.test('requests every hole when one is above the applied index', async (t) => {
    const holes: [number, Term | null][] = [
      [5, 2],
      [8, null],
    ]
    t.strictSame(missingLogOf(found({ holes })), { of: 'entries', indexes: [5, 8] })
  })

  t.test('requests a later state when it is unknown whether the log belongs to this one', async (t) => {
    t.match(missingLogOf(found({ holes: [[7, null]] })), { of: 'state', atLeast: 8 })
    const atTheEnd = missingLogOf(found({ record: recordAt(9, 2), holes: [[9, null]] }))
    t.strictSame(atTheEnd, { of: 'base', base: { index: 9, term: 2 } }, 'nothing follows')
  })
})

t.test('membersIn', async (t) => {
  t.test('knows the members of log, state and first configuration, and reads no lost entry', async (t) => {
    const { log, record } = found()
    const data = encodeConfiguration({ voters: ['n4'], learners: ['n5'], outgoing: ['n1'] })
    const entries: Entry[] = [...log.entries.slice(0, 4), { index: 9, term: 2, kind: 'configuration', data }]
    const initial = { voters: ['n6'], learners: [], outgoing: [] }
    const whole = { log: { ...log, entries }, record, fault: null }
    t.strictSame([...membersIn(whole, initial)].sort(), ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'])
    const lost = { ...whole, log: { ...log, entries, holes: [{ index: 9, term: null }] } }
    t.strictSame([...membersIn(lost, initial)].sort(), ['n1', 'n2', 'n3', 'n6'])
  })
})
