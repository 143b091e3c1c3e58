/** Bytes and history of configurations against naive models, for random configurations: thesis 4.1. */
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import {
  ConfigurationHistory,
  decodeConfiguration,
  encodeConfiguration,
  isVoter,
  membersOf,
} from '../../cluster/raft/configuration.ts'
import type { Configuration, Entry, LogIndex } from '../../cluster/raft/types.ts'

const OPTIONS = { seed: 20260802, numRuns: 1000 }

const names = fc.array(fc.string({ unit: 'binary', maxLength: 8 }), { maxLength: 5 })
const configurations = fc.record<Configuration>(
  { voters: names, learners: names, outgoing: names },
  { noNullPrototype: true },
)

function holds<T>(t: Test, property: fc.IRawProperty<T>, options: fc.Parameters<T> = OPTIONS): void {
  t.doesNotThrow(() => fc.assert(property, options))
}

t.test('configuration bytes', async (t) => {
  t.test('come back as they were', async (t) => {
    holds(
      t,
      fc.property(configurations, (configuration) => {
        return isSame(decodeConfiguration(encodeConfiguration(configuration)), configuration)
      }),
    )
  })

  t.test('are different for different configurations', async (t) => {
    holds(
      t,
      fc.property(configurations, configurations, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other))
        return encodeConfiguration(one).join() !== encodeConfiguration(other).join()
      }),
    )
  })

  t.test(
    'that were cut, extended or changed are refused, or decode to exactly what they now hold',
    async (t) => {
      holds(
        t,
        fc.property(configurations, fc.nat(), fc.integer({ min: 1, max: 255 }), (configuration, at, flip) => {
          const bytes = encodeConfiguration(configuration)
          const place = at % bytes.length
          const cut = bytes.subarray(0, place)
          const longer = Uint8Array.of(...bytes, flip)
          const changed = bytes.map((byte, i) => (i === place ? byte ^ flip : byte))
          return isRefused(cut) && isRefused(longer) && (isRefused(changed) || isFaithful(changed))
        }),
      )
    },
  )
})

function isRefused(bytes: Uint8Array): boolean {
  try {
    decodeConfiguration(bytes)
    return false
  } catch {
    return true
  }
}

/** Encoding the result gives the same bytes: no byte is skipped or invented. */
function isFaithful(bytes: Uint8Array): boolean {
  return encodeConfiguration(decodeConfiguration(bytes)).join() === bytes.join()
}

t.test('membersOf', async (t) => {
  t.test('names every member once, in any role', async (t) => {
    holds(
      t,
      fc.property(configurations, (configuration) => {
        const members = membersOf(configuration)
        const { voters, learners, outgoing } = configuration
        const all = new Set([...voters, ...learners, ...outgoing])
        return members.length === all.size && members.every((nodeId) => all.has(nodeId))
      }),
    )
  })

  t.test('holds every voter of either half', async (t) => {
    holds(
      t,
      fc.property(configurations, fc.string({ maxLength: 1 }), (configuration, otherNode) => {
        const candidates = [...membersOf(configuration), otherNode]
        return candidates.every((nodeId) => {
          const votes = configuration.voters.includes(nodeId) || configuration.outgoing.includes(nodeId)
          return isVoter(configuration, nodeId) === votes
        })
      }),
    )
  })
})

/** The log as a list, with which the history must always agree. */
interface Model {
  readonly first: Configuration
  log: (Configuration | null)[]
  applied: LogIndex
}

function latestAt(
  { first, log }: Model,
  index: LogIndex,
): { readonly index: LogIndex; readonly configuration: Configuration } {
  for (let i = index; i > 0; i -= 1) {
    const configuration = log[i - 1]
    if (configuration !== null && configuration !== undefined) return { index: i, configuration }
  }
  return { index: 0, configuration: first }
}

function entryAt(index: LogIndex, configuration: Configuration | null): Entry {
  return configuration === null
    ? { index, term: 1, kind: 'command', data: new Uint8Array(1) }
    : { index, term: 1, kind: 'configuration', data: encodeConfiguration(configuration) }
}

type Event =
  | { readonly type: 'append'; readonly entries: readonly (Configuration | null)[] }
  | { readonly type: 'truncate'; readonly share: number }
  | { readonly type: 'apply'; readonly share: number }

const small = fc.record<Configuration>({
  voters: fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 }),
  learners: fc.subarray(['l', 'm']),
  outgoing: fc.subarray(['a', 'b', 'c']),
})
const share = fc.double({ min: 0, max: 1, noNaN: true })
const events = fc.array(
  fc.oneof(
    fc.record({
      type: fc.constant('append' as const),
      entries: fc.array(fc.option(small), { maxLength: 4 }),
    }),
    fc.record({ type: fc.constant('truncate' as const), share }),
    fc.record({ type: fc.constant('apply' as const), share }),
  ),
  { maxLength: 30 },
)

function happen(event: Event, history: ConfigurationHistory, model: Model): void {
  const { applied, log } = model
  // Never an applied entry; a truncation after the end changes nothing and is skipped.
  const within = (part: number): LogIndex => applied + Math.floor(part * (log.length - applied))
  switch (event.type) {
    case 'append':
      history.appended(event.entries.map((one, i) => entryAt(log.length + 1 + i, one)))
      log.push(...event.entries)
      return
    case 'truncate':
      if (within(event.share) === log.length) return
      history.truncatedFrom(within(event.share) + 1)
      log.length = within(event.share)
      return
    case 'apply':
      model.applied = within(event.share)
      history.appliedTo(model.applied)
  }
}

t.test('[thesis 4.1] the history', async (t) => {
  t.test('agrees with a list of entries after any appends, truncations and applies', async (t) => {
    holds(
      t,
      fc.property(small, events, (first, happened) => {
        const history = new ConfigurationHistory(0, first)
        const model: Model = { first, log: [], applied: 0 }
        for (const event of happened) {
          happen(event, history, model)
          const latest = latestAt(model, model.log.length)
          const applied = latestAt(model, model.applied)
          const isEqual =
            history.index === latest.index &&
            isSame(history.current, latest.configuration) &&
            isSame(history.applied, applied.configuration)
          if (!isEqual) return false
          const since = history.since(model.applied).map((one) => JSON.stringify(one))
          if (since.join() !== sinceOf(model).join()) return false
        }
        return true
      }),
    )
  })
})

/** In force at the applied index, and everything appended after it. */
function sinceOf(model: Model): readonly string[] {
  const later = model.log.slice(model.applied).filter((one) => one !== null)
  return [latestAt(model, model.applied).configuration, ...later].map((one) => JSON.stringify(one))
}

function isSame(one: Configuration, other: Configuration): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
