/**
 * The routes of objects in the S3 API: parse headers and key, run one operation, dress the outcome. No rules here.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../../operations/base/services.ts'
import { deleteObject } from '../../operations/objects/delete-object.ts'
import { getObject } from '../../operations/objects/get-object.ts'
import { type FoundObject } from '../../operations/objects/object-checks.ts'
import { headObject } from '../../operations/objects/object-lookups.ts'
import { putObject, type StoredObject } from '../../operations/objects/put-object.ts'
import { headerText } from '../header-text.ts'
import { readIfMatchAlone, readPrecondition } from '../native/precondition-headers.ts'
import { isWanted, wantedRange } from '../native/read-conditions.ts'
import { cachingHeaders, representationHeaders } from '../native/representation-headers.ts'
import { readIdempotencyKey } from '../native/upload-headers.ts'
import type { Answer } from '../route.ts'
import { checksumHeaders, ENCRYPTION, s3ObjectHeaders, s3VersionHeaders } from './object-headers.ts'
import { overriddenHeaders, RESPONSE_PARAMETERS } from './response-parameters.ts'
import { S3Fault } from './s3-errors.ts'
import { type S3Call, type S3Route, s3Route } from './s3-route.ts'
import { NEW_OBJECT_HEADERS, readNewObject, wantedChecksum } from './upload-headers.ts'

const VERSION = 'versionId'

export const objectRoutes: readonly S3Route[] = [
  s3Route(
    putObject,
    {
      action: 'PutObject',
      method: 'PUT',
      level: 'object',
      headers: NEW_OBJECT_HEADERS,
      body: { kind: 'bytes' },
    },
    async (services, principal, call) => {
      if (call.bytes.length === null)
        throw new S3Fault(
          'MissingContentLength',
          'An upload needs Content-Length, or a body in signed chunks',
        )
      return { kind: 'empty', headers: storedHeaders(await storeObject(services, principal, call)) }
    },
  ),

  s3Route(
    getObject,
    {
      action: 'GetObject',
      method: 'GET',
      level: 'object',
      parameters: [VERSION, ...RESPONSE_PARAMETERS],
      headers: ['x-amz-checksum-mode'],
    },
    async (services, principal, call) => {
      const { bucket, key, query, headers } = call
      const found = await getObject(services, principal, { bucket, key, versionId: versionIn(query) })
      if (!isWanted(headers, found.object)) return notModified(found)
      const { object } = found
      const range = wantedRange(headers, object)
      const { start, end } = range ?? { start: 0, end: object.size }
      return {
        kind: 'bytes',
        status: range === null ? 200 : 206,
        headers: {
          ...s3ObjectHeaders(found.bucket, object, range === null && wantsChecksums(headers)),
          'content-type': object.contentType,
          ...representationHeaders(object),
          ...(range === null ? {} : { 'content-range': `bytes ${start}-${end - 1}/${object.size}` }),
          ...overriddenHeaders(query),
        },
        bytes: found.read({ start, end }),
        length: end - start,
      }
    },
  ),

  s3Route(
    headObject,
    {
      action: 'HeadObject',
      method: 'HEAD',
      level: 'object',
      parameters: [VERSION, ...RESPONSE_PARAMETERS],
      headers: ['x-amz-checksum-mode'],
    },
    async (services, principal, call) => {
      const { bucket, key, query, headers } = call
      const found = await headObject(services, principal, { bucket, key, versionId: versionIn(query) })
      if (!isWanted(headers, found.object)) return notModified(found)
      const { object } = found
      return {
        kind: 'empty',
        headers: {
          ...s3ObjectHeaders(found.bucket, object, wantsChecksums(headers)),
          'content-type': object.contentType,
          ...representationHeaders(object),
          'content-length': `${object.size}`,
          ...overriddenHeaders(query),
        },
      }
    },
  ),

  s3Route(
    deleteObject,
    {
      action: 'DeleteObject',
      method: 'DELETE',
      level: 'object',
      parameters: [VERSION],
      headers: ['if-match'],
      status: 204,
    },
    async (services, principal, { bucket, key, query, headers }) => {
      const wanted = { bucket, key, versionId: versionIn(query), ifMatch: readIfMatchAlone(headers) }
      const gone = await deleteObject(services, principal, wanted)
      return { kind: 'empty', headers: s3VersionHeaders(gone.bucket, gone.deleted.version) }
    },
  ),
]

/** An upload, also of a browser form: its fields are such headers too, and how long the file is comes out at its end. */
export async function storeObject(
  services: Services,
  principal: AccessKeyPrincipal,
  { bucket, key, headers, bytes, signal }: Pick<S3Call, 'bucket' | 'key' | 'headers' | 'bytes' | 'signal'>,
): Promise<StoredObject> {
  const { source, length, claimed, trailing } = bytes
  return putObject(services, principal, {
    bucket,
    key,
    ...readNewObject(headers),
    precondition: readPrecondition(headers),
    idempotencyKey: readIdempotencyKey(headers),
    claimed,
    trailing,
    wanted: wantedChecksum(headers),
    etag: 'md5',
    expectedSize: length,
    source,
    signal,
  })
}

export function storedHeaders({ bucket, object, replayed }: StoredObject): Record<string, string> {
  return {
    etag: `"${object.etag}"`,
    ...ENCRYPTION,
    ...s3VersionHeaders(bucket, object),
    ...checksumHeaders(object),
    ...(replayed ? { 'idempotent-replayed': 'true' } : {}),
  }
}

/** Undefined: the newest version. */
export function versionIn(query: S3Call['query']): string | undefined {
  const versionId = query[VERSION]
  if (versionId === '') throw new S3Fault('InvalidArgument', 'The parameter versionId is empty')
  return versionId
}

function wantsChecksums(headers: IncomingHttpHeaders): boolean {
  return headerText(headers, 'x-amz-checksum-mode')?.toUpperCase() === 'ENABLED'
}

function notModified({ bucket, object }: FoundObject): Answer {
  return {
    kind: 'empty',
    status: 304,
    headers: { ...s3ObjectHeaders(bucket, object, false), ...cachingHeaders(object) },
  }
}
