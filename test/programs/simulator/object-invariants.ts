/**
 * Invariants that no batch may break, stated only about the rows of buckets and objects.
 *
 * Owns: rules that hold from any state to the next. Knows nothing of: which answer to a command was right.
 * Rule: it gets every change of every batch, in order, and remembers answers that must never change.
 */
import assert from 'node:assert/strict'
import { usageKeys } from '../../../src/state-machine/usage/keys.ts'
import type { Row } from '../../../src/state-machine/base/view.ts'
import { kindOf } from '../../../src/state-machine/base/row-key.ts'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import type { BucketRecord } from '../../../src/state-machine/buckets/records.ts'
import type { IdempotencyRecord } from '../../../src/state-machine/objects/records.ts'
import type {
  ObjectRecord,
  RetentionRecord,
  VersionRecord,
} from '../../../src/state-machine/versions/records.ts'
import { NO_QUOTA } from '../../../src/state-machine/usage/quota.ts'
import { NO_USAGE } from '../../../src/state-machine/usage/usage.ts'
import { checkSeals } from '../../state-machine/exchange-steps.ts'
import { checkKept } from '../../state-machine/kept-bodies.ts'
import type { MapWorld } from '../../state-machine/map-world.ts'

/** Kinds of rows that say or have a key. */
const SEALED: readonly string[] = ['tenant', 'chunk', 'inlineBody']

export interface RowChange {
  readonly key: string
  readonly before: Row | undefined
  readonly after: Row | undefined
}

export interface BatchDone {
  readonly changes: readonly RowChange[]
  readonly done: readonly { readonly command: Command; readonly reply: Reply }[]
  /** Of its last entry. */
  readonly time: number
  /** After it. */
  readonly state: Pick<MapWorld, 'rows' | 'get'>
}

export class ObjectInvariants {
  readonly #answers = new Map<string, { readonly versionId: string; readonly expiresAt: number }>()
  /** By upload: the version that it became. */
  readonly #completed = new Map<string, string>()

  /** Throws where one is broken. */
  check(batch: BatchDone): void {
    checkLocks(batch)
    checkQuotas(batch)
    checkBuckets(batch)
    checkBodies(batch)
    if (batch.changes.some(({ key }) => SEALED.includes(kindOf(key)))) checkSeals(batch.state)
    this.#checkAnswers(batch)
    this.#checkCompletions(batch)
  }

  /** At most one version is born for an idempotency key while its answer is kept. */
  #checkAnswers({ changes, time }: BatchDone): void {
    for (const { key, after } of changes) {
      if (kindOf(key) !== 'idempotency' || after === undefined) continue
      const { object, expiresAt } = after as IdempotencyRecord
      const known = this.#answers.get(key)
      const isSame = known === undefined || known.versionId === object.versionId || known.expiresAt <= time
      assert(isSame, `an idempotency key made ${known?.versionId ?? ''}, and now ${object.versionId}`)
      this.#answers.set(key, { versionId: object.versionId, expiresAt })
    }
  }

  /** An upload becomes one version, for any number of completions. */
  #checkCompletions({ done }: BatchDone): void {
    for (const { command, reply } of done) {
      if (command.type !== 'completeUpload' || !reply.ok) continue
      const { versionId } = reply.value as ObjectRecord
      const known = this.#completed.get(command.uploadId) ?? versionId
      assert.equal(versionId, known, `upload ${command.uploadId} was completed twice`)
      this.#completed.set(command.uploadId, known)
    }
  }
}

/** A discarded body stays complete until its mark. */
function checkBodies({ changes, done, state }: BatchDone): void {
  const waiting = new Map([...state.rows].filter(([key]) => !isVersion(key)))
  for (const { key, before } of changes) {
    if (before === undefined) waiting.delete(key)
    else if (!isVersion(key)) waiting.set(key, before)
  }
  const changed = changes.map(({ key }) => key)
  checkKept({ before: waiting, changed, commands: done.map(({ command }) => command) })
}

function isVersion(key: string): boolean {
  return ['object', 'version'].includes(kindOf(key))
}

/** A locked version stays, and stays locked; GOVERNANCE only where no command of the batch sets it aside. */
function checkLocks({ changes, done, time }: BatchDone): void {
  const versions = changes.filter(({ key }) => ['object', 'version'].includes(kindOf(key)))
  const left = new Map(
    versions.flatMap(({ after }) =>
      after === undefined ? [] : [[(after as VersionRecord).versionId, after]],
    ),
  ) as Map<string, VersionRecord>
  const mayLift = done.some(({ command }) => command.type === 'setObjectLegalHold')
  const bypassed = done.some(({ command }) => 'bypassGovernance' in command)
  for (const { before } of versions) {
    const version = before as VersionRecord | undefined
    if (version?.kind !== 'object') continue
    const now = left.get(version.versionId)
    const { retention, legalHold, versionId } = version
    const isHeld = legalHold && !mayLift
    const isFree = bypassed && retention?.mode === 'GOVERNANCE'
    const isRetained = !isFree && isUnder(retention, time)
    if (!isHeld && !isRetained) continue
    assert(now?.kind === 'object', `version ${versionId} is locked and gone`)
    if (isHeld) assert(now.legalHold, `version ${versionId} lost its hold by itself`)
    if (isRetained) assert(!isWeaker(now.retention, retention), `${versionId} is less retained`)
  }
}

function isUnder(retention: RetentionRecord | null, time: number): boolean {
  return retention !== null && retention.until > time
}

function isWeaker(now: RetentionRecord | null, before: RetentionRecord | null): boolean {
  return (
    before !== null &&
    (now === null || now.until < before.until || (before.mode === 'COMPLIANCE' && now.mode !== before.mode))
  )
}

/** A usage above its quota does not grow. A delete may bring an object to light again. */
function checkQuotas({ changes, done, state }: BatchDone): void {
  if (done.some(({ command }) => command.type === 'setQuota')) return
  const deletes = done.some(({ command }) => command.type.startsWith('deleteObject'))
  for (const { key, before, after } of changes) {
    if (kindOf(key) !== 'usage') continue
    const tenantId = key.slice(key.indexOf('\u0000') + 1)
    const { maxBytes, maxObjects } = state.get(usageKeys.quota(tenantId)) ?? NO_QUOTA
    const [had, has] = [usageIn(before), usageIn(after)]
    const isWithin = (max: number | null, from: number, to: number): boolean =>
      to <= Math.max(max ?? to, from)
    assert(
      isWithin(maxBytes, had.bytes, has.bytes),
      `"${tenantId}" stores ${has.bytes} of at most ${maxBytes} bytes`,
    )
    const isMore = !deletes && !isWithin(maxObjects, had.objects, has.objects)
    assert(!isMore, `"${tenantId}" stores ${has.objects} of at most ${maxObjects} objects`)
  }
}

function usageIn(row: Row | undefined): { readonly bytes: number; readonly objects: number } {
  const { logicalBytes, uploadBytes, objects } = { ...NO_USAGE, ...row }
  return { bytes: logicalBytes + uploadBytes, objects }
}

/** A bucket name is reused only after its deletion, and the bucket was empty before. */
function checkBuckets({ changes, done, state }: BatchDone): void {
  const deleted = new Set(
    done.map(({ command, reply }) => (command.type === 'deleteBucket' && reply.ok ? command.name : null)),
  )
  for (const { key, before, after } of changes) {
    if (kindOf(key) !== 'bucket' || before === undefined) continue
    const [old, now] = [before as BucketRecord, after as BucketRecord | undefined]
    if (now?.id === old.id) continue
    assert(deleted.has(old.name), `bucket "${old.name}" became another one, and no command deleted it`)
    const inIt = [...state.rows.keys()].filter((name) => name.startsWith(`in\u0000${old.id}\u0000`))
    const left = inIt.map(kindOf).find((kind) => ['object', 'version', 'chain', 'upload'].includes(kind))
    assert.equal(left, undefined, `bucket "${old.name}" was deleted and held a row "${left}"`)
  }
}
