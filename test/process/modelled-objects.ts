/**
 * Writes of buckets and objects, sent to a cluster and compared with the model of versions.
 *
 * Owns: the command of each request, and the comparison of its answer with the reply. Knows nothing of: the distribution of requests.
 * Rule: refusals of the edge are named by their code here; the model decides everything else.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { PutBody } from '../../src/state-machine/chunks/commands.ts'
import type { Command, Reply } from '../../src/state-machine/commands.ts'
import type { Deleted } from '../../src/state-machine/objects/commands.ts'
import type { RetentionRecord } from '../../src/state-machine/versions/records.ts'
import {
  type ApiAnswer,
  type ObjectAsk,
  type ObjectClient,
  pathOf,
  queryOf,
} from '../helpers/object-client.ts'
import { fresh } from '../state-machine/map-world.ts'
import {
  allVersions,
  type ModelBucket,
  named,
  newestObject,
  replacedIn,
  settable,
} from '../state-machine/model-bucket.ts'
import { VersionsModel } from '../state-machine/versions-model.ts'

export interface Place {
  readonly bucket: string
  readonly key: string
}
export interface VersionPlace extends Place {
  readonly versionId: string | null
}
export interface Conditions {
  readonly ifMatch: string | null
  readonly ifNoneMatch: string | null
}
export interface Settings {
  readonly tags: Readonly<Record<string, string>>
  readonly retention: RetentionRecord | null
  readonly legalHold: boolean
}
/** Bytes with a name. */
export interface Content {
  readonly name: string
  readonly bytes: Buffer
}

const TENANT = 'demo'
const DESCRIPTION = { contentType: 'application/octet-stream', metadata: {}, masterKeyId: 'any' }

export class ModelledObjects {
  readonly model = new VersionsModel()
  readonly client: ObjectClient
  /** By the name of the content. */
  readonly bytes = new Map<string, Buffer>()
  /** How often each command was answered in each way. */
  readonly outcomes = new Map<string, number>()
  readonly #contentOfEtag = new Map<string, string>()
  #bucketIds = 0

  constructor(client: ObjectClient) {
    this.client = client
  }

  async createBucket(name: string, isVersioned: boolean, objectLockEnabled: boolean): Promise<void> {
    const versioning = isVersioned ? 'Enabled' : 'Unversioned'
    const body = { name, versioning, objectLockEnabled }
    const answer = await this.client.ask({ method: 'POST', path: '', body })
    if (answer.api === 's3' && answer.code === null && this.model.buckets.has(name))
      return this.#createdAgain(name, versioning)
    const about = { versioning, objectLockEnabled, bucketsMax: 100 } as const
    const id = `bucket-${++this.#bucketIds}`
    this.#take({ type: 'createBucket', tenantId: TENANT, name, ...about }, answer, () => ({ id }))
  }

  /** S3 takes it from the owner; what is asked for beside it is done to the bucket that is there. */
  #createdAgain(name: string, versioning: 'Enabled' | 'Unversioned'): void {
    this.#count('createBucket again')
    const bucket = this.model.buckets.get(name)
    if (bucket !== undefined && versioning === 'Enabled') bucket.versioning = versioning
  }

  async deleteBucket(name: string): Promise<void> {
    const answer = await this.client.ask({ method: 'DELETE', path: `/${name}` })
    if (answer.api === 's3') this.#endUploads(name)
    this.#take({ type: 'deleteBucket', tenantId: TENANT, name }, answer, () => null)
  }

  /** S3 has them end with a bucket that holds nothing else. */
  #endUploads(name: string): void {
    const held = this.model.buckets.get(name)
    if (held !== undefined && allVersions(held).length === 0) held.uploads.clear()
  }

  async setVersioning(name: string, versioning: ModelBucket['versioning']): Promise<void> {
    const ask = { method: 'PUT', path: `/${name}/versioning`, body: { status: versioning } } as const
    const answer = await this.client.ask(ask)
    this.#take({ type: 'setBucketVersioning', tenantId: TENANT, name, versioning }, answer, () => ({}))
  }

  async put(
    { bucket, key }: Place,
    content: Content,
    requested: Settings & { readonly conditions: Conditions; readonly idempotencyKey: string | null },
  ): Promise<void> {
    const { idempotencyKey, conditions } = requested
    const once = idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey, ...summed(content) }
    const headers = { ...conditionHeaders(conditions), ...settingsHeaders(requested), ...once }
    const path = `/${bucket}/objects/${pathOf(key)}`
    const answer = await this.client.ask({ method: 'PUT', path, body: content.bytes, headers })
    const idempotency =
      idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: `${content.name}` }
    const command = {
      type: 'putObject' as const,
      ...newVersion({ bucket, key }, requested, conditions),
      ...this.#brought(content, answer),
      idempotency,
    }
    const replayed = answer.headers['idempotent-replayed'] === 'true'
    this.#take(command, answer, () => ({ object: this.#stored(answer), replayed }))
  }

  async copy(
    target: Place,
    source: VersionPlace,
    requested: { readonly isReplacing: boolean; readonly conditions: Conditions },
  ): Promise<void> {
    const { isReplacing, conditions } = requested
    const sourceBucket = this.model.buckets.get(source.bucket)
    const targetBucket = this.model.buckets.get(target.bucket)
    const found = sourceBucket && settable(sourceBucket, source)
    const body = {
      sourceBucket: source.bucket,
      sourceKey: source.key,
      ...(source.versionId === null ? {} : { sourceVersionId: source.versionId }),
      ...(isReplacing ? { metadataDirective: 'REPLACE' } : {}),
      ...(conditions.ifMatch === null ? {} : { requireMatchEtag: conditions.ifMatch }),
      ...(conditions.ifNoneMatch === null ? {} : { requireAbsent: true }),
    }
    const path = `/${target.bucket}/object-copy/${pathOf(target.key)}`
    const answer = await this.client.ask({ method: 'POST', path, body })
    const isItself =
      found !== undefined && targetBucket !== undefined && newestObject(targetBucket, target.key) === found
    const isMarker = sourceBucket !== undefined && isMarkerNamed(sourceBucket, source)
    if (targetBucket !== undefined && ((isItself && !isReplacing) || isMarker))
      return this.#refused('copyObject', answer, 'invalid_request')
    const settings = { tags: found?.tags ?? {}, retention: null, legalHold: false }
    const from = { bucket: source.bucket, key: source.key, versionId: found?.id ?? 'none' }
    const about = newVersion(target, settings, conditions)
    this.#take({ type: 'copyObject', ...about, source: from }, answer, () => this.#stored(answer))
  }

  async remove(place: VersionPlace, ifMatch: string | null): Promise<void> {
    const { bucket, key, versionId } = place
    const path = `/${bucket}/objects/${pathOf(key)}${queryOf({ versionId })}`
    const headers = conditionHeaders({ ifMatch, ifNoneMatch: null })
    const answer = await this.client.ask({ method: 'DELETE', path, headers })
    const id = answer.headers['x-service-version-id'] as string | undefined
    const isMarker = answer.headers['x-service-delete-marker'] === 'true'
    const answered = id === undefined ? null : { versionId: id, isMarker }
    const command = { type: 'deleteObject' as const, tenantId: TENANT, bucket, key, versionId }
    this.#take({ ...command, ifMatch: listed(ifMatch) }, answer, () => this.#deleted(place, answered, true))
  }

  async batchRemove(bucket: string, items: readonly Omit<VersionPlace, 'bucket'>[]): Promise<void> {
    const objects = items.map(({ key, versionId }) => (versionId === null ? { key } : { key, versionId }))
    const path = `/${bucket}/objects:batchDelete`
    const answer = await this.client.ask({ method: 'POST', path, body: { objects } })
    const command = { type: 'deleteObjects' as const, tenantId: TENANT, bucket }
    if (answer.code !== null) return this.#take({ ...command, items }, answer, () => [])
    const results = answer.json['results'] as readonly BatchResult[]
    assert.deepEqual(
      results.map(({ key, versionId = null }) => ({ key, versionId })),
      items,
    )
    // Item by item: each one finds the state that the previous one left.
    for (const [n, item] of items.entries()) {
      const { error, deleteMarker, deleteMarkerVersionId: id = '' } = results[n] as BatchResult
      const answered = deleteMarker === true ? { versionId: id, isMarker: true } : null
      const value = () => [error ?? this.#deleted({ bucket, ...item }, answered, false)]
      this.#take({ ...command, items: [item] }, answer, value)
    }
  }

  async setTags(place: VersionPlace, tags: Readonly<Record<string, string>>): Promise<void> {
    const isNone = Object.keys(tags).length === 0
    const more = isNone ? ({ method: 'DELETE' } as const) : ({ method: 'PUT', body: { tags } } as const)
    await this.#set({ type: 'setObjectTags', tenantId: TENANT, ...place, tags }, 'object-tags', more)
  }

  async setRetention(place: VersionPlace, retention: RetentionRecord): Promise<void> {
    const body = { mode: retention.mode, retainUntil: new Date(retention.until).toISOString() }
    const command = { type: 'setObjectRetention' as const, tenantId: TENANT, ...place, retention }
    await this.#set(command, 'object-retention', { method: 'PUT', body })
  }

  async setLegalHold(place: VersionPlace, legalHold: boolean): Promise<void> {
    const body = { status: legalHold ? 'ON' : 'OFF' }
    const command = { type: 'setObjectLegalHold' as const, tenantId: TENANT, ...place, legalHold }
    await this.#set(command, 'object-legal-hold', { method: 'PUT', body })
  }

  async begin({ bucket, key }: Place, settings: Settings): Promise<void> {
    const path = `/${bucket}/multipart/${pathOf(key)}`
    const answer = await this.client.ask({ method: 'POST', path, headers: settingsHeaders(settings) })
    const { precondition: _none, ...requested } = newVersion({ bucket, key }, settings, NO_CONDITION)
    const about = { initiator: 'any', expiresInMs: 0, checksumAlg: null }
    this.#take({ type: 'createUpload', ...requested, ...about }, answer, () => ({
      uploadId: answer.json['uploadId'],
      expiresAt: Date.parse(String(answer.json['expiresAt'])),
    }))
  }

  async putPart(upload: UploadPlace, partNumber: number, content: Content): Promise<void> {
    const { bucket, key, uploadId } = upload
    const path = `/${bucket}/multipart/${uploadId}/parts/${partNumber}/${pathOf(key)}`
    const answer = await this.client.ask({ method: 'PUT', path, body: content.bytes })
    const command = { type: 'putPart' as const, tenantId: TENANT, ...upload, partNumber }
    this.#take({ ...command, ...this.#brought(content, answer) }, answer, () => ({}))
  }

  async complete(
    upload: UploadPlace,
    parts: readonly { readonly partNumber: number; readonly etag: string }[],
    conditions: Conditions,
  ): Promise<void> {
    const { bucket, key, uploadId } = upload
    const path = `/${bucket}/multipart/${uploadId}/complete/${pathOf(key)}`
    const headers = conditionHeaders(conditions)
    const answer = await this.client.ask({ method: 'POST', path, headers, body: { parts } })
    const held = this.model.buckets.get(bucket)
    const isKnown = held?.uploads.get(uploadId)?.key === key || held?.completed.has(`${key}/${uploadId}`)
    // Also for a completed upload: the part list is checked before the upload.
    if (isKnown === true && parts.some(({ partNumber }, n) => partNumber <= (parts[n - 1]?.partNumber ?? 0)))
      return this.#refused('completeUpload', answer, 'invalid_part_order')
    const about = { etag: String(answer.json['etag']), checksums: {}, precondition: precondition(conditions) }
    const command = {
      type: 'completeUpload' as const,
      tenantId: TENANT,
      ...upload,
      parts,
      fingerprint: '',
      ...about,
    }
    this.#take(command, answer, () => this.#stored(answer))
  }

  async abort(upload: UploadPlace): Promise<void> {
    const { bucket, key, uploadId } = upload
    const path = `/${bucket}/multipart/${uploadId}/${pathOf(key)}`
    const answer = await this.client.ask({ method: 'DELETE', path })
    this.#take({ type: 'abortUpload', tenantId: TENANT, ...upload }, answer, () => null)
  }

  async #set(
    command: Extract<Command, { type: 'setObjectTags' | 'setObjectRetention' | 'setObjectLegalHold' }>,
    route: string,
    more: Pick<ObjectAsk, 'method' | 'body'>,
  ): Promise<void> {
    const { bucket: name, key, versionId } = command
    const path = `/${name}/${route}/${pathOf(key)}${queryOf({ versionId })}`
    const answer = await this.client.ask({ path, ...more })
    const bucket = this.model.buckets.get(name)
    if (bucket !== undefined && isMarkerNamed(bucket, { key, versionId }))
      return this.#refused(command.type, answer, 'method_not_allowed')
    this.#take(command, answer, () => ({}))
  }

  #take(command: Command, { code, status, json }: ApiAnswer, value: () => unknown): void {
    if (code === null) assert(status < 300, `${command.type} was answered ${status}`)
    const reply = code === null ? { ok: true, value: value() } : { ok: false, code, message: json['message'] }
    this.model.take(command, reply as Reply, Date.now())
    this.#count(`${command.type} ${code ?? 'ok'}`)
    if (code === null && 'key' in command) this.#checkNull(command)
  }

  /** Refused by the edge; nothing has changed. */
  #refused(type: Command['type'], { code }: ApiAnswer, expected: string): void {
    assert.equal(code, expected)
    this.#count(`${type} ${expected}`)
  }

  #count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1)
  }

  /** In an unversioned bucket only the newest version is `null`. */
  #checkNull({ bucket, key }: Place): void {
    for (const { id, isNull } of this.model.buckets.get(bucket)?.keys.get(key) ?? [])
      assert.equal(id === 'null', isNull, `version ${id} of ${key}`)
  }

  #stored({ json, headers }: ApiAnswer): { readonly versionId: string } {
    assert.equal(headers['etag'], `"${String(json['etag'])}"`)
    return { versionId: String(json['versionId']) }
  }

  /** Equal bytes have one etag, other bytes have another. */
  #brought({ name, bytes }: Content, { code, json }: ApiAnswer) {
    this.bytes.set(name, bytes)
    const etag = String(json['etag'])
    if (code === null) {
      assert.equal(this.#contentOfEtag.get(etag) ?? name, name)
      this.#contentOfEtag.set(etag, name)
    }
    const body: PutBody = { kind: 'chunks', chunks: [fresh(name)], copiesMin: 2 }
    return { size: bytes.length, etag, checksums: {}, body }
  }

  /** `answered`: the members of the answer; `tellsAll`: also those of a removed object. */
  #deleted(
    { bucket: name, key, versionId }: VersionPlace,
    answered: { readonly versionId: string; readonly isMarker: boolean } | null,
    tellsAll: boolean,
  ): Deleted {
    const bucket = this.model.buckets.get(name)
    assert(bucket !== undefined)
    const goes = versionId === null ? replacedIn(bucket, key) : named(bucket, key, versionId)
    const isMade = versionId === null && answered?.isMarker === true
    const existed = isMade ? newestObject(bucket, key) !== undefined : goes !== undefined
    const isReported = bucket.versioning !== 'Unversioned' && (tellsAll || goes?.isMarker === true || isMade)
    if (isReported && !isMade) assert.equal(answered?.isMarker, goes?.isMarker)
    if (!isReported && tellsAll) assert.equal(answered, null)
    const shown = isReported
      ? answered
      : goes === undefined
        ? null
        : { versionId: goes.id, isMarker: goes.isMarker }
    const kind = shown?.isMarker === true ? 'deleteMarker' : 'object'
    const version = shown === null ? null : { kind, versionId: shown.versionId }
    return { existed, isMade, version: version as Deleted['version'] }
  }
}

export interface UploadPlace extends Place {
  readonly uploadId: string
}

interface BatchResult {
  readonly key: string
  readonly versionId?: string
  readonly deleteMarker?: boolean
  readonly deleteMarkerVersionId?: string
  readonly error?: { readonly code: never; readonly message: string }
}

export const NO_CONDITION: Conditions = { ifMatch: null, ifNoneMatch: null }

export function isMarkerNamed(
  bucket: ModelBucket,
  { key, versionId }: Pick<VersionPlace, 'key' | 'versionId'>,
): boolean {
  return versionId !== null && named(bucket, key, versionId)?.isMarker === true
}

function newVersion(place: Place, { tags, retention, legalHold }: Settings, conditions: Conditions) {
  const settings = { tags, retention, legalHold, precondition: precondition(conditions) }
  return { tenantId: TENANT, bucket: place.bucket, key: place.key, ...DESCRIPTION, ...settings }
}

function precondition({ ifMatch, ifNoneMatch }: Conditions) {
  return { ifMatch: listed(ifMatch), ifNoneMatch: listed(ifNoneMatch) }
}

function listed(etag: string | null): readonly string[] | null {
  return etag === null ? null : [etag]
}

function summed({ bytes }: Content): Readonly<Record<string, string>> {
  return { 'x-service-checksum-sha256': createHash('sha256').update(bytes).digest('base64') }
}

function conditionHeaders({ ifMatch, ifNoneMatch }: Conditions): Readonly<Record<string, string>> {
  const quoted = (etag: string) => (etag === '*' ? etag : `"${etag}"`)
  return {
    ...(ifMatch === null ? {} : { 'if-match': quoted(ifMatch) }),
    ...(ifNoneMatch === null ? {} : { 'if-none-match': quoted(ifNoneMatch) }),
  }
}

function settingsHeaders({ tags, retention, legalHold }: Settings): Readonly<Record<string, string>> {
  const until = retention === null ? '' : new Date(retention.until).toISOString()
  const lock = { 'x-service-retention-mode': retention?.mode ?? '', 'x-service-retain-until': until }
  return {
    ...(Object.keys(tags).length === 0
      ? {}
      : { 'x-service-tagging': new URLSearchParams({ ...tags }).toString() }),
    ...(retention === null ? {} : lock),
    ...(legalHold ? { 'x-service-legal-hold': 'ON' } : {}),
  }
}
