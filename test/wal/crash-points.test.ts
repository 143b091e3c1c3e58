/**
 * A power cut at every call to the disk, with every choice of the unflushed bytes that survive.
 *
 * Rule: every acknowledged entry is there, every entry there was written, and a second start reads the same. A batch that was
 * under way may leave holes; then any entries that a peer can have there make a valid log.
 */
import t from 'tap'
import type { Entry } from '../../cluster/raft/types.ts'
import type { SegmentedLog } from '../../cluster/wal/segmented-log.ts'
import type { WalContent } from '../../cluster/wal/wal.ts'
import { batchOf, entries, entry } from '../port-suites/wal.ts'
import { threeSegments, truthOf } from './known-log.ts'
import type { LogModel, Step } from './log-model.ts'
import { after, EMPTY, run, statesDuring } from './log-model.ts'
import { contentOn, logOn, repairedOn, storedData, textOf } from './log-on-files.ts'
import type { PowerCut } from './memory-files.ts'
import { MemoryFiles } from './memory-files.ts'

/** Room for three batches of two sectors. */
const SMALL = { segmentBytesMax: 4096, reserveBytes: 600 }
const CHOICES_MAX = 2 ** 10

const append = (...batches: Parameters<typeof batchOf>[1][]): Step => ({
  batches: batches.map((parts) => batchOf(1, parts)),
})

const SCRIPT: readonly (Step | 'restart')[] = [
  append({ hardState: { currentTerm: 1, votedFor: 'node-a' }, entries: entries(1, 3) }),
  append({ entries: entries(4, 4) }, { entries: entries(5, 6) }),
  append({ hardState: { currentTerm: 2, votedFor: null }, entries: entries(5, 9, 2) }),
  'restart',
  append({ hardState: { currentTerm: 2, votedFor: 'node-b' } }),
  append({ entries: [entry(10, 2, 'x'.repeat(1300)), entry(11, 2, 'y'.repeat(1500))] }),
  { compact: { index: 6, term: 2 } },
  append({
    hardState: { currentTerm: 4, votedFor: null },
    entries: [...entries(11, 12, 3), ...entries(13, 13, 4)],
  }),
  append({ entries: entries(14, 15, 4) }),
  'restart',
  append({ base: { index: 30, term: 4 }, entries: entries(31, 33, 4) }),
  append({ hardState: { currentTerm: 5, votedFor: 'node-c' } }),
  append({ entries: [entry(34, 5, '\0'.repeat(2000)), ...entries(35, 40, 5)] }),
  append({}),
]

const truth = truthOf(
  SCRIPT.flatMap((step) => (typeof step === 'object' && 'batches' in step ? step.batches : [])),
)

interface Crash {
  readonly files: MemoryFiles
  /** The logs that a start may find: the first is the acknowledged one. */
  readonly valid: readonly LogModel[]
}

class PowerLoss extends Error {}

/** Runs the script until its n-th change of the disk, which fails as does everything after it; null when it got through. */
function crashAt(call: number): Crash | null {
  const files = new MemoryFiles()
  files.beforeChange = (_operation, count) => {
    if (count >= call) throw new PowerLoss()
  }
  let model = EMPTY
  let log = logOn(files, SMALL)
  let valid: readonly LogModel[] = [model]
  if (failureOf(() => open(log)) !== null) return { files, valid }
  for (const step of SCRIPT) {
    if (step === 'restart') {
      log.close()
      log = logOn(files, SMALL)
      if (failureOf(() => open(log)) !== null) return { files, valid }
      continue
    }
    valid = statesDuring(model, step)
    if (failureOf(() => run(log, step)) !== null) return { files, valid }
    model = after(model, step)
    valid = [model]
  }
  return null
}

function open(log: SegmentedLog): void {
  log.open()
  log.makeReserve()
}

/** Every choice of surviving bytes; a file without its name survives whole or not at all, because it is never read. */
function* cutsOf(files: MemoryFiles): Generator<PowerCut> {
  const { names, sectors } = files.unflushed()
  const free = sectors.flatMap((path, position) => (path.endsWith('.tmp') ? [] : [position]))
  const choices = 2 ** free.length
  if (choices > CHOICES_MAX)
    throw new Error(`${free.length} sectors are too many to try all of their choices`)
  for (let kept = 0; kept <= names; kept++) {
    for (let choice = 0; choice < choices; choice++) {
      for (const keepsLength of [false, true]) {
        const keeps = (position: number) => {
          const bit = free.indexOf(position)
          return bit === -1 ? keepsLength : ((choice >> bit) & 1) === 1
        }
        yield { names: kept, keeps, keepsLength }
      }
    }
  }
}

function textOfModel(model: LogModel): string {
  return textOf({ ...model, holes: [] })
}

/** The fault of the log that a start finds, or the kind of the log. */
function verdict(files: MemoryFiles, valid: readonly LogModel[]): string {
  const found = openedOn(files.copy())
  if (found.holes.length > 0) return verdictOnHoles(files, found, valid)
  const text = textOf(found)
  if (!valid.some((model) => textOfModel(model) === text)) return `wrong: ${text}`
  if (contentOn(files) !== text || contentOn(files) !== text) return 'wrong: a second start reads another log'
  return text === textOfModel(valid[0] as LogModel) ? 'what was acknowledged' : 'what was under way as well'
}

function openedOn(files: MemoryFiles): WalContent {
  const log = logOn(files, SMALL)
  const content = log.open()
  log.close()
  return content
}

/** Holes are valid only in entries that were under way, and only if all entries that peers can have there make a valid log. */
function verdictOnHoles(files: MemoryFiles, { holes }: WalContent, valid: readonly LogModel[]): string {
  const acknowledged = valid[0]?.entries ?? []
  if (holes.some((hole) => acknowledged.some((kept) => kept.index === hole.index && kept.term === hole.term)))
    return 'wrong: a hole in what was acknowledged'
  const cut = files.copy()
  const filled = repairedOn(files, truth).content
  const source = valid.find((model) => textOfModel(model) === filled)
  if (source === undefined) return `wrong: filled it is ${filled}`
  if (contentOn(files) !== filled) return 'wrong: a second start after the repair reads another log'
  const others = holes.map(({ index }) => entry(index, 9, 'of another leader'))
  const repaired = repairedOn(
    cut,
    new Map(holes.map((hole, at) => [`${hole.index}/${hole.term}`, others[at] as Entry])),
  )
  if (repaired.content !== textOfModel({ ...source, entries: replacedBy(source, others) }))
    return `wrong: with other entries it is ${repaired.content}`
  return 'holes in what was under way'
}

/** The remaining log when other entries were committed there: they stay only where they follow the base. */
function replacedBy({ base, entries: own }: LogModel, others: readonly Entry[]): Entry[] {
  const before = own.filter((kept) => kept.index < (others[0]?.index ?? 0))
  if (before.length > 0) return before
  return others.filter((other, position) => other.index === base.index + 1 + position)
}

class Tally {
  readonly counts = new Map<string, number>()
  points = 0

  add(outcome: string): void {
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + 1)
  }

  get wrong(): string[] {
    return [...this.counts.keys()].filter((outcome) => outcome.startsWith('wrong'))
  }

  lines(): string[] {
    const counts = [...this.counts].map(([outcome, count]) => `${count} x ${outcome}`)
    return [`${this.points} crash points`, ...counts]
  }
}

t.test('SegmentedLog keeps what it acknowledged', async (t) => {
  t.test(
    'at a power cut before or after any call, with any surviving part of the unflushed bytes',
    async (t) => {
      const tally = new Tally()
      for (let call = 1; ; call++) {
        const crash = crashAt(call)
        if (crash === null) break
        tally.points++
        for (const cut of cutsOf(crash.files)) tally.add(verdict(crash.files.afterPowerCut(cut), crash.valid))
      }
      for (const line of tally.lines()) t.comment(line)
      t.same(tally.wrong, [])
      t.ok(tally.points > 100)
      t.ok(tally.counts.has('what was under way as well'))
      t.ok(tally.counts.has('holes in what was under way'))
    },
  )

  t.test('at a power cut while the holes of a damaged log are closed', async (t) => {
    const known = threeSegments()
    const tally = new Tally()
    const [first = '', second = '', third = ''] = known.files.segments()
    const placeOf = (segment: string, name: string): readonly [string, number] => [
      segment,
      known.files.bytesOf(segment).indexOf(storedData(known.truth.get(name) as Entry)),
    ]
    const [oldest, middle, newest] = [placeOf(first, '4/1'), placeOf(second, '9/2'), placeOf(third, '14/3')]
    t.ok([oldest, middle, newest].every(([, offset]) => offset > 0))
    const placesOf = {
      'entries in the oldest segment': [oldest],
      'entries in the newest segment': [newest],
      'entries everywhere': [oldest, middle, newest],
      'a record, which is there twice': [[second, 1040]],
    } as const
    for (const places of Object.values(placesOf)) {
      for (let call = 1; ; call++) {
        const files = known.files.copy()
        for (const [path, offset] of places) files.bytesOf(path).fill(0xa5, offset, offset + 100)
        files.beforeChange = (_operation, count) => {
          if (count >= call) throw new PowerLoss()
        }
        if (failureOf(() => repairedOn(files, known.truth)) === null) break
        tally.points++
        for (const cut of cutsOf(files)) {
          const survived = files.afterPowerCut(cut)
          const { content, holes } = repairedOn(survived, known.truth)
          const isRight = content === known.content && contentOn(survived) === known.content
          const isKept = survived.paths().some((path) => path.includes('damaged'))
          tally.add(
            isRight && isKept ? (holes > 0 ? 'the holes again' : 'the repaired log') : `wrong: ${content}`,
          )
        }
      }
    }
    for (const line of tally.lines()) t.comment(line)
    t.same(tally.wrong, [])
    t.ok(tally.counts.has('the holes again') && tally.counts.has('the repaired log'))
  })
})

function failureOf(action: () => void): unknown {
  try {
    action()
    return null
  } catch (error) {
    if (error instanceof Error && error.cause instanceof PowerLoss) return error
    throw error
  }
}
