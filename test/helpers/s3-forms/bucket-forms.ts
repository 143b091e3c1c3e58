/**
 * Buckets, and what lists in them, in S3.
 */
import type { ReadElement } from '../../../src/api/s3/xml/read-xml.ts'
import type { Json, ObjectAsk } from '../object-client.ts'
import {
  bodyOf,
  encodedQuery,
  nothing,
  text,
  type FormOf,
  type Place,
  type S3Form,
  unquoted,
} from './form.ts'

export function listBuckets(): S3Form {
  const named = (xml: ReadElement | null) => xml?.needed('Buckets').childrenNamed('Bucket') ?? []
  return {
    action: 'ListBuckets',
    method: 'GET',
    path: '/',
    read: ({ xml }) => ({ buckets: named(xml).map((bucket) => ({ name: text(bucket, 'Name') })) }),
  }
}

export function createBucket(ask: ObjectAsk): S3Form {
  const { name, versioning, objectLockEnabled } = bodyOf<{
    readonly name: string
    readonly versioning: string
    readonly objectLockEnabled: boolean
  }>(ask)
  const headers = objectLockEnabled ? { 'x-amz-bucket-object-lock-enabled': 'true' } : {}
  const made = { action: 'CreateBucket', method: 'PUT', path: `/${name}`, headers, read: nothing }
  // A bucket with locks has versions from the beginning.
  if (versioning === 'Unversioned' || objectLockEnabled) return made
  return { ...made, next: versioningForm(name, versioning) }
}

export const deleteBucket: FormOf = (_, { bucket }) => ({
  action: 'DeleteBucket',
  method: 'DELETE',
  path: `/${bucket}`,
  read: nothing,
})

export function setVersioning(ask: ObjectAsk, { bucket }: Place): S3Form | null {
  const { status } = bodyOf<{ readonly status: string }>(ask)
  return status === 'Unversioned' ? null : versioningForm(bucket, status)
}

export const versioningForm = (bucket: string, status: string): S3Form => ({
  action: 'PutBucketVersioning',
  method: 'PUT',
  path: `/${bucket}?versioning`,
  body: `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`,
  read: nothing,
})

export const isTruncated = (xml: ReadElement | null): boolean => text(xml, 'IsTruncated') === 'true'
export const prefixes = (xml: ReadElement | null): readonly string[] =>
  (xml?.childrenNamed('CommonPrefixes') ?? []).map((one) => text(one, 'Prefix'))

export const entry = (one: ReadElement): Json => ({
  key: text(one, 'Key'),
  etag: unquoted(text(one, 'ETag')),
  size: Number(text(one, 'Size')),
})

export function listObjects(_: ObjectAsk, { bucket, query }: Place): S3Form {
  const asked = {
    prefix: query.get('prefix'),
    delimiter: query.get('delimiter'),
    'max-keys': query.get('maxKeys'),
    'continuation-token': query.get('continuationToken'),
  }
  return {
    action: 'ListObjectsV2',
    method: 'GET',
    path: `/${bucket}?list-type=2&${encodedQuery(asked)}`,
    read: ({ xml }) => ({
      objects: (xml?.childrenNamed('Contents') ?? []).map(entry),
      commonPrefixes: prefixes(xml),
      isTruncated: isTruncated(xml),
      nextContinuationToken: xml?.textOf('NextContinuationToken'),
    }),
  }
}

export function listVersions(_: ObjectAsk, { bucket, query }: Place): S3Form {
  const asked = {
    prefix: query.get('prefix'),
    delimiter: query.get('delimiter'),
    'max-keys': query.get('maxKeys'),
    'key-marker': query.get('keyMarker'),
    'version-id-marker': query.get('versionIdMarker'),
  }
  const isVersion = ({ name }: ReadElement): boolean => name === 'Version' || name === 'DeleteMarker'
  return {
    action: 'ListObjectVersions',
    method: 'GET',
    path: `/${bucket}?versions&${encodedQuery(asked)}`,
    read: ({ xml }) => ({
      versions: (xml?.children ?? []).filter(isVersion).map((one) => ({
        ...entry(one),
        versionId: text(one, 'VersionId'),
        isLatest: text(one, 'IsLatest') === 'true',
        isDeleteMarker: one.name === 'DeleteMarker',
      })),
      commonPrefixes: prefixes(xml),
      isTruncated: isTruncated(xml),
      nextKeyMarker: xml?.textOf('NextKeyMarker'),
      nextVersionIdMarker: xml?.textOf('NextVersionIdMarker') ?? undefined,
    }),
  }
}
