/**
 * Headers of requests that make an object: what they say of it, and what they ask for that is not there. [AWS S3 API reference: PutObject]
 *
 * Rule: a header that is not carried out is refused by its name. Names of the headers are S3's, what they mean is what the native API means by its own.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { ChecksumAlgorithm } from '../../../state-machine/bodies/records.ts'
import { parseAlgorithm } from '../../../content/checksums.ts'
import type { Representation, VersionSettings } from '../../../state-machine/versions/records.ts'
import { headerText } from '../../header-text.ts'
import { readMetadata } from '../../native/metadata-headers.ts'
import { readRepresentation } from '../../native/representation-headers.ts'
import { readSettings, type SettingsNames } from '../../native/settings-headers.ts'
import { readContentType } from '../../native/upload-headers.ts'
import { CUSTOMER_KEY } from '../base/s3-encryption.ts'
import { S3Fault } from '../base/s3-errors.ts'

export const METADATA_PREFIX = 'x-amz-meta-'
const SETTINGS: SettingsNames = {
  tagging: 'x-amz-tagging',
  mode: 'x-amz-object-lock-mode',
  until: 'x-amz-object-lock-retain-until-date',
  hold: 'x-amz-object-lock-legal-hold',
}
/** Conditions of a write on what is there. */
export const CONDITION_HEADERS: readonly string[] = ['if-match', 'if-none-match']
/** What is said of a new object, for the table of routes. */
export const DESCRIPTION_HEADERS: readonly string[] = [
  METADATA_PREFIX,
  ...Object.values(SETTINGS),
  'x-amz-acl',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-bucket-key-enabled',
  ...CUSTOMER_KEY,
  'x-amz-storage-class',
  'x-amz-checksum-algorithm',
]
export const NEW_OBJECT_HEADERS: readonly string[] = [...CONDITION_HEADERS, ...DESCRIPTION_HEADERS]
/** Both leave an object with its owner alone. */
const PRIVATE_ACLS: ReadonlySet<string> = new Set(['private', 'bucket-owner-full-control'])
const AWS_CHUNKED = /(^|,)[ \t]*aws-chunked[ \t]*(?=,|$)/gi

export interface NewObject extends VersionSettings {
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  readonly representation?: Representation
}

/** Throws S3Fault, Refusal. */
export function readNewObject(headers: IncomingHttpHeaders): NewObject {
  refusePlacement(headers)
  return {
    contentType: readContentType(headers),
    metadata: readMetadata(headers, METADATA_PREFIX),
    ...readRepresentation(withoutFraming(headers)),
    ...readSettings(headers, SETTINGS),
  }
}

/** Computed although the client does not claim it; S3 names it where the digest itself follows in a trailer too. Throws Refusal checksum_unsupported. */
export function wantedChecksum(headers: IncomingHttpHeaders): readonly ChecksumAlgorithm[] {
  const name =
    headerText(headers, 'x-amz-checksum-algorithm') ?? headerText(headers, 'x-amz-sdk-checksum-algorithm')
  return name === undefined ? [] : [parseAlgorithm(name)]
}

/** Throws S3Fault for an access, encryption or storage class that is not there. */
export function refusePlacement(headers: IncomingHttpHeaders): void {
  const acl = headerText(headers, 'x-amz-acl')
  if (acl !== undefined && !PRIVATE_ACLS.has(acl))
    throw new S3Fault(
      'NotImplemented',
      `The ACL "${acl.slice(0, 80)}" is not supported: everything here is private`,
    )
  const encryption = headerText(headers, 'x-amz-server-side-encryption')
  if (encryption !== undefined && encryption !== 'AES256')
    throw new S3Fault(
      'NotImplemented',
      `The encryption "${encryption.slice(0, 80)}" is not supported: everything is encrypted with AES256`,
    )
  const storageClass = headerText(headers, 'x-amz-storage-class')
  if (storageClass !== undefined && storageClass !== 'STANDARD')
    throw new S3Fault(
      'InvalidStorageClass',
      `The storage class "${storageClass.slice(0, 80)}" does not exist: STANDARD does`,
    )
}

/** How the body was sent is no property of the object. */
function withoutFraming(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const coding = headerText(headers, 'content-encoding')
  if (coding === undefined) return headers
  const { 'content-encoding': _, ...others } = headers
  const left = coding
    .replace(AWS_CHUNKED, '')
    .replace(/^[ \t]*,|,[ \t]*$/g, '')
    .trim()
  return left === '' ? others : { ...others, 'content-encoding': left }
}
