/**
 * Clients of buckets and objects that know the applied state and contend for the same things.
 *
 * Owns: the distribution, and the contention. Knows nothing of: which answer is right.
 * Rule: tenant `acme` gets every kind of request; calls of `beta` go to the checker of histories, so no quota bounds them.
 */
import { chunkKeys } from '../../../src/state-machine/chunks/keys.ts'
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import type { View } from '../../../src/state-machine/base/view.ts'
import type { Command, PutCommand } from '../../../src/state-machine/commands.ts'
import { currentObject } from '../../../src/state-machine/versions/versions.ts'
import { createBucket, createTenant, OPEN_SESSION, put, remove } from '../../state-machine/map-world.ts'
import { commandOf, type Step, STEP_WEIGHTS, versioningOf } from '../../state-machine/versions-commands.ts'
import type { ObjectOracle } from './object-oracle.ts'
import { encodeCall, replyIn, viewOf } from './object-rules.ts'
import type { Random } from './random.ts'
import type { Call } from './sim-clients.ts'
import { NONE } from './sim-commands.ts'
import type { Look, Requested, Workload, Write } from './workload.ts'

export interface ObjectWorkloadParts {
  readonly random: Random
  readonly oracle: ObjectOracle
  /** Advances all clocks by this much. ms */
  readonly pass: (ms: number) => void
}

export interface ObjectWorkloadOptions {
  readonly keys: number
  readonly readShare: number
}

type Op = Step['op']

const HOUR_MS = 3_600_000
/** None is a step that is withheld, but two of them may be. */
const PASSED_HOURS = [1, 3, 25, 90]
/** Its objects are registers: a put replaces the whole, and a tag names it. */
const REGISTERS = 'registers'
/** They exist or not, and now and then hold something. */
const NAMES = ['n0', 'n1']
const THERE = 'there'
/** A step is followed by one on the same thing that gets in its way. */
const RIVAL_SHARE = 0.5
const RIVALS: Partial<Readonly<Record<Op, readonly Op[]>>> = {
  putObject: ['putObject', 'deleteObject', 'copyObject', 'deleteBucket'],
  deleteObject: ['setObjectLegalHold', 'setObjectRetention', 'copyObject', 'putObject'],
  setObjectLegalHold: ['deleteObject', 'putObject', 'setObjectLegalHold'],
  setObjectRetention: ['setObjectRetention', 'deleteObject', 'setObjectLegalHold'],
  createUpload: ['putPart', 'deleteBucket'],
  putPart: ['completeUpload', 'putPart'],
  completeUpload: ['completeUpload', 'completeUpload', 'completeUpload', 'abortUpload', 'putPart', 'expire'],
  abortUpload: ['completeUpload', 'putPart'],
  setBucketVersioning: ['putObject', 'deleteObject', 'setBucketVersioning'],
  setQuota: ['putObject', 'putPart', 'putPart', 'copyObject'],
  deleteBucket: ['putObject', 'createUpload', 'createBucket'],
  createBucket: ['createBucket', 'deleteBucket'],
  exchangeTenantKey: ['resealBodies', 'resealBodies', 'putObject', 'exchangeTenantKey'],
  resealBodies: ['endKeyExchange', 'endKeyExchange', 'putObject', 'copyObject'],
  endKeyExchange: ['putObject', 'releaseDue', 'collectChunks', 'resealBodies'],
  setBucketLifecycle: ['pass', 'pass', 'applyLifecycleRule', 'applyLifecycleRule', 'setBucketLifecycle'],
  pass: ['applyLifecycleRule', 'applyLifecycleRule', 'expire'],
  applyLifecycleRule: [
    'putObject',
    'setObjectTags',
    'setObjectLegalHold',
    'applyLifecycleRule',
    'setBucketLifecycle',
  ],
}
/** Where there is none yet, one is created instead. */
const NEEDS_UPLOAD: readonly Op[] = ['putPart', 'completeUpload', 'abortUpload']
const LOCKS: readonly Op[] = ['setObjectRetention', 'setObjectLegalHold']
const RULES: readonly Op[] = ['setBucketLifecycle', 'applyLifecycleRule']
const NEEDS_VERSION: readonly Op[] = [...LOCKS, 'setObjectTags', 'copyObject', 'applyLifecycleRule']
/** A lock that cannot be read is nothing that a client brings about; quotas come and go, for few steps meet one. */
const WEIGHTS = {
  ...STEP_WEIGHTS,
  damage: 0,
  setQuota: 4,
  setBucketVersioning: 4,
  applyLifecycleRule: 6,
}
const OPS = Object.entries(WEIGHTS).flatMap(([op, weight]) => Array.from({ length: weight }, () => op as Op))

export class ObjectWorkload implements Workload {
  readonly #parts: ObjectWorkloadParts
  readonly #options: ObjectWorkloadOptions
  /** Tags, by the call's key. */
  readonly #lastSeen = new Map<string, string>()
  #last: Step | null = null
  #steps = 0
  #isSetUp = false

  constructor(parts: ObjectWorkloadParts, options: ObjectWorkloadOptions) {
    this.#parts = parts
    this.#options = options
  }

  next(): Requested | null {
    const { random } = this.#parts
    const missing = this.#missing()
    if (missing !== null) return other(missing)
    if (random.chance(this.#options.readShare)) return this.#look()
    if (random.chance(0.3)) return this.#register()
    return random.chance(0.15) ? this.#name() : this.#step()
  }

  last(): Write {
    const missing = this.#missing()
    return missing === null ? this.#registerWrite('put') : other(missing)
  }

  learned({ kind, key, id }: Call, output: string): void {
    if (kind === 'read') this.#lastSeen.set(key, output)
    else if (output === 'ok') this.#lastSeen.set(key, kind === 'delete' || kind === 'remove' ? NONE : id)
  }

  /** The prerequisites of all other requests. Several clients may find them missing. */
  #missing(): Command | null {
    if (this.#isSetUp) return null
    const { world, models } = this.#parts.oracle
    const acme = models.get('acme')
    const beta = models.get('beta')
    if (acme === undefined) return createTenant('acme')
    if (beta === undefined) return createTenant('beta')
    if (world.get(chunkKeys.session(OPEN_SESSION.session)) === undefined) return OPEN_SESSION
    if (!beta.buckets.has(REGISTERS)) return createBucket(REGISTERS, { tenantId: 'beta' })
    const name = ['plain', 'kept', 'locked'].find((bucket) => !acme.buckets.has(bucket))
    if (name !== undefined) return createBucket(name, versioningOf(name))
    this.#isSetUp = true
    return null
  }

  #look(): Look {
    const { random } = this.#parts
    const isName = random.chance(0.2)
    const name = isName ? random.pick(NAMES) : this.#key()
    const see = isName ? seeName : seeRegister
    const key = isName ? nameKey(name) : registerKey(name)
    return { type: 'look', kind: 'read', key, expected: NONE, see: (rows) => see(viewOf(rows), name) }
  }

  #register(): Write {
    return this.#registerWrite(
      this.#parts.random.pick(['put', 'put', 'put', 'cas', 'cas', 'delete', 'remove']),
    )
  }

  #registerWrite(kind: 'put' | 'cas' | 'delete' | 'remove'): Write {
    const name = this.#key()
    const key = registerKey(name)
    const expected = this.#lastSeen.get(key) ?? NONE
    const tag = expected === NONE ? null : [expected]
    // An absent object can be named only in a put.
    const isNamed = kind === 'cas' || (kind === 'remove' && tag !== null)
    const ifMatch = isNamed ? tag : null
    const ifNoneMatch = kind === 'cas' && tag === null ? ['*'] : null
    const command = (id: string): Command =>
      kind === 'put' || kind === 'cas'
        ? { ...registerPut(name, id), precondition: { ifMatch, ifNoneMatch } }
        : { ...remove(name, null, REGISTERS), tenantId: 'beta', ifMatch }
    const asked = kind === 'remove' && !isNamed ? 'delete' : kind
    return write({
      kind: asked,
      key,
      expected: isNamed ? expected : NONE,
      command,
      no: ['precondition_failed'],
    })
  }

  #name(): Write {
    const { random } = this.#parts
    const name = random.pick(NAMES)
    const key = nameKey(name)
    const dice = random.fraction()
    if (dice < 0.2) return other({ ...registerPut('x', 'e'), bucket: name })
    if (dice < 0.4) return other({ ...remove('x', this.#versionIn(name), name), tenantId: 'beta' })
    if (dice < 0.7) {
      const versioning = random.pick(['Unversioned', 'Enabled'] as const)
      const command = () => createBucket(name, { tenantId: 'beta', versioning })
      return write({ kind: 'create', key, expected: THERE, command, no: ['bucket_already_exists'] })
    }
    const command = (): Command => ({ type: 'deleteBucket', tenantId: 'beta', name })
    return write({ kind: 'remove', key, expected: THERE, command, no: ['not_found'] })
  }

  /** One of those there are, or null: of the key. */
  #versionIn(name: string): string | null {
    const { oracle, random } = this.#parts
    const versions = oracle.models.get('beta')?.buckets.get(name)?.keys.get('x') ?? []
    const named = versions.filter(({ isNull }) => !isNull)
    return named.length > 0 && random.chance(0.7) ? random.pick(named).id : null
  }

  #step(): Write | null {
    const { oracle, pass } = this.#parts
    const step = this.#possible(this.#drawStep())
    this.#last = step
    if (step.op === 'pass') {
      pass((PASSED_HOURS[step.more % PASSED_HOURS.length] ?? 1) * HOUR_MS)
      return null
    }
    const model = oracle.models.get('acme')
    this.#steps += 1
    const command = model === undefined ? null : commandOf(step, oracle.world, model, this.#steps)
    return command === null ? null : other(command)
  }

  #drawStep(): Step {
    const { random } = this.#parts
    const rivals = this.#last === null ? undefined : RIVALS[this.#last.op]
    const fresh = { body: random.below(7), more: random.below(64) }
    if (this.#last !== null && rivals !== undefined && random.chance(RIVAL_SHARE)) {
      const { body, more } = this.#last
      const again = {
        body: random.chance(0.3) ? fresh.body : body,
        more: random.chance(0.3) ? fresh.more : more,
      }
      return { ...this.#last, op: random.pick(rivals), ...again }
    }
    return {
      op: random.pick(OPS),
      bucket: random.pick(['plain', 'kept', 'locked']),
      key: random.pick(['a', 'b/c']),
      pick: random.below(9),
      ...fresh,
    }
  }

  /** The same write, or its prerequisite. */
  #possible(drawn: Step): Step {
    const step = { ...drawn, bucket: this.#bucketFor(drawn) }
    const bucket = this.#parts.oracle.models.get('acme')?.buckets.get(step.bucket)
    if (bucket === undefined) return step
    if (step.op === 'applyLifecycleRule' && bucket.lifecycle === null)
      return { ...step, op: 'setBucketLifecycle' }
    if (NEEDS_VERSION.includes(step.op) && !bucket.keys.has(step.key)) return { ...step, op: 'putObject' }
    if (!NEEDS_UPLOAD.includes(step.op)) return step
    if (bucket.uploads.size + bucket.completed.size === 0) return { ...step, op: 'createUpload' }
    const hasParts = [...bucket.uploads.values()].some(({ parts }) => parts.size > 0)
    return hasParts || bucket.completed.size > 0 ? step : { ...step, op: 'putPart' }
  }

  /** Few steps on locks need another bucket than the one with locks; rules meet each of the three. */
  #bucketFor({ op, bucket }: Step): string {
    const { random } = this.#parts
    if (LOCKS.includes(op)) return random.chance(0.8) ? 'locked' : bucket
    return RULES.includes(op) && random.chance(0.4) ? 'plain' : bucket
  }

  #key(): string {
    return `k${this.#parts.random.below(this.#options.keys)}`
  }
}

/** The checker of histories takes keys that begin with an r for registers. */
const registerKey = (name: string): string => `r/${name}`
const nameKey = (name: string): string => `r:${name}`

function registerPut(key: string, etag: string): PutCommand {
  const body = { kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(1, 2, 3) } as const
  return { ...put(key, body, 3), tenantId: 'beta', bucket: REGISTERS, etag }
}

function seeRegister(view: View, key: string): string {
  const bucket = view.get(bucketKeys.bucket('beta', REGISTERS))
  return bucket === undefined ? NONE : (currentObject(view, bucket.id, key)?.etag ?? NONE)
}

function seeName(view: View, name: string): string {
  return view.get(bucketKeys.bucket('beta', name)) === undefined ? NONE : THERE
}

interface WriteParts extends Pick<Write, 'kind' | 'key' | 'expected'> {
  readonly command: (id: string) => Command
  /** Refusals that reveal the present value. Any other leaves the outcome unknown. */
  readonly no: readonly string[]
}

function write({ kind, key, expected, command, no }: WriteParts): Write {
  return {
    type: 'write',
    kind,
    key,
    expected,
    command: (id) => encodeCall(id, command(id)),
    reported: (text) => {
      const reply = replyIn(text)
      if (reply.ok) return 'ok'
      return no.includes(reply.code) ? 'no' : null
    },
  }
}

function other(command: Command): Write {
  return write({ kind: 'other', key: '', expected: NONE, command: () => command, no: [] })
}
