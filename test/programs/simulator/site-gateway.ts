/**
 * A bucket of a Holdfast as another site reaches it: what the S3 API makes of each request of replication, over commands and rows.
 *
 * Owns: that translation. Knows nothing of: the line on which requests travel. Rule: it decides nothing; conditions and locks are those of apply.
 */
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import type { BucketRecord } from '../../../src/state-machine/buckets/records.ts'
import type { View } from '../../../src/state-machine/base/view.ts'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import { MARK_NAME, markText, readMark } from '../../../src/state-machine/sites/mark.ts'
import { versionKeys } from '../../../src/state-machine/versions/keys.ts'
import type { RetentionRecord, Tags, VersionRecord } from '../../../src/state-machine/versions/records.ts'
import { findVersion, newestVersion } from '../../../src/state-machine/versions/versions.ts'
import {
  type RemoteName,
  type RemotePut,
  type RemoteStore,
  type RemoteVersion,
  SiteFault,
} from '../../../src/operations/base/remote-store.ts'

const VERSIONS_MAX = 100

export interface GatewayParts {
  readonly tenantId: string
  readonly bucket: string
  readonly clusterId: string
  /** Rows that a read barrier has brought up to date. */
  readonly rows: () => Promise<View>
  readonly run: (command: Command) => Promise<Reply>
  /** Brings one request there and its answer back; may lose either. */
  readonly travel: <T>(request: string, effect: () => Promise<T>) => Promise<T>
}

export class SiteGateway implements RemoteStore {
  readonly #parts: GatewayParts

  constructor(parts: GatewayParts) {
    this.#parts = parts
  }

  probe(): ReturnType<RemoteStore['probe']> {
    const { clusterId } = this.#parts
    return this.#read('probe', (_, { id: bucketId }) => ({ identity: { clusterId, bucketId } }))
  }

  head({ key, versionId }: RemoteName): Promise<RemoteVersion | null> {
    return this.#read(this.#named('head', key), (view, bucket) => {
      const found =
        versionId === null
          ? newestVersion(view, bucket.id, key)
          : findVersion(view, bucket.id, key, versionId)
      return found === undefined ? null : shown(found, bucket)
    })
  }

  async put({ key, object, mark, expected, body }: RemotePut): Promise<void> {
    const { tenantId, bucket } = this.#parts
    const sealed = await bytesOf(body())
    const { size, etag, contentType, checksums, metadata, masterKeyId, tags, retention, legalHold } = object
    const precondition =
      expected === null ? { ifMatch: null, ifNoneMatch: ['*'] } : { ifMatch: [expected], ifNoneMatch: null }
    await this.#change(this.#named('put', key), {
      type: 'putObject',
      tenantId,
      bucket,
      key,
      size,
      etag,
      contentType,
      checksums,
      metadata: { ...metadata, [MARK_NAME]: markText(mark) },
      masterKeyId,
      body: { kind: 'inline', chunkId: 'ci', sealed },
      precondition,
      idempotency: null,
      tags,
      retention,
      legalHold,
    })
  }

  async remove(
    { key, versionId }: RemoteName,
    { expected, mark }: Parameters<RemoteStore['remove']>[1],
  ): Promise<void> {
    const { tenantId, bucket } = this.#parts
    const ifMatch = expected === null ? null : [expected]
    const replicaOf = markText(mark)
    const command = { type: 'deleteObject', tenantId, bucket, key, versionId, ifMatch, replicaOf } as const
    await this.#change(this.#named('remove', key), command)
  }

  async setTags({ key, versionId }: RemoteName, tags: Tags): Promise<void> {
    const { tenantId, bucket } = this.#parts
    await this.#change(this.#named('tags', key), {
      type: 'setObjectTags',
      tenantId,
      bucket,
      key,
      versionId,
      tags,
    })
  }

  async setRetention({ key, versionId }: RemoteName, retention: RetentionRecord | null): Promise<void> {
    const { tenantId, bucket } = this.#parts
    const name = { tenantId, bucket, key, versionId }
    await this.#change(this.#named('retention', key), {
      type: 'setObjectRetention',
      ...name,
      retention,
      bypassGovernance: true,
    })
  }

  async setLegalHold({ key, versionId }: RemoteName, legalHold: boolean): Promise<void> {
    const { tenantId, bucket } = this.#parts
    await this.#change(this.#named('hold', key), {
      type: 'setObjectLegalHold',
      tenantId,
      bucket,
      key,
      versionId,
      legalHold,
    })
  }

  versionsOf(key: string): Promise<readonly string[]> {
    return this.#read(this.#named('versions', key), (view, bucket) =>
      versionsIn(view, bucket.id, key)
        .slice(0, VERSIONS_MAX)
        .filter(({ kind }) => kind === 'object')
        .map(({ isNull, versionId }) => (isNull ? 'null' : versionId)),
    )
  }

  list(): ReturnType<RemoteStore['list']> {
    throw new Error('no sender lists a target')
  }

  probeStore(): Promise<void> {
    throw new Error('no sender asks whether credentials are good')
  }

  makeBucket(): Promise<void> {
    throw new Error('no sender makes a bucket')
  }

  #named(request: string, key: string): string {
    return `${request} ${this.#parts.bucket}/${key}`
  }

  async #read<T>(request: string, read: (view: View, bucket: BucketRecord) => T): Promise<T> {
    const { rows, travel, tenantId, bucket: name } = this.#parts
    return travel(request, async () => {
      const view = await rows()
      const bucket = view.get(bucketKeys.bucket(tenantId, name))
      if (bucket === undefined) throw new SiteFault('unreachable', 'NoSuchBucket', { s3Code: 'NoSuchBucket' })
      return read(view, bucket)
    })
  }

  async #change(request: string, command: Command): Promise<void> {
    const { run, travel } = this.#parts
    await travel(request, async () => {
      const reply = await run(command)
      if (!reply.ok) throw faultOf(request, reply)
    })
  }
}

/** Newest first. */
export function versionsIn(view: View, bucketId: string, key: string): readonly VersionRecord[] {
  const versions: VersionRecord[] = []
  let at: VersionRecord | undefined = newestVersion(view, bucketId, key)
  while (at !== undefined) {
    versions.push(at)
    const older: string | null = at.older
    at = older === null ? undefined : view.get(versionKeys.version(bucketId, key, older))
  }
  return versions
}

/** A date in a header has whole seconds. */
function shown(version: VersionRecord, { versioning }: BucketRecord): RemoteVersion {
  const isDeleteMarker = version.kind === 'deleteMarker'
  const mark = isDeleteMarker ? version.replicaOf : version.metadata[MARK_NAME]
  return {
    isDeleteMarker,
    etag: isDeleteMarker ? '' : version.etag,
    size: isDeleteMarker ? 0 : version.size,
    versionId: versioning === 'Unversioned' ? null : version.isNull ? 'null' : version.versionId,
    modifiedAt: Math.floor(version.lastModified / 1000) * 1000,
    crc64nvme: null,
    mark: readMark(mark),
  }
}

const S3_CODES: Readonly<Record<string, string>> = {
  precondition_failed: 'PreconditionFailed',
  object_locked: 'AccessDenied',
  not_found: 'NoSuchKey',
  invalid_request: 'InvalidRequest',
  quota_exceeded: 'QuotaExceeded',
}

function faultOf(request: string, { code, message }: Extract<Reply, { ok: false }>): SiteFault {
  const s3Code = S3_CODES[code] ?? code
  return new SiteFault(s3Code === 'InvalidRequest' ? 'refused' : 'failed', `${request}: ${message}`, {
    s3Code,
  })
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}
