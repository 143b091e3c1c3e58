/**
 * A request for each route of the S3 API, made from what the table says of it: a new route has one without a line here.
 *
 * Owns: a value for each mark. Rule: a sample means its route and no other; whether it succeeds depends on what is stored.
 */
import { createHash } from 'node:crypto'
import { postObjectRoute } from '../../../src/api/s3/objects/post-object.ts'
import { s3Table } from '../../../src/api/s3/routes.ts'
import type { S3Route } from '../../../src/api/s3/base/s3-route.ts'
import type { S3Ask } from './s3-world.ts'

export interface SamplePlace {
  readonly bucket: string
  readonly key: string
}

export const PLACE: SamplePlace = { bucket: 'photos', key: '2026/cat.txt' }
/** Values that a mark needs to be read; others are empty. */
const VALUES: Readonly<Record<string, string>> = {
  uploadId: 'mpu_00000000000000000000000000',
  partNumber: '1',
}
/** What an action asks for in a header, and refuses a request without it. */
const HEADERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  GetObjectAttributes: { 'x-amz-object-attributes': 'ETag' },
}
/** Documents that say something, by their root; of others only the root is sent. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  Delete: '<Object><Key>2026/cat.txt</Key></Object>',
  CompleteMultipartUpload: `<Part><PartNumber>1</PartNumber><ETag>"${'0'.repeat(32)}"</ETag></Part>`,
  Tagging: '<TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet>',
  VersioningConfiguration: '<Status>Enabled</Status>',
  LegalHold: '<Status>ON</Status>',
  Retention: '<Mode>GOVERNANCE</Mode><RetainUntilDate>2099-01-01T00:00:00Z</RetainUntilDate>',
  ObjectLockConfiguration:
    '<ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule>',
  CORSConfiguration:
    '<CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>https://a.example</AllowedOrigin></CORSRule>',
  ServerSideEncryptionConfiguration:
    '<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule>',
  PublicAccessBlockConfiguration:
    '<BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets>',
  OwnershipControls: '<Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule>',
}

/** Those of signed requests: a browser form has its signature among its fields, see post-object.test.ts. */
export const S3_ROUTES: readonly S3Route[] = s3Table.routes.filter((route) => route !== postObjectRoute)

export type Sample = Required<Pick<S3Ask, 'method' | 'path' | 'headers'>> & Pick<S3Ask, 'body'>

export function sampleOf(route: S3Route, place: SamplePlace = PLACE): Sample {
  const { method, markHeader, body } = route
  const query = queryOf(route, place)
  const path = `${pathOf(route, place)}${query.length === 0 ? '' : `?${query.join('&')}`}`
  const source = `/${place.bucket}/${encodeURIComponent(place.key)}`
  const marked = markHeader === undefined ? {} : { [markHeader]: source }
  const headers: Record<string, string> = { ...marked, ...HEADERS[route.action] }
  if (body.kind === 'none') return { method, path, headers }
  if (body.kind === 'bytes') return { method, path, headers, body: 'bytes' }
  if (body.kind === 'json') return { method, path, headers, body: policyOf(place) }
  const text = `<${body.root}>${DOCUMENTS[body.root] ?? ''}</${body.root}>`
  headers['content-md5'] = createHash('md5').update(text).digest('base64')
  return { method, path, headers, body: text }
}

/** The one document that is JSON. */
function policyOf({ bucket }: SamplePlace): string {
  const resource = `arn:aws:s3:::${bucket}/nothing/*`
  const statement = { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: resource }
  return JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
}

function queryOf({ level, marks, markValue, parameters }: S3Route, { key }: SamplePlace): readonly string[] {
  const marked = marks.map((name) => {
    const value = markValue?.name === name ? markValue.value : (VALUES[name] ?? '')
    return value === '' ? name : `${name}=${encodeURIComponent(value)}`
  })
  const isListing = level === 'bucket' && parameters.includes('prefix')
  return isListing ? [...marked, `prefix=${encodeURIComponent(key.replace(/\/.*/s, '/'))}`] : marked
}

function pathOf({ level }: S3Route, { bucket, key }: SamplePlace): string {
  if (level === 'service') return '/'
  return level === 'bucket' ? `/${bucket}` : `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`
}
