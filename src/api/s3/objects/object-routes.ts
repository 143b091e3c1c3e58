/**
 * The routes of the S3 API that store and delete an object: parse headers and key, run one operation, dress the outcome. No rules here.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { AccessKeyPrincipal } from '../../../access/base/principal.ts'
import type { Services } from '../../../operations/base/services.ts'
import { deleteObject } from '../../../operations/objects/delete-object.ts'
import { putObject, type StoredObject } from '../../../operations/objects/put-object.ts'
import { markText, readMark, REPLICA_HEADER } from '../../../state-machine/sites/mark.ts'
import { headerText } from '../../header-text.ts'
import { readIfMatchAlone, readPrecondition } from '../../native/precondition-headers.ts'
import { readIdempotencyKey } from '../../native/upload-headers.ts'
import { asksToBypass, BYPASS_HEADER } from './bypass-header.ts'
import type { CustomerKey } from '../../customer-key-headers.ts'
import { encryptionHeaders, readS3Key } from '../base/s3-encryption.ts'
import { checksumHeaders, s3VersionHeaders } from './object-headers.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { type S3Call, type S3Route, s3Route } from '../base/s3-route.ts'
import { NEW_OBJECT_HEADERS, readNewObject, wantedChecksum } from './upload-headers.ts'
import { VERSION_PARAMETER, versionIn } from '../base/version-parameter.ts'

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
      const customer = readS3Key(call.headers, principal)
      const stored = await storeObject(services, principal, call)
      return { kind: 'empty', headers: storedHeaders(stored, customer) }
    },
  ),

  s3Route(
    deleteObject,
    {
      action: 'DeleteObject',
      method: 'DELETE',
      level: 'object',
      parameters: [VERSION_PARAMETER],
      headers: ['if-match', BYPASS_HEADER, REPLICA_HEADER],
      status: 204,
    },
    async (services, principal, { bucket, key, query, headers }) => {
      const bypassGovernance = asksToBypass(headers)
      const ifMatch = readIfMatchAlone(headers)
      const replica = replicatedIn(headers)
      const wanted = { bucket, key, versionId: versionIn(query), ifMatch, bypassGovernance, ...replica }
      const gone = await deleteObject(services, principal, wanted)
      return { kind: 'empty', headers: s3VersionHeaders(gone.bucket, gone.deleted.version) }
    },
  ),
]

/** Of a deletion that repeats one of another site. Throws S3Fault InvalidArgument. */
function replicatedIn(headers: IncomingHttpHeaders): { readonly replicaOf?: string } {
  const text = headerText(headers, REPLICA_HEADER)
  if (text === undefined) return {}
  const mark = readMark(text)
  if (mark !== null) return { replicaOf: markText(mark) }
  throw new S3Fault(
    'InvalidArgument',
    `${REPLICA_HEADER} is "${text.slice(0, 80)}": only replication sends it`,
  )
}

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
    customerKey: readS3Key(headers, principal)?.key,
    claimed,
    trailing,
    wanted: wantedChecksum(headers),
    etag: 'md5',
    expectedSize: length,
    source,
    signal,
  })
}

export function storedHeaders(
  { bucket, object, replayed }: StoredObject,
  customer: CustomerKey | undefined,
): Record<string, string> {
  return {
    etag: `"${object.etag}"`,
    ...encryptionHeaders(customer),
    ...s3VersionHeaders(bucket, object),
    ...checksumHeaders(object),
    ...(replayed ? { 'idempotent-replayed': 'true' } : {}),
  }
}
