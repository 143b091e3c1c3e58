/**
 * The bytes that outlive a process: entries, the machine record; and how a start reads them.
 */
import t from 'tap'
import { Packr } from 'msgpackr'
import { decodeCommandEntry, encodeCommandEntry, encodeRaise } from '../../cluster/node/base/log-entry.ts'
import { LogKeeper } from '../../cluster/node/log/log-keeper.ts'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { decodeMachineRecord, encodeMachineRecord } from '../../cluster/node/base/machine-record.ts'
import { recover } from '../../cluster/node/log/log-recovery.ts'
import type { Entry } from '../../cluster/raft/types.ts'

const packr = new Packr({ useRecords: false })
const configuration = { voters: ['n1', 'n2', 'n3'], learners: ['n4'], outgoing: [] }
const record = {
  appliedIndex: 7,
  appliedTerm: 3,
  lastTime: 1_767_225_600_000,
  withheldMs: 0,
  highTime: 1_767_225_600_000,
  configuration,
  sessions: [{ nodeId: 'n1', incarnation: 'a', boot: 2, ackedBelow: 5, applied: [7, 9, 11, 11] }],
  recoveryEpoch: 3,
  featureLevel: 1,
  configurationIndex: 0,
}

const entry = (index: number, term: number, bytes = 0): Entry => ({
  index,
  term,
  kind: 'command',
  data: new Uint8Array(bytes),
})

t.test('command entry', async (t) => {
  t.test('is unchanged after encoding and decoding', async (t) => {
    const proposals = [0, 1, 300].map((length, i) => ({
      nodeId: `n${i}`,
      incarnation: 'abc',
      boot: 1,
      sequence: 2 ** 33 + i,
      ackedBelow: i,
      command: new Uint8Array(length).fill(i),
    }))
    const { time, proposals: back } = decodeCommandEntry(
      encodeCommandEntry({ time: 1_767_225_600_123, proposals }),
    )
    t.equal(time, 1_767_225_600_123)
    t.strictSame(
      back.map((proposal) => ({ ...proposal, command: Uint8Array.from(proposal.command) })),
      proposals,
    )
  })

  t.test('keeps no other bytes in memory, regardless of what is packed beside it', async (t) => {
    const command = new Uint8Array(6_000)
    const proposal = { nodeId: 'n1', incarnation: 'a', boot: 1, sequence: 2, ackedBelow: 2, command }
    const proposals = Array.from({ length: 10 }, () => proposal)
    const entries = [encodeRaise({ time: 5, level: 2 })]
    for (let i = 0; i < 20; i++) {
      entries.push(encodeCommandEntry({ time: 5, proposals }))
      for (let row = 0; row < 1_000; row++) packr.pack(new Uint8Array(150))
    }
    const held = new Set(entries.map(({ buffer }) => buffer))
    t.equal(
      [...held].reduce((sum, { byteLength }) => sum + byteLength, 0),
      entries.reduce((sum, { byteLength }) => sum + byteLength, 0),
    )
  })

  t.test('has the bytes that docs/formats/log-entry.md shows', async (t) => {
    const command = new TextEncoder().encode('x')
    const proposals = [{ nodeId: 'n1', incarnation: 'a', boot: 1, sequence: 2, ackedBelow: 2, command }]
    const bytes = Buffer.from(encodeCommandEntry({ time: 5, proposals })).toString('hex')
    t.equal(bytes, '9301059196a26e31a161010202c40178')
  })

  t.test('that raises the feature level carries nothing else', async (t) => {
    const bytes = encodeRaise({ time: 5, level: 2 })
    t.equal(Buffer.from(bytes).toString('hex'), '9402059002')
    t.strictSame(decodeCommandEntry(bytes), { time: 5, proposals: [], level: 2 })
  })

  t.test('of another version or shape is never skipped', async (t) => {
    for (const wrong of [
      [2, 0, []],
      [2, 0, [], -1],
      [2, 0, [['n1', 'a', 1, 1, 1, new Uint8Array()]], 2],
      [1, 0, [], 2],
      [3, 0, []],
      [1, 0],
      [1, -1, []],
      [1, 0, [[]]],
      [1, 0, [['n1', 'a', 1, 1, 2, new Uint8Array()]]],
      1,
    ]) {
      t.throws(() => decodeCommandEntry(packr.pack(wrong)), { name: 'AssertionFailed' })
    }
  })
})

t.test('machine record', async (t) => {
  t.test('is unchanged after encoding and decoding, and equal records have equal bytes', async (t) => {
    t.strictSame(decodeMachineRecord(encodeMachineRecord(record)), record)
    t.strictSame(
      encodeMachineRecord(decodeMachineRecord(encodeMachineRecord(record))),
      encodeMachineRecord(record),
    )
  })

  t.test(
    'holds the withheld time from the level that supports it, in the version from which older nodes read the level',
    async (t) => {
      const [version, ...rest] = packr.unpack(encodeMachineRecord(record)) as unknown[]
      t.same([version, rest.length], [2, 8])
      const timed = { ...record, featureLevel: 3, withheldMs: 5, highTime: record.lastTime + 9 }
      const fields = packr.unpack(encodeMachineRecord(timed)) as unknown[]
      t.same([fields[0], ...fields.slice(-2)], [2, 5, record.lastTime + 9])
      t.strictSame(decodeMachineRecord(encodeMachineRecord(timed)), timed)
    },
  )

  t.test('of version 1 is read as epoch 0 and level 1', async (t) => {
    const old = packr.pack([1, 7, 3, 5, [['n1'], [], []], []])
    t.match(decodeMachineRecord(old), {
      appliedIndex: 7,
      recoveryEpoch: 0,
      featureLevel: 1,
      configurationIndex: 0,
    })
  })

  t.test('of another version or shape is refused', async (t) => {
    for (const wrong of [
      [3, 0, 0, 0, [[], [], []], [], 0, 3, 0, 0, 0],
      [2, 0, 0, 0, [[], [], []], [], 0, 3, 0],
      [2, 0, 0, 0, [[], [], []], [], 0, 3, 0, 1, 0],
      [2, 0, 0, 0, [[], [], []], []],
    ])
      t.throws(() => decodeMachineRecord(packr.pack(wrong)), { name: 'AssertionFailed' })
  })
})

t.test('recover', async (t) => {
  const hardState = { currentTerm: 3, votedFor: 'n2' }
  const older = { currentTerm: 2, votedFor: 'n2' }
  const bytes = encodeMachineRecord(record)

  t.test('takes log and state together when they agree', async (t) => {
    const log = { hardState, base: { index: 6, term: 3 }, entries: [entry(7, 3), entry(8, 3)], holes: [] }
    const { restored, rewrite } = recover(log, bytes, configuration)
    t.equal(rewrite, null)
    t.match(restored, { base: { index: 6 }, appliedIndex: 7, hardState })
    t.equal(restored.entries.length, 2)
  })

  t.test(
    'starts the log again after a state that is ahead of it, without a vote in a term it never saw',
    async (t) => {
      const log = { hardState: older, base: { index: 1, term: 1 }, entries: [entry(2, 1)], holes: [] }
      const { restored, rewrite } = recover(log, bytes, configuration)
      t.strictSame(rewrite?.base, { index: 7, term: 3 })
      t.strictSame(restored.entries, [])
      t.strictSame(restored.hardState, { currentTerm: 3, votedFor: null })
    },
  )

  t.test('discards a log that has another entry where the state ends', async (t) => {
    const entries = [entry(6, 2), entry(7, 2), entry(8, 2)]
    const log = { hardState: older, base: { index: 5, term: 2 }, entries, holes: [] }
    const { restored, rewrite } = recover(log, bytes, configuration)
    t.strictSame(rewrite?.base, { index: 7, term: 3 })
    t.strictSame(restored.entries, [])
  })

  t.test('starts from nothing with the first configuration', async (t) => {
    const empty = {
      hardState: { currentTerm: 0, votedFor: null },
      base: { index: 0, term: 0 },
      entries: [],
      holes: [],
    }
    const { restored, rewrite } = recover(empty, null, configuration)
    t.equal(rewrite, null)
    t.match(restored, { appliedIndex: 0, configuration })
  })

  t.test('log_missing: refuses an empty log under a state, because the votes are lost with it', async (t) => {
    const noVote = { currentTerm: 0, votedFor: null }
    const log = { hardState: noVote, base: { index: 0, term: 0 }, entries: [], holes: [] }
    t.throws(() => recover(log, bytes, configuration), { code: 'log_missing', hint: /vote twice/ })
  })

  t.test('raises the term to that of an entry from a peer, without a vote in it', async (t) => {
    const log = { hardState: older, base: { index: 6, term: 2 }, entries: [entry(7, 3)], holes: [] }
    const { restored, rewrite } = recover(log, bytes, configuration)
    t.strictSame(rewrite, { hardState: { currentTerm: 3, votedFor: null }, base: null })
    t.strictSame(restored.hardState, { currentTerm: 3, votedFor: null })
  })

  t.test('feature_level_too_high: refuses a state that requires a newer version', async (t) => {
    const log = { hardState, base: { index: 7, term: 3 }, entries: [], holes: [] }
    const newer = encodeMachineRecord({ ...record, featureLevel: FEATURE_LEVEL + 1 })
    t.throws(() => recover(log, newer, configuration), {
      code: 'feature_level_too_high',
      hint: /never goes back/,
    })
  })
})

t.test('LogKeeper', async (t) => {
  t.test('releases the oldest applied entries beyond either limit, a piece at a time', async (t) => {
    const keeper = new LogKeeper(
      { keepEntries: 80, keepBytes: 1_000, pinBytes: 100_000 },
      { index: 100, term: 1 },
    )
    keeper.onApplied(Array.from({ length: 90 }, (_, i) => entry(101 + i, 1)))
    t.equal(keeper.takeCompactable(), null, 'not at every entry')
    keeper.onApplied([entry(191, 1)])
    t.equal(keeper.takeCompactable(), 111)
    t.equal(keeper.takeCompactable(), null)
    keeper.onApplied([entry(192, 1, 900), entry(193, 1, 300)])
    t.equal(keeper.takeCompactable(), 192, 'bytes count as well')
  })

  t.test('keeps the entries that a node needs next, up to its disk limit, and names the node', async (t) => {
    const keeper = new LogKeeper(
      { keepEntries: 8, keepBytes: 1_000, pinBytes: 30_000 },
      { index: 0, term: 0 },
    )
    const pins = [
      { nodeId: 'far', index: 2 },
      { nodeId: 'near', index: 18 },
    ]
    keeper.onApplied(Array.from({ length: 20 }, (_, i) => entry(1 + i, 1)))
    t.equal(
      keeper.takeCompactable(() => pins),
      2,
    )
    t.match(keeper.pinned(pins), [{ nodeId: 'far', index: 2, entries: 10 }])
    keeper.onApplied(Array.from({ length: 20 }, (_, i) => entry(21 + i, 1)))
    t.equal(
      keeper.takeCompactable(() => pins),
      18,
      'the node that needs most is dropped first',
    )
    t.equal(keeper.givenUp, 1)
    t.equal(
      keeper.takeCompactable(() => []),
      32,
      'without a pin only the minimum stays',
    )
  })

  t.test('counts the applied entries that a start left in the segments', async (t) => {
    const keeper = new LogKeeper(
      { keepEntries: 80, keepBytes: 100_000, pinBytes: 100_000 },
      { index: 100, term: 1 },
    )
    const span = { first: 101, last: 195, term: 1, bytes: 950, configurations: [] }
    keeper.onStored([span], 190)
    t.equal(keeper.takeCompactable(), null, 'entries that are not applied do not count')
    keeper.onApplied([entry(191, 1)])
    t.equal(keeper.takeCompactable(), 111)
  })

  t.test('starts again after a snapshot', async (t) => {
    const keeper = new LogKeeper(
      { keepEntries: 1, keepBytes: 1_000, pinBytes: 100_000 },
      { index: 0, term: 0 },
    )
    keeper.onApplied([entry(1, 1)])
    keeper.onBase({ index: 50, term: 2 })
    keeper.onApplied([entry(2, 1), entry(51, 2), entry(52, 2)])
    t.equal(keeper.takeCompactable(), 51)
  })
})
