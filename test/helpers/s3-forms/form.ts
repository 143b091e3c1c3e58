/**
 * A request of S3 that stands for one of the native API, and what the forms share: how places, headers and texts are written.
 */
import { createHash } from 'node:crypto'
import type { ReadElement } from '../../../src/api/s3/xml/read-xml.ts'
import type { Json, ObjectAsk } from '../object-client.ts'
import type { Answer } from '../process-cluster.ts'

export type Headers = Readonly<Record<string, string>>

export interface S3Received {
  readonly xml: ReadElement | null
  readonly headers: Answer['headers']
}

export interface S3Form {
  readonly action: string
  readonly method: string
  readonly path: string
  readonly headers?: Headers
  readonly body?: string | Uint8Array
  /** The members that the native answer has. */
  readonly read: (received: S3Received) => Json
  /** A second request, once the first one has passed. */
  readonly next?: S3Form
}

export interface Place {
  readonly bucket: string
  /** Percent-encoded; '' for none. */
  readonly key: string
  readonly uploadId: string
  readonly part: string
  readonly query: URLSearchParams
}

export type FormOf = (ask: ObjectAsk, place: Place) => S3Form | null

export const nothing = (): Json => ({})
export const text = (xml: ReadElement | null, name: string): string => xml?.textOf(name) ?? ''
export const unquoted = (etag: string): string => etag.replace(/^"|"$/g, '')
export const escaped = (value: string): string =>
  value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
export const md5Of = (body: string): string => createHash('md5').update(body).digest('base64')
export const bodyOf = <T>({ body }: ObjectAsk): T => body as T

/** Unversioned buckets show no version; theirs is `null`. */
export const stored = ({ xml, headers }: S3Received): Json => ({
  etag: unquoted(xml === null ? String(headers['etag']) : text(xml, 'ETag')),
  versionId: headers['x-amz-version-id'] ?? 'null',
})

export const objectPath = ({ bucket, key, query }: Place, mark = ''): string => {
  const versionId = query.get('versionId')
  const parameters = [mark, versionId === null ? '' : `versionId=${encodeURIComponent(versionId)}`]
  const given = parameters.filter((parameter) => parameter !== '')
  return `/${bucket}/${key}${given.length === 0 ? '' : `?${given.join('&')}`}`
}

export const encodedQuery = (query: Readonly<Record<string, string | null>>): string =>
  Object.entries(query)
    .flatMap(([name, value]) => (value === null ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join('&')

export const S3_NAMES: Readonly<Record<string, string>> = {
  'idempotency-key': 'x-service-idempotency-key',
  'x-service-checksum-sha256': 'x-amz-checksum-sha256',
  'x-service-tagging': 'x-amz-tagging',
  'x-service-retention-mode': 'x-amz-object-lock-mode',
  'x-service-retain-until': 'x-amz-object-lock-retain-until-date',
  'x-service-legal-hold': 'x-amz-object-lock-legal-hold',
}

export const s3Headers = ({ headers = {} }: ObjectAsk): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [S3_NAMES[name] ?? name, value]))
