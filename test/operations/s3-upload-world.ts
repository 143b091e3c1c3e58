/**
 * Writes as the S3 API makes them: operations with MD5 etags, in the bucket `films`.
 */
import { createHash } from 'node:crypto'
import type { AccessKeyPrincipal } from '../../src/access/base/principal.ts'
import { completeMultipartUpload } from '../../src/operations/multipart/complete-multipart-upload.ts'
import { createMultipartUpload } from '../../src/operations/multipart/create-multipart-upload.ts'
import { uploadPart } from '../../src/operations/multipart/upload-part.ts'
import { putObject, type PutObjectInput, type StoredObject } from '../../src/operations/objects/put-object.ts'
import type { FoundObject } from '../../src/operations/objects/object-checks.ts'
import type { PartRecord } from '../../src/state-machine/bodies/records.ts'
import type { UploadRecord } from '../../src/state-machine/objects/records.ts'
import { BucketClient } from '../api/bucket-client.ts'
import { inPieces, patternBytes } from '../helpers/content-world.ts'
import { principalOf } from './copy-world.ts'

type CreateInput = Parameters<typeof createMultipartUpload>[2]
type PartInput = Parameters<typeof uploadPart>[2]
type CompleteInput = Parameters<typeof completeMultipartUpload>[2]

/** The smallest part that need not be the last. */
export const PART_MIN = 5 * 1024 * 1024
export const large = (seed: number): Buffer => patternBytes(PART_MIN, seed)
export const md5Of = (...bytes: readonly Uint8Array[]): Buffer => {
  const hash = createHash('md5')
  for (const piece of bytes) hash.update(piece)
  return hash.digest()
}
/** The etag of an object of these parts in S3. */
export function tagOfParts(parts: readonly Uint8Array[]): string {
  return `${md5Of(...parts.map((part) => md5Of(part))).toString('hex')}-${parts.length}`
}

const SETTINGS = { contentType: 'a/b', metadata: {}, tags: {}, retention: null, legalHold: false }
export const UNCONDITIONAL_WRITE = { ifMatch: null, ifNoneMatch: null }

export class S3UploadWorld {
  readonly films: BucketClient
  readonly principal: AccessKeyPrincipal

  static async start(...parameters: Parameters<typeof BucketClient.start>): Promise<S3UploadWorld> {
    const films = await BucketClient.start(...parameters)
    return new S3UploadWorld(films, await principalOf(films))
  }

  constructor(films: BucketClient, principal: AccessKeyPrincipal) {
    this.films = films
    this.principal = principal
  }

  get services() {
    return this.films.world.memory.services
  }

  put(key: string, bytes: Buffer, more: Partial<PutObjectInput> = {}): Promise<StoredObject> {
    return putObject(this.services, this.principal, {
      bucket: 'films',
      key,
      ...SETTINGS,
      precondition: UNCONDITIONAL_WRITE,
      idempotencyKey: null,
      etag: 'md5',
      ...bodyOf(bytes),
      ...more,
    })
  }

  async create(key: string, more: Partial<CreateInput> = {}): Promise<UploadRecord> {
    const input = { bucket: 'films', key, ...SETTINGS, checksumAlg: null, ...more }
    return (await createMultipartUpload(this.services, this.principal, input)).upload
  }

  part(
    { key, uploadId }: UploadRecord,
    partNumber: number,
    bytes: Buffer,
    more: Partial<PartInput> = {},
  ): Promise<PartRecord> {
    const name = { bucket: 'films', key, uploadId, partNumber }
    return uploadPart(this.services, this.principal, { ...name, etag: 'md5', ...bodyOf(bytes), ...more })
  }

  complete(
    { key, uploadId }: UploadRecord,
    parts: CompleteInput['parts'],
    more: Partial<CompleteInput> = {},
  ): Promise<FoundObject> {
    const name = { bucket: 'films', key, uploadId }
    const input = { ...name, parts, precondition: UNCONDITIONAL_WRITE, claimed: new Map(), ...more }
    return completeMultipartUpload(this.services, this.principal, input)
  }
}

function bodyOf(bytes: Buffer) {
  const signal = new AbortController().signal
  return { source: inPieces(bytes, 65_536), expectedSize: bytes.length, claimed: new Map(), signal }
}
