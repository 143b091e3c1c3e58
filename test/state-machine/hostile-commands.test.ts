/**
 * Commands of backups, replication, lifecycle rules and exchanges with members that make no sense: each is accepted or refused with a sentence, and apply never
 * throws, because every node would stop at that entry. What a refusal may write, and how many rows a command may change, the world asserts.
 * `HOLDFAST_PROOFS=whole` tries more.
 */
import t from 'tap'
import { backupKeys } from '../../src/state-machine/backup-plans/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { Random } from '../programs/simulator/random.ts'
import { TEXTS } from '../programs/fuzz/hostile-values.ts'
import { endExchange, exchange, putSmall, resealed } from './key-exchange-samples.ts'
import { actOn, DAY_MS, ruleWith, setLifecycle } from './lifecycle-samples.ts'
import { fresh, MapWorld, putChunks, startOperation, worldWithBucket } from './map-world.ts'
import { sendOf, setReplication, siteRule, siteState, waiting } from './site-commands.ts'

const HISTORIES = process.env['HOLDFAST_PROOFS'] === 'whole' ? 2_000 : 400
const STEPS = 120
const NUMBERS = [
  0,
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -Infinity,
  1e308,
  2 ** 53,
  2 ** 31,
  -0,
  1e-9,
]
const LONG_LIST = 300
/** Words that say which kind a member is; another one would be another command. */
const KEPT = new Set(['type', 'kind', 'verdict', 'action', 'deletes'])
const EPOCH_MS = 1_700_000_000_000

const keep = { last: 2, hourly: 0, daily: 7, weekly: 0, monthly: 0, yearly: 0 }
const plan = { target: 'nas', when: '30 2 * * *', keep, isPaused: false, maxBytesPerSecond: null }
const place = { kind: 'directory', folder: 'weekly' } as const
const s3 = {
  kind: 's3',
  endpoint: 'https://s3.example',
  bucket: 'b',
  prefix: '',
  region: 'r',
  accessKeyId: 'a',
  secret: Uint8Array.of(1, 2),
  ca: null,
} as const

/** Valid ones, or nearly: what they name may be gone. Uploads are there for what they leave, and stay as they are. */
const SAMPLES: readonly ((world: MapWorld, random: Random) => Command | null)[] = [
  () => ({ type: 'setBackupTarget', name: 'nas', place, markerId: 'm' }),
  () => ({ type: 'setBackupTarget', name: 'far', place: s3, markerId: 'm' }),
  () => ({ type: 'deleteBackupTarget', name: 'far' }),
  () => ({ type: 'setBackupSchedule', name: 'nightly', plan }),
  () => ({ type: 'deleteBackupSchedule', name: 'nightly' }),
  (world, random) => {
    const { revision = 0, markAt = 0 } = world.get(backupKeys.backupSchedule('nightly')) ?? {}
    const asked = { operationId: `op${random.below(9)}`, backupId: '20261127t120000z-0123abcd' }
    return { type: 'startScheduledBackup', name: 'nightly', revision, slotAt: markAt + 1, ...asked }
  },
  (_, random) => ({ type: 'endScheduledBackup', name: 'nightly', operationId: `op${random.below(9)}` }),
  () => ({ type: 'alignBackupSchedule', name: 'nightly' }),
  () => ({
    type: 'rewrapBackupSecrets',
    items: [{ name: 'far', before: Uint8Array.of(1, 2), after: Uint8Array.of(3) }],
  }),
  (_, random) => ({
    ...startOperation(`op${random.below(9)}`),
    kind: 'backup',
    backup: { backupId: '20261127t120000z-0123abcd', target: 'nas' },
  }),
  (_, random) => ({
    ...startOperation(`op${random.below(9)}`),
    kind: 'backupPrune',
    prune: { target: 'nas', keep },
  }),
  (_, random) => ({
    type: 'advanceOperation',
    operationId: `op${random.below(9)}`,
    from: '',
    cursor: 'chunks/a/0/0',
    phase: 'copying',
    counted: { blobsDone: 1, bytesMoved: 10 },
  }),
  (_, random) => ({
    type: 'setOperationStatus',
    operationId: `op${random.below(9)}`,
    action: random.pick(['pause', 'resume', 'cancel', 'finish', 'fail'] as const),
    error: 'why',
  }),
  () => setLifecycle(ruleWith()),
  () => ({ type: 'deleteBucketLifecycle', tenantId: 'acme', name: 'photos' }),
  (world) => actOn(world, { key: 'k', versionId: '0'.repeat(26) }, { key: 'k', uploadId: 'u' }),
  (world) => ({
    ...actOn(world),
    type: 'endLifecycleWalk',
    turnAt: 0,
    revision: 1,
    judgedAt: EPOCH_MS + DAY_MS,
  }),
  (world) => setReplication(world, [siteRule(), siteRule({ id: 'other', prefix: 'x/' })], true),
  () => ({ type: 'deleteBucketReplication', tenantId: 'acme', name: 'photos' }),
  () => ({ type: 'startResync', tenantId: 'acme', name: 'photos' }),
  (world) => {
    const changeIds = waiting(world).map(({ changeId }) => changeId)
    return { type: 'retrySiteChanges', tenantId: 'acme', name: 'photos', changeIds }
  },
  (world, random) => {
    const verdict = random.pick(['sent', 'failed', 'refused', 'unreachable', 'conflict'] as const)
    return { type: 'recordSends', results: waiting(world).map((change) => sendOf(world, change, verdict)) }
  },
  (world) => {
    const { bucketId, resync } = siteState(world)
    const items = [{ key: 'k', versionId: '0'.repeat(26) }]
    const at = { resyncId: resync?.id ?? 0, place: resync?.place ?? '', next: null }
    return { type: 'queueExisting', bucketId, ...at, items }
  },
  (world) => ({ type: 'forgetSiteChanges', bucketId: siteState(world).bucketId, changeIds: ['a'] }),
  (world) => {
    const secrets = { before: Uint8Array.of(7, 7), after: Uint8Array.of(8) }
    return { type: 'rewrapSiteSecrets', items: [{ bucketId: siteState(world).bucketId, ...secrets }] }
  },
  (_, random) => exchange(`op${random.below(9)}`, 1 + random.below(3)),
  (world, random) => ({
    type: 'resealBodies',
    tenantId: 'acme',
    operation: `op${random.below(9)}`,
    keyVersion: 1 + random.below(3),
    copiesMin: 2,
    chunks: [resealed(world, 'c1')],
    bodies: [],
  }),
  (_, random) => endExchange(`op${random.below(9)}`),
  (_, random) => putSmall(`k${random.below(5)}`),
  (_, random) => putChunks(`k${random.below(5)}`, [fresh(`c${random.below(3)}`)]),
]

/** The same value with one leaf that makes no sense; undefined: it has none that may change. */
function changed(value: unknown, random: Random): unknown {
  if (value instanceof Uint8Array) return random.pick([new Uint8Array(), new Uint8Array(5_000)])
  if (typeof value === 'string') return random.pick(TEXTS)
  if (typeof value === 'number') return random.pick(NUMBERS)
  if (typeof value === 'boolean') return !value
  if (Array.isArray(value)) {
    const [first] = value as readonly unknown[]
    if (first === undefined || random.below(4) === 0) return []
    if (random.below(3) === 0) return Array.from({ length: LONG_LIST }, () => first)
    const at = random.below(value.length)
    return value.map((one: unknown, n) => (n === at ? changed(one, random) : one))
  }
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value).filter((name) => !KEPT.has(name))
  if (names.length === 0) return value
  const name = random.pick(names)
  return { ...value, [name]: changed((value as Record<string, unknown>)[name], random) }
}

function sampled(world: MapWorld, random: Random): Command | null {
  try {
    return random.pick(SAMPLES)(world, random)
  } catch {
    // What it is about is not there: no replication is set.
    return null
  }
}

t.test('commands that make no sense', async (t) => {
  const outcomes = new Map<string, number>()
  const [tried, accepted] = [new Set<string>(), new Set<string>()]
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const random = new Random(seed, 'hostile')
    const world = worldWithBucket()
    for (let step = 0; step < STEPS; step++) {
      let command = sampled(world, random)
      if (command === null) continue
      const changes = command.type === 'putObject' ? 0 : random.below(4)
      for (let n = 0; n < changes; n++) command = changed(command, random) as Command
      try {
        const reply = world.run(command)
        const outcome = reply.ok ? 'accepted' : reply.code
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        tried.add(command.type)
        if (reply.ok) accepted.add(command.type)
        if (!reply.ok && reply.message.length < 10) t.fail(`${command.type}: ${reply.message}`)
      } catch (error) {
        return t.fail(
          `seed ${seed}, step ${step}: ${JSON.stringify(command).slice(0, 600)}: ${String((error as Error).stack)}`,
        )
      }
      world.time += random.below(3) * DAY_MS
    }
  }
  t.same(
    [...tried].filter((type) => !accepted.has(type)),
    [],
    'each was accepted, too',
  )
  t.ok((outcomes.get('precondition_failed') ?? 0) > 0 && (outcomes.get('invalid_argument') ?? 0) > 0)
  t.comment(JSON.stringify(Object.fromEntries(outcomes)))
})
