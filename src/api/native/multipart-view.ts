/**
 * Uploads and parts as clients see them. [decisions 6]
 */
import Type, { type Static } from 'typebox'
import type { PartRecord } from '../../state-machine/bodies/records.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import { Time, timeText } from '../wire.ts'

export const UploadView = Type.Object(
  {
    bucket: Type.String(),
    key: Type.String(),
    uploadId: Type.String(),
    createdAt: Time,
    expiresAt: Time,
  },
  { additionalProperties: false },
)

export const ListedUploadView = Type.Object(
  {
    key: Type.String(),
    uploadId: Type.String(),
    createdAt: Time,
    expiresAt: Time,
    initiator: Type.String(),
  },
  { additionalProperties: false },
)

const PART = {
  partNumber: Type.Integer(),
  etag: Type.String(),
  size: Type.Integer(),
  checksums: Type.Record(Type.String(), Type.String()),
}
export const PartView = Type.Object(PART, { additionalProperties: false })
export const ListedPartView = Type.Object({ ...PART, lastModified: Time }, { additionalProperties: false })

export function uploadView(
  bucket: string,
  { key, uploadId, createdAt, expiresAt }: UploadRecord,
): Static<typeof UploadView> {
  return { bucket, key, uploadId, createdAt: timeText(createdAt), expiresAt: timeText(expiresAt) }
}

export function listedUploadView(upload: UploadRecord): Static<typeof ListedUploadView> {
  const { key, uploadId, createdAt, expiresAt, initiator } = upload
  return { key, uploadId, createdAt: timeText(createdAt), expiresAt: timeText(expiresAt), initiator }
}

export function partView({ partNumber, etag, size, checksums }: PartRecord): Static<typeof PartView> {
  return { partNumber, etag, size, checksums: { ...checksums } }
}

export function listedPartView(part: PartRecord): Static<typeof ListedPartView> {
  return { ...partView(part), lastModified: timeText(part.lastModified) }
}
