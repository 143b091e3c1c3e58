/**
 * What users see of buckets, versions and uploads, as simply as possible: a list of versions for each key.
 *
 * Owns: the expected refusal of each command, and its changes. Knows nothing of: rows, links, bodies.
 * Rule: it compares every reply with the expected one; it takes only ids from the reply.
 */
import assert from 'node:assert/strict'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import type { Command, Reply } from '../../src/state-machine/commands.ts'
import type { Deleted, ItemRefused, NewVersion } from '../../src/state-machine/objects/commands.ts'
import type { LifecycleDone } from '../../src/state-machine/lifecycle/commands.ts'
import type { UploadRecord } from '../../src/state-machine/objects/records.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import {
  addVersion,
  allVersions,
  contentOf,
  deleteCode,
  isLocked,
  lockCode,
  logicalBytes,
  type ModelBucket,
  type ModelPart,
  type ModelVersion,
  newestObject,
  objectCount,
  type Of,
  preconditionCode,
  replacedIn,
  settable,
  settingsCode,
  takeDeleted,
  uploadBytes,
  uploadOf,
} from './model-bucket.ts'
import { isExchange, ModelKeys } from './exchange-steps.ts'
import { takeLifecycle } from './model-lifecycle.ts'

const PART_BYTES_MIN = 5 * 1024 ** 2
const DAY_MS = 24 * 3_600_000

export class VersionsModel {
  readonly buckets = new Map<string, ModelBucket>()
  maxBytes: number | null = null
  maxObjects: number | null = null
  readonly keys = new ModelKeys()

  /** The log time of the present command; dates are computed from it. */
  #madeAt = 0

  /**
   * Compares the reply with the expected one, and applies the change. `time` is the confirmed time, which decides what has ended;
   * `madeAt` is the log time, which may be later.
   */
  take(command: Command, reply: Reply, time: number, madeAt: number = time): void {
    this.#madeAt = madeAt
    if (isExchange(command)) return this.keys.take(command, reply)
    const expected = this.#codeFor(command, time)
    const code = reply.ok ? null : reply.code
    assert.equal(code, expected, `${JSON.stringify(command)} got the reply ${JSON.stringify(reply)}`)
    if (reply.ok) this.#change(command, reply.value, time)
  }

  bytes(): number {
    return this.#sum((bucket) => logicalBytes(bucket) + uploadBytes(bucket))
  }

  objects(): number {
    return this.#sum(objectCount)
  }

  #sum(figure: (bucket: ModelBucket) => number): number {
    return [...this.buckets.values()].reduce((sum, bucket) => sum + figure(bucket), 0)
  }

  #codeFor(command: Command, time: number): string | null {
    if (!('bucket' in command)) return this.#codeForBucket(command)
    const bucket = this.buckets.get(command.bucket ?? '')
    if (bucket === undefined) return 'not_found'
    switch (command.type) {
      case 'putObject': {
        const earlier = bucket.answers.get(`${command.key}/${command.idempotency?.key}`)
        if (earlier !== undefined)
          return earlier.fingerprint === command.idempotency?.fingerprint ? null : 'idempotency_conflict'
        return (
          this.#newVersionCode(bucket, command, { size: command.size, counted: 0, askedAt: time, time }) ??
          this.keys.codeFor(command.body)
        )
      }
      case 'copyObject': {
        const source = this.#source(command)
        if (source === undefined) return 'not_found'
        return this.#newVersionCode(bucket, command, { size: source.size, counted: 0, askedAt: time, time })
      }
      case 'deleteObject':
        return deleteCode(bucket, command, time, command.bypassGovernance)
      case 'setObjectTags':
        return settable(bucket, command) === undefined ? 'not_found' : null
      case 'setObjectLegalHold':
      case 'setObjectRetention':
        return lockCode(bucket, command, time)
      case 'createUpload':
        return settingsCode(bucket, command, time)
      case 'putPart': {
        const upload = uploadOf(bucket, command)
        if (upload === undefined) return 'not_found'
        const grows = command.size - (upload.parts.get(command.partNumber)?.size ?? 0)
        return this.#quotaCode(grows, 0) ?? this.keys.codeFor(command.body)
      }
      case 'completeUpload':
        return this.#completeCode(bucket, command, time)
      default:
        return null
    }
  }

  #codeForBucket(command: Command): string | null {
    if (!('name' in command)) return null
    const bucket = this.buckets.get(command.name ?? '')
    switch (command.type) {
      case 'createBucket':
        return bucket === undefined ? null : 'bucket_already_exists'
      case 'deleteBucket':
        if (bucket === undefined) return 'not_found'
        return allVersions(bucket).length + bucket.uploads.size > 0 ? 'bucket_not_empty' : null
      case 'setBucketVersioning':
        if (bucket === undefined) return 'not_found'
        if (bucket.versioning === command.versioning) return null
        if (command.versioning === 'Unversioned') return 'invalid_request'
        return bucket.hasLock ? 'invalid_bucket_state' : null
      case 'setBucketLifecycle':
      case 'deleteBucketLifecycle':
        return bucket === undefined ? 'not_found' : null
      case 'setBucketObjectLock':
        if (bucket === undefined) return 'not_found'
        return bucket.versioning === 'Enabled' ? null : 'invalid_bucket_state'
      default:
        return null
    }
  }

  #newVersionCode(
    bucket: ModelBucket,
    requested: NewVersion,
    about: {
      readonly size: number
      readonly counted: number
      readonly askedAt: number
      readonly time: number
    },
  ): string | null {
    const replaced = replacedIn(bucket, requested.key)
    const isMore = newestObject(bucket, requested.key) === undefined
    return (
      preconditionCode(newestObject(bucket, requested.key), requested.precondition) ??
      this.#quotaCode(about.size - about.counted - (replaced?.size ?? 0), isMore ? 1 : 0) ??
      settingsCode(bucket, requested, about.askedAt) ??
      (replaced !== undefined && isLocked(replaced, about.time) ? 'object_locked' : null)
    )
  }

  #quotaCode(bytes: number, objects: number): string | null {
    if (this.maxBytes !== null && bytes > 0 && this.bytes() + bytes > this.maxBytes) return 'quota_exceeded'
    if (this.maxObjects !== null && objects > 0 && this.objects() + objects > this.maxObjects)
      return 'quota_exceeded'
    return null
  }

  #completeCode(bucket: ModelBucket, command: Of<'completeUpload'>, time: number): string | null {
    const earlier = bucket.completed.get(`${command.key}/${command.uploadId}`)
    if (earlier !== undefined) return earlier.parts === JSON.stringify(command.parts) ? null : 'not_found'
    const upload = uploadOf(bucket, command)
    if (upload === undefined) return 'not_found'
    const { parts } = command
    if (parts.length === 0) return 'invalid_request'
    for (const [n, { partNumber, etag }] of parts.entries()) {
      if (partNumber <= (parts[n - 1]?.partNumber ?? 0)) return 'invalid_part_order'
      if (upload.parts.get(partNumber)?.etag !== etag) return 'invalid_part'
    }
    const sizes = parts.map(({ partNumber }) => upload.parts.get(partNumber)?.size ?? 0)
    if (sizes.slice(0, -1).some((size) => size < PART_BYTES_MIN)) return 'entity_too_small'
    const requested = { ...upload.requested, precondition: command.precondition }
    const counted = [...upload.parts.values()].reduce((sum, part) => sum + part.size, 0)
    const size = sizes.reduce((sum, one) => sum + one, 0)
    return this.#newVersionCode(bucket, requested, {
      size,
      counted,
      askedAt: Math.min(upload.createdAt, time),
      time,
    })
  }

  #source({ source }: Of<'copyObject'>): ModelVersion | undefined {
    const found = this.buckets
      .get(source.bucket)
      ?.keys.get(source.key)
      ?.find(({ id }) => id === source.versionId)
    return found?.isMarker === false ? found : undefined
  }

  #change(command: Command, value: unknown, time: number): void {
    if (command.type === 'expire') return this.#expire(command, time)
    if (command.type === 'setQuota') {
      ;({ maxBytes: this.maxBytes, maxObjects: this.maxObjects } = command)
      return
    }
    if (command.type === 'createBucket') {
      const maps = { keys: new Map(), uploads: new Map(), answers: new Map(), completed: new Map() }
      const { versioning, objectLockEnabled: hasLock } = command
      const { id } = value as BucketRecord
      this.buckets.set(command.name, {
        id,
        versioning,
        hasLock,
        defaultRetention: null,
        lifecycle: null,
        ...maps,
      })
    } else if (command.type === 'deleteBucket') this.buckets.delete(command.name)
    else if (command.type === 'setBucketVersioning') {
      const bucket = this.buckets.get(command.name)
      if (bucket !== undefined) bucket.versioning = command.versioning
    } else if (command.type === 'setBucketObjectLock') {
      const bucket = this.buckets.get(command.name)
      if (bucket === undefined) return
      bucket.hasLock = true
      bucket.defaultRetention = command.defaultRetention
    } else if (command.type === 'setBucketLifecycle' || command.type === 'deleteBucketLifecycle') {
      const bucket = this.buckets.get(command.name)
      if (bucket !== undefined) bucket.lifecycle = ('rules' in command ? command.rules[0] : null) ?? null
    } else if ('bucket' in command) {
      const bucket = this.buckets.get(command.bucket ?? '')
      if (bucket !== undefined) this.#changeIn(bucket, command, value, time)
    }
  }

  #changeIn(bucket: ModelBucket, command: Command, value: unknown, time: number): void {
    switch (command.type) {
      case 'putObject': {
        const { object, replayed } = value as { object: ObjectRecord; replayed: boolean }
        const name = `${command.key}/${command.idempotency?.key}`
        const earlier = bucket.answers.get(name)
        assert.equal(replayed, earlier !== undefined)
        if (earlier !== undefined) return assert.equal(object.versionId, earlier.id)
        const content = contentOf(command.body)
        addVersion(bucket, command, { ...command, id: object.versionId, content }, this.#madeAt)
        if (command.idempotency === null) return
        const { fingerprint } = command.idempotency
        bucket.answers.set(name, { fingerprint, id: object.versionId, expiresAt: this.#madeAt + DAY_MS })
        return
      }
      case 'copyObject': {
        const source = this.#source(command)
        assert(source !== undefined)
        const { size, etag, content } = source
        const { versionId: id } = value as ObjectRecord
        return addVersion(bucket, command, { id, size, etag, content }, this.#madeAt)
      }
      case 'deleteObject':
        return takeDeleted(bucket, command, value as Deleted, this.#madeAt)
      case 'deleteObjects':
        command.items.forEach((item, n) => {
          const result = (value as readonly (Deleted | ItemRefused)[])[n]
          assert(result !== undefined)
          const code = deleteCode(bucket, item, time, command.bypassGovernance)
          assert.equal('code' in result ? result.code : null, code)
          if (!('code' in result)) takeDeleted(bucket, item, result, this.#madeAt)
        })
        return
      case 'setObjectTags':
      case 'setObjectRetention':
      case 'setObjectLegalHold': {
        const { tags, retention, legalHold } = command as Partial<ModelVersion>
        const version = settable(bucket, command)
        assert(version !== undefined)
        if (tags !== undefined) version.tags = tags
        if (retention !== undefined) version.retention = retention
        if (legalHold !== undefined) version.legalHold = legalHold
        return
      }
      case 'applyLifecycleRule': {
        const { done } = value as { readonly done: readonly LifecycleDone[] }
        return takeLifecycle(bucket, command, done, { time, madeAt: this.#madeAt })
      }
      default:
        return takeUploadChange(bucket, command, value, this.#madeAt)
    }
  }

  #expire({ items }: Of<'expire'>, time: number): void {
    for (const bucket of this.buckets.values()) {
      for (const { at, id } of items.filter((item) => item.at <= time)) {
        if (bucket.uploads.get(id)?.expiresAt === at) bucket.uploads.delete(id)
        for (const kept of [bucket.answers, bucket.completed])
          for (const [name, answer] of kept)
            if (answer.expiresAt === at && (answer.id === id || name.endsWith(id))) kept.delete(name)
      }
    }
  }
}

function takeUploadChange(bucket: ModelBucket, command: Command, value: unknown, madeAt: number): void {
  if (command.type === 'createUpload') {
    const { uploadId, expiresAt } = value as UploadRecord
    const about = { key: command.key, requested: command, createdAt: madeAt, expiresAt, parts: new Map() }
    bucket.uploads.set(uploadId, about)
  } else if (command.type === 'putPart') {
    const { partNumber, etag, size, body } = command
    uploadOf(bucket, command)?.parts.set(partNumber, { etag, size, content: contentOf(body) })
  } else if (command.type === 'abortUpload') {
    if (uploadOf(bucket, command) !== undefined) bucket.uploads.delete(command.uploadId)
  } else if (command.type === 'completeUpload') {
    const { versionId } = value as ObjectRecord
    const name = `${command.key}/${command.uploadId}`
    const earlier = bucket.completed.get(name)
    if (earlier !== undefined) return assert.equal(versionId, earlier.id)
    const upload = uploadOf(bucket, command)
    assert(upload !== undefined)
    const parts = command.parts.map(({ partNumber }) => upload.parts.get(partNumber) as ModelPart)
    const size = parts.reduce((sum, part) => sum + part.size, 0)
    const content = parts.flatMap((part) => part.content)
    bucket.uploads.delete(command.uploadId)
    const requested = { ...upload.requested, precondition: command.precondition }
    addVersion(bucket, requested, { id: versionId, size, etag: command.etag, content }, madeAt)
    const answer = { parts: JSON.stringify(command.parts), id: versionId, expiresAt: madeAt + DAY_MS }
    bucket.completed.set(name, answer)
  }
}
